//! Builds: this one, and those of peers that write another schema.
//!
//! Made once for each schema a process meets; sessions read their peers by them. A peer's text is
//! hostile until it was read: it is unpacked, parsed and planned within named bounds, or refused.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use dh_wire::plan::{Plan, Scratch};
use dh_wire::schema::{SchemaError, Shape, Type, identity, pack, unpack};
use dh_wire::{Hash128, Schema, WireError};

use crate::dialect::Dialect;
use crate::limit::{BUILDS_MAX, BUILDS_TEXT_BYTES_MAX};
use crate::registry::{Channel, Direction, MESSAGES, MessageRow, SCHEMA_WORDS, row, schema};

/// What a process says of its own build, and reads the others by.
pub struct Own {
    /// What is read into.
    schema: Schema,
    hash: Hash128,
    packed: Vec<u8>,
    native: Dialect,
}

/// A build that a process has met, and how it reads what peers of that build write.
pub struct Build {
    hash: Hash128,
    /// Bytes of its text.
    text: usize,
    plan: Plan,
    /// Who receives what is read by it.
    reads: Direction,
    /// This build's messages that it has, by who receives them.
    lists: BTreeSet<(Direction, u8)>,
}

/// Why the text of a build is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// It is no schema.
    Schema(SchemaError),
    /// It is the schema of another build than was announced.
    OtherHash {
        /// What was announced.
        announced: Hash128,
        /// Whose text it is.
        found: Hash128,
    },
    /// It cannot be read by.
    Plan(WireError),
}

impl Own {
    /// This build.
    pub fn this() -> Self {
        let own = schema();
        let text = own.text();
        Self {
            hash: identity(text.as_bytes()),
            packed: pack(&text, SCHEMA_WORDS),
            schema: own,
            native: Dialect::Same,
        }
    }

    /// This build behind another build's schema, for scenarios: it announces that one, and reads
    /// peers of it by a plan. Whoever plays it rewrites what it writes.
    ///
    /// # Errors
    ///
    /// A schema whose own text would be refused.
    pub fn posing_as(other: &Schema, reads: Direction) -> Result<Self, BuildError> {
        let text = other.text();
        let (own, packed) = (Self::this(), pack(&text, SCHEMA_WORDS));
        let hash = identity(text.as_bytes());
        let native = Build::read(&own, reads, hash, &packed)?;
        Ok(Self { hash, packed, native: Dialect::Other(Arc::new(native)), ..own })
    }

    /// The identity of its schema's text.
    pub const fn hash(&self) -> Hash128 {
        self.hash
    }

    /// Its schema's text, packed.
    pub fn packed(&self) -> &[u8] {
        &self.packed
    }

    /// How a peer of the same build is read.
    pub const fn native(&self) -> &Dialect {
        &self.native
    }
}

impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for Own {}

impl Build {
    /// The build whose packed text this is, to be read by `own` where `reads` receives.
    ///
    /// # Errors
    ///
    /// A text over its bounds, one that is no schema, or one of another hash than was announced.
    pub fn read(
        own: &Own,
        reads: Direction,
        announced: Hash128,
        packed: &[u8],
    ) -> Result<Self, BuildError> {
        let text = unpack(packed, SCHEMA_WORDS).map_err(BuildError::Schema)?;
        let found = identity(text.as_bytes());
        if found != announced {
            return Err(BuildError::OtherHash { announced, found });
        }
        let peer = Schema::read(text.as_bytes()).map_err(BuildError::Schema)?;
        let lists = MESSAGES.iter().filter(|row| lists(&peer, row));
        let lists = lists.map(|row| (row.direction, row.id)).collect();
        let plan = Plan::new(&own.schema, peer, reads.word()).map_err(BuildError::Plan)?;
        Ok(Self { hash: found, text: text.len(), plan, reads, lists })
    }

    /// The identity of its schema's text.
    pub const fn hash(&self) -> Hash128 {
        self.hash
    }

    /// Its schema.
    pub const fn schema(&self) -> &Schema {
        self.plan.peer()
    }

    /// Who receives what is read by it.
    pub const fn receiver(&self) -> Direction {
        self.reads
    }

