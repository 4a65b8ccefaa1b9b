//! Tick actor: owns the world and steps it at the tick rate, whatever else happens.
//!
//! Owned by: the server's scope. Talks to: sessions, roster. Never: waits for anybody, reads a
//! packet, writes a file. After a panic: goes on from the last whole tick with everything that was
//! ordered since; inputs come again by themselves, sessions ask again for pawns, everybody reads
//! one notice. An order that breaks it twice is answered as failed, an arrival that its pawn waits
//! for ends its session and says why; three faults within 10 s end the map.

mod command;
mod journal;
mod kept;
mod schedule;
mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use dh_host::pacer::Pacing;
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::{CloseCode, MapAdvert, PlayerInput};
use dh_prefs::Prefs;
use dh_sim::Ground;

pub use self::journal::{
    Compared, Entry, JOURNAL_FILE_MAX, Journal, JournalError, Recorded, RecordedSpan, Replay,
    ground_of,
};
pub use self::state::{Effect, Kept, Ticking};
use crate::PeerId;
use crate::directory::Directory;
use crate::event::ServerEvent;
use crate::map_switch::{MapSwitchMsg, PreparedMap};
use crate::prefs::Pace;
use crate::roster::{ConsoleLine, RosterMsg};
use crate::session::{Ending, SessionMsg};

/// The promise of the tick. Its data lane holds as many datagrams as 64 sessions hand on at once.
pub const SPEC: Spec = Spec {
    kind: "tick",
    control_max: 512,
    data_max: 2_048,
    data_wakes: false,
    restart: Restart { count: 2, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the tick can be told.
    #[derive(Clone)]
    pub enum TickMsg {
        /// A peer wants a pawn.
        Join(Joining): Control Refuse,
        /// A peer is gone.
        Leave(PeerId): Control Refuse,
        /// A peer has loaded a map.
        Arrived(Arrival): Control Refuse,
        /// Put this map in the place of the one that stands.
        Install(Arc<PreparedMap>): Control Refuse,
        /// The console wants something done to a pawn.
        Command(TickCommand): Control Refuse,
        /// Preferences have changed.
        Prefs(Arc<Prefs>): Control Coalesce,
        /// Inputs of a peer.
        Inputs(PeerInputs): Data Refuse,
    }
}

/// A peer that wants a pawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joining {
    /// Who.
    pub peer: PeerId,
    /// Its roster slot.
    pub slot: u8,
}

/// A peer that has loaded a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Who.
    pub peer: PeerId,
    /// Which map: another may stand by now.
    pub generation: u32,
}

/// Inputs of one datagram, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerInputs {
    /// Whose.
    pub peer: PeerId,
    /// At most four.
    pub inputs: Vec<PlayerInput>,
}

/// Something to be done to the pawn in a roster slot.
#[derive(Clone, Debug, PartialEq)]
pub struct TickCommand {
    /// The number of the console line that asked.
    pub id: u32,
    /// Whose pawn.
    pub slot: u8,
    /// What.
    pub deed: Deed,
}

/// What a console can do to a pawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deed {
    /// Put it there.
    Teleport(Place),
    /// Let it fly through everything, or not; `None` toggles.
    Noclip(Option<bool>),
    /// Put it at a spawn point.
    Respawn,
}

/// Where a teleport leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// To a point, metres.
    Point([f32; 3]),
    /// To where the pawn in this roster slot stands.
    Beside(u8),
}

/// Performs what the tick decides.
#[derive(Debug)]
pub struct TickActor {
    rate: TickRate,
    /// The ground of the map that a first world starts with.
    ground: Ground,
    directory: Directory,
    kept: Option<Arc<Kept>>,
    /// When it was remade lately.
    faults: VecDeque<Micros>,
    pacing: Pacing,
    /// How this world is named in the trace; `None` where nothing is traced.
    traced_as: Option<String>,
    journal: Option<Taping>,
}

