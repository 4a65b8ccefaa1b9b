//! Map switch actor: prepares the next map while the former one is played in, then has it put in
//! its place at once.
//!
//! Owned by: the server's scope. Talks to: the tick, the roster. Never: touches the world, prepares
//! two maps at a time, or remembers what it turned down. After a panic: goes on with what was
//! ordered and with what is prepared of it. An order over which it fails twice is answered as
//! failed, and the former map stands.

mod prepare;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::MapAdvert;
use dh_sim::{Ground, Solids};
use dh_store::Shelf;

pub use self::prepare::MapError;
use self::prepare::Preparing;
pub(crate) use self::prepare::{prepare_exactly, prepare_whole};
pub use self::state::{Effect, Kept, Switching};
use crate::directory::Directory;
use crate::library::Held;
use crate::roster::{ConsoleLine, RosterMsg};
use crate::tick::TickMsg;

/// The promise of the map switch.
pub const SPEC: Spec = Spec {
    kind: "map_switch",
    control_max: 64,
    data_max: 4,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(60) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the map switch can be told.
    #[derive(Clone)]
    pub enum MapSwitchMsg {
        /// Change to the map of this barcode; the number is that of the console line.
        Switch(ConsoleLine): Control Refuse,
        /// The map is ready to be stood in.
        Prepared: Control Coalesce,
        /// It cannot be made ready, and why.
        Failed(String): Control Refuse,
        /// It stands.
        Installed(Installed): Control Refuse,
        /// There is more to prepare.
        More: Data Coalesce,
    }
}

/// A map that is ready: nothing of it is seen before it stands.
#[derive(Debug)]
pub struct PreparedMap {
    /// How it is advertised; its generation is given when it comes to stand.
    pub advert: MapAdvert,
    /// What pawns stand on, and where they arrive.
    pub ground: Ground,
    /// What peers may fetch while it stands.
    pub closure: Vec<Held>,
}

/// A map that has come to stand.
#[derive(Clone, Debug)]
pub struct Installed {
    /// Its generation.
    pub generation: u32,
    /// What stood before it. The tick's checkpoints still hold it for a moment; to let go of it
    /// last can take long, and is nothing for the tick.
    pub former: Arc<Solids>,
}

impl PreparedMap {
    /// The world without content.
    #[must_use]
    pub fn gray_box() -> Self {
        let advert = MapAdvert { generation: 1, ..MapAdvert::default() };
        Self { advert, ground: Ground::gray_box(), closure: Vec::new() }
    }
}

/// Performs what the map switch decides.
#[derive(Debug)]
pub struct MapSwitchActor {
    directory: Directory,
    shelf: Option<Shelf>,
    preparing: Option<Preparing>,
    prepared: Option<Arc<PreparedMap>>,
    /// What stood before the newest map, kept until the next one is prepared.
    former: Option<Arc<Solids>>,
    /// What outlives a panic, and how often there was one over it.
    kept: Kept,
    faults: u32,
}

/// Panics over one order after which it is answered as failed.
const FAULTS_MAX: u32 = 2;

impl MapSwitchActor {
    pub(crate) fn new(directory: Directory, shelf: Option<Shelf>) -> Self {
        Self {
            directory,
            shelf,
            preparing: None,
            prepared: None,
            former: None,
            kept: Kept::default(),
            faults: 0,
        }
    }

    /// Do a piece of the work; what is to be told of it.
    fn step(&mut self) -> Option<MapSwitchMsg> {
        match self.preparing.as_mut()?.step() {
            Ok(None) => Some(MapSwitchMsg::More),
            Ok(Some(map)) => {
                self.preparing = None;
                self.prepared = Some(Arc::new(map));
                Some(MapSwitchMsg::Prepared)
            }
            Err(why) => {
                self.preparing = None;
                Some(MapSwitchMsg::Failed(why.to_string()))
            }
        }
    }
}

impl MapSwitchActor {
    /// What was ordered, or what is told of it, breaks this again and again: whoever ordered it is
    /// told how it stands.
    fn give_up(&mut self, lost: Option<MapSwitchMsg>) {
        self.faults = 0;
        match (lost, self.kept.asked.take()) {
            (Some(MapSwitchMsg::Switch(line)), asked) => {
                self.kept.asked = asked;
                self.answer(Kept::failed(&line, FAILED));
            }
            (Some(MapSwitchMsg::Installed(it)), Some(line)) => {
                self.kept.is_committing = false;
                self.answer(Kept::stands(&line, it.generation));
            }
            // The tick has it, and tells how it went.
            (_, asked) if self.kept.is_committing => self.kept.asked = asked,
            (_, Some(line)) => {
                (self.preparing, self.prepared) = (None, None);
                self.answer(Kept::failed(&line, FAILED));
            }
            (_, None) => (),
        }
    }

    fn answer(&self, line: ConsoleLine) {
        tracing::info!("{}", line.text);
        self.directory.to_roster(RosterMsg::Answer(line));
    }
}

/// Why a map was not loaded that breaks what loads it.
const FAILED: &str = "preparing it failed; the log has more";

impl Actor for MapSwitchActor {
    type Machine = Switching;
    const SPEC: Spec = SPEC;

    /// After a panic the order goes on where it stood, unless it is what breaks this.
    fn make(&mut self, start: Start<'_, MapSwitchMsg>) -> Switching {
        if start.restarts > 0 {
            self.faults += 1;
            if start.lost.is_some() || FAULTS_MAX <= self.faults {
                self.give_up(start.lost);
            }
            // The word that there is more to prepare may have been lost.
            drop(start.port.offer(MapSwitchMsg::More));
        }
        Switching::resume(self.kept.clone())
    }

    fn spare(msg: &MapSwitchMsg) -> Option<MapSwitchMsg> {
        (!matches!(msg, MapSwitchMsg::More)).then(|| msg.clone())
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, MapSwitchMsg>) -> Performed<Effect> {
        let told = match effect {
            Effect::Prepare(line) => {
                self.former = None;
                self.faults = 0;
                match Preparing::begin(self.shelf.as_ref(), &line.text) {
                    Ok(preparing) => {
                        self.preparing = Some(preparing);
                        Some(MapSwitchMsg::More)
                    }
                    Err(why) => Some(MapSwitchMsg::Failed(why.to_string())),
                }
            }
            Effect::Step => self.step(),
            Effect::Commit => {
                if let Some(map) = self.prepared.take() {
                    self.directory.to_tick(TickMsg::Install(map));
                }
                None
            }
            Effect::Retire(former) => {
                self.former = Some(former);
                None
            }
            Effect::Keep(kept) => {
                self.kept = kept;
                None
            }
            Effect::Answer(line) => {
                self.faults = 0;
                self.answer(line);
                None
            }
            Effect::Refuse(line) => {
                self.directory.to_roster(RosterMsg::Answer(line));
                None
            }
        };
        if let Some(told) = told {
            drop(cx.port().offer(told));
        }
        Performed::Done
    }
}
