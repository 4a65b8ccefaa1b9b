//! What a plan is made of: steps from the peer's bytes to this build's.
//!
//! Made by `compile`, carried out by `rewrite`. Never: names; they have all been paired.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::kind::{Kind, Width};
use crate::schema::Type;

/// The steps for one message.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Steps,
    /// How many places the steps remember.
    pub(super) places: usize,
    /// How many of the peer's count fields the steps remember.
    pub(super) counts: usize,
}

/// Steps that are carried out one after the other.
pub(super) type Steps = Box<[Step]>;

/// One step. The peer's bytes are read from front to back, but for [`Step::Go`].
#[derive(Debug)]
pub(super) enum Step {
    /// These many bytes as they are.
    Copy(usize),
    /// Everything that is left, as it is.
    CopyRest,
    /// Not these many bytes.
    Skip(usize),
    /// Not this value, whose length only its bytes tell.
    Walk(Type),
    /// Not this list, which is counted by a field that was remembered.
    WalkCounted(usize, Type),
    /// Bytes the peer does not have.
    Insert(Box<[u8]>),
    /// Remember this place.
    Mark(usize),
    /// Go on from a place.
    Go(usize),
    /// Remember the peer's count field, and step over it.
    TakeCount(usize),
    /// This build's count field: what the peer's says, until its list tells another number.
    PutCount(Option<usize>),
    /// No entries for the newest count field.
    NoEntries,
    /// A `varu32` as it is.
    Varu32,
    /// A number of another kind.
    Number(Number),
    /// A value by name.
    Enum(Box<Enum>),
    /// Bits by name.
    Flags(Box<Flags>),
    /// A text behind a length of another width, or one with another cap.
    Text(Text),
    /// A presence byte, then what follows if present.
    Optional { steps: Steps, kind: Type },
    /// A count, then entries.
    List(Box<List>),
    /// A mask, then members.
    Sparse(Box<Sparse>),
    /// A tag, then a case.
    Union(Box<Union>),
    /// A length, then a body.
    Section(Steps),
    /// What follows if anything is left, else these bytes.
    Tail { steps: Steps, absent: Box<[u8]> },
}

/// A number from one kind to another; what does not fit is the preset.
#[derive(Debug)]
pub(super) struct Number {
    pub(super) from: Kind,
    pub(super) to: Kind,
    pub(super) preset: Box<[u8]>,
}

/// An enum from one build to another; what this build has no name for is the preset.
#[derive(Debug)]
pub(super) struct Enum {
    pub(super) from: Width,
    pub(super) to: Width,
    /// The peer's value and this build's, sorted.
    pub(super) members: Vec<(u32, u32)>,
    pub(super) preset: Box<[u8]>,
}

/// Flags from one build to another; bits without a name here vanish.
#[derive(Debug)]
pub(super) struct Flags {
    pub(super) from: Width,
    pub(super) to: Width,
    /// The peer's bit and this build's.
    pub(super) bits: Vec<(u32, u32)>,
}

/// A text; what is longer than this build allows is the preset.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) from: Width,
    pub(super) to: Width,
    pub(super) cap: usize,
    pub(super) preset: Box<[u8]>,
}

/// Where a list's count stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum CountedBy {
    /// Before the entries.
    Width(Width),
    /// The peer's count field that was remembered so; this build's is always the newest.
    Field(usize),
}

/// A list. An entry that is unknown is dropped; one with more entries than this build allows is
/// empty.
#[derive(Debug)]
pub(super) struct List {
    pub(super) from: CountedBy,
    pub(super) to: CountedBy,
    pub(super) from_cap: usize,
    pub(super) to_cap: usize,
    pub(super) entries: Entries,
}

/// How the entries of a list are rewritten.
#[derive(Debug)]
pub(super) enum Entries {
    /// They are all that is left, as they are.
    Rest,
    /// So many bytes each, as they are.
    Flat(usize),
    /// One by one.
    Each { kind: Type, steps: Steps },
}

/// A sparse set.
#[derive(Debug)]
pub(super) struct Sparse {
    pub(super) from: Width,
    pub(super) to: Width,
    /// How each of the peer's members is stepped over, by its bit.
    pub(super) skips: Vec<Steps>,
    /// This build's bit, the peer's bit, and how the member is rewritten, by this build's bit.
    pub(super) members: Vec<(u32, usize, Steps)>,
    /// The first of the places, one for each of the peer's members and one for their end.
    pub(super) place: usize,
}

/// A union.
#[derive(Debug)]
pub(super) struct Union {
    pub(super) from: Width,
    pub(super) to: Width,
    /// The peer's tag, this build's, and the steps for the case.
    pub(super) cases: Vec<(u32, u32, Steps)>,
}

/// The same steps with neighbours joined.
pub(super) fn tidy(steps: Vec<Step>) -> Steps {
    let mut tidied: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps {
        match (tidied.last_mut(), step) {
            (Some(Step::Copy(before)), Step::Copy(more))
            | (Some(Step::Skip(before)), Step::Skip(more)) => *before += more,
            (Some(Step::Insert(before)), Step::Insert(more)) => {
                *before = [&**before, &*more].concat().into();
            }
            (_, Step::Insert(nothing)) if nothing.is_empty() => {}
            (_, step) => tidied.push(step),
        }
    }
    tidied.into()
}