/// A journal that is being written.
#[derive(Debug)]
struct Taping {
    journal: Arc<Journal>,
    /// The map that stands.
    map: Arc<MapAdvert>,
    /// What is kept next begins a span, since the machine is another.
    anew: bool,
    after_fault: bool,
}

/// So many faults within [`FAULTS_WINDOW`] end what the world has become: pawns start anew in the
/// gray box.
const FAULTS_MAX: usize = 3;
/// The span faults are counted over.
const FAULTS_WINDOW: Micros = Micros::from_secs(10);

impl TickActor {
    pub(crate) fn new(
        rate: TickRate,
        ground: Ground,
        directory: Directory,
        traced_as: Option<String>,
    ) -> Self {
        let pacing = Pace::of(&directory.prefs()).pacing;
        let (kept, faults, journal) = (None, VecDeque::new(), None);
        Self { rate, ground, directory, kept, faults, pacing, traced_as, journal }
    }

    /// Write down everything that enters the world.
    pub(crate) fn journaling(mut self, journal: Arc<Journal>) -> Self {
        let map = Arc::new(MapAdvert::default());
        self.journal = Some(Taping { journal, map, anew: true, after_fault: false });
        self
    }

    /// The machine is new: so is what the journal tells.
    fn tape_anew(&mut self, restarts: u32) {
        if let Some(taping) = &mut self.journal {
            taping.map = Arc::new(self.directory.advert());
            (taping.anew, taping.after_fault) = (true, restarts > 0);
        }
    }

    /// The world as it stands: a restart goes back to it, and the journal may go on from it.
    fn keep(&mut self, kept: Arc<Kept>) {
        if let Some(taping) = &mut self.journal
            && (taping.anew || taping.journal.is_due())
        {
            taping.journal.begin(&kept, &taping.map, taping.after_fault);
            (taping.anew, taping.after_fault) = (false, false);
        }
        self.kept = Some(kept);
    }

    /// The new map stands: whoever joins is told of it from now on, and then everybody is.
    fn stands(&self, map: &PreparedMap, generation: u32) {
        let advert = MapAdvert { generation, ..map.advert.clone() };
        self.directory.library().advertise(map.closure.clone());
        self.directory.set_advert(advert.clone());
        let advert = Arc::new(advert);
        for peer in self.directory.peers() {
            self.directory.to_session(peer, SessionMsg::MapLoad(Arc::clone(&advert)));
        }
        let map = map.advert.name.as_str().to_owned();
        self.directory.tell(ServerEvent::MapStands { map, generation });
    }

    /// Whether this fault is the one too many.
    fn is_beyond_repair(&mut self, now: Micros) -> bool {
        self.faults.retain(|at| now.since(*at) < FAULTS_WINDOW);
        self.faults.push_back(now);
        let beyond = FAULTS_MAX <= self.faults.len();
        if beyond {
            self.faults.clear();
        }
        beyond
    }

    /// The world after a fault: that of the last whole tick, or a new one if that helped nothing.
    /// Everybody is told once, and those whose join was lost ask for it again.
    fn recover(&mut self, now: Micros, fresh: Ticking) -> Ticking {
        let beyond = self.is_beyond_repair(now);
        let peers = self.directory.peers();
        let recovered = match &self.kept {
            Some(kept) if beyond && self.directory.advert().name.is_empty() => {
                fresh.restored(kept, &peers).anew()
            }
            Some(kept) if beyond => {
                let anew = fresh.restored(kept, &peers).without_its_map();
                self.stands(&PreparedMap::gray_box(), anew.generation());
                // All are told: the next fault goes back to this map, and not to the one before.
                self.kept = Some(anew.kept_anew());
                anew
            }
            Some(kept) => fresh.restored(kept, &peers),
            None => fresh,
        };
        let tick = recovered.tick().0;
        let text = if beyond {
            format!("the world failed again and again; it starts anew at tick {tick}")
        } else {
            format!("the world went back to tick {tick} after a fault")
        };
        self.directory.to_roster(RosterMsg::Notice(text));
        for peer in peers {
            self.directory.to_session(peer, SessionMsg::Announce);
        }
        recovered
    }

