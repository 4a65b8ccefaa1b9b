//! Shell: runs one actor: takes its messages, keeps its panics in, performs its effects.
//!
//! Used by the three drivers, which only decide when a turn happens. One turn takes commands first,
//! then control, then a due deadline, then data, and ends after a bounded amount of work.

mod life;
mod restart;

use std::collections::VecDeque;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use dh_machine::{ActorMessage, Machine, Micros, Outbox};

pub(crate) use self::life::Life;
pub(crate) use self::restart::Budget;

use crate::actor::{Actor, EffectOf, ExitReason, MsgOf, Performed};
use crate::barrier::{PanicNote, guard};
use crate::clock::{micros, nanos};
use crate::flight::{Message, Notes, Sending};
use crate::metrics::{Metrics, bump};
use crate::pacer::Pacing;
use crate::port::{Command, Core, Held, Settled, Taken};
use crate::registry::{Entry, TickRecord};

/// Messages one turn takes.
pub(crate) const TURN_MESSAGES: usize = 64;
/// Time one turn takes messages for. Simulated time stands still meanwhile, so there it never ends
/// a turn.
const TURN_MAX: Micros = Micros::from_millis(1);
/// An actor that lives by deadlines and is done later than this after one has overrun: a flight
/// record is written.
const OVERRUN: Micros = Micros::from_millis(250);
/// Deadlines in the past that a machine may name in a row while time stands still.
const STUCK_MAX: u32 = 10_000;

/// Goes on, or ends the actor.
type Flow = ControlFlow<ExitReason>;

/// When the next turn should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// At the deadline, if there is one, or at the next wake.
    Rest(Option<Micros>),
    /// As soon as others had theirs: there is more to do.
    Again,
    /// Never: the actor has ended.
    Ended,
}

pub(crate) struct Shell<A: Actor> {
    machine: Option<A::Machine>,
    out: Outbox<EffectOf<A>>,
    /// Effects that wait for a place in another port, in order.
    parked: VecDeque<EffectOf<A>>,
    life: Life<A>,
    budget: Budget,
    restarts: u32,
    /// What broke two machines in a row, for the next one to hear of.
    lost: Option<MsgOf<A>>,
    /// Messages taken, over all restarts.
    taken: u64,
    stuck: u32,
    /// Until when no deadline is served, where a fault delays one: whatever the machine is told
    /// meanwhile.
    held: Option<Micros>,
    /// Given by whoever pumps, or standing still in simulation; otherwise read from the clock as
    /// the turn goes on.
    given: Option<Micros>,
    now: Micros,
    /// When this turn takes no more messages.
    until: Micros,
    since: Instant,
    /// When this turn began, and what had been taken by then.
    began: (Instant, u64),
    /// In simulation work takes no time.
    simulated: bool,
    /// Where the flight recorder is on.
    notes: Option<Notes>,
}

impl<A: Actor> Shell<A> {
    pub(crate) fn new(life: Life<A>) -> Self {
        Self {
            machine: None,
            out: Outbox::default(),
            parked: VecDeque::new(),
            budget: Budget::new(A::SPEC.restart),
            restarts: 0,
            lost: None,
            taken: 0,
            stuck: 0,
            held: None,
            given: None,
            now: Micros(0),
            until: Micros(0),
            since: Instant::now(),
            began: (Instant::now(), 0),
            simulated: life.port().core.clock.is_simulated(),
            notes: life.notes(),
            life,
        }
    }

    /// Work for a while. `now` is read from the clock unless it is given.
    pub(crate) fn turn(&mut self, now: Option<Micros>, messages: usize) -> Turn {
        if self.life.has_ended() {
            return Turn::Ended;
        }
        let _turn = Sending::by(self.entry().id);
        self.core().turn_begins();
        self.given = now.or_else(|| self.core().clock.standing());
        let start = Instant::now();
        self.tell_time(start);
        self.began = (start, self.taken);
        self.until = self.now + TURN_MAX;
        let flow = self.work(messages);
        let metrics = &self.entry().metrics;
        bump(&metrics.busy_ns, nanos(start.elapsed()));
        metrics.parked.store(self.parked.len(), Relaxed);
        if self.parked.is_empty() {
            self.entry().waits.place_found();
        }
        // Last: whoever sees it has not missed the others.
        bump(&metrics.turns, 1);
        match flow {
            Continue(()) => self.next(),
            Break(reason) => {
                self.end(reason);
                Turn::Ended
            }
        }
    }

