//! Presenter actor: what a picture of this moment shows.
//!
//! Owned by: the client's scope. Talks to: whoever wants a view. Never: simulates, draws, or reads
//! a message of the wire. After a panic: the picture fills again with the next snapshots. A fact of
//! the session that breaks it twice ends the session with a told reason.

mod replicas;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dh_host::{Actor, Context, Inlet, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::{EntityId, PlayerList, Snapshot};
use dh_prefs::Prefs;
use dh_view::{Camera, Scene, View};

pub use self::state::{Effect, Presenter, Stage};
use crate::connection::ConnectionMsg;
use crate::event::{ClientEvent, Observer};
use crate::numbered::Numbered;
use crate::predictor::Predicted;
use crate::ways::Ways;

/// The promise of the presenter.
pub const SPEC: Spec = Spec {
    kind: "presenter",
    control_max: 128,
    data_max: 64,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the presenter can be told.
    #[derive(Clone)]
    pub enum PresenterMsg {
        /// A session has begun at this tick rate.
        Joined(Numbered<TickRate>): Control Refuse,
        /// The own pawn.
        Spawned(EntityId): Control Refuse,
        /// The session is over.
        Left: Control Refuse,
        /// Players are new, changed or gone.
        Players(PlayerList): Control Refuse,
        /// Preferences have changed.
        Prefs(Arc<Prefs>): Control Coalesce,
        /// A map is waited for, of this name where it is known; or none any more.
        Awaited(Option<String>): Control Refuse,
        /// Another map is loaded: this is what it looks like.
        Scene(Arc<Scene>): Control Refuse,
        /// Where pictures are taken from.
        Camera(CameraMode): Control Coalesce,
        /// A view of this moment is wanted.
        Present: Control Coalesce,
        /// A snapshot came, possibly out of order.
        Snapshot(Numbered<Arc<Snapshot>>): Data DropOldest,
        /// The own pawn was predicted further.
        Predicted(Numbered<Predicted>): Data Coalesce,
        /// The round trip was measured.
        Ping(Numbered<Micros>): Data Coalesce,
    }
}

/// Where pictures are taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CameraMode {
    /// The own pawn's eyes; the own pawn is not drawn.
    Eyes,
    /// The map's own camera; the own pawn is drawn like any other.
    Map,
    /// A fixed place; the own pawn is drawn like any other.
    Fixed(Camera),
}

/// Performs what the presenter decides.
#[derive(Debug)]
pub struct PresenterActor {
    ways: Ways,
    observer: Observer,
    /// Where views go; without it they are told like anything else.
    views: Option<Inlet<Arc<View>>>,
    scene: Arc<Scene>,
    /// What a remade machine starts from.
    stage: Stage,
}

impl PresenterActor {
    pub(crate) fn new(
        ways: Ways,
        observer: Observer,
        views: Option<Inlet<Arc<View>>>,
        scene: Arc<Scene>,
        stage: Stage,
    ) -> Self {
        Self { ways, observer, views, scene, stage }
    }
}

impl Actor for PresenterActor {
    type Machine = Presenter;
    const SPEC: Spec = SPEC;

    /// Rebuilt from the snapshots that come.
    fn make(&mut self, start: Start<'_, PresenterMsg>) -> Presenter {
        if let Some(
            PresenterMsg::Joined(_)
            | PresenterMsg::Spawned(_)
            | PresenterMsg::Left
            | PresenterMsg::Players(_)
            | PresenterMsg::Scene(_),
        ) = start.lost
        {
            let reason = "what shows the world failed; connect again".to_owned();
            self.ways.to_connection(ConnectionMsg::Unusable(reason));
        }
        Presenter::new(Arc::clone(&self.scene), self.stage.clone(), start.now)
    }

    fn spare(msg: &PresenterMsg) -> Option<PresenterMsg> {
        match msg {
            PresenterMsg::Snapshot(_) | PresenterMsg::Predicted(_) | PresenterMsg::Ping(_) => None,
            _ => Some(msg.clone()),
        }
    }

    fn perform(
        &mut self,
        effect: Effect,
        _cx: &mut Context<'_, PresenterMsg>,
    ) -> Performed<Effect> {
        match effect {
            Effect::View(view) => match &self.views {
                // One that nobody takes is followed by a newer one.
                Some(views) => drop(views.offer(Arc::new(view))),
                None => self.observer.tell(ClientEvent::View(Arc::new(view))),
            },
            Effect::Scene(scene) => self.scene = scene,
            Effect::Keep(stage) => self.stage = *stage,
            Effect::Report(line) => tracing::info!("{line}"),
        }
        Performed::Done
    }
}
