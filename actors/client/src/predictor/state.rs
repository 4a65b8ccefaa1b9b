//! What the predictor decides: when a tick is made, what it leads to, what an answer changes. Pure.

use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox, TickRate};
use dh_messages::limit::INPUTS_MAX;
use dh_messages::{Few8, Input, PlayerInput, Snapshot, SnapshotAck, datagram};
use dh_prefs::Prefs;
use dh_sim::Solids;

use super::play::{Outcome, Play, ticks};
use super::{Predicted, PredictorMsg};
use crate::controls::Controls;
use crate::event::ClientEvent;
use crate::numbered::Numbered;
use crate::prefs;

/// Ticks made at once when a session begins: as many as should wait at the server, and the one it
/// uses.
const HEAD_START_TICKS: u32 = 3;

/// What the predictor wants done.
#[derive(Debug)]
pub enum Effect {
    /// Send one input datagram.
    Input {
        /// The attempt whose session it is for.
        attempt: u64,
        /// The newest sequence in it.
        sequence: u32,
        /// The whole datagram.
        datagram: Vec<u8>,
    },
    /// The drawn pawn has new ends to be drawn between.
    Predicted(Numbered<Predicted>),
    /// Keep this ground for a restart.
    Ground(Arc<Solids>),
    /// Keep this for a restart.
    Keep(Box<Standing>),
    /// Something for whoever watches.
    Tell(ClientEvent),
}

/// What outlives a panic of the predictor.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The session and its tick rate.
    pub session: Option<Numbered<TickRate>>,
    /// The newest input sequence made in it.
    pub sequence: u32,
    /// Whether a few ticks are made at once where prediction begins; after a restart those are
    /// under way already.
    pub starts_ahead: bool,
    /// Who holds the controls.
    pub controls: Controls,
    /// The preferences.
    pub prefs: Arc<Prefs>,
}

/// Simulates the own pawn.
#[derive(Debug)]
pub struct Predictor {
    solids: Arc<Solids>,
    standing: Standing,
    watched: bool,
    /// When the clock was last moved on.
    last_wake: Micros,
    play: Option<Play>,
}

impl Standing {
    /// In no session, with nothing made in one.
    #[must_use]
    pub fn new(controls: Controls, prefs: Arc<Prefs>) -> Self {
        Self { session: None, sequence: 0, starts_ahead: false, controls, prefs }
    }
}

impl Predictor {
    /// A predictor among `solids`, in no session unless it stood in one before a restart.
    #[must_use]
    pub fn new(solids: Arc<Solids>, standing: Standing, watched: bool, now: Micros) -> Self {
        let mut predictor = Self { solids, standing, watched, last_wake: now, play: None };
        predictor.play = predictor.standing.session.as_ref().map(|it| predictor.play_of(it, now));
        predictor
    }

    fn play_of(&self, session: &Numbered<TickRate>, now: Micros) -> Play {
        let Numbered { attempt, event: rate } = *session;
        let clock = prefs::clock(&self.standing.prefs, rate);
        Play::new(attempt, rate, clock, Arc::clone(&self.solids), now)
    }

    fn join(&mut self, now: Micros, session: Numbered<TickRate>, out: &mut Outbox<Effect>) {
        self.play = Some(self.play_of(&session, now));
        (self.standing.session, self.standing.sequence) = (Some(session), 0);
        self.standing.starts_ahead = true;
        self.last_wake = now;
        self.keep(out);
    }

    /// Another map: what was predicted on the one before means nothing there. Sequences go on, so
    /// that what is still under way is told from what follows.
    fn stand_on(&mut self, now: Micros, solids: Arc<Solids>, out: &mut Outbox<Effect>) {
        self.solids = Arc::clone(&solids);
        out.push(Effect::Ground(solids));
        if let Some(session) = &self.standing.session {
            self.play = Some(self.play_of(session, now));
            self.standing.starts_ahead = true;
            self.keep(out);
        }
    }

    fn leave(&mut self, out: &mut Outbox<Effect>) {
        self.standing.session = None;
        self.play = None;
        self.keep(out);
    }

    fn keep(&self, out: &mut Outbox<Effect>) {
        out.push(Effect::Keep(Box::new(self.standing.clone())));
    }

    fn snapshot(&mut self, now: Micros, snapshot: &Arc<Snapshot>, out: &mut Outbox<Effect>) {
        let Some(play) = &mut self.play else { return };
        let outcome = play.take(now, snapshot);
        if outcome == Outcome::Passed {
            return;
        }
        if self.watched {
            let depth = snapshot.head.owner.0.depth;
            out.push(Effect::Tell(ClientEvent::Applied(Arc::clone(snapshot))));
            out.push(Effect::Tell(ClientEvent::Clock(play.reading(depth))));
        }
        match outcome {
            Outcome::Passed => (),
            Outcome::Began => self.begin(now, out),
            Outcome::Confirmed => self.tell(ClientEvent::Confirmed, out),
            Outcome::Corrected(correction) => {
                self.tell(ClientEvent::Corrected(correction), out);
                self.show(out);
            }
        }
    }

