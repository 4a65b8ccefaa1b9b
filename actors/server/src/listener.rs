//! Listener actor: who may shake hands with this server, and whose handshake becomes a session.
//!
//! Owned by: the server's scope. Talks to: the endpoint, sessions it opens. Never: reads a message
//! of a peer, owns the endpoint or a connection. After a panic: counts unfinished handshakes anew;
//! whoever waits at the door is announced once more, and sessions stand.

mod arrivals;
mod state;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use dh_host::net::{Connection, Endpoint, Remote, Verdict};
use dh_host::{Actor, Context, Performed, Place, Start};
use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{CloseCode, PROTOCOL_VERSION, SessionEnd, Str16, ToClient};
use dh_prefs::Prefs;

pub(crate) use self::arrivals::Arrivals;
pub use self::state::{Admission, Arrived, Arriving, Effect, Listener};
pub(crate) use self::state::{UNFINISHED_MAX, UNVALIDATED_MAX};
use crate::PeerId;
use crate::directory::Directory;
use crate::facts::Facts;
use crate::limits::ServerLimits;
use crate::prefs::players_max;
use crate::session::{Opening, SessionActor, SessionMsg};

/// The promise of the listener. Its control lane holds the end of every handshake that may be
/// unfinished, those that a restart has forgotten, and the end of every session.
pub const SPEC: Spec = Spec {
    kind: "listener",
    control_max: 4_096,
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
        /// A handshake has finished. One that still waits to be heard of waits once.
        Arrived(Arrived): Control Coalesce(|arrived| arrived.knock),
        /// A handshake has failed: the number of its knock.
        Failed(u64): Control Refuse,
        /// A session has ended.
        Closed(PeerId): Control Refuse,
        /// Preferences have changed.
        Prefs(Arc<Prefs>): Control Coalesce,
        /// A first packet asks to be let in.
        Incoming(Arriving): Data Refuse,
    }
}

/// Performs what the listener decides.
#[derive(Debug)]
pub struct ListenerActor {
    pub(crate) facts: Arc<Facts>,
    pub(crate) directory: Directory,
    pub(crate) arrivals: Arrivals,
    /// Set once the endpoint is bound; knocks come only after that.
    pub(crate) endpoint: Arc<OnceLock<Endpoint>>,
    pub(crate) next_peer: u32,
}

impl ListenerActor {
    fn open(&mut self, knock: u64, peer: PeerId, cx: &Context<'_, ListenerMsg>) {
        if !planted::is(Bug::PeersCountedAnew) {
            self.next_peer = peer.0 + 1;
        }
        let Some((connection, key)) = self.arrivals.take(knock) else {
            // Told twice, as after a restart: there is nobody behind the second one.
            drop(cx.port().offer(ListenerMsg::Closed(peer)));
            return;
        };
        let remote = connection.remote();
        let opening = Opening {
            facts: Arc::clone(&self.facts),
            advert: self.directory.advert(),
            peer,
            endpoint: remote.to_string(),
            loopback: matches!(remote, Remote::Loopback),
            key: connection.key().map(|key| key.to_string()),
            budget: connection.datagram_max(),
            watched: self.directory.is_watched(),
        };
        let actor = SessionActor::new(opening, connection.clone(), self.directory.clone());
        let ear = actor.ear();
        // A session past its restart budget ends alone.
        let scope = cx.scope().contained(format!("peer-{peer}"));
        let port = scope.spawn(Place::Sessions, "session", actor);
        let place = ServerLimits::of(scope.runtime()).players(&self.directory).hold();
        self.directory.enter(peer, port.clone(), key, place);
        // A map that came to stand before the session was listed.
        drop(port.offer(SessionMsg::MapLoad(Arc::new(self.directory.advert()))));
        drop(port.offer(SessionMsg::Opened));
        connection.deliver(port.inlet(ear));
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
            // One that has hung up meanwhile is turned away already.
            let _ = connection.send(end.id(), &body);
        }
        connection.close(u32::from(CloseCode::Full.value()), reason.as_bytes());
    }
}

impl Actor for ListenerActor {
    type Machine = Listener;
    const SPEC: Spec = SPEC;

    /// After a panic admission starts empty; sessions stand. Whoever waits at the door is announced
    /// once more, so that no message needs a spare: what else there is to be told stands in the
    /// directory.
    fn make(&mut self, start: Start<'_, ListenerMsg>) -> Listener {
        if start.restarts > 0 {
            for arrived in self.arrivals.waiting() {
                drop(start.port.offer(ListenerMsg::Arrived(arrived)));
            }
            if let Some(endpoint) = self.endpoint.get() {
                endpoint.shed(false);
                endpoint.repeat_knocks();
            }
        }
        let players_max = players_max(&self.directory.prefs());
        Listener::new(players_max, self.directory.keys(), self.next_peer)
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, ListenerMsg>) -> Performed<Effect> {
        let limits = ServerLimits::of(cx.scope().runtime());
        match effect {
            Effect::Answer(knock, admission) => {
                match admission {
                    Admission::Accept => (),
                    Admission::Retry => limits.unproved().hit(),
                    Admission::Ignore => limits.handshakes().hit(),
                }
                if let Some(endpoint) = self.endpoint.get() {
                    endpoint.answer(
                        knock,
                        match admission {
                            Admission::Accept => Verdict::Accept,
                            Admission::Retry => Verdict::Retry,
                            Admission::Ignore => Verdict::Ignore,
                        },
                    );
                }
            }
            Effect::Shed(shed) => {
                if let Some(endpoint) = self.endpoint.get() {
                    endpoint.shed(shed);
                }
            }
            Effect::Open { knock, peer } => self.open(knock, peer, cx),
            Effect::TurnAway { knock, reason } => {
                limits.players(&self.directory).hit();
                if let Some((connection, _)) = self.arrivals.take(knock) {
                    tracing::info!("turned away {}: {reason}", connection.remote());
                    Self::turn_away(&connection, &reason);
                }
            }
        }
        Performed::Done
    }
}
