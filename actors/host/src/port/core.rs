//! Core: what a port shares with its shell: two lanes and the accounting, under one short lock.
//!
//! Used by ports (offering) and shells (taking). Never runs foreign code under the lock: messages
//! are dropped and wakers called after it is released.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use dh_machine::planted::{self, Bug};
use dh_machine::{ActorMessage, Lane, Micros, Overflow, Spec};

use super::lane::{Held, Queue};
use super::stats::{Counts, Glance, PortStats};
use super::waiter::{Sender, Waiter, WaiterId, Waiters};
use super::{Refused, Why};
use crate::clock::Clock;
use crate::flight::sender;
use crate::metrics::bump;
use crate::registry::ActorId;

/// How often a full port is told in the log.
const TOLD_FULL_EVERY: Micros = Micros::from_secs(10);

/// Wakes the driver of an actor; called at most once until its shell has taken a turn.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;

/// What a shell may be told past its lanes, as bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command(u8);

impl Command {
    /// End in order: what waits in the control lane is still handled.
    pub(crate) const STOP: Self = Self(1);
    /// Remake the machine.
    pub(crate) const RESTART: Self = Self(1 << 1);
    /// Drop everything.
    pub(crate) const KILL: Self = Self(1 << 2);
    /// End because the supervisor gives this actor up.
    pub(crate) const GIVE_UP: Self = Self(1 << 3);
    /// End because a message that must never be refused found its lane full.
    pub(crate) const OVERFLOWED: Self = Self(1 << 4);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// What every message and every look touches comes first, in one line of a cache.
#[repr(C)]
pub(crate) struct Core<M> {
    /// Changes with everything that changes under the lock.
    moves: AtomicU64,
    /// A wake is on its way to the driver.
    pending: AtomicBool,
    commands: AtomicU8,
    place_free: AtomicBool,
    data_wakes: bool,
    lanes: Mutex<Lanes<M>>,
    wake: OnceLock<Wake>,
    /// Whose port this is; none while it belongs to nobody.
    owner: OnceLock<(ActorId, String)>,
    /// When it was last told that a lane is full, plus one; zero for never.
    told_full: AtomicU64,
    pub(crate) id: WaiterId,
    pub(crate) clock: Clock,
}

struct Lanes<M> {
    control: Queue<M>,
    data: Queue<M>,
    control_waiters: Waiters,
    data_waiters: Waiters,
    counts: Box<[Counts]>,
    in_hand: Option<usize>,
    /// The kind of a message that must never have found its lane full.
    overflowed: Option<usize>,
    closed: bool,
}

impl<M> Lanes<M> {
    fn lane(&mut self, lane: Lane) -> (&mut Queue<M>, &mut Waiters) {
        match lane {
            Lane::Control => (&mut self.control, &mut self.control_waiters),
            Lane::Data => (&mut self.data, &mut self.data_waiters),
        }
    }
}

/// How the message in hand ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    Handled,
    Lost,
}

/// What the shell takes next.
pub(crate) enum Taken<M> {
    Message(Held<M>),
    /// Too old; ask again.
    Expired,
    Nothing,
}

/// What happened to an offer, with what must be dropped or done after the lock.
enum Outcome<M> {
    Queued,
    Replaced(Held<M>),
    Dropped(Held<M>),
    Refused(Held<M>, Why),
    Overflowed(Held<M>),
}

impl<M: ActorMessage> Core<M> {
    pub(crate) fn new(spec: &Spec, clock: Clock) -> Self {
        let kinds = M::KINDS.len();
        let lanes = Lanes {
            control: Queue::new(spec.control_max, kinds),
            data: Queue::new(spec.data_max, kinds),
            control_waiters: Waiters::default(),
            data_waiters: Waiters::default(),
            counts: vec![Counts::default(); kinds].into_boxed_slice(),
            in_hand: None,
            overflowed: None,
            closed: false,
        };
        Self {
            moves: AtomicU64::new(0),
            pending: AtomicBool::new(false),
            commands: AtomicU8::new(0),
            place_free: AtomicBool::new(false),
            data_wakes: spec.data_wakes,
            lanes: Mutex::new(lanes),
            wake: OnceLock::new(),
            owner: OnceLock::new(),
            told_full: AtomicU64::new(0),
            id: WaiterId::new(),
            clock,
        }
    }

