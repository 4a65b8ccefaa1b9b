//! What the tick does: messages and time in, frames and answers out.

mod arrivals;
mod journal;
mod recovery;
mod turns;

use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{EntityId, PlayerInput};
use dh_prefs::Prefs;
use dh_sim::{Frame, Ground};

use super::{
    Arrival, Deed, Effect, Joining, Kept, PeerInputs, Place, TickCommand, TickMsg, Ticking,
};
use crate::PeerId;
use crate::prefs::Pace;

/// A tick with its time and everything it wanted done.
struct Loop {
    ticking: Ticking,
    now: Micros,
    published: Vec<(Arc<Frame>, Vec<PeerId>)>,
    kept: Option<Arc<Kept>>,
    other: Vec<Effect>,
}

impl Loop {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(prefs: &[&str]) -> Self {
        Self::of(
            Ticking::new(TickRate::DEFAULT, Ground::gray_box(), Pace::of(&set(prefs)), Micros(0)),
            Micros(0),
        )
    }

    fn of(ticking: Ticking, now: Micros) -> Self {
        Self { ticking, now, published: Vec::new(), kept: None, other: Vec::new() }
    }

    fn tell(&mut self, msg: TickMsg) {
        let mut out = Outbox::default();
        self.ticking.handle(self.now, msg, &mut out);
        self.take(out);
    }

    /// One turn at `now`; the ticks it published.
    fn turn(&mut self, now: Micros) -> Vec<Tick> {
        let (mut out, before) = (Outbox::default(), self.published.len());
        self.now = now;
        self.ticking.wake(now, &mut out);
        self.take(out);
        self.published[before..].iter().map(|(frame, _)| frame.tick()).collect()
    }

    /// So many ticks, each on time.
    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            let due = self.ticking.next_deadline().unwrap();
            assert_eq!(self.turn(due).len(), 1);
        }
    }

    fn take(&mut self, mut out: Outbox<Effect>) {
        for effect in out.drain() {
            match effect {
                Effect::Publish(frame, peers) => self.published.push((frame, peers)),
                Effect::Keep(kept) => self.kept = Some(kept),
                other => self.other.push(other),
            }
        }
    }

    fn join(&mut self, peer: u32, slot: u8) -> EntityId {
        self.tell(TickMsg::Join(Joining { peer: PeerId(peer), slot }));
        let Some(Effect::Spawned(whose, spawned)) = self.other.pop() else { panic!() };
        assert_eq!(whose, PeerId(peer));
        spawned.pawn
    }

    fn walk(&mut self, peer: u32, sequence: u32) {
        let input = PlayerInput { sequence, move_z: 127, ..PlayerInput::default() };
        self.tell(TickMsg::Inputs(PeerInputs { peer: PeerId(peer), inputs: vec![input] }));
    }

    fn arrive(&mut self, peer: u32, generation: u32) {
        self.tell(TickMsg::Arrived(Arrival { peer: PeerId(peer), generation }));
    }

    fn command(&mut self, slot: u8, deed: Deed) -> String {
        self.tell(TickMsg::Command(TickCommand { id: 8, slot, deed }));
        let Some(Effect::Answer(line)) = self.other.pop() else { panic!() };
        assert_eq!(line.id, 8);
        line.text
    }

    fn prefs(&mut self, prefs: &[&str]) {
        self.tell(TickMsg::Prefs(Arc::new(set(prefs))));
    }

    fn frame(&self) -> &Frame {
        &self.published.last().unwrap().0
    }

    fn feet(&self, pawn: EntityId) -> [f32; 3] {
        self.frame().owner(pawn).unwrap().state.feet.to_array()
    }

    fn digest(&self) -> u64 {
        let mut digest = Digest::new();
        self.ticking.digest(&mut digest);
        digest.value()
    }
}

fn set(prefs: &[&str]) -> Prefs {
    let mut all = Prefs::default();
    for pref in prefs {
        all.set_argument(pref).unwrap();
    }
    all
}
