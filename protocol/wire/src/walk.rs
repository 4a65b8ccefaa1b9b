//! The traits of the field walk: who walks, and what can be walked.
//!
//! Implemented by `Writer`, `Reader`, `Describe`, `Dump` and whatever comes later on one side, and
//! by every wire type on the other. Never: bytes; only walkers know those.

use crate::error::WireError;
use crate::kind::Width;
use crate::slot::{NamedValue, Slot};

/// Anything that can be handed each field of a message in turn. Object safe, so that a tool is
/// compiled once for all messages, while writer and reader fold into straight code.
pub trait Walk {
    /// Visits one leaf.
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError>;

    /// Visits the start of a shape inline, which has no bytes of its own.
    fn record(&mut self, name: &'static str, shape: &'static str) -> Result<Mark, WireError>;

    /// Visits the start of anything else that holds further fields. What it returns goes to
    /// `close`.
    fn open(&mut self, name: &'static str, group: Group<'_>) -> Result<Mark, WireError>;

    /// Visits the end of what `record` or `open` began.
    fn close(&mut self, mark: Mark) -> Result<(), WireError>;

    /// Asks whether another case of the union should be visited, and which. Only a describer does.
    fn again(&mut self, _tag: &mut u32) -> bool {
        false
    }
}

/// What holds further fields beside a record. The walker may change what is borrowed: a reader puts
/// in what the bytes say, a describer asks for one of everything.
#[derive(Debug)]
pub enum Group<'a> {
    /// A presence byte, then the value if present.
    Optional(&'a mut bool),
    /// A count, then that many entries.
    List(&'a mut ListLen),
    /// A presence mask, then the members whose bit is set.
    Sparse(&'a mut NamedValue),
    /// A tag, then the shape of that case.
    Union(&'a mut NamedValue),
    /// A two-byte length, then a body that a reader may step over.
    Section,
    /// A place where an older packet may end; `false` when it does.
    Tail(&'a mut bool),
}

/// How long a list is, and how it is counted and bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLen {
    /// How many entries it has.
    pub len: usize,
    /// Where the count stands.
    pub count: Count,
    /// The most entries allowed.
    pub cap: usize,
    /// The fewest bytes one entry takes; 1 or more.
    pub entry_bytes_min: usize,
}

/// Where the count of a list stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// One byte before the entries.
    One,
    /// Two bytes before the entries.
    Two,
    /// In the newest count field visited before, which no other list has taken.
    Earlier,
}

/// What a walker remembers until `close`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Mark {
    /// Nothing to remember.
    pub const FLAT: Self = Self { start: usize::MAX, end: usize::MAX };
}

/// The members of an enum, a flag set, a sparse set or a union, by name.
#[derive(Debug, PartialEq, Eq)]
pub struct Names {
    /// The name of the type.
    pub name: &'static str,
    /// How many bytes the value, the bits, the mask or the tag takes.
    pub width: Width,
    /// Name, then value, bit number or tag.
    pub members: &'static [(&'static str, u32)],
    /// Whether a reader keeps values that no member has.
    pub open: bool,
}

/// A shape: a list of fields in wire order.
pub trait Fields: Default {
    /// The name in the schema.
    const SHAPE: &'static str;
    /// The fewest bytes the shape takes.
    const BYTES_MIN: usize;

    /// Visits every field once, in wire order.
    fn fields<W: Walk + ?Sized>(&mut self, walk: &mut W) -> Result<(), WireError>;
}

/// Something with a place on the wire: a leaf, or a group of further values.
pub trait Value: Default {
    /// The fewest bytes the value takes.
    const BYTES_MIN: usize;

    /// Visits the value under its field's name.
    fn walk<W: Walk + ?Sized>(&mut self, name: &'static str, walk: &mut W)
    -> Result<(), WireError>;
}

impl<F: Fields> Value for F {
    const BYTES_MIN: usize = F::BYTES_MIN;

    #[inline]
    fn walk<W: Walk + ?Sized>(
        &mut self,
        name: &'static str,
        walk: &mut W,
    ) -> Result<(), WireError> {
        let mark = walk.record(name, F::SHAPE)?;
        self.fields(walk)?;
        walk.close(mark)
    }
}

/// The call a field table is made of.
pub trait WalkExt: Walk {
    /// Visits `value` as the field `name`.
    #[inline]
    fn field<V: Value>(&mut self, name: &'static str, value: &mut V) -> Result<(), WireError> {
        value.walk(name, self)
    }
}

impl<W: Walk + ?Sized> WalkExt for W {}
