//! Map loader actor: makes of a pallet on this disk what can be stood in and drawn, step by step.
//!
//! Owned by: the client's scope. Talks to: the store, the downloader, the connection. Never:
//! touches the world that is shown, or goes on with a map that is wanted no longer. After a panic:
//! the load goes on where it stood; one over which it fails twice is told as failed.

mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_pallet::PalletError;
use dh_sim::Ground;
use dh_store::Found;
use dh_store::load::{LoadError, Loading, Step};

pub use self::state::{Effect, MapLoading};
use crate::connection::ConnectionMsg;
use crate::content::{ClientContent, StandingMap, Wanted};
use crate::downloader::{DownloaderMsg, Failure};
use crate::ending::EndKind;
use crate::numbered::Numbered;
use crate::scene::scene;
use crate::ways::Ways;

/// The promise of the map loader.
pub const SPEC: Spec = Spec {
    kind: "map_loader",
    control_max: 64,
    data_max: 4,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(60) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the map loader can be told.
    #[derive(Clone)]
    pub enum MapLoaderMsg {
        /// Load this; whatever was loaded before is wanted no longer.
        Load(Numbered<Load>): Control Refuse,
        /// Nothing is wanted any more.
        Forget: Control Coalesce,
        /// This load cannot go on.
        Failed(Numbered<u32>): Control Refuse,
        /// This load is whole.
        Loaded(Numbered<u32>): Control Refuse,
        /// There is more to do.
        More: Data Coalesce,
    }
}

/// A map, and where its pallet lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Which.
    pub wanted: Wanted,
    /// Where.
    pub source: Source,
}

/// Where a pallet lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// In this program.
    Core,
    /// On the disk.
    File(Found),
}

/// Performs what the map loader decides.
#[derive(Debug)]
pub struct MapLoaderActor {
    content: Option<ClientContent>,
    ways: Ways,
    running: Option<(Numbered<Load>, Loading)>,
    /// What is being loaded, for a restart.
    load: Option<Numbered<Load>>,
    loaded: Option<StandingMap>,
    /// What was rejected last: a second copy that is bad too is the disk's fault.
    rejected: Option<Wanted>,
    why: (EndKind, String),
    /// Panics over the load that runs.
    faults: u32,
}

/// Panics over one load after which it is told as failed.
const FAULTS_MAX: u32 = 2;

impl MapLoaderActor {
    pub(crate) fn new(content: Option<ClientContent>, ways: Ways) -> Self {
        Self {
            content,
            ways,
            running: None,
            load: None,
            loaded: None,
            rejected: None,
            why: (EndKind::MapUnusable, String::new()),
            faults: 0,
        }
    }

    fn begin(&mut self, load: &Numbered<Load>) -> Result<Loading, LoadError> {
        let Load { wanted, source } = &load.event;
        let Some(content) = &self.content else {
            return Err(LoadError::NoPallet(wanted.map.pallet.clone()));
        };
        let ClientContent { shelf, picture_side_max } = content;
        let pallet = match source {
            Source::Core => None,
            Source::File(found) => Some(shelf.store.open_pallet(found).map_err(LoadError::Pallet)?),
        };
        shelf.load(wanted.map.clone(), pallet, *picture_side_max).map_err(LoadError::Pallet)
    }

    fn start(&mut self, load: Numbered<Load>) -> MapLoaderMsg {
        (self.load, self.loaded, self.faults) = (Some(load.clone()), None, 0);
        match self.begin(&load) {
            Ok(loading) => {
                self.running = Some((load, loading));
                MapLoaderMsg::More
            }
            Err(error) => self.fail(&load, &error),
        }
    }

    fn step(&mut self) -> Option<MapLoaderMsg> {
        let (load, mut loading) = self.running.take()?;
        Some(match loading.step() {
            Ok(Step::More) => {
                self.running = Some((load, loading));
                MapLoaderMsg::More
            }
            Ok(Step::Done(mut loaded)) => {
                let generation = load.event.wanted.generation;
                let ground = Ground::of(&loaded.map, &loaded.worlds, loaded.triangles.take());
                let scene = Arc::new(scene(&mut loaded));
                self.loaded = Some(StandingMap { generation, solids: ground.solids, scene });
                MapLoaderMsg::Loaded(generation_of(&load))
            }
            Err(error) => self.fail(&load, &error),
        })
    }

