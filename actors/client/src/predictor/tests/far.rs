//! The far end: a server's queue and mover for one pawn, without anything between.

use std::sync::Arc;

use dh_machine::{Tick, TickRate};
use dh_messages::{
    EntityId, Input, PawnFlags, Section, Snapshot, SnapshotHead, WorldSettings, decode,
};
use dh_netcode::{InputQueue, Taken};
use dh_sim::{MoverSettings, MoverState, SolidCasts, Solids, step};
use glam::Vec3;

/// The pawn of every test.
pub(super) const PAWN: EntityId = EntityId(7);

/// One pawn on a server; a test may do to it what a server could.
pub(super) struct Far {
    pub(super) state: MoverState,
    pub(super) epoch: u8,
    pub(super) queue: InputQueue,
    pub(super) tick: Tick,
    pub(super) settings: WorldSettings,
    /// The wish that each tick was stepped with, and whether it was fresh.
    pub(super) taken: Vec<Taken>,
    rate: TickRate,
    solids: Arc<Solids>,
}

impl Far {
    pub(super) fn new(rate: TickRate, solids: Arc<Solids>) -> Self {
        Self {
            // Beside the wall, where nothing is in the way for 40 m.
            state: MoverState::standing(Vec3::new(22.5, 0.01, 22.0), 0.0),
            epoch: 0,
            queue: InputQueue::default(),
            tick: Tick(0),
            settings: WorldSettings::default(),
            taken: Vec::new(),
            rate,
            solids,
        }
    }

    pub(super) fn hear(&mut self, datagram: &[u8]) {
        let input: Input = decode(&datagram[1..]).unwrap();
        for input in input.inputs.iter().rev() {
            self.queue.offer(*input);
        }
    }

    /// One tick, and what the client is told of it.
    pub(super) fn step(&mut self) -> Arc<Snapshot> {
        self.tick = self.tick.next();
        let taken = self.queue.take();
        self.taken.push(taken);
        self.repeat(&taken);
        self.snapshot()
    }

    /// Move the pawn by what a tick took, outside of any tick's count: a starved tick more.
    pub(super) fn repeat(&mut self, taken: &Taken) {
        if let Some(input) = taken.input() {
            let mover = MoverSettings::new(self.rate, self.settings.noclip_speed);
            let mut casts = SolidCasts::new(&self.solids);
            self.state = step(&self.state, input, &mover, &mut casts);
        }
    }

    /// What the client is told of the last tick.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        let head = SnapshotHead {
            tick: self.tick.0,
            input_ack: self.queue.ack(),
            world: self.settings,
            owner: Section(self.state.to_owner_detail(PAWN, self.queue.depth(), self.epoch)),
            ..SnapshotHead::default()
        };
        Arc::new(Snapshot::new(head, vec![self.state.to_record(PAWN, self.epoch)]))
    }

    pub(super) fn teleport(&mut self, feet: Vec3) {
        self.state = MoverState::standing(feet, self.state.yaw);
        self.epoch = self.epoch.wrapping_add(1);
    }

    pub(super) fn set_noclip(&mut self, on: bool) {
        self.state.flags = self.state.flags.with(PawnFlags::NOCLIP, on);
    }
}