    /// Offer one message. `waiter` is asked for only where the message has to wait for a place.
    pub(crate) fn offer(
        &self,
        msg: M,
        deadline: Micros,
        waiter: impl FnOnce() -> Option<Waiter>,
    ) -> Result<(), Refused<M>> {
        let (kind, lane, overflow) = (msg.kind(), msg.lane(), msg.overflow());
        let key = if let Overflow::Coalesce(key) = overflow { Some(key) } else { None };
        let now = self.clock.now();
        let held = Held { msg, kind, key, at: now, from: sender(), deadline };
        let mut lanes = self.change();
        let outcome = lanes.offer(held, lane, overflow, waiter);
        drop(lanes);
        match outcome {
            Outcome::Queued | Outcome::Replaced(_) | Outcome::Dropped(_) => {
                if matches!(outcome, Outcome::Dropped(_)) {
                    self.tell_full(kind, now);
                }
                if lane == Lane::Control || self.data_wakes {
                    self.wake();
                }
                Ok(())
            }
            Outcome::Refused(held, why) => {
                if why == Why::Full {
                    self.tell_full(kind, now);
                }
                Err(Refused { msg: held.msg, why })
            }
            Outcome::Overflowed(held) => {
                self.command(Command::OVERFLOWED);
                Err(Refused { msg: held.msg, why: Why::Full })
            }
        }
    }

    /// From now on this is the port of the actor of this number and path.
    pub(crate) fn owned_by(&self, id: ActorId, path: &str) {
        let _ = self.owner.set((id, path.to_owned()));
    }

    /// Whose port this is.
    pub(crate) fn owner(&self) -> ActorId {
        self.owner.get().map_or(ActorId::NOBODY, |(id, _)| *id)
    }

