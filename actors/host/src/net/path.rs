//! Path: one client's way to its servers, in the hands of whoever plays the network.
//!
//! Kept by a scenario and handed to the dials of one client. What it does acts at once, also on a
//! dial that is under way; a cut holds for later dials too.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, Weak};
use std::{fmt, io};

use super::link::{Cut, Links};
use super::shaped::ShapedSocket;
use super::shaper::Shaper;
use super::{Shared, lock};

/// One client's path. Clones are the same path.
#[derive(Clone, Debug, Default)]
pub struct ClientPath {
    state: Arc<Mutex<State>>,
}

/// Why a client's address did not change.
#[derive(Debug)]
#[non_exhaustive]
pub enum RebindError {
    /// The client has not dialled, or what it dialled has ended.
    NotDialled,
    /// It dialled over a real socket and not behind the link model.
    NotShaped,
    /// The system gave no other socket.
    Socket(io::Error),
}

#[derive(Debug, Default)]
struct State {
    cut: Cut,
    road: Option<Road>,
}

/// What the newest dial goes over.
#[derive(Clone, Debug)]
struct Road {
    net: Weak<Shared>,
    shaper: Option<Weak<Shaper>>,
    socket: Option<Weak<ShapedSocket>>,
}

impl ClientPath {
    /// Cut these directions and no others, from the next packet on; what the links say is kept
    /// beside it. A path over a real socket that is not behind the link model ignores it.
    pub fn cut(&self, cut: Cut) {
        let mut state = lock(&self.state);
        state.cut = cut;
        if let Some(shaper) = state.shaper() {
            shaper.cut(cut);
        }
    }

    /// End every cut: what the links say counts again.
    pub fn heal(&self) {
        self.cut(Cut::NONE);
    }

    /// What is cut now.
    #[must_use]
    pub fn what_is_cut(&self) -> Cut {
        lock(&self.state).cut
    }

    /// Other links from the next packet on, for what was dialled.
    pub fn set_links(&self, links: Links) {
        if let Some(shaper) = lock(&self.state).shaper() {
            shaper.set(links);
        }
    }

    /// Where packets of this client come from, as the network sees it; over a real socket its
    /// host may not be told.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        lock(&self.state).shaper().map(|shaper| shaper.near())
    }

    /// Have the network see this client at another address from now on, as when a NAT forgets
    /// it: the client is not told. What is sent to the old address goes nowhere. In simulation it
    /// is another host, over a real socket another port; the draws of the links go on.
    ///
    /// # Errors
    /// When there is no path, or no way to change its address.
    pub fn rebind(&self) -> Result<SocketAddr, RebindError> {
        let road = lock(&self.state).road.clone().ok_or(RebindError::NotDialled)?;
        let net = road.net.upgrade().ok_or(RebindError::NotDialled)?;
        let shaper = road.shaper.ok_or(RebindError::NotShaped)?;
        let shaper = shaper.upgrade().ok_or(RebindError::NotDialled)?;
        let old = shaper.near();
        let new = match (&net.simulated, road.socket.as_ref().and_then(Weak::upgrade)) {
            (Some(network), _) => network.rebind(old),
            (None, Some(socket)) => socket.rebind(&net, old).map_err(RebindError::Socket)?,
            // Nobody sees the address of one end of a connection inside a real process.
            (None, None) => old,
        };
        shaper.move_to(new);
        net.move_path(old, new);
        Ok(new)
    }

    /// A dial goes over this.
    pub(crate) fn attach(
        &self,
        net: &Arc<Shared>,
        shaper: Option<&Arc<Shaper>>,
        socket: Option<Weak<ShapedSocket>>,
    ) {
        let mut state = lock(&self.state);
        let (net, weak) = (Arc::downgrade(net), shaper.map(Arc::downgrade));
        state.road = Some(Road { net, shaper: weak, socket });
        if let Some(shaper) = shaper {
            shaper.cut(state.cut);
        }
    }
}

impl State {
    fn shaper(&self) -> Option<Arc<Shaper>> {
        self.road.as_ref()?.shaper.as_ref()?.upgrade()
    }
}

impl fmt::Display for RebindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDialled => f.write_str("there is no connection whose address could change"),
            Self::NotShaped => f.write_str(
                "this client's socket is not behind the link model: dial it with shaped set",
            ),
            Self::Socket(error) => write!(f, "cannot open another socket to go on from: {error}"),
        }
    }
}

impl std::error::Error for RebindError {}
