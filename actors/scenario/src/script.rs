//! Script: a scenario as a file of rhai: who is there as data, what happens as callbacks, what must
//! be true as checks.
//!
//! One thread runs one script in one world; nothing of it is shared. Everything that chance decides
//! follows from the seed.

mod build;
mod checks;
mod content;
mod deed;
mod error;
mod fold;
mod gathered;
mod grown;
pub mod limit;
mod nested;
mod plan;
mod play;
mod printed;
mod progress;
mod reach;
mod reads;
mod review;
mod source;
mod stage;
mod value;
mod watch;
pub mod words;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;

use dh_host::flight::FlightError;
use dh_host::{Runtime, Simulation};
use dh_machine::Micros;
use rhai::packages::{Package as _, StandardPackage};
use rhai::{AST, Dynamic, Engine, OptimizationLevel, Scope, Token};
use xxhash_rust::xxh3::xxh3_64;

pub use self::content::MadePallet;
pub use self::deed::{Deed, DeedKind, Told};
pub use self::error::ScriptError;
use self::error::{Said, wrong};
pub use self::plan::{Plan, Size};
pub use self::printed::Printed;
pub use self::progress::Progress;

use self::play::Play;
use self::stage::Held;
use crate::report::{Place, Report};
use crate::scenario::Transport;
use crate::world::World;

/// A scenario's file, read and not yet run. Cheap to clone, and to send to another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    file: String,
    text: String,
    /// Why there is no text, and whether the file is not there.
    unread: Option<(String, bool)>,
}

/// Under what a script is run.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// Everything that chance decides follows from it.
    pub seed: u64,
    /// How peers reach servers; what the script says where nothing is said here.
    pub transport: Option<Transport>,
    /// Whether the first failure ends the run.
    pub hasty: bool,
    /// Where it is broken off, before its time.
    pub until: Option<Micros>,
    /// The folder a flight record of it is written into at its end.
    pub record: Option<PathBuf>,
    /// Where it says how far it is.
    pub progress: Progress,
    /// Preferences of every server and peer, `KEY=VALUE`, over those that the script says. They
    /// must be right.
    pub prefs: Vec<String>,
    /// The keys of deeds that are left out.
    pub without: BTreeSet<String>,
    /// After this every deed is left out, and the run goes on.
    pub quiet_after: Option<Micros>,
}

/// What a run came to.
#[derive(Debug)]
pub struct Ran {
    /// What was told, and the hashes of everything.
    pub report: Report,
    /// What the script did, in order.
    pub deeds: Vec<Deed>,
    /// The last of what happened, in order.
    pub told: Vec<Told>,
    /// Checks that were looked at, each place of the script counted once.
    pub checks: usize,
    /// Where the script checks something and this run did not come, in order.
    pub unreached: Vec<Place>,
    /// Whether it was broken off before its time.
    pub is_broken_off: bool,
    /// Where the flight record of it lies, if one was asked for.
    pub record: Option<Result<PathBuf, FlightError>>,
    /// The pallets that servers had; a flight record of it is replayed with them.
    pub pallets: Vec<MadePallet>,
    /// What the script printed, in order.
    pub prints: Vec<Printed>,
    /// The mistake of the script that ended the run before its time.
    pub mistake: Option<ScriptError>,
}

/// A script whose own statements have run.
struct Laid {
    engine: Engine,
    ast: AST,
    stage: Held,
}

/// How far a script's own statements came, and what they left.
struct Begun {
    laid: Laid,
    scope: Scope<'static>,
    mistakes: Vec<ScriptError>,
}