    /// Whoever waits for an answer to what broke the world again and again has it now.
    fn answer_lost(&self, lost: TickMsg, made: &Ticking) {
        let text = "the world failed over it; the log has more".to_owned();
        match lost {
            TickMsg::Command(TickCommand { id, .. }) => {
                self.directory.to_roster(RosterMsg::Answer(ConsoleLine { id, text }));
            }
            TickMsg::Install(_) => self.directory.to_map_switch(MapSwitchMsg::Failed(text)),
            // Its pawn would stand still for ever.
            TickMsg::Arrived(arrival) if made.awaits(arrival) => {
                let reason = "the world failed over your arrival; connect again";
                let ending = Ending::new(CloseCode::Closed, reason);
                self.directory.to_session(arrival.peer, SessionMsg::End(ending));
            }
            _ => (),
        }
    }
}

impl Actor for TickActor {
    type Machine = Ticking;
    const SPEC: Spec = SPEC;

    fn make(&mut self, start: Start<'_, TickMsg>) -> Ticking {
        let pace = Pace::of(&self.directory.prefs());
        self.pacing = pace.pacing;
        let fresh = Ticking::new(self.rate, self.ground.clone(), pace, start.now)
            .watched(self.directory.is_watched(), self.traced_as.is_some())
            .journaled(self.journal.is_some());
        let made = if start.restarts == 0 { fresh } else { self.recover(start.now, fresh) };
        self.tape_anew(start.restarts);
        if let Some(lost) = start.lost {
            self.answer_lost(lost, &made);
        }
        made
    }

    /// Peers send inputs again until they are answered.
    fn spare(msg: &TickMsg) -> Option<TickMsg> {
        (!matches!(msg, TickMsg::Inputs(_))).then(|| msg.clone())
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, TickMsg>) -> Performed<Effect> {
        match effect {
            Effect::Publish(frame, peers) => {
                cx.ticked(frame.tick());
                for peer in peers {
                    self.directory.to_session(peer, SessionMsg::Published(Arc::clone(&frame)));
                }
            }
            Effect::Spawned(peer, spawned) => {
                self.directory.to_session(peer, SessionMsg::Spawned(spawned));
            }
            Effect::NoRoom(peer, reason) => {
                let ending = Ending::new(CloseCode::Closed, reason);
                self.directory.to_session(peer, SessionMsg::End(ending));
            }
            Effect::Installed(map, installed) => {
                self.stands(&map, installed.generation);
                if let Some(taping) = &mut self.journal {
                    taping.map = Arc::new(map.advert.clone());
                }
                self.directory.to_map_switch(MapSwitchMsg::Installed(installed));
            }
            Effect::Keep(kept) => self.keep(kept),
            Effect::Journal(entry) => {
                if let Some(taping) = self.journal.as_ref().filter(|taping| !taping.anew) {
                    taping.journal.note(&entry);
                }
            }
            Effect::Pace(pacing) => self.pacing = pacing,
            Effect::Answer(line) => self.directory.to_roster(RosterMsg::Answer(line)),
            Effect::Slow(slow) => tracing::warn!("{}", slow.line(cx.sleep_factor())),
            Effect::Warn(line) => tracing::warn!("{line}"),
            Effect::Detail(line) => tracing::debug!("{line}"),
            Effect::Digest(tick, digest) => {
                if let Some(name) = &self.traced_as {
                    cx.scope().runtime().trace().world(name, tick, digest);
                }
            }
            Effect::Tell(events) => events.into_iter().for_each(|it| self.directory.tell(it)),
        }
        Performed::Done
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }
}
