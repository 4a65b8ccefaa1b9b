//! Dialects: how one session reads its peer, and what it may say to it.
//!
//! Used by sessions on both ends. What a peer of another build sends is rewritten as this build's
//! before anybody sees it; what a peer has no name for is not sent to it. Never: changes a byte
//! that is sent.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use dh_wire::plan::Scratch;
use dh_wire::{Hash128, WireError};

use crate::build::{Build, Own};
use crate::content::MapLoad;
use crate::join::{ClientInfo, ClientReady, ServerInfo, SpawnAck};
use crate::registry::{Channel, Direction, Message, Side, row};
use crate::snapshot::Snapshot;

/// Without one of these nobody comes to play: its sender would wait for what is never said.
const NEEDED: [(Direction, u8, &str); 6] = [
    needed::<ServerInfo>(),
    needed::<ClientInfo>(),
    needed::<ClientReady>(),
    needed::<SpawnAck>(),
    needed::<Snapshot>(),
    needed::<MapLoad>(),
];

const fn needed<M: Message>() -> (Direction, u8, &'static str) {
    (M::DIRECTION, M::ID, M::NAME)
}

/// How a session reads its peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As this build reads itself, without a plan.
    #[default]
    Same,
    /// By the plan for another build.
    Other(Arc<Build>),
}

impl Dialect {
    /// Reads a message of the peer. Nothing where this build has no such message, or no name for
    /// what it says.
    ///
    /// # Errors
    ///
    /// A body that is not what the peer's schema or this build's allows.
    pub fn read<S: Side>(
        &self,
        channel: Channel,
        id: u8,
        body: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Option<S>, WireError> {
        let Some((id, body)) = self.rewrite(channel, id, body, scratch)? else {
            return Ok(None);
        };
        S::read(channel, id, body).map(Some)
    }

    /// A message of the peer as this build would have written it: its number and its body.
    ///
    /// # Errors
    ///
    /// A body that is not what the peer's schema says.
    pub fn rewrite<'a>(
        &self,
        channel: Channel,
        id: u8,
        body: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Option<(u8, &'a [u8])>, WireError> {
        match self {
            Self::Same => Ok(Some((id, body))),
            Self::Other(build) => build.rewrite(channel, (id, body), scratch),
        }
    }

    /// Whether the peer has this build's message of this number.
    pub fn reads(&self, direction: Direction, id: u8) -> bool {
        match self {
            Self::Same => true,
            Self::Other(build) => build.reads(direction, id),
        }
    }

    /// Whether the peer has a field, case, name or bit like this in a shape of that name.
    pub fn knows(&self, shape: &str, field: &str) -> bool {
        match self {
            Self::Same => true,
            Self::Other(build) => build.knows(shape, field),
        }
    }

    /// Whether the peer's field has room for this whole number, which this build's has.
    pub fn takes(&self, shape: &str, field: &str, value: u64) -> bool {
        match self {
            Self::Same => true,
            Self::Other(build) => build.takes(shape, field, value),
        }
    }
}

/// What two builds have told each other of themselves, and how they get on by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    ours: Hash128,
    theirs: Hash128,
    dialect: Dialect,
    /// Bytes of packed text that were sent and received.
    sent: usize,
    received: usize,
    /// The numbers of this build's messages that were held back so far.
    held: BTreeSet<u8>,
}

/// Whether a message goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It does.
    Sent,
    /// The peer has no such message, and this is the first of this name.
    HeldFirst(&'static str),
    /// The peer has no such message.
    Held,
}

impl Passage {
    /// What the log says of a message that does not go to `whom`; nothing where it goes, or where
    /// that was said before.
    pub fn line<W: fmt::Display>(self, whom: impl FnOnce() -> W) -> Option<String> {
        let Self::HeldFirst(name) = self else { return None };
        Some(format!("not sending {name} to {}: its schema does not list it", whom()))
    }
}

impl Terms {
    /// Both write the same schema.
    pub fn same(own: &Own) -> Self {
        Self::new(own, own.hash(), own.native().clone())
    }

    /// The peer is of this build.
    pub fn other(own: &Own, build: Arc<Build>) -> Self {
        Self::new(own, build.hash(), Dialect::Other(build))
    }

    fn new(own: &Own, theirs: Hash128, dialect: Dialect) -> Self {
        let (sent, received, held) = (0, 0, BTreeSet::new());
        Self { ours: own.hash(), theirs, dialect, sent, received, held }
    }

    /// So many bytes of packed text went out and came in on the way here.
    #[must_use]
    pub fn having(self, sent: usize, received: usize) -> Self {
        Self { sent, received, ..self }
    }

    /// Whether the two write different schemas.
    pub fn differ(&self) -> bool {
        self.ours != self.theirs
    }

    /// The hash of what this build writes.
    pub const fn ours(&self) -> Hash128 {
        self.ours
    }

    /// The hash of what the peer writes.
    pub const fn theirs(&self) -> Hash128 {
        self.theirs
    }

    /// How the peer is read.
    pub const fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Whether a message of this number goes out to whoever is in that direction.
    pub fn pass(&mut self, direction: Direction, id: u8) -> Passage {
        if self.dialect.reads(direction, id) {
            return Passage::Sent;
        }
        let is_first = self.held.insert(id);
        let first = row(direction, id).filter(|_| is_first);
        first.map_or(Passage::Held, |row| Passage::HeldFirst(row.name))
    }

    /// The first message that the peer's build has no name for and without which nobody comes to
    /// play with it.
    pub fn lacks(&self) -> Option<&'static str> {
        let mut needed = NEEDED.iter();
        let lacking = needed.find(|(direction, id, _)| !self.dialect.reads(*direction, *id));
        lacking.map(|(_, _, name)| *name)
    }

    /// What it took to come to these terms, for the log.
    pub fn cost(&self) -> impl fmt::Display {
        Cost { sent: self.sent, received: self.received }
    }
}

struct Cost {
    sent: usize,
    received: usize,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, received } = self;
        match sent + received {
            0 => f.write_str("(hash only, 16 bytes each way)"),
            _ => write!(
                f,
                "(full schema: {sent} bytes sent, {received} received, beside 16-byte hashes)"
            ),
        }
    }
}