impl Script {
    /// The text of a file, by the name it is told by.
    #[must_use]
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        Self { file: file.into(), text: text.into(), unread: None }
    }

    /// A file that could not be read, and why: that is its one mistake.
    #[must_use]
    pub fn unread(file: impl Into<String>, why: impl Into<String>, missing: bool) -> Self {
        Self { unread: Some((why.into(), missing)), ..Self::new(file, "") }
    }

    /// The file, as it was named.
    #[must_use]
    pub fn file(&self) -> &str {
        &self.file
    }

    /// What it shows, in one sentence: the file's name with blanks.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or(&self.file);
        name.strip_suffix(".rhai").unwrap_or(name).replace('_', " ")
    }

    /// What tells it from any other script.
    #[must_use]
    pub fn hash(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }

    /// Run the script's own statements, and hand out its data.
    ///
    /// # Errors
    /// The first mistake, with its place.
    pub fn plan(&self) -> Result<Plan, ScriptError> {
        let laid = self.lay(&Conditions::default())?;
        let plan = laid.stage.0.plan.borrow().clone();
        let plan = plan.ok_or_else(|| self.nothing())?;
        let mut plan = Plan::clone(&plan);
        plan.peers = laid.stage.0.peers.borrow().iter().map(|it| it.plan.clone()).collect();
        Ok(plan)
    }

    /// Run it in a simulated world of its own, on this thread.
    ///
    /// # Errors
    /// A mistake of the script that shows before anything has run.
    pub fn simulate(&self, conditions: &Conditions) -> Result<Ran, ScriptError> {
        let laid = self.lay(conditions)?;
        let simulation = Simulation::new(conditions.seed).recording(conditions.record.is_some());
        Ok(simulation.run(|runtime| self.play(laid, runtime, conditions)))
    }

    /// Run it in a real runtime: real threads, sockets and time.
    ///
    /// # Errors
    /// A mistake of the script that shows before anything has run.
    pub async fn perform(
        &self,
        runtime: Runtime,
        conditions: &Conditions,
    ) -> Result<Ran, ScriptError> {
        let laid = self.lay(conditions)?;
        Ok(self.play(laid, runtime, conditions).await)
    }

    async fn play(&self, laid: Laid, runtime: Runtime, conditions: &Conditions) -> Ran {
        let Laid { engine, ast, stage } = laid;
        // Between processes there is only one way, and a real run is to show what it does.
        let usual = match stage.plan() {
            Ok(plan) if runtime.is_simulated() => plan.transport,
            _ => Transport::Quic,
        };
        let transport = conditions.transport.unwrap_or(usual);
        let world = World::new(runtime.clone(), conditions.seed, transport, true);
        world.records().be_brief();
        *stage.0.world.borrow_mut() = Some(world);
        let Conditions { hasty, until, record, progress, .. } = conditions;
        let (hasty, until) = (*hasty, *until);
        if let Some(folder) = record {
            runtime.flight().keep_in(folder);
        }
        let play = Play { engine: &engine, ast: &ast, stage: &stage, hasty, until, progress };
        let came = play.run(&runtime).await;
        let record = record.as_ref().map(|_| runtime.dump_flight("scenario"));
        let (checks, unreached) = {
            let checks = stage.0.checks.borrow();
            let unreached = checks.passed_by().map(|place| self.place(place, Vec::new()));
            (checks.count(), unreached.collect())
        };
        let world = stage.0.world.take();
        #[expect(clippy::expect_used, reason = "it was put there above")]
        let report = world.expect("a world").finish(self.name(), conditions.seed);
        Ran {
            report,
            deeds: stage.0.done.take(),
            prints: stage.0.prints.take(),
            told: stage.0.told.take().into(),
            checks,
            unreached,
            is_broken_off: matches!(came, Ok(false)),
            record,
            pallets: stage.0.contents.borrow().made(),
            mistake: came.err(),
        }
    }

    /// Everything that is wrong with it and shows before time passes in its world, in the order of
    /// its lines. Whoever runs it is refused by the first of them.
    #[must_use]
    pub fn mistakes(&self) -> Vec<ScriptError> {
        let conditions = Conditions { until: Some(Micros(0)), ..Conditions::default() };
        match self.ready(&conditions) {
            Err(mistakes) => mistakes,
            Ok(laid) => {
                let simulation = Simulation::new(conditions.seed);
                let ran = simulation.run(|runtime| self.play(laid, runtime, &conditions));
                ran.mistake.into_iter().collect()
            }
        }
    }

    fn lay(&self, conditions: &Conditions) -> Result<Laid, ScriptError> {
        self.ready(conditions).map_err(|mut mistakes| mistakes.remove(0))
    }

    /// The script, ready to run; or everything that shows before it runs, at least one mistake.
    fn ready(&self, conditions: &Conditions) -> Result<Laid, Vec<ScriptError>> {
        let Begun { laid, scope, mistakes: of_run } =
            self.begin(conditions).map_err(|mistake| vec![mistake])?;
        let Laid { engine, ast, stage } = &laid;
        let mut mistakes = review::review(self, ast, stage, &scope);
        let unreached = reach::mistakes(self, engine, ast);
        // What hides a check is used wrongly too.
        let is_told = |it: &ScriptError| {
            unreached.iter().any(|other| (other.line, other.column) == (it.line, it.column))
        };
        mistakes.retain(|it| !is_told(it));
        mistakes.extend(unreached);
        mistakes.extend(grown::mistakes(self, ast));
        // The same may show in the text too.
        mistakes.retain(|it| of_run.iter().all(|other| other.line != it.line));
        mistakes.extend(of_run);
        mistakes.sort_by_key(|it| (it.line, it.column));
        mistakes.dedup();
        if mistakes.is_empty() { Ok(laid) } else { Err(mistakes) }
    }

    /// Run the script's own statements, as far as they come.
    fn begin(&self, conditions: &Conditions) -> Result<Begun, ScriptError> {
        if let Some((why, missing)) = &self.unread {
            let error = ScriptError::at(self, rhai::Position::NONE, why);
            return Err(ScriptError { missing: *missing, ..error });
        }
        let stage = Held::new(self, conditions);
        let mut engine = engine();
        words::register(&mut engine, &stage);
        let (prints, debugs) = (stage.clone(), stage.clone());
        engine.on_print(move |text| prints.print(text, rhai::Position::NONE));
        engine.on_debug(move |text, _, place| debugs.print(text, place));
        let ast = engine.compile(&self.text);
        let ast = ast.map_err(|error| ScriptError::parsing(self, &error))?;
        grown::measure(&mut engine, &ast);
        stage.0.checks.borrow_mut().are_of(&ast);
        let mut scope = Scope::new();
        let ran = engine.run_ast_with_scope(&mut scope, &ast);
        let ran = ran.map_err(|error| ScriptError::running(self, &error, rhai::Position::NONE));
        let is_empty = || stage.plan().is_err().then(|| self.nothing());
        let of_data: Vec<ScriptError> = {
            let place = stage.0.place.get();
            let of_data = stage.0.of_data.borrow();
            of_data.iter().map(|error| ScriptError::running(self, error, place)).collect()
        };
        let mistakes = of_data.into_iter().chain(ran.err().or_else(is_empty)).collect();
        Ok(Begun { laid: Laid { engine, ast, stage }, scope, mistakes })
    }

    fn nothing(&self) -> ScriptError {
        let what = "expected `scenario(#{ seconds: N })` at the top";
        ScriptError::at(self, rhai::Position::NONE, what)
    }
}

