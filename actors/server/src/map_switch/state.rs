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
    /// Keep this for a restart.
    Keep(Kept),
}

/// What outlives a panic of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// The line that asked for the map that is prepared.
    pub(super) asked: Option<ConsoleLine>,
    /// Whether the tick has that map.
    pub(super) is_committing: bool,
}

impl Kept {
    /// What is answered for a map that was not loaded.
    pub(super) fn failed(line: &ConsoleLine, why: &str) -> ConsoleLine {
        let text = format!("map: {} was not loaded: {why}", printable(&line.text));
        ConsoleLine { id: line.id, text }
    }

    /// What is answered for a map that stands.
    pub(super) fn stands(line: &ConsoleLine, generation: u32) -> ConsoleLine {
        let text = format!("map: {} stands (generation {generation})", printable(&line.text));
        ConsoleLine { id: line.id, text }
    }
}

/// One map at a time.
#[derive(Debug, Default)]
pub struct Switching {
    it: Kept,
    switches: u64,
}

impl Switching {
    /// Go on after a panic with what was ordered; its next piece is done when there is `More`.
    #[must_use]
    pub fn resume(it: Kept) -> Self {
        Self { it, switches: 0 }
    }

    fn switch(&mut self, line: ConsoleLine, out: &mut Outbox<Effect>) {
        if let Some(asked) = &self.it.asked {
            let busy = printable(&asked.text);
            let text = format!("map: busy with {busy}; ask again when it stands");
            return out.push(Effect::Refuse(ConsoleLine { id: line.id, text }));
        }
        self.it.asked = Some(line.clone());
        self.keep(out);
        out.push(Effect::Prepare(line));
    }

    /// What was asked for has come to an end.
    fn answer(
        &mut self,
        answer: impl FnOnce(&ConsoleLine) -> ConsoleLine,
        out: &mut Outbox<Effect>,
    ) {
        let asked = std::mem::take(&mut self.it).asked;
        self.keep(out);
        if let Some(line) = asked {
            out.push(Effect::Answer(answer(&line)));
        }
    }

    /// Whether a map is being prepared, and the tick does not have it yet.
    fn is_preparing(&self) -> bool {
        self.it.asked.is_some() && !self.it.is_committing
    }

    fn keep(&self, out: &mut Outbox<Effect>) {
        out.push(Effect::Keep(self.it.clone()));
    }
}

impl Machine for Switching {
    type Msg = MapSwitchMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: MapSwitchMsg, out: &mut Outbox<Effect>) {
        match msg {
            MapSwitchMsg::Switch(line) => self.switch(line, out),
            MapSwitchMsg::More if self.is_preparing() => out.push(Effect::Step),
            MapSwitchMsg::Prepared if self.is_preparing() => {
                self.it.is_committing = true;
                self.keep(out);
                out.push(Effect::Commit);
            }
            MapSwitchMsg::Failed(why) => self.answer(|line| Kept::failed(line, &why), out),
            MapSwitchMsg::Installed(Installed { generation, former }) => {
                self.switches += 1;
                out.push(Effect::Retire(former));
                self.answer(|line| Kept::stands(line, generation), out);
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
