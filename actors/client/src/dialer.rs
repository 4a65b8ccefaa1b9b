//! Dialer: how this client dials: as whom, over which path, and whom it believes.

use std::net::SocketAddr;

use dh_host::Inlet;
use dh_host::net::{ClientPath, Congestion, DialOptions, Dialed, Dialing};
use dh_host::net::{Identity, Links, Net, Target, Trust, Whose};
use dh_prefs::Address;

/// What every dial of one client has in common.
#[derive(Clone, Debug)]
pub struct Dialer {
    /// The client's key.
    pub identity: Identity,
    /// Which key a server must show.
    pub trust: Trust,
    /// What the client's path does to packets.
    pub links: Links,
    /// Whether a real socket is behind the link model also while its links are ideal, so that they
    /// can change; for scenarios.
    pub shaped: bool,
    /// Where its path is cut, healed and given another address; for scenarios.
    pub path: ClientPath,
    /// Where the server inside this process listens, if there is one.
    pub local: Option<SocketAddr>,
    /// As whose servers are reached through memory, whatever their address; for scenarios.
    pub through_memory: Option<Whose>,
    /// The address to dial from; any when not given.
    pub from: Option<SocketAddr>,
    /// Which controller decides how much may be under way.
    pub congestion: Congestion,
}

impl Dialer {
    /// Dial as `identity`, believing any key, over an ideal path.
    #[must_use]
    pub fn new(identity: Identity) -> Self {
        Self {
            identity,
            trust: Trust::Any,
            links: Links::IDEAL,
            shaped: false,
            path: ClientPath::default(),
            local: None,
            through_memory: None,
            from: None,
            congestion: Congestion::default(),
        }
    }

    /// Dial `address`; what comes of it is told to `inlet`.
    pub fn dial(&self, net: &Net, address: &Address, inlet: Inlet<Dialed>) -> Dialing {
        let options = DialOptions {
            target: self.target(address),
            identity: self.identity.clone(),
            trust: self.trust.clone(),
            links: self.links,
            shaped: self.shaped,
            path: self.path.clone(),
            from: self.from,
            congestion: self.congestion,
        };
        net.dial(options, inlet)
    }

    fn target(&self, address: &Address) -> Target {
        let literal = address.host.parse().ok().map(|ip| SocketAddr::new(ip, address.port));
        match (address.is_local_world(), self.local, literal, self.through_memory) {
            (true, Some(local), ..) => Target::Memory(local, Whose::Host),
            (_, _, Some(literal), Some(whose)) => Target::Memory(literal, whose),
            (_, _, Some(literal), None) => Target::Udp(literal, address.to_string()),
            (_, _, None, _) => Target::Host(address.host.clone(), address.port),
        }
    }
}
