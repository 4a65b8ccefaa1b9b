//! What a plan is made of: steps from the peer's bytes to this build's.
//!
//! Made by `compile`, carried out by `rewrite`. Never: names; they have all been paired.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::change::Change;
use super::segment::{Layout, SEGMENT_MAX, Segment};
use super::skip::Skips;
use crate::kind::Width;

/// How one message is rewritten.
#[derive(Debug)]
pub(super) enum Program {
    /// One that always takes as many bytes here.
    Straight(Box<[Stretch]>),
    /// Any other.
    Winding(Winding),
}

/// Values of fixed size, and what is skipped behind them.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) segment: Segment,
    /// What of no fixed size only the peer has.
    pub(super) skip: Skips,
}

/// Steps that may depend on each other.
#[derive(Debug)]
pub(super) struct Winding {
    pub(super) steps: Steps,
    /// How many numbers the steps remember: places in the packet, and the peer's count fields.
    pub(super) notes: usize,
}

impl Program {
    /// The program of these parts.
    pub(super) fn new(parts: Vec<Part>, notes: usize) -> Self {
        let made = |part: &Part| match part {
            Part::Fixed(layout) => Some(layout.to),
            Part::Step(Step::Skip(_)) => Some(0),
            Part::Step(_) => None,
        };
        match parts.iter().map(made).sum::<Option<usize>>() {
            Some(made) if made <= SEGMENT_MAX => Self::Straight(straight(parts)),
            _ => Self::Winding(Winding { steps: joined(parts), notes }),
        }
    }
}

fn straight(parts: Vec<Part>) -> Box<[Stretch]> {
    let (mut all, mut place, mut layout) = (Vec::new(), 0, Layout::default());
    let mut put = |layout: Layout, skip| {
        let made = layout.to;
        all.push(Stretch { segment: Segment::new(layout, place), skip });
        place += made;
    };
    for part in parts {
        let skip = match part {
            Part::Fixed(next) => {
                layout.append(next);
                continue;
            }
            Part::Step(Step::Skip(skip)) => skip,
            Part::Step(_) => continue,
        };
        put(core::mem::take(&mut layout), skip);
    }
    put(layout, Skips::default());
    all.into()
}

/// Steps that are carried out one after the other.
pub(super) type Steps = Box<[Step]>;

/// One step. The peer's bytes are read from front to back, but for [`Step::Go`].
#[derive(Debug)]
pub(super) enum Step {
    /// Values of fixed size.
    Segment(Segment),
    /// Everything that is left, as it is.
    CopyRest,
    /// Not this value, whose length only its bytes tell.
    Skip(Skips),
    /// Not this list, which is counted by a field that was remembered.
    SkipCounted(usize, Skips),
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
    /// A number that is a `varu32` on either side.
    Packed(Packed),
    /// A text behind a length of another width, or one with another cap.
    Text(Text),
    /// A presence byte, then what follows if present.
    Optional { steps: Steps, skip: Skips },
    /// A count, then entries.
    List(Box<List>),
    /// A mask, then members.
    Sparse(Box<Sparse>),
    /// A tag, then a case.
    Union(Box<Union>),
    /// A length, then a body.
    Section(Steps),
    /// What follows if anything is left, else these bytes.
    Tail { steps: Steps, absent: Vec<u8> },
}

/// A number of fixed size where a size is told, else a `varu32`.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
    pub(super) change: Change,
}

/// A text; what is longer than this build allows is the preset.
#[derive(Debug)]
pub(super) struct Text {
    pub(super) from: Width,
    pub(super) to: Width,
    pub(super) cap: usize,
    pub(super) preset: Vec<u8>,
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
    Copies(usize),
    /// Of fixed size each.
    Segments(Segment),
    /// One by one.
    Each { steps: Steps, skip: Skips },
}

impl Entries {
    /// Entries, by the steps for one and those over it.
    pub(super) fn of(steps: Steps, skip: Skips) -> Self {
        match <[Step; 1]>::try_from(steps.into_vec()) {
            Ok([Step::Segment(segment)]) if segment.is_copy => Self::Copies(segment.from),
            Ok([Step::Segment(segment)]) => Self::Segments(segment),
            Ok(step) => Self::Each { steps: step.into(), skip },
            Err(steps) => Self::Each { steps: steps.into(), skip },
        }
    }
}

/// A sparse set.
#[derive(Debug)]
pub(super) struct Sparse {
    pub(super) from: Width,
    pub(super) to: Width,
    /// How each of the peer's members is stepped over, by its bit.
    pub(super) skips: Box<[Skips]>,
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

/// What a value comes to before its neighbours are known.
#[derive(Debug)]
pub(super) enum Part {
    Fixed(Layout),
    Step(Step),
}

impl From<Layout> for Part {
    fn from(layout: Layout) -> Self {
        Self::Fixed(layout)
    }
}

impl From<Step> for Part {
    fn from(step: Step) -> Self {
        Self::Step(step)
    }
}

/// Parts that follow each other as steps: neighbours of fixed size are one segment.
pub(super) fn joined(parts: Vec<Part>) -> Steps {
    let (mut steps, mut fixed) = (Vec::new(), None::<Layout>);
    for part in parts {
        match part {
            Part::Fixed(next) => match &mut fixed {
                Some(layout) if layout.to + next.to <= SEGMENT_MAX => layout.append(next),
                _ => {
                    let full = fixed.replace(next);
                    steps.extend(full.map(|layout| Step::Segment(Segment::new(layout, 0))));
                }
            },
            Part::Step(step) => {
                steps.extend(fixed.take().map(|layout| Step::Segment(Segment::new(layout, 0))));
                steps.push(step);
            }
        }
    }
    steps.extend(fixed.map(|layout| Step::Segment(Segment::new(layout, 0))));
    steps.into()
}
