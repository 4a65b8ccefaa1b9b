//! What the predictor decides: when a tick is made, what it leads to, what an answer changes. Pure.

use std::mem;
use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::limit::INPUTS_MAX;
use dh_messages::{EntityId, Few8, Form, Input, PlayerInput, Snapshot, SnapshotAck, WorldSettings, datagram};
use dh_netcode::{AckWindow, ClockSettings, PendingInputs, ReconcileOffset, Stance, TickClock};
use dh_sim::{BoxCasts, MoverSettings, MoverState, Near, Solids, fit_settings, step};

use super::{PredictorMsg, Standing};
use crate::controls::Controls;
use crate::event::{ClientEvent, ClockReading, Correction};

/// Ticks made at once when play begins: as many as should wait at the server, and the one it uses.
const HEAD_START_TICKS: u32 = 3;

/// What the predictor wants done.
#[derive(Debug)]
pub enum Effect {
    /// Send one input datagram.
    Input {
        /// The whole datagram.
        datagram: Vec<u8>,
        /// The newest sequence in it.
        sequence: u32,
    },
    /// The drawn pawn has new ends to be drawn between.
    Predicted(Predicted),
    /// Keep this for a restart.
    Keep(Box<Standing>),
    /// Something for whoever watches.
    Tell(ClientEvent),
}

/// The own pawn, as a picture needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// When `newest` was made.
    pub at: Micros,
    /// The pawn.
    pub pawn: EntityId,
    /// One tick before.
    pub before: Stance,
    /// The newest predicted tick.
    pub newest: Stance,
    /// What is added while corrections ease out; as of `at`.
    pub offset: ReconcileOffset,
    /// Heading and elevation, radians.
    pub look: [f32; 2],
    /// From feet to crown, metres.
    pub height: f32,
    /// The server tick of the newest answer.
    pub tick: Tick,
    /// The clock's overlay line.
    pub overlay: String,
}

/// Simulates the own pawn.
#[derive(Debug)]
pub struct Predictor {
    solids: Arc<Solids>,
    /// Space that each tick uses again.
    near: Near,
    standing: Standing,
    watched: bool,
    last_wake: Micros,
    play: Option<Play>,
}

/// One session's prediction.
#[derive(Debug)]
struct Play {
    rate: TickRate,
    clock: TickClock,
    settings: WorldSettings,
    acks: AckWindow,
    pending: PendingInputs<MoverState>,
    offset: ReconcileOffset,
    pawn: Option<Pawn>,
}

/// The own pawn: as it is predicted, and as the server last answered.
#[derive(Debug)]
struct Pawn {
    id: EntityId,
    before: MoverState,
    newest: MoverState,
    answered: MoverState,
    ack: u32,
}

impl Predictor {
    /// A predictor among `solids`, in no session unless it stood in one before a restart.
    #[must_use]
    pub fn new(solids: Arc<Solids>, standing: Standing, watched: bool, now: Micros) -> Self {
        let play = standing.rate.map(|rate| Play::new(rate, standing.clock));
        Self { solids, near: Near::default(), standing, watched, last_wake: now, play }
    }

    fn join(&mut self, now: Micros, rate: TickRate, out: &mut Outbox<Effect>) {
        (self.standing.rate, self.standing.sequence) = (Some(rate), 0);
        self.play = Some(Play::new(rate, self.standing.clock));
        self.last_wake = now;
        out.push(Effect::Keep(Box::new(self.standing.clone())));
    }

    fn leave(&mut self, out: &mut Outbox<Effect>) {
        self.standing.rate = None;
        self.play = None;
        out.push(Effect::Keep(Box::new(self.standing.clone())));
    }