    /// One line in [`TOLD_FULL_EVERY`] that a lane is full; the counts have the rest.
    fn tell_full(&self, kind: usize, now: Micros) {
        let told = self.told_full.load(Ordering::Relaxed);
        let quiet = told > 0 && now.since(Micros(told - 1)) < TOLD_FULL_EVERY;
        let next = now.0.saturating_add(1);
        let ours = !quiet
            && self
                .told_full
                .compare_exchange(told, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if ours && let Some((_, name)) = self.owner.get() {
            let counts = self.lock().counts[kind];
            tracing::warn!(
                actor = name,
                kind = M::KINDS[kind],
                "its queue is full: {} refused, {} dropped of {} so far",
                counts.refused,
                counts.dropped,
                counts.offered,
            );
        }
    }

    /// Settle the message in hand and take the next, control first.
    pub(crate) fn take(&self, last: Option<Settled>, data: bool, now: Micros) -> Taken<M> {
        let mut lanes = self.change();
        lanes.settle(last);
        debug_assert!(lanes.in_hand.is_none(), "a message in hand is settled before the next");
        let (held, lane) = match lanes.control.pop() {
            Some(held) => (held, Lane::Control),
            None => match data.then(|| lanes.data.pop()).flatten() {
                Some(held) => (held, Lane::Data),
                None => return Taken::Nothing,
            },
        };
        let (queue, waiters) = lanes.lane(lane);
        let (room, empty) = (queue.room(), queue.len() == 0);
        let woken = (!waiters.is_empty()).then(|| waiters.leave(room, empty));
        let fresh = now <= held.deadline;
        if fresh {
            lanes.in_hand = Some(held.kind);
        } else {
            lanes.counts[held.kind].expired += 1;
            lanes.counts[held.kind].depth -= 1;
        }
        drop(lanes);
        woken.into_iter().flatten().for_each(Waiter::wake);
        if fresh { Taken::Message(held) } else { Taken::Expired }
    }

    /// Settle the message in hand without taking another.
    pub(crate) fn settle(&self, last: Settled) {
        self.change().settle(Some(last));
    }

    /// Change the bound of a lane, whose peak counts from now on. Refused with its depth where more
    /// wait there: nothing is thrown away for a bound, and no lane is ever above its own.
    pub(crate) fn bound(&self, lane: Lane, max: usize) -> Result<(), usize> {
        let mut lanes = self.change();
        let (queue, waiters) = lanes.lane(lane);
        queue.set_max(max)?;
        let (room, empty) = (queue.room(), queue.len() == 0);
        let woken = waiters.leave(room, empty);
        drop(lanes);
        woken.into_iter().for_each(Waiter::wake);
        Ok(())
    }

    /// Refuse all offers from now on; what waits stays.
    pub(crate) fn refuse(&self) {
        self.change().closed = true;
    }

    /// Refuse all offers from now on; what waits or is in hand is lost, and whoever waits is told.
    pub(crate) fn close(&self) {
        let mut lanes = self.change();
        lanes.closed = true;
        lanes.settle(Some(Settled::Lost));
        let mut lost = Vec::with_capacity(lanes.control.len() + lanes.data.len());
        while let Some(held) = lanes.control.pop() {
            lost.push(held);
        }
        while let Some(held) = lanes.data.pop() {
            lost.push(held);
        }
        for held in &lost {
            lanes.counts[held.kind].lost += 1;
            lanes.counts[held.kind].depth -= 1;
        }
        let control = lanes.control_waiters.leave(0, true);
        let data = lanes.data_waiters.leave(0, true);
        drop(lanes);
        control.into_iter().chain(data).for_each(Waiter::wake);
    }

    /// Messages that wait now: control, data.
    pub(crate) fn waiting(&self) -> (usize, usize) {
        let lanes = self.lock();
        (lanes.control.len(), lanes.data.len())
    }

    /// The kind of the message that must never have found its lane full, if it came to that.
    pub(crate) fn overflowed(&self) -> Option<&'static str> {
        self.lock().overflowed.map(|kind| M::KINDS[kind])
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// What [`PortStats::balanced`] says, without making any.
    pub(crate) fn is_balanced(&self) -> bool {
        let lanes = self.lock();
        lanes.counts.iter().all(Counts::balanced)
            && [&lanes.control, &lanes.data].iter().all(|queue| queue.peak() <= queue.max())
    }

    pub(crate) fn stats(&self) -> PortStats {
        let lanes = self.lock();
        PortStats {
            kinds: M::KINDS.iter().copied().zip(lanes.counts.iter().copied()).collect(),
            control: lanes.control.stats(),
            data: lanes.data.stats(),
            closed: lanes.closed,
        }
    }

    /// Both lanes and all kinds added up, without making any table.
    pub(crate) fn glance(&self) -> Glance {
        let lanes = self.lock();
        let total = lanes.counts.iter().fold(Counts::default(), |sum, more| sum.plus(more));
        let (control, data) = (lanes.control.stats(), lanes.data.stats());
        Glance { total, control, data, closed: lanes.closed }
    }

    /// Tell the driver, unless it has been told since its last turn.
    pub(crate) fn wake(&self) {
        if !self.pending.swap(true, Ordering::AcqRel)
            && let Some(wake) = self.wake.get()
        {
            wake();
        }
    }

    /// A turn begins: whatever is offered from here on wakes the driver again.
    pub(crate) fn turn_begins(&self) {
        self.pending.store(false, Ordering::SeqCst);
    }

    /// The driver is there; tells it at once, since offers may have come before it.
    pub(crate) fn driven_by(&self, wake: Wake) {
        if self.wake.set(wake).is_ok() {
            self.pending.store(false, Ordering::SeqCst);
            self.wake();
        }
    }

    pub(crate) fn command(&self, command: Command) {
        self.commands.fetch_or(command.0, Ordering::AcqRel);
        self.wake();
    }

    /// What was commanded and not yet obeyed; it stays until taken.
    pub(crate) fn commanded(&self) -> Command {
        Command(self.commands.load(Ordering::Acquire))
    }

    pub(crate) fn take_commands(&self) -> Command {
        Command(self.commands.swap(0, Ordering::AcqRel))
    }

    /// Whether a place became free where this actor waits, since the last look.
    pub(crate) fn take_place_free(&self) -> bool {
        self.place_free.load(Ordering::Relaxed) && self.place_free.swap(false, Ordering::AcqRel)
    }

    /// A number that changes when anything does that [`Core::stats`] tells; read without the lock.
    pub(crate) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Lock to change something.
    fn change(&self) -> MutexGuard<'_, Lanes<M>> {
        let lanes = self.lock();
        bump(&self.moves, 1);
        lanes
    }

