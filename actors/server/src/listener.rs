//! Listener actor: who may shake hands with this server, and whose handshake becomes a session.
//!
//! Owned by: the server's scope. Talks to: the endpoint, sessions it opens. Never: reads a message
//! of a peer, owns the endpoint or a connection.

mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dh_host::net::{Connection, Endpoint, Knock, Remote, Verdict};
use dh_host::{Actor, Context, Performed, Place, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{CloseCode, PROTOCOL_VERSION, SessionEnd, Str16, ToClient};
use dh_prefs::Prefs;

pub use self::state::{Admission, Arriving, Effect, Listener};
use crate::PeerId;
use crate::directory::Directory;
use crate::facts::Facts;
use crate::session::{Opening, SessionActor, SessionMsg, from_net};

/// The promise of the listener.
pub const SPEC: Spec = Spec {
    kind: "listener",
    control_max: 1_024,
    data_max: 2_048,
    data_wakes: true,
    restart: Restart { count: 200, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the listener can be told.
    pub enum ListenerMsg {
        /// A handshake has finished: the number of its knock.
        Arrived(u64): Control Refuse,
        /// A handshake has failed.
        Failed(u64): Control Refuse,
        /// A session has ended.
        Closed(PeerId): Control Refuse,
        /// Preferences have changed.
        Prefs(Arc<Prefs>): Control Coalesce,
        /// A first packet asks to be let in.
        Incoming(Arriving): Data Refuse,
    }
}

/// Connections whose handshake has finished and that have no session yet, by knock. The runtime
/// puts them here before it tells the listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals(Arc<Mutex<BTreeMap<u64, Connection>>>);

impl Arrivals {
    fn put(&self, knock: u64, connection: Connection) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(knock, connection);
    }

    fn take(&self, knock: u64) -> Option<Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&knock)
    }

    fn take_all(&self) -> Vec<Connection> {
        let mut arrivals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *arrivals).into_values().collect()
    }

    /// What the network tells, as the listener is told it.
    pub(crate) fn from_net(&self, knock: Knock) -> ListenerMsg {
        match knock {
            Knock::Incoming(incoming) => ListenerMsg::Incoming(Arriving {
                id: incoming.id,
                address: match incoming.remote {
                    Remote::Udp(address) => Some(address),
                    Remote::Loopback => None,
                },
                validated: incoming.validated,
            }),
            Knock::Arrived { id, connection } => {
                self.put(id, connection);
                ListenerMsg::Arrived(id)
            }
            Knock::Failed(failed) => ListenerMsg::Failed(failed.id),
        }
    }
}

/// Performs what the listener decides.
#[derive(Debug)]
pub struct ListenerActor {
    pub(crate) facts: Arc<Facts>,
    pub(crate) directory: Directory,
    pub(crate) arrivals: Arrivals,
    /// Set once the endpoint is bound; knocks come only after that.
    pub(crate) endpoint: Arc<std::sync::OnceLock<Endpoint>>,
    pub(crate) players_max: usize,
    pub(crate) next_peer: u32,
}

impl ListenerActor {
    fn open(&mut self, knock: u64, peer: PeerId, cx: &Context<'_, ListenerMsg>) {
        self.next_peer = peer.0 + 1;
        let Some(connection) = self.arrivals.take(knock) else { return };
        let remote = connection.remote();
        let opening = Opening {
            facts: Arc::clone(&self.facts),
            peer,
            endpoint: remote.to_string(),
            loopback: matches!(remote, Remote::Loopback),
            key: connection.key().map(|key| key.to_string()),
            budget: connection.datagram_max(),
            watched: self.directory.is_watched(),
        };
        let actor = SessionActor::new(opening, connection.clone(), self.directory.clone());
        // A session past its restart budget ends alone.
        let scope = cx.scope().contained(format!("peer-{peer}"));
        let port = scope.spawn(Place::Sessions, "session", actor);
        self.directory.enter(peer, port.clone());
        drop(port.offer(SessionMsg::Opened));
        connection.deliver(port.inlet(from_net));
    }

    fn turn_away(connection: &Connection, reason: &str) {
        let mut end = ToClient::SessionEnd(SessionEnd {
            code: CloseCode::Full,
            server_version: PROTOCOL_VERSION,
            client_version: 0,
            reason: Str16::clipped(reason),
        });
        let mut body = Vec::new();
        if end.write_body(&mut body).is_ok() {
            let _ = connection.send(end.id(), &body);
        }
        connection.close(u32::from(CloseCode::Full.value()), reason.as_bytes());
    }
}

impl Actor for ListenerActor {
    type Machine = Listener;
    const SPEC: Spec = SPEC;

    /// After a panic admission starts empty; sessions stand. Handshakes that had finished without
    /// being looked at are told to come again.
    fn make(&mut self, start: Start<'_, ListenerMsg>) -> Listener {
        if start.restarts > 0 {
            for connection in self.arrivals.take_all() {
                Self::turn_away(&connection, "the server was interrupted; connect again");
            }
        }
        let open = self.directory.peers().into_iter().collect();
        Listener::new(self.players_max, open, self.next_peer)
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, ListenerMsg>) -> Performed<Effect> {
        match effect {
            Effect::Answer(knock, admission) => {
                if let Some(endpoint) = self.endpoint.get() {
                    endpoint.answer(knock, match admission {
                        Admission::Accept => Verdict::Accept,
                        Admission::Retry => Verdict::Retry,
                        Admission::Ignore => Verdict::Ignore,
                    });
                }
            }
            Effect::Shed(shed) => {
                if let Some(endpoint) = self.endpoint.get() {
                    endpoint.shed(shed);
                }
            }
            Effect::Open { knock, peer } => self.open(knock, peer, cx),
            Effect::TurnAway { knock, reason } => {
                if let Some(connection) = self.arrivals.take(knock) {
                    tracing::info!("turned away {}: {reason}", connection.remote());
                    Self::turn_away(&connection, &reason);
                }
            }
            Effect::PlayersMax(players) => self.players_max = players,
        }
        Performed::Done
    }
}