    fn snapshot(&mut self, now: Micros, snapshot: &Snapshot, out: &mut Outbox<Effect>) {
        let Some(play) = &mut self.play else { return };
        let tick = Tick(snapshot.head.tick);
        let is_newest = play.acks.newest() < tick;
        play.acks.apply(tick);
        let owner = snapshot.head.owner.0;
        if !is_newest || owner.pawn.is_none() {
            return;
        }
        play.settings = fit_settings(snapshot.head.world);
        play.clock.observe(tick, owner.depth);
        let record = snapshot.records.iter().find(|record| record.id == owner.pawn);
        let Some(Form::Entity(seen)) = record.map(|record| record.form) else { return };
        let answered = MoverState::from_wire(&owner, [seen.yaw, seen.pitch]);
        if self.watched {
            out.push(Effect::Tell(ClientEvent::Applied(tick)));
            out.push(Effect::Tell(ClientEvent::Clock(play.reading(owner.depth))));
        }
        if play.pawn.as_ref().is_none_or(|pawn| pawn.id != owner.pawn) {
            self.begin(now, owner.pawn, answered, owner.spawn_epoch, out);
            return;
        }
        let placed = play.offset.observe_epoch(owner.spawn_epoch);
        self.reconcile(Answer { tick, ack: snapshot.head.input_ack, answered, placed }, out);
    }

    /// The first answer that names the pawn: prediction starts from it, a few ticks ahead.
    fn begin(
        &mut self,
        now: Micros,
        id: EntityId,
        answered: MoverState,
        epoch: u8,
        out: &mut Outbox<Effect>,
    ) {
        let Some(play) = &mut self.play else { return };
        play.pending.clear();
        play.offset = ReconcileOffset::default();
        play.offset.observe_epoch(epoch);
        let pawn = Pawn { id, before: answered, newest: answered, answered, ack: 0 };
        play.pawn = Some(pawn);
        self.last_wake = now;
        for _ in 0..HEAD_START_TICKS {
            self.tick(out);
        }
        self.show(now, out);
    }

    /// Take the server's answer. Where it is what was predicted, nothing is simulated again.
    fn reconcile(&mut self, answer: Answer, out: &mut Outbox<Effect>) {
        let Some(Play { pawn: Some(pawn), pending, offset, settings, rate, .. }) = &mut self.play
        else {
            return;
        };
        let predicted = match pending.acknowledge(answer.ack) {
            Some(predicted) => predicted,
            // Nothing new was used: the answer before is what this one should repeat.
            None => pawn.answered,
        };
        (pawn.answered, pawn.ack) = (answer.answered, answer.ack);
        if !answer.placed && predicted.same_bits(&answer.answered) {
            if self.watched {
                out.push(Effect::Tell(ClientEvent::Confirmed));
            }
            return;
        }
        let was = pawn.newest;
        let mover = MoverSettings::new(*rate, settings.noclip_speed);
        (pawn.before, pawn.newest) = (answer.answered, answer.answered);
        let mut casts = BoxCasts::reusing(&self.solids, mem::take(&mut self.near));
        pending.replay(|input, state| {
            pawn.before = pawn.newest;
            pawn.newest = step(&pawn.newest, input, &mover, &mut casts);
            *state = pawn.newest;
        });
        self.near = casts.into_near();
        if !answer.placed {
            offset.correct(stance(&was), stance(&pawn.newest));
        }
        if self.watched {
            out.push(Effect::Tell(ClientEvent::Corrected(Correction {
                tick: answer.tick,
                ack: answer.ack,
                metres: (was.feet - pawn.newest.feet).length(),
                replayed: u32::try_from(pending.len()).unwrap_or(u32::MAX),
                placed: answer.placed,
            })));
        }
    }

    /// One tick: what is wanted, what it leads to, and a datagram that says so.
    fn tick(&mut self, out: &mut Outbox<Effect>) {
        let wish = self.standing.controls.next_wish();
        let Some(Play { pawn: Some(pawn), pending, offset, settings, rate, acks, .. }) =
            &mut self.play
        else {
            return;
        };
        self.standing.sequence += 1;
        let input = wish.input(self.standing.sequence);
        let mover = MoverSettings::new(*rate, settings.noclip_speed);
        pawn.before = pawn.newest;
        let mut casts = BoxCasts::reusing(&self.solids, mem::take(&mut self.near));
        pawn.newest = step(&pawn.newest, &input, &mover, &mut casts);
        self.near = casts.into_near();
        if pending.push(input, pawn.newest) {
            offset.clear();
        }
        let mut inputs = Few8::<PlayerInput, INPUTS_MAX>::default();
        for input in pending.newest_first().take(INPUTS_MAX) {
            // Taken above as many as it holds.
            let _ = inputs.push(*input);
        }
        if self.watched {
            let sequences = inputs.iter().map(|input| input.sequence).collect();
            out.push(Effect::Tell(ClientEvent::InputSent(sequences)));
        }
        let snapshot_ack = SnapshotAck { tick: acks.newest().0, mask: acks.mask() };
        let mut bytes = Vec::new();
        if datagram(&mut Input { snapshot_ack, inputs }, &mut bytes).is_ok() {
            let sequence = self.standing.sequence;
            out.push(Effect::Input { datagram: bytes, sequence });
        }
    }

