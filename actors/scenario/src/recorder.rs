//! Recorder actor: hears every event of the servers and clients of a scenario.
//!
//! Owned by: the scenario's scope. Talks to: nobody. Never: slows what it watches.

mod state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use dh_client::ClientEvent;
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_server::{ConsoleLine, ServerEvent};

pub use self::state::{Effect, Recording};
use crate::peer::PeerId;
use crate::records::Records;
use crate::server::ServerId;

/// The promise of the recorder. Its bound is far above what any course makes between two turns; an
/// event that is refused would falsify a record, so it ends the recorder instead.
pub const SPEC: Spec = Spec {
    kind: "recorder",
    control_max: 1 << 16,
    data_max: 1 << 20,
    data_wakes: true,
    restart: Restart { count: 0, window: Micros::from_secs(1) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the recorder can be told.
    pub enum RecorderMsg {
        /// Something happened on a server.
        Server(Heard<ServerId, ServerEvent>): Data Fatal,
        /// Something happened to a client.
        Client(Heard<PeerId, ClientEvent>): Data Fatal,
        /// A server answered a console line.
        Answer(Heard<ServerId, ConsoleLine>): Control Fatal,
    }
}

/// An event and whose it is.
#[derive(Clone, Debug)]
pub struct Heard<W, E> {
    /// Whose.
    pub whose: W,
    /// What happened.
    pub event: E,
}

/// Performs what the recorder decides, which is to keep it.
#[derive(Debug)]
pub struct RecorderActor {
    pub(crate) records: Arc<Mutex<Records>>,
}

impl Actor for RecorderActor {
    type Machine = Recording;
    const SPEC: Spec = SPEC;

    fn make(&mut self, _start: Start<'_, RecorderMsg>) -> Recording {
        Recording
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, RecorderMsg>) -> Performed<Effect> {
        if let Some(text) = effect.text() {
            let trace = cx.scope().runtime().trace();
            if effect.is_routine() { trace.routine(&text) } else { trace.event(&text) }
        }
        let mut records = self.records.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        effect.write(cx.now(), &mut records);
        Performed::Done
    }
}
