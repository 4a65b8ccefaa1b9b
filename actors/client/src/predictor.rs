//! Predictor actor: simulates this player's own pawn ahead of the server, and gives way to it.
//!
//! Owned by: the client's scope. Talks to: connection, presenter. Never: touches a socket, draws,
//! or moves anybody else.

mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bytes::Bytes;
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, TickRate, actor_message};
use dh_messages::Snapshot;
use dh_netcode::ClockSettings;
use dh_sim::Solids;

pub use self::state::{Effect, Predicted, Predictor};
use crate::connection::ConnectionMsg;
use crate::controls::{Controls, Wish};
use crate::event::Observer;
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
    pub enum PredictorMsg {
        /// A session has begun; its pawn comes with the snapshots.
        Joined(TickRate): Control Refuse,
        /// The session is over.
        Left: Control Refuse,
        /// Somebody else holds the controls.
        Controls(Controls): Control Refuse,
        /// The clock's knobs have changed.
        Clock(ClockSettings): Control Coalesce,
        /// Whoever holds the controls wants this from now on.
        Wish(Wish): Data Coalesce,
        /// A snapshot came, possibly out of order.
        Snapshot(Arc<Snapshot>): Data DropOldest,
    }
}

/// Performs what the predictor decides.
#[derive(Debug)]
pub struct PredictorActor {
    pub(crate) ways: Ways,
    pub(crate) observer: Observer,
    pub(crate) solids: Arc<Solids>,
    /// What a remade machine starts from: the session goes on, the prediction starts over.
    pub(crate) standing: Standing,
}

/// What outlives a panic of the predictor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    pub(crate) rate: Option<TickRate>,
    pub(crate) sequence: u32,
    pub(crate) controls: Controls,
    pub(crate) clock: Option<ClockSettings>,
}

impl Actor for PredictorActor {
    type Machine = Predictor;
    const SPEC: Spec = SPEC;

    /// Rebuilt from the newest snapshot that comes; sequences go on where they stood.
    fn make(&mut self, start: Start<'_, PredictorMsg>) -> Predictor {
        let solids = Arc::clone(&self.solids);
        let watched = self.observer.is_close();
        Predictor::new(solids, self.standing.clone(), watched, start.now)
    }

    fn perform(
        &mut self,
        effect: Effect,
        _cx: &mut Context<'_, PredictorMsg>,
    ) -> Performed<Effect> {
        match effect {
            Effect::Input { datagram, sequence } => {
                self.standing.sequence = sequence;
                self.ways.to_connection(ConnectionMsg::Input(Bytes::from(datagram)));
            }
            Effect::Predicted(predicted) => {
                self.ways.to_presenter(PresenterMsg::Predicted(predicted));
            }
            Effect::Keep(standing) => self.standing = *standing,
            Effect::Tell(event) => self.observer.tell(event),
        }
        Performed::Done
    }
}