    fn show(&self, now: Micros, out: &mut Outbox<Effect>) {
        let Some(Play { pawn: Some(pawn), offset, clock, acks, .. }) = &self.play else { return };
        out.push(Effect::Predicted(Predicted {
            at: now,
            pawn: pawn.id,
            before: stance(&pawn.before),
            newest: stance(&pawn.newest),
            offset: *offset,
            look: [pawn.newest.yaw, pawn.newest.pitch],
            height: pawn.newest.stance_height,
            tick: acks.newest(),
            overlay: clock.overlay(),
        }));
    }
}

impl Machine for Predictor {
    type Msg = PredictorMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: PredictorMsg, out: &mut Outbox<Effect>) {
        match msg {
            PredictorMsg::Joined(rate) => self.join(now, rate, out),
            PredictorMsg::Left => self.leave(out),
            PredictorMsg::Controls(controls) => {
                self.standing.controls = controls;
                out.push(Effect::Keep(Box::new(self.standing.clone())));
            }
            PredictorMsg::Wish(wish) => self.standing.controls = Controls::Held(wish),
            PredictorMsg::Clock(settings) => {
                self.standing.clock = Some(settings);
                if let Some(play) = &mut self.play {
                    play.clock.set_settings(settings);
                }
                out.push(Effect::Keep(Box::new(self.standing.clone())));
            }
            PredictorMsg::Snapshot(snapshot) => self.snapshot(now, &snapshot, out),
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let elapsed = now.since(self.last_wake);
        self.last_wake = now;
        let Some(play) = &mut self.play else { return };
        if play.pawn.is_none() {
            return;
        }
        play.offset.ease(elapsed);
        let unacked = u32::try_from(play.pending.len()).unwrap_or(u32::MAX);
        let ticks = play.clock.advance(elapsed, play.settings.time_scale, unacked);
        for _ in 0..ticks {
            self.tick(out);
        }
        if ticks > 0 {
            self.show(now, out);
        }
    }

    /// When the next tick falls due at the present rate.
    fn next_deadline(&self) -> Option<Micros> {
        let play = self.play.as_ref()?;
        play.pawn.as_ref()?;
        let left = 1.0 - f64::from(play.clock.fraction());
        let rate = f64::from(play.clock.rate()) * f64::from(play.settings.time_scale);
        let micros = left * 1e6 / (f64::from(play.rate.hz()) * rate);
        Some(self.last_wake + Micros(whole_up(micros)))
    }

    fn digest(&self, digest: &mut Digest) {
        if let Some(pawn) = self.play.as_ref().and_then(|play| play.pawn.as_ref()) {
            pawn.newest.digest(digest);
        }
        digest.word(u64::from(self.standing.sequence));
    }
}

impl Play {
    fn new(rate: TickRate, clock: Option<ClockSettings>) -> Self {
        let settings = clock.unwrap_or_else(|| ClockSettings::new(rate));
        Self {
            rate,
            clock: TickClock::new(settings, rate),
            settings: WorldSettings::default(),
            acks: AckWindow::default(),
            pending: PendingInputs::new(),
            offset: ReconcileOffset::default(),
            pawn: None,
        }
    }

    fn reading(&self, depth: i8) -> ClockReading {
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

/// What one snapshot says of the own pawn.
struct Answer {
    tick: Tick,
    ack: u32,
    answered: MoverState,
    placed: bool,
}

fn stance(state: &MoverState) -> Stance {
    Stance { feet: state.feet.to_array(), eye_height: state.eye_height }
}

/// At least one microsecond, so that a deadline always lies ahead.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a second")]
fn whole_up(micros: f64) -> u64 {
    micros.ceil().max(1.0) as u64
}