    pub(crate) fn core(&self) -> &Arc<Core<MsgOf<A>>> {
        &self.life.port().core
    }

    pub(crate) fn entry(&self) -> &Arc<Entry> {
        self.life.entry()
    }

    pub(crate) fn pacing(&self) -> Pacing {
        self.life.pacing()
    }

    fn work(&mut self, messages: usize) -> Flow {
        self.obey()?;
        if !self.ready() {
            return Continue(());
        }
        self.retry()?;
        let due = self.deadline().is_some_and(|deadline| deadline <= self.now);
        if A::SPEC.data_wakes {
            let left = self.drain(false, messages)?;
            self.wake_if(due)?;
            self.drain(true, left)?;
        } else if due {
            // What waits now is taken before the deadline is served; what comes meanwhile is not.
            let (control, data) = self.core().waiting();
            self.drain(true, messages.max(control + data))?;
            self.wake_if(due)?;
        } else {
            self.drain(false, messages)?;
        }
        Continue(())
    }

    fn obey(&mut self) -> Flow {
        if self.core().commanded().is_none() {
            return Continue(());
        }
        let commands = self.core().take_commands();
        if commands.has(Command::KILL) {
            return Break(ExitReason::Killed);
        }
        if commands.has(Command::OVERFLOWED) {
            let kind = self.core().overflowed().unwrap_or_default();
            return Break(ExitReason::Overflowed { kind });
        }
        if commands.has(Command::GIVE_UP) {
            return Break(ExitReason::Exhausted);
        }
        if commands.has(Command::RESTART) {
            self.life.awaits_verdict(false);
            self.forget();
            self.restarted();
        }
        if commands.has(Command::STOP) {
            self.core().refuse();
            if self.ready() {
                let (control, _) = self.core().waiting();
                self.drain(false, control)?;
            }
            return Break(ExitReason::Stopped);
        }
        Continue(())
    }

    /// Make the machine where there is none; false while the supervisor has not decided.
    fn ready(&mut self) -> bool {
        while self.machine.is_none() && !self.entry().awaits_verdict() {
            match self.life.make(self.now, self.restarts, self.lost.take()) {
                Ok(Some(machine)) => self.machine = Some(machine),
                Ok(None) => break,
                Err(note) => self.panicked(note),
            }
        }
        self.machine.is_some()
    }

    /// Take up to `limit` messages; how many more there might have been.
    fn drain(&mut self, data: bool, limit: usize) -> ControlFlow<ExitReason, usize> {
        let mut settled = None;
        let mut left = limit;
        while left > 0 && self.takes() && self.now < self.until {
            match self.core().take(settled.take(), data && self.parked.is_empty(), self.now) {
                Taken::Nothing => break,
                Taken::Expired => {}
                Taken::Message(held) => {
                    let (how, flow) = self.handle(held);
                    if let Break(reason) = flow {
                        self.core().settle(how);
                        return Break(reason);
                    }
                    settled = Some(how);
                }
            }
            left -= 1;
        }
        if let Some(how) = settled {
            self.core().settle(how);
        }
        Continue(left)
    }

    /// Whether a message may be taken now. With too many effects parked even control waits.
    fn takes(&self) -> bool {
        self.machine.is_some()
            && self.parked.len() < Outbox::<()>::BOUND
            && self.core().commanded().is_none()
    }