    // Nothing under the lock can panic half way, so a poisoned lock is still whole.
    fn lock(&self) -> MutexGuard<'_, Lanes<M>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Lanes<M> {
    fn offer(
        &mut self,
        held: Held<M>,
        lane: Lane,
        overflow: Overflow,
        waiter: impl FnOnce() -> Option<Waiter>,
    ) -> Outcome<M> {
        let kind = held.kind;
        if self.closed {
            return self.refuse(held, Why::Closed);
        }
        let (queue, waiters) = self.lane(lane);
        let held = match held.key {
            Some(key) => match queue.replace(key, held) {
                Ok(old) => {
                    self.counts[kind].offered += 1;
                    self.counts[kind].coalesced += 1 + u64::from(planted::is(Bug::CountedTwice));
                    return Outcome::Replaced(old);
                }
                Err(held) => held,
            },
            None => held,
        };
        let mut dropped = None;
        if queue.room() == 0 {
            queue.hit();
            match overflow {
                Overflow::DropOldest => match queue.pop_kind(kind) {
                    Some(old) => dropped = Some(old),
                    None => return self.refuse(held, Why::Full),
                },
                Overflow::Refuse | Overflow::Coalesce(_) => return self.refuse(held, Why::Full),
                Overflow::Wait => {
                    if let Some(waiter) = waiter() {
                        waiters.join(waiter);
                    }
                    self.counts[kind].waited += 1;
                    return Outcome::Refused(held, Why::MustWait);
                }
                Overflow::Fatal => {
                    self.overflowed = Some(kind);
                    self.closed = true;
                    self.counts[kind].offered += 1;
                    self.counts[kind].refused += 1;
                    return Outcome::Overflowed(held);
                }
            }
        }
        queue.push(held);
        let counts = &mut self.counts[kind];
        counts.offered += 1;
        match dropped {
            Some(old) => {
                counts.dropped += 1;
                Outcome::Dropped(old)
            }
            None => {
                counts.depth += 1;
                Outcome::Queued
            }
        }
    }

    fn refuse(&mut self, held: Held<M>, why: Why) -> Outcome<M> {
        self.counts[held.kind].offered += 1;
        self.counts[held.kind].refused += 1;
        Outcome::Refused(held, why)
    }

    fn settle(&mut self, last: Option<Settled>) {
        let (Some(last), Some(kind)) = (last, self.in_hand) else { return };
        self.in_hand = None;
        let counts = &mut self.counts[kind];
        counts.depth -= 1;
        match last {
            Settled::Handled => counts.handled += 1,
            Settled::Lost => counts.lost += 1,
        }
    }
}

impl<M: ActorMessage> Sender for Core<M> {
    fn place_free(&self) {
        self.place_free.store(true, Ordering::Release);
        self.wake();
    }
}

impl<M> std::fmt::Debug for Core<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use dh_machine::{Restart, Strategy, actor_message};

    use super::*;

    actor_message! {
        /// One kind.
        enum Only {
            One: Data Refuse,
        }
    }

    /// D4
    #[test]
    fn an_accounting_that_does_not_add_up_is_seen_at_a_glance_and_in_full() {
        let spec = Spec {
            kind: "only",
            control_max: 1,
            data_max: 1,
            data_wakes: true,
            restart: Restart { count: 0, window: Micros(0) },
            strategy: Strategy::OneForOne,
            ask_deadline: None,
            asks: &[],
        };
        let core = Core::<Only>::new(&spec, Clock::real());
        assert!(core.offer(Only::One, Micros(u64::MAX), || None).is_ok());
        assert!(core.offer(Only::One, Micros(u64::MAX), || None).is_err());
        assert!(core.is_balanced() && core.stats().balanced());
        core.lock().counts[0].handled += 1;
        assert!(!core.is_balanced() && !core.stats().balanced());
    }
}
