//! Play: a script's world from its first moment to its last.

use dh_host::Runtime;
use dh_machine::Micros;
use rhai::{AST, Dynamic, Engine, FnPtr, Position};

use super::Progress;
use super::checks::{Check, Kind};
use super::error::{Said, ScriptError, counted};
use super::limit::{DUE_MAX, FAILURES_MAX};
use super::reads::shown;
use super::stage::{Handler, Stage, Strike, What};
use super::value;
use super::words::actors::taken;
use super::words::{peers, servers};
use crate::world::{STEP, World};

/// A script that is ready to run, and what runs it.
pub(super) struct Play<'a> {
    pub(super) engine: &'a Engine,
    pub(super) ast: &'a AST,
    pub(super) stage: &'a Stage,
    /// Whether the first failure ends it.
    pub(super) hasty: bool,
    /// Where it is broken off.
    pub(super) until: Option<Micros>,
    /// Where it says how far it is.
    pub(super) progress: &'a Progress,
}

impl Play<'_> {
    /// Run to the end, or to the first mistake of the script; whether it came to its end. The world
    /// is on the stage already.
    pub(super) async fn run(&self, runtime: &Runtime) -> Result<bool, ScriptError> {
        let begin = runtime.now();
        self.told(self.begin(), Position::NONE)?;
        let span = self.told(self.stage.plan(), Position::NONE)?.span;
        loop {
            let now = runtime.now().since(begin).min(span);
            let is_broken_off = self.until.is_some_and(|until| until <= now);
            self.stage.0.now.set(now);
            self.progress.set(now, span);
            self.turn()?;
            self.stop_servers().await;
            if span <= now {
                return self.end().map(|()| true);
            }
            if is_broken_off || self.hasty && self.has_failed() {
                return Ok(false);
            }
            let next = self.stage.next_due().unwrap_or(span).max(now + Micros(1));
            let grid = Micros((now.0 / STEP.0 + 1) * STEP.0);
            runtime.sleep_until(begin + grid.min(next).min(span)).await;
        }
    }

    /// Everybody of the data at the top.
    fn begin(&self) -> Said<()> {
        let plan = self.stage.plan()?;
        self.stage.world()?.records().listen();
        for (at, server) in plan.servers.iter().enumerate() {
            if server.starts {
                servers::start(self.stage, at)?;
            }
        }
        let count = self.stage.0.peers.borrow().len();
        (0..count).try_for_each(|at| peers::start(self.stage, at))
    }

    /// What happens at one moment: what is due, what happened, and what must hold.
    fn turn(&self) -> Result<(), ScriptError> {
        let now = self.stage.0.now.get();
        let happenings = {
            let mut world = self.told(self.stage.world(), Position::NONE)?;
            world.turn();
            world.records().take_happenings()
        };
        for happening in happenings {
            let Some(target) = self.stage.target(happening.whose) else { continue };
            self.stage.tell(target, &happening);
            let hears = |it: &&Handler| it.whose == target && it.event == happening.name;
            let handlers = self.stage.0.handlers.borrow();
            let calls: Vec<Handler> = handlers.iter().filter(hears).cloned().collect();
            drop(handlers);
            for Handler { call, place, .. } in calls {
                drop(self.call(&call, Some(&happening.text), place)?);
            }
        }
        let mut count = 0;
        while let Some(due) = self.stage.take_due(now) {
            count += 1;
            if DUE_MAX < count {
                let what = format!(
                    "more than {DUE_MAX} callbacks at one moment; expected each to wait for a \
                     later one"
                );
                return Err(ScriptError::at(&self.stage.0.script, due.place, what));
            }
            match due.what {
                What::Call(call) => drop(self.call(&call, None, due.place)?),
                What::Every(span, call) => {
                    drop(self.call(&call, None, due.place)?);
                    let again =
                        self.stage.call_at(due.at + span, What::Every(span, call), due.place);
                    self.told(again, due.place)?;
                }
                What::Do(act) => self.told(act(self.stage), due.place)?,
            }
        }
        self.told(peers::act(self.stage), Position::NONE)?;
        self.told(peers::look(self.stage), Position::NONE)?;
        self.look()
    }

    /// Look at every condition that is waited for.
    fn look(&self) -> Result<(), ScriptError> {
        let now = self.stage.0.now.get();
        let open = std::mem::take(&mut self.stage.0.checks.borrow_mut().open);
        let mut still = Vec::with_capacity(open.len());
        for check in open {
            let Check { kind, holds, place, .. } = &check;
            let holds = self.call(holds, None, *place)?;
            let Ok(holds) = holds.as_bool() else {
                let found = value::shown(&holds);
                let what = format!("expected a condition, true or false, found {found}");
                return Err(ScriptError::at(&self.stage.0.script, *place, what));
            };
            match kind {
                Kind::By(_) if holds => {}
                Kind::By(by) if *by <= now => self.fails("expected in time", &check),
                Kind::Never if holds => self.fails("expected never", &check),
                _ => still.push(check),
            }
        }
        let mut checks = self.stage.0.checks.borrow_mut();
        still.append(&mut checks.open);
        checks.open = still;
        Ok(())
    }

    /// The last word: every check was reached, and every panic came. What a run that goes without
    /// some of its deeds does not reach says nothing.
    fn end(&self) -> Result<(), ScriptError> {
        if self.has_failed() || !self.stage.0.without.is_empty() {
            return Ok(());
        }
        self.reached()?;
        let strikes = self.stage.0.strikes.borrow();
        let world = self.told(self.stage.world(), Position::NONE)?;
        let registry = world.runtime().registry();
        let left = registry.faults().left();
        let missed =
            |it: &&Strike| left.iter().any(|(path, nth)| (path, *nth) == (&it.path, it.nth));
        let Some(Strike { path, nth, actor, place }) = strikes.iter().find(missed) else {
            return Ok(());
        };
        let had = match registry.report(path) {
            Some(report) => format!("had {} by the end", counted(taken(&report), "message")),
            None => "is not there at the end".to_owned(),
        };
        let what = format!("this panic never came: {actor} {had}, expected {nth} of them");
        Err(ScriptError::at(&self.stage.0.script, *place, what))
    }

    fn reached(&self) -> Result<(), ScriptError> {
        let unreached = self.stage.0.checks.borrow().unreached(self.ast);
        match unreached.first() {
            None => Ok(()),
            Some(place) => {
                let what = "this check was never evaluated: what should have called it did not \
                            happen; expected every check that stands under no `if` to be reached";
                Err(ScriptError::at(&self.stage.0.script, *place, what))
            }
        }
    }

    async fn stop_servers(&self) {
        let stopping = std::mem::take(&mut *self.stage.0.stopping.borrow_mut());
        for (server, scope) in stopping {
            scope.stop().await;
            if let Some(world) = &mut *self.stage.0.world.borrow_mut() {
                world.has_stopped(server);
            }
        }
    }

    fn has_failed(&self) -> bool {
        self.stage.0.world.borrow().as_ref().is_some_and(World::has_failed)
    }

    /// A check that was just looked at has failed.
    fn fails(&self, expected: &str, check: &Check) {
        let mut found = self.held(&check.holds);
        found.extend(self.stage.0.reads.borrow_mut().take());
        let place = self.stage.0.script.place(check.place, found);
        if let Some(world) = &mut *self.stage.0.world.borrow_mut()
            && world.failures() < FAILURES_MAX
        {
            world.fail_at(format!("{expected}: {}", check.name), Some(place));
        }
    }

    /// The variables that a callback shares with what is around it, other than servers, peers and
    /// functions.
    fn held(&self, call: &FnPtr) -> Vec<(String, String)> {
        let mut functions = self.ast.iter_functions();
        let params = functions.find(|it| it.name == call.fn_name()).map(|it| it.params);
        let params = params.unwrap_or_default().into_iter();
        let values = params.zip(call.curry().iter());
        let values = values.map(|(name, value)| (name, value.clone().flatten()));
        let is_plain = |value: &Dynamic| {
            value.is_int() || value.is_float() || value.is_bool() || value.is_string()
        };
        let plain = values.filter(|(_, value)| is_plain(value));
        plain.map(|(name, value)| (name.to_owned(), shown(&value))).collect()
    }

    /// Call a callback, with the text of an event if it takes one.
    fn call(
        &self,
        call: &FnPtr,
        text: Option<&str>,
        place: Position,
    ) -> Result<Dynamic, ScriptError> {
        self.stage.0.reads.borrow_mut().forget();
        let result = match text.filter(|_| self.takes_text(call)) {
            Some(text) => call.call(self.engine, self.ast, (text.to_owned(),)),
            None => call.call(self.engine, self.ast, ()),
        };
        result.map_err(|error| ScriptError::running(&self.stage.0.script, &error, place))
    }

    /// Whether a callback has a parameter beside the variables that it shares.
    fn takes_text(&self, call: &FnPtr) -> bool {
        let functions = self.ast.iter_functions();
        let params = functions.filter(|it| it.name == call.fn_name()).map(|it| it.params.len());
        params.max().is_some_and(|params| params.saturating_sub(call.curry().len()) == 1)
    }

    fn told<T>(&self, said: Said<T>, place: Position) -> Result<T, ScriptError> {
        said.map_err(|error| ScriptError::running(&self.stage.0.script, &error, place))
    }
}
