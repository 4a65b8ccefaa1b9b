//! Deed: one thing that a script did to its world; what a failing run is made smaller by.

use dh_machine::Micros;

/// What kind of thing was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeedKind {
    /// A peer came to be.
    Peer,
    /// Something was broken on purpose: a link, a disk, an actor, a server.
    Fault,
    /// Anything else: a join, a step, a line on a console.
    Event,
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// When.
    pub at: Micros,
    /// What kind of thing.
    pub kind: DeedKind,
    /// What.
    pub what: String,
    /// What names it among all deeds of the run.
    pub key: String,
}

/// One thing that happened to a server or a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: Micros,
    /// The name of the server or the peer.
    pub whose: String,
    /// The name scripts know it by.
    pub name: &'static str,
    /// What more there is to say; empty where the name says it all.
    pub text: String,
}

impl DeedKind {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Peer => "peer",
            Self::Fault => "fault",
            Self::Event => "event",
        }
    }
}