    /// Prediction starts, a few ticks ahead.
    fn begin(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        self.last_wake = now;
        if std::mem::take(&mut self.standing.starts_ahead) {
            self.keep(out);
            (0..HEAD_START_TICKS).for_each(|_| self.tick(out));
        }
        self.show(out);
    }

    /// One tick: what is wanted, what it leads to, and a datagram that says so.
    fn tick(&mut self, out: &mut Outbox<Effect>) {
        let Some(play) = &mut self.play else { return };
        self.standing.sequence += 1;
        play.step(self.standing.controls.next_wish().input(self.standing.sequence));
        self.send(out);
    }

    /// The newest inputs that are without an answer, and what came of the server's snapshots.
    fn send(&self, out: &mut Outbox<Effect>) {
        let Some(play) = &self.play else { return };
        let mut inputs = Few8::<PlayerInput, INPUTS_MAX>::default();
        for input in play.pending.newest_first().take(INPUTS_MAX) {
            // Taken above as many as it holds.
            let _ = inputs.push(*input);
        }
        if self.watched {
            let sequences = inputs.iter().map(|input| input.sequence).collect();
            out.push(Effect::Tell(ClientEvent::InputSent(sequences)));
        }
        let snapshot_ack = SnapshotAck::from(play.acks);
        let mut bytes = Vec::new();
        if datagram(&mut Input { snapshot_ack, inputs }, &mut bytes).is_ok() {
            let (attempt, sequence) = (play.attempt, self.standing.sequence);
            out.push(Effect::Input { attempt, sequence, datagram: bytes });
        }
    }

    fn show(&self, out: &mut Outbox<Effect>) {
        let Some(play) = &self.play else { return };
        if let Some(predicted) = play.show(self.last_wake) {
            out.push(Effect::Predicted(Numbered::new(play.attempt, predicted)));
        }
    }

    fn tell(&self, event: ClientEvent, out: &mut Outbox<Effect>) {
        if self.watched {
            out.push(Effect::Tell(event));
        }
    }
}

impl Machine for Predictor {
    type Msg = PredictorMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: PredictorMsg, out: &mut Outbox<Effect>) {
        match msg {
            PredictorMsg::Joined(session) => self.join(now, session, out),
            PredictorMsg::Ground(solids) => self.stand_on(now, solids, out),
            PredictorMsg::Left => self.leave(out),
            PredictorMsg::Controls(controls) => {
                self.standing.controls = controls;
                self.keep(out);
            }
            PredictorMsg::Wish(wish) => {
                self.standing.controls = Controls::Held(wish);
                self.keep(out);
            }
            PredictorMsg::Prefs(changed) => {
                if let Some(play) = &mut self.play {
                    play.clock.set_settings(prefs::clock(&changed, play.rate));
                }
                self.standing.prefs = changed;
                self.keep(out);
            }
            PredictorMsg::Snapshot(Numbered { attempt, event: snapshot }) => {
                if self.play.as_ref().is_some_and(|play| play.attempt == attempt) {
                    self.snapshot(now, &snapshot, out);
                }
            }
        }
    }

    /// The ticks that time has paid for. On a dead link none are made, and the newest inputs go
    /// out again: the answer to them is what ends the hold.
    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let elapsed = now.since(self.last_wake);
        self.last_wake = now;
        let Some(play) = &mut self.play else { return };
        if play.pawn.is_none() {
            return;
        }
        play.ease(now);
        let unacked = u32::try_from(play.pending.len()).unwrap_or(u32::MAX);
        let due = play.clock.advance(elapsed, play.settings.time_scale, unacked);
        let holding = play.clock.holding();
        for _ in 0..due {
            self.tick(out);
        }
        if due > 0 {
            self.show(out);
        }
        if holding {
            self.send(out);
        }
    }

    /// When the next tick falls due at the present rate; at tick pace while none is made.
    fn next_deadline(&self) -> Option<Micros> {
        let play = self.play.as_ref()?;
        play.pawn.as_ref()?;
        let left = if play.clock.holding() { 1.0 } else { 1.0 - play.clock.fraction() };
        // At least one microsecond, so that a deadline always lies ahead.
        Some(self.last_wake + ticks(left, play.pace()).max(Micros(1)))
    }

    fn digest(&self, digest: &mut Digest) {
        if let Some(pawn) = self.play.as_ref().and_then(|play| play.pawn.as_ref()) {
            pawn.newest.digest(digest);
        }
        digest.word(u64::from(self.standing.sequence));
    }
}