    /// A file that turned out bad is given back to the store; the next try fetches another.
    fn fail(&mut self, load: &Numbered<Load>, error: &LoadError) -> MapLoaderMsg {
        let generation = generation_of(load);
        self.why = (kind_of(error), error.to_string());
        let (Some(content), Source::File(found), LoadError::Pallet(why)) =
            (&self.content, &load.event.source, error)
        else {
            return MapLoaderMsg::Failed(generation);
        };
        let is_bad = !matches!(why, PalletError::Disk(_) | PalletError::NoEntry(_));
        let again = self.rejected.as_ref() == Some(&load.event.wanted);
        if !is_bad || again {
            return MapLoaderMsg::Failed(generation);
        }
        self.rejected = Some(load.event.wanted.clone());
        tracing::warn!("{}: {why}; it is passed over", found.path);
        content.shelf.store.reject(found, why.clone());
        let wanted = Numbered::new(load.attempt, load.event.wanted.clone());
        self.ways.to_downloader(DownloaderMsg::Want(wanted));
        MapLoaderMsg::Forget
    }

    fn give_up(&mut self, attempt: u64) {
        (self.running, self.faults) = (None, 0);
        let Some(load) = self.load.take().filter(|load| load.attempt == attempt) else { return };
        let wanted = load.event.wanted;
        let (kind, why) = &self.why;
        let reason = format!("pallet '{}': {why}", wanted.map.pallet);
        let failure = Failure { wanted, kind: *kind, reason };
        self.ways.to_connection(ConnectionMsg::LoadFailed(Numbered::new(attempt, failure)));
    }
}

fn generation_of(load: &Numbered<Load>) -> Numbered<u32> {
    Numbered::new(load.attempt, load.event.wanted.generation)
}

/// Whose fault it is that a map cannot be loaded.
fn kind_of(error: &LoadError) -> EndKind {
    match error {
        LoadError::Pallet(PalletError::Disk(_)) => EndKind::DiskFailed,
        _ => EndKind::MapUnusable,
    }
}

impl Actor for MapLoaderActor {
    type Machine = MapLoading;
    const SPEC: Spec = SPEC;

    /// After a panic the load goes on where it stood, unless it is what breaks this.
    fn make(&mut self, start: Start<'_, MapLoaderMsg>) -> MapLoading {
        if start.restarts > 0 {
            self.faults += 1;
            let is_lost = start.lost.is_some();
            if let Some(MapLoaderMsg::Load(load)) = start.lost {
                self.load = Some(load);
            }
            if (is_lost || FAULTS_MAX <= self.faults)
                && let Some(attempt) = self.load.as_ref().map(|load| load.attempt)
            {
                self.why =
                    (EndKind::ClientFailed, "loading it failed; the log has more".to_owned());
                self.give_up(attempt);
            }
            // The word that there is more to do may have been lost.
            drop(start.port.offer(MapLoaderMsg::More));
        }
        let running = self.load.as_ref().map(generation_of);
        MapLoading::resume(running)
    }

    fn spare(msg: &MapLoaderMsg) -> Option<MapLoaderMsg> {
        (!matches!(msg, MapLoaderMsg::More)).then(|| msg.clone())
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, MapLoaderMsg>) -> Performed<Effect> {
        let told = match effect {
            Effect::Begin(load) => Some(self.start(load)),
            Effect::Step => self.step(),
            Effect::Drop => {
                (self.running, self.load) = (None, None);
                None
            }
            Effect::Deliver(attempt) => {
                (self.load, self.faults) = (None, 0);
                if let Some(standing) = self.loaded.take() {
                    let standing = Numbered::new(attempt, Arc::new(standing));
                    self.ways.to_connection(ConnectionMsg::Loaded(standing));
                }
                None
            }
            Effect::GiveUp(attempt) => {
                self.give_up(attempt);
                None
            }
        };
        if let Some(told) = told {
            drop(cx.port().offer(told));
        }
        Performed::Done
    }
}
