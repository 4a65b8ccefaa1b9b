//! Predictor actor: simulates this player's own pawn ahead of the server, and gives way to it.
//!
//! Owned by: the client's scope. Talks to: connection, presenter. Never: touches a socket, draws,
//! or moves anybody else. After a panic: the prediction begins anew at the next snapshot, and
//! inputs are numbered on. A fact of the session that breaks it twice ends the session with a told
//! reason.

mod play;
mod predicted;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::Snapshot;
use dh_prefs::Prefs;
use dh_sim::Solids;

pub use self::predicted::Predicted;
pub use self::state::{Effect, Predictor, Standing};
use crate::connection::ConnectionMsg;
use crate::controls::{Controls, Wish};
use crate::event::Observer;
use crate::numbered::Numbered;
use crate::presenter::PresenterMsg;
use crate::ways::Ways;

/// The promise of the predictor.
pub const SPEC: Spec = Spec {
    kind: "predictor",
    control_max: 64,
    data_max: 64,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the predictor can be told.
    #[derive(Clone)]
    pub enum PredictorMsg {
        /// A session has begun; its pawn comes with the snapshots.
        Joined(Numbered<TickRate>): Control Refuse,
        /// Another map is loaded: the pawn is among these from now on.
        Ground(Arc<Solids>): Control Refuse,
        /// The session is over.
        Left: Control Refuse,
        /// Somebody else holds the controls.
        Controls(Controls): Control Refuse,
        /// Preferences have changed.
        Prefs(Arc<Prefs>): Control Coalesce,
        /// Whoever holds the controls wants this from now on.
        Wish(Wish): Data Coalesce,
        /// A snapshot came, possibly out of order.
        Snapshot(Numbered<Arc<Snapshot>>): Data DropOldest,
    }
}

/// Performs what the predictor decides.
#[derive(Debug)]
pub struct PredictorActor {
    ways: Ways,
    observer: Observer,
    solids: Arc<Solids>,
    /// What a remade machine starts from: the session goes on, the prediction starts over.
    standing: Standing,
}

impl PredictorActor {
    pub(crate) fn new(
        ways: Ways,
        observer: Observer,
        solids: Arc<Solids>,
        standing: Standing,
    ) -> Self {
        Self { ways, observer, solids, standing }
    }
}

impl Actor for PredictorActor {
    type Machine = Predictor;
    const SPEC: Spec = SPEC;

    /// Rebuilt from the newest snapshot that comes; sequences go on where they stood.
    fn make(&mut self, start: Start<'_, PredictorMsg>) -> Predictor {
        if let Some(PredictorMsg::Joined(_) | PredictorMsg::Ground(_) | PredictorMsg::Left) =
            start.lost
        {
            let reason = "what predicts this player failed; connect again".to_owned();
            self.ways.to_connection(ConnectionMsg::Unusable(reason));
        }
        let solids = Arc::clone(&self.solids);
        let watched = self.observer.is_close();
        Predictor::new(solids, self.standing.clone(), watched, start.now)
    }

    fn spare(msg: &PredictorMsg) -> Option<PredictorMsg> {
        (!matches!(msg, PredictorMsg::Snapshot(_))).then(|| msg.clone())
    }

    fn perform(
        &mut self,
        effect: Effect,
        _cx: &mut Context<'_, PredictorMsg>,
    ) -> Performed<Effect> {
        match effect {
            Effect::Input { attempt, sequence, datagram } => {
                self.standing.sequence = sequence;
                let datagram = Numbered::new(attempt, Bytes::from(datagram));
                self.ways.to_connection(ConnectionMsg::Input(datagram));
            }
            Effect::Predicted(predicted) => {
                self.ways.to_presenter(PresenterMsg::Predicted(predicted));
            }
            Effect::Ground(solids) => self.solids = solids,
            Effect::Keep(standing) => self.standing = *standing,
            Effect::Tell(event) => self.observer.tell(event),
        }
        Performed::Done
    }
}
