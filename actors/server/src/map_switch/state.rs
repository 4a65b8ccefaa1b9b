//! What a map switch decides: whether a request is taken, when the map comes to stand. Pure.

use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_pallet::printable;
use dh_sim::Solids;

use super::{Installed, MapSwitchMsg};
use crate::roster::ConsoleLine;

/// What a map switch wants done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Begin to prepare the map that this line names; `More` or `Failed` follows.
    Prepare(ConsoleLine),
    /// Do the next piece; `More`, `Prepared` or `Failed` follows.
    Step,
    /// Hand the map to the tick; `Installed` follows.
    Commit,
    /// Keep what stood before, until it can be let go of at leisure.
    Retire(Arc<Solids>),
    /// The last word on the map that was asked for.
    Answer(ConsoleLine),
    /// A request that is turned down at once.
    Refuse(ConsoleLine),
}

/// One map at a time.
#[derive(Debug, Default)]
pub struct Switching {
    asked: Option<ConsoleLine>,
    is_committing: bool,
    switches: u64,
}

impl Switching {
    fn switch(&mut self, line: ConsoleLine, out: &mut Outbox<Effect>) {
        if let Some(asked) = &self.asked {
            let busy = printable(&asked.text);
            let text = format!("map: busy with {busy}; ask again when it stands");
            return out.push(Effect::Refuse(ConsoleLine { id: line.id, text }));
        }
        self.asked = Some(line.clone());
        out.push(Effect::Prepare(line));
    }

    /// What was asked for has come to an end.
    fn answer(&mut self, text: impl FnOnce(&str) -> String, out: &mut Outbox<Effect>) {
        self.is_committing = false;
        if let Some(ConsoleLine { id, text: map }) = self.asked.take() {
            out.push(Effect::Answer(ConsoleLine { id, text: text(&printable(&map)) }));
        }
    }
}

impl Machine for Switching {
    type Msg = MapSwitchMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: MapSwitchMsg, out: &mut Outbox<Effect>) {
        match msg {
            MapSwitchMsg::Switch(line) => self.switch(line, out),
            MapSwitchMsg::More if self.asked.is_some() && !self.is_committing => {
                out.push(Effect::Step);
            }
            MapSwitchMsg::Prepared if self.asked.is_some() && !self.is_committing => {
                self.is_committing = true;
                out.push(Effect::Commit);
            }
            MapSwitchMsg::Failed(why) => {
                self.answer(|map| format!("map: {map} was not loaded: {why}"), out);
            }
            MapSwitchMsg::Installed(Installed { generation, former }) => {
                self.switches += 1;
                out.push(Effect::Retire(former));
                self.answer(|map| format!("map: {map} stands (generation {generation})"), out);
            }
            MapSwitchMsg::More | MapSwitchMsg::Prepared => (),
        }
    }

    fn wake(&mut self, _now: Micros, _out: &mut Outbox<Effect>) {}

    fn next_deadline(&self) -> Option<Micros> {
        None
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.switches);
    }
}
