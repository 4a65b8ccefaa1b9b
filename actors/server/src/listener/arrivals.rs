//! Arrivals: connections whose handshake has finished and that have no session yet.
//!
//! Filled by the runtime before it tells the listener, emptied by the listener's performer. It
//! outlives a restart of the listener, so that nobody who has shaken hands is forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_host::net::{Accent, Connection, Knock, PeerKey, Remote};

use super::{Arrived, Arriving, ListenerMsg};
use crate::facts::Facts;

/// A connection, and the key it has proved where keys decide who a peer is.
type Proved = (Connection, Option<PeerKey>);

/// Those who have shaken hands, by knock.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    trust_names: bool,
    /// How this server writes, where that is not as this build does.
    accent: Option<Accent>,
    waiting: Arc<Mutex<BTreeMap<u64, Proved>>>,
}

impl Arrivals {
    /// Nobody yet. Where names are trusted, keys prove nothing.
    pub(crate) fn new(facts: &Facts) -> Self {
        let accent = facts.builds.accent().cloned();
        Self { trust_names: facts.trust_names, accent, waiting: Arc::default() }
    }

    /// What the network tells, as the listener is told it.
    pub(crate) fn hear(&self, knock: Knock) -> ListenerMsg {
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
                self.accent.iter().for_each(|accent| connection.speak(accent));
                let proves = !self.trust_names && connection.remote() != Remote::Loopback;
                let key = connection.key().filter(|_| proves);
                self.lock().insert(id, (connection, key));
                ListenerMsg::Arrived(Arrived { knock: id, key })
            }
            Knock::Failed(failed) => ListenerMsg::Failed(failed.id),
        }
    }

    pub(super) fn take(&self, knock: u64) -> Option<Proved> {
        self.lock().remove(&knock)
    }

    pub(super) fn waiting(&self) -> Vec<Arrived> {
        self.lock().iter().map(|(knock, (_, key))| Arrived { knock: *knock, key: *key }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Proved>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
