//! Play: the prediction of one session: what is predicted, what was answered, what lies between.

use std::mem;
use std::sync::Arc;

use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Tick, TickRate};
use dh_messages::{EntityId, Form, PlayerInput, Snapshot, WorldSettings};
use dh_netcode::{AckWindow, ClockSettings, PendingInputs, ReconcileOffset, Stance, TickClock};
use dh_sim::{MoverSettings, MoverState, Near, SolidCasts, Solids, fit_settings, step};

use super::Predicted;
use crate::event::{ClockReading, Correction};

/// One session's prediction.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) attempt: u64,
    pub(super) rate: TickRate,
    pub(super) clock: TickClock,
    pub(super) settings: WorldSettings,
    pub(super) acks: AckWindow,
    pub(super) pending: PendingInputs<MoverState>,
    pub(super) pawn: Option<Pawn>,
    offset: ReconcileOffset,
    /// Up to when `offset` has eased.
    eased_at: Micros,
    solids: Arc<Solids>,
    /// Space that each tick uses again.
    near: Near,
}

/// The own pawn: as it is predicted, and as the server last answered.
#[derive(Debug)]
pub(super) struct Pawn {
    id: EntityId,
    before: MoverState,
    pub(super) newest: MoverState,
    answered: MoverState,
}

/// What one snapshot came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A newer one was taken before, or it does not say how the own pawn is.
    Passed,
    /// It named the pawn for the first time: prediction starts from it.
    Began,
    /// It answered what was predicted, bit for bit.
    Confirmed,
    /// It answered something else, which was adopted, and the inputs after it were run again.
    Corrected(Correction),
}

/// What a snapshot says of the own pawn.
struct Answer {
    tick: Tick,
    ack: u32,
    state: MoverState,
    placed: bool,
}

impl Play {
    pub(super) fn new(
        attempt: u64,
        rate: TickRate,
        clock: ClockSettings,
        solids: Arc<Solids>,
        now: Micros,
    ) -> Self {
        Self {
            attempt,
            rate,
            clock: TickClock::new(clock, rate),
            settings: WorldSettings::default(),
            acks: AckWindow::default(),
            pending: PendingInputs::new(),
            pawn: None,
            offset: ReconcileOffset::default(),
            eased_at: now,
            solids,
            near: Near::default(),
        }
    }

    /// Take a snapshot, in whatever order they come.
    pub(super) fn take(&mut self, now: Micros, snapshot: &Snapshot) -> Outcome {
        let tick = Tick(snapshot.head.tick);
        let is_newest = self.acks.newest() < tick || planted::is(Bug::StaleSnapshot);
        self.acks.apply(tick);
        let owner = snapshot.head.owner.0;
        if !is_newest || owner.pawn.is_none() {
            return Outcome::Passed;
        }
        self.settings = fit_settings(snapshot.head.world);
        self.clock.observe(tick, owner.depth);
        let Some(record) = snapshot.records.iter().find(|record| record.id == owner.pawn) else {
            return Outcome::Passed;
        };
        let Form::Entity(seen) = &record.form;
        let state = MoverState::from_wire(&owner, [seen.yaw, seen.pitch]);
        self.ease(now);
        if self.pawn.as_ref().is_none_or(|pawn| pawn.id != owner.pawn) {
            self.pending.clear();
            self.offset = ReconcileOffset::default();
            self.offset.observe_epoch(owner.spawn_epoch);
            let pawn = Pawn { id: owner.pawn, before: state, newest: state, answered: state };
            self.pawn = Some(pawn);
            return Outcome::Began;
        }
        let placed = self.offset.observe_epoch(owner.spawn_epoch);
        self.reconcile(&Answer { tick, ack: snapshot.head.input_ack, state, placed })
    }

    /// Take the server's answer. Where it is what was predicted, nothing is simulated again.
    fn reconcile(&mut self, answer: &Answer) -> Outcome {
        let Some(pawn) = &mut self.pawn else { return Outcome::Passed };
        // Where nothing new was used, the answer before is what this one should repeat.
        let predicted = self.pending.acknowledge(answer.ack).unwrap_or(pawn.answered);
        pawn.answered = answer.state;
        if predicted.same_bits(&answer.state) {
            return Outcome::Confirmed;
        }
        let was = pawn.newest;
        let mover = MoverSettings::new(self.rate, self.settings.noclip_speed);
        (pawn.before, pawn.newest) = (answer.state, answer.state);
        let mut casts = SolidCasts::reusing(&self.solids, mem::take(&mut self.near));
        self.pending.replay(|input, state| {
            pawn.before = pawn.newest;
            pawn.newest = step(&pawn.newest, input, &mover, &mut casts);
            *state = pawn.newest;
        });
        self.near = casts.into_near();
        if !answer.placed {
            self.offset.correct(stance(&was), stance(&pawn.newest));
        }
        Outcome::Corrected(Correction {
            tick: answer.tick,
            ack: answer.ack,
            metres: (was.feet - pawn.newest.feet).length(),
            replayed: u32::try_from(self.pending.len()).unwrap_or(u32::MAX),
            placed: answer.placed,
        })
    }

    /// One tick ahead of the server. There is a pawn.
    pub(super) fn step(&mut self, input: PlayerInput) {
        let Some(pawn) = &mut self.pawn else { return };
        let mover = MoverSettings::new(self.rate, self.settings.noclip_speed);
        let mut casts = SolidCasts::reusing(&self.solids, mem::take(&mut self.near));
        pawn.before = pawn.newest;
        pawn.newest = step(&pawn.newest, &input, &mover, &mut casts);
        self.near = casts.into_near();
        if self.pending.push(input, pawn.newest) {
            self.offset.clear();
        }
    }

    /// Corrections fade up to `now`.
    pub(super) fn ease(&mut self, now: Micros) {
        self.offset.ease(now.since(self.eased_at));
        self.eased_at = now;
    }

    /// Ticks a second at the present rate.
    pub(super) fn pace(&self) -> f32 {
        f32::from(self.rate.hz()) * self.clock.rate() * self.settings.time_scale
    }

    /// What a picture needs, eased up to `now`, when the clock last stood at `wake`.
    pub(super) fn show(&self, wake: Micros) -> Option<Predicted> {
        let pawn = self.pawn.as_ref()?;
        let pace = self.pace();
        Some(Predicted {
            pawn: pawn.id,
            at: wake - ticks(self.clock.fraction(), pace),
            pace,
            before: stance(&pawn.before),
            newest: stance(&pawn.newest),
            offset: self.offset,
            eased_at: self.eased_at,
            look: [pawn.newest.yaw, pawn.newest.pitch],
            height: pawn.newest.stance_height,
            tick: self.acks.newest(),
            overlay: self.clock.overlay(),
        })
    }

    pub(super) fn reading(&self, depth: i8) -> ClockReading {
        ClockReading {
            depth,
            smoothed: self.clock.depth().unwrap_or(0.0),
            target: self.clock.target(),
            rate: self.clock.rate(),
            unacked: self.pending.len(),
            holding: self.clock.holding(),
        }
    }
}

/// How long so many ticks take at `pace` ticks a second, rounded up to the microsecond.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most seconds")]
pub(super) fn ticks(count: f32, pace: f32) -> Micros {
    Micros((f64::from(count) * 1e6 / f64::from(pace)).ceil() as u64)
}

fn stance(state: &MoverState) -> Stance {
    Stance { feet: state.feet.to_array(), eye_height: state.eye_height }
}
