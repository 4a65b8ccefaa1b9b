//! What the map loader decides: which load runs, and when it is over. Pure.

use dh_machine::{Digest, Machine, Micros, Outbox};

use super::{Load, MapLoaderMsg};
use crate::numbered::Numbered;

/// What the map loader wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Open the pallet; `More`, `Failed` or `Forget` follows.
    Begin(Numbered<Load>),
    /// Do the next piece; `More`, `Loaded`, `Failed` or `Forget` follows.
    Step,
    /// Let go of the load that runs.
    Drop,
    /// Hand what was loaded to the connection of this attempt.
    Deliver(u64),
    /// Tell the connection of this attempt that nothing comes of it.
    GiveUp(u64),
}

/// One load at a time, the newest that was wanted.
#[derive(Debug, Default)]
pub struct MapLoading {
    /// The attempt and the generation of the load that runs.
    running: Option<Numbered<u32>>,
    loads: u64,
}

impl MapLoading {
    /// Go on after a panic with the load of this attempt and generation, if there is one.
    #[must_use]
    pub fn resume(running: Option<Numbered<u32>>) -> Self {
        Self { running, loads: 0 }
    }

    fn is_running(&self, it: &Numbered<u32>) -> bool {
        self.running.as_ref() == Some(it)
    }
}

impl Machine for MapLoading {
    type Msg = MapLoaderMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: MapLoaderMsg, out: &mut Outbox<Effect>) {
        match msg {
            MapLoaderMsg::Load(load) => {
                if self.running.is_some() {
                    out.push(Effect::Drop);
                }
                let generation = load.event.wanted.generation;
                self.running = Some(Numbered::new(load.attempt, generation));
                out.push(Effect::Begin(load));
            }
            MapLoaderMsg::Forget => {
                if self.running.take().is_some() {
                    out.push(Effect::Drop);
                }
            }
            MapLoaderMsg::More if self.running.is_some() => out.push(Effect::Step),
            MapLoaderMsg::Loaded(it) if self.is_running(&it) => {
                self.running = None;
                self.loads += 1;
                out.push(Effect::Deliver(it.attempt));
            }
            MapLoaderMsg::Failed(it) if self.is_running(&it) => {
                self.running = None;
                out.push(Effect::GiveUp(it.attempt));
            }
            // What is told of a load that was let go of.
            MapLoaderMsg::More | MapLoaderMsg::Loaded(_) | MapLoaderMsg::Failed(_) => (),
        }
    }

    fn wake(&mut self, _now: Micros, _out: &mut Outbox<Effect>) {}

    fn next_deadline(&self) -> Option<Micros> {
        None
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.loads);
    }
}