    fn handle(&mut self, held: Held<MsgOf<A>>) -> (Settled, Flow) {
        let metrics = &self.life.entry().metrics;
        let (kind, from, at, wait) = (held.kind, held.from, self.now, self.now.since(held.at));
        metrics.wait.note(wait.0.saturating_mul(1_000));
        metrics.begin(kind, at);
        self.taken += 1;
        let spare = A::spare(&held.msg);
        let is_whole = self.hand_in(held.msg);
        let done = if is_whole || self.hand_in_spare(spare) {
            (Settled::Handled, self.perform())
        } else {
            (Settled::Lost, Continue(()))
        };
        let start = self.since;
        self.tell_time(Instant::now());
        let took = nanos(self.since - start);
        let metrics = &self.life.entry().metrics;
        metrics.handle.note(took);
        metrics.rest();
        if let Some(notes) = &mut self.notes {
            let handle_ns = if self.simulated { 0 } else { took };
            let (to, panicked) = (self.life.entry().id, !is_whole);
            notes.note(&Message { at, from, to, kind, wait, handle_ns, panicked });
        }
        done
    }

    /// Hand the machine a message; whether it took it whole.
    fn hand_in(&mut self, msg: MsgOf<A>) -> bool {
        let (now, nth, machine, out) = (self.now, self.taken, &mut self.machine, &mut self.out);
        let fault = self.life.entry().faults.panics_at(nth, || MsgOf::<A>::KINDS[msg.kind()]);
        let result = guard(|| {
            assert!(!fault, "injected at message {nth}");
            if let Some(machine) = machine {
                machine.handle(now, msg, out);
            }
        });
        result.map_err(|note| self.panicked(note)).is_ok()
    }

    /// A message broke the machine. The one made in its place is handed the spare, if there is one;
    /// whether it took that whole.
    fn hand_in_spare(&mut self, spare: Option<MsgOf<A>>) -> bool {
        if spare.is_none() {
            self.life.entry().faults.forgive(self.taken);
        }
        let last = spare.as_ref().and_then(A::spare);
        if self.ready() && spare.is_some_and(|msg| self.hand_in(msg)) {
            return true;
        }
        self.lost = last;
        self.ready();
        false
    }

    fn wake_if(&mut self, due: bool) -> Flow {
        if !due || self.machine.is_none() || !self.core().commanded().is_none() {
            return Continue(());
        }
        let (now, machine, out) = (self.now, &mut self.machine, &mut self.out);
        let deadline = machine.as_ref().and_then(A::Machine::next_deadline);
        let late = deadline.map_or(Micros(0), |deadline| now.since(deadline));
        let metrics = &self.life.entry().metrics;
        metrics.late.note(late.0.saturating_mul(1_000));
        metrics.begin(Metrics::DEADLINE, now);
        let stuck = &mut self.stuck;
        let result = guard(|| {
            if let Some(machine) = machine {
                machine.wake(now, out);
                let moves = machine.next_deadline().is_none_or(|next| next > now);
                *stuck = if moves { 0 } else { *stuck + 1 };
                assert!(*stuck < STUCK_MAX, "the machine's deadline never moves on");
            }
        });
        let drained = self.since;
        if self.entry().ticks.is_some() {
            self.tell_time(Instant::now());
        }
        let woken = self.since;
        let flow = match result {
            Ok(()) => self.perform(),
            Err(note) => {
                self.panicked(note);
                self.ready();
                Continue(())
            }
        };
        self.tell_time(Instant::now());
        self.entry().metrics.rest();
        self.note_tick(late, drained, woken);
        flow
    }

    /// One more record in the strip of an actor that lives by deadlines.
    fn note_tick(&self, late: Micros, drained: Instant, woken: Instant) {
        let Some(ticks) = &self.entry().ticks else { return };
        let (began, taken) = self.began;
        let clock = &self.core().clock;
        let span = |from: Instant, to: Instant| {
            if self.simulated { Micros(0) } else { micros(to - from) }
        };
        let next = self.machine.as_ref().and_then(A::Machine::next_deadline);
        ticks.write(TickRecord {
            drained: u16::try_from(self.taken - taken).unwrap_or(u16::MAX),
            behind: next.is_some_and(|next| next <= self.now),
            start: self.given.unwrap_or_else(|| clock.at(began)),
            late,
            drain: span(began, drained),
            wake: span(drained, woken),
            perform: span(woken, self.since),
            ..TickRecord::default()
        });
        if late + span(began, self.since) > OVERRUN {
            self.life.record("overrun");
        }
    }