    /// Whether it has this build's message of this number.
    pub(crate) fn reads(&self, direction: Direction, id: u8) -> bool {
        self.lists.contains(&(direction, id))
    }

    /// Whether it has a field of this name in a shape of that name.
    pub(crate) fn knows(&self, shape: &str, field: &str) -> bool {
        match self.schema().shapes.get(shape) {
            Some(Shape::Record(fields) | Shape::Sparse(_, fields)) => {
                fields.iter().any(|it| it.name == field)
            }
            Some(Shape::Union(_, cases)) => cases.iter().any(|it| it.name == field),
            Some(Shape::Enum { members, .. } | Shape::Flags(_, members)) => {
                members.iter().any(|(name, _)| name == field)
            }
            None => false,
        }
    }

    /// Whether a field of this name, in a shape of that name, has room for this whole number.
    pub(crate) fn takes(&self, shape: &str, field: &str, value: u64) -> bool {
        let Some(Shape::Record(fields)) = self.schema().shapes.get(shape) else { return false };
        let field = fields.iter().find(|it| it.name == field);
        field.is_some_and(|it| match it.kind {
            Type::Leaf(kind) => kind.greatest().is_some_and(|greatest| value <= greatest),
            _ => false,
        })
    }

    /// A message that came over this channel as this build would have written it: its number and
    /// its body. Nothing where this build has no such message there.
    pub(crate) fn rewrite<'a>(
        &self,
        channel: Channel,
        (id, body): (u8, &'a [u8]),
        scratch: &'a mut Scratch,
    ) -> Result<Option<(u8, &'a [u8])>, WireError> {
        // The frame is what both builds agree on whatever their schemas say.
        if row(self.reads, id).is_some_and(|row| row.frame) {
            return Ok(Some((id, body)));
        }
        let own = self.plan.rewrite(id, body, scratch)?.message(body, scratch);
        let is_here =
            |own: &(u8, &[u8])| row(self.reads, own.0).is_some_and(|row| row.channel == channel);
        Ok(own.filter(is_here))
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({})", self.hash.short())
    }
}

impl fmt::Debug for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Build({}, {:?})", self.hash.short(), self.reads)
    }
}

/// Whether a build of this schema understands the message: the one of its name that travels alike.
fn lists(schema: &Schema, row: &MessageRow) -> bool {
    let (direction, channel) = (row.direction.word(), row.channel.word());
    let mut theirs = schema.messages.iter();
    row.frame
        || theirs
            .any(|it| (&*it.direction, &*it.name, &*it.channel) == (direction, row.name, channel))
}

impl PartialEq for Build {
    fn eq(&self, other: &Self) -> bool {
        (self.hash, self.reads) == (other.hash, other.reads)
    }
}

impl Eq for Build {}

/// The builds that a process has met, the one met last at the end. Above [`BUILDS_MAX`] of them, or
/// [`BUILDS_TEXT_BYTES_MAX`] of text, the one met longest ago is given up: its next peer tells its
/// text once more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Builds(Vec<Arc<Build>>);

impl Builds {
    /// The build of this hash, as whoever `reads` reads it.
    pub fn find(&self, hash: Hash128, reads: Direction) -> Option<&Arc<Build>> {
        self.0.iter().find(|it| (it.hash, it.reads) == (hash, reads))
    }

    /// Keep a build that was met just now; whether another was given up for it.
    pub fn keep(&mut self, build: Arc<Build>) -> bool {
        self.0.retain(|it| *it != build);
        self.0.push(build);
        let all = self.0.len();
        while self.0.len() > BUILDS_MAX || self.text_bytes() > BUILDS_TEXT_BYTES_MAX {
            self.0.remove(0);
        }
        self.0.len() < all
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn text_bytes(&self) -> usize {
        self.0.iter().map(|it| it.text).sum()
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(error) => write!(f, "its schema cannot be read: {error}"),
            Self::OtherHash { announced, found } => {
                let (announced, found) = (announced.short(), found.short());
                write!(f, "its schema was announced as {announced} and is {found}")
            }
            Self::Plan(error) => write!(f, "its schema cannot be read by: {error}"),
        }
    }
}

impl core::error::Error for BuildError {}