impl Ran {
    /// Whether everything came that was expected, and the script made no mistake.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.mistake.is_none() && self.report.passed()
    }
}

/// `spawn` is kept for a later version of the language; here it is a word like any other.
#[expect(
    deprecated,
    reason = "the only way to free a reserved word; the library calls it volatile"
)]
fn allow_spawn(engine: &mut Engine) {
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if *word == "spawn" => Token::Identifier(word),
        token => token,
    });
}

/// An engine with the language's own functions, without clocks, files and modules, and with limits.
/// It leaves a text as it is written: what is folded has no places, and what is cut away is missed
/// by nobody.
fn engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine.set_optimization_level(OptimizationLevel::None);
    engine.register_global_module(StandardPackage::new().as_shared_module());
    engine
        .set_max_operations(limit::OPERATIONS_MAX)
        .set_max_call_levels(limit::CALLS_MAX)
        .set_max_expr_depths(limit::DEPTH_MAX, limit::DEPTH_MAX)
        .set_max_variables(limit::VARIABLES_MAX)
        .set_max_functions(limit::FUNCTIONS_MAX)
        .set_max_string_size(limit::TEXT_MAX)
        .set_max_array_size(limit::ARRAY_MAX)
        .set_max_map_size(limit::MAP_MAX)
        .set_max_modules(0);
    allow_spawn(&mut engine);
    // Who only reads a script prints nothing.
    engine.on_print(|_| ()).on_debug(|_, _, _| ());
    engine.disable_symbol("eval");
    // It puts values into a closure that no variable holds, so that nobody can see them there.
    engine.disable_symbol("curry");
    // It would stop the world, and its operations are not counted.
    let wait = || -> Said<()> { Err(wrong("no time passes in here; expected after() or at()")) };
    engine.register_fn("sleep", move |_: i64| wait()).register_fn("sleep", move |_: f64| wait());
    let exit = || -> Said<()> {
        Err(wrong("a scenario ends when its `seconds` are over; expected a check of what is wrong"))
    };
    engine.register_fn("exit", exit).register_fn("exit", move |_: Dynamic| exit());
    watch::watch(&mut engine, limit::MEMORY_MAX);
    engine
}