    /// Perform what the machine asked for, in order; from the first that must wait on it is parked.
    fn perform(&mut self) -> Flow {
        while let Some(effect) = self.out.pop() {
            if let Some(effect) = self.perform_one(effect)? {
                self.parked.push_back(effect);
                self.parked.extend(self.out.drain());
            }
        }
        Continue(())
    }

    /// Try parked effects again if a place became free.
    fn retry(&mut self) -> Flow {
        if self.parked.is_empty() || !self.core().take_place_free() {
            return Continue(());
        }
        let mut before = self.entry().waits.place_found();
        while let Some(effect) = self.parked.pop_front() {
            if let Some(effect) = self.perform_one(effect)? {
                self.parked.push_front(effect);
                self.entry().waits.still(before.take());
                break;
            }
            before = None;
        }
        Continue(())
    }

    /// Perform one effect; hands it back if it must wait.
    fn perform_one(&mut self, effect: EffectOf<A>) -> ControlFlow<ExitReason, Option<EffectOf<A>>> {
        match self.life.perform(effect, self.now) {
            Ok(Performed::Done) => Continue(None),
            Ok(Performed::Wait(effect)) => Continue(Some(effect)),
            Ok(Performed::Stop) => Break(ExitReason::Finished),
            Err(note) => {
                self.note_panic(note);
                Break(ExitReason::Broken)
            }
        }
    }

    /// The machine panicked: it is dropped, and made again if the budget allows.
    fn panicked(&mut self, note: PanicNote) {
        self.note_panic(note);
        self.forget();
        if self.budget.allows(self.now) {
            self.restarted();
            self.life.tell_restarted();
        } else {
            self.life.awaits_verdict(true);
            self.life.tell_exhausted();
        }
    }

    fn note_panic(&self, note: PanicNote) {
        let entry = self.entry();
        tracing::error!(actor = entry.path, "panicked: {note}");
        entry.keep_panic(note);
        bump(&entry.metrics.panics, 1);
        self.life.record("panic");
    }

    fn forget(&mut self) {
        // A machine that panics while it is dropped must not take the shell with it.
        let machine = self.machine.take();
        let _ = guard(|| drop(machine));
        self.out.clear();
        self.parked.clear();
        self.stuck = 0;
    }

    fn restarted(&mut self) {
        self.restarts += 1;
        bump(&self.entry().metrics.restarts, 1);
    }

    fn end(&mut self, reason: ExitReason) {
        self.forget();
        self.life.end(reason);
    }

    fn next(&mut self) -> Turn {
        let (control, data) = self.core().waiting();
        let takes = self.takes();
        let takes_data = A::SPEC.data_wakes && self.parked.is_empty();
        if !self.core().commanded().is_none() || takes && (control > 0 || takes_data && data > 0) {
            return Turn::Again;
        }
        Turn::Rest(self.deadline())
    }

    /// When the machine is to be woken next, faults included.
    fn deadline(&mut self) -> Option<Micros> {
        let deadline = self.machine.as_ref()?.next_deadline()?;
        if let Some(until) = self.held {
            if self.now < until {
                return Some(deadline.max(until));
            }
            // This one was late enough; the next may be held again.
            self.held = None;
            return Some(deadline);
        }
        let due = self.entry().faults.delayed(deadline);
        self.held = (due != deadline).then_some(due);
        Some(due)
    }

    fn tell_time(&mut self, instant: Instant) {
        self.since = instant;
        self.now = self.given.unwrap_or_else(|| self.life.port().core.clock.at(instant));
    }
}

#[cfg(test)]
mod tests;
