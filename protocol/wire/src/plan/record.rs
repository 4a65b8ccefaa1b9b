//! The steps from the fields of one record to those of another, and over what only one build has.
//!
//! A part of the compiler. Never: what becomes of a pair of fields.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::compile::Compiler;
use super::loss::Lost;
use super::measure::{holds_count, size_of};
use super::program::{Part, Step};
use super::segment::{Layout, SEGMENT_MAX};
use super::skip::Skips;
use crate::error::WireError;
use crate::kind::Kind;
use crate::schema::{CountAt, Field, Shape, Type};

/// What a field of this build's comes to, and which of the peer's it is read from, if any.
type Read = (Option<usize>, Vec<Part>);

impl<'s> Compiler<'s> {
    pub(super) fn record(
        &mut self,
        theirs: &'s [Field],
        own: &'s str,
        ours: &'s [Field],
    ) -> Result<Vec<Part>, WireError> {
        let places: BTreeMap<&str, usize> =
            theirs.iter().enumerate().map(|(at, field)| (field.name.as_str(), at)).collect();
        let pairs: Vec<Option<usize>> =
            ours.iter().map(|field| places.get(field.name.as_str()).copied()).collect();
        let found = pairs.iter().flatten();
        for (at, field) in theirs.iter().enumerate() {
            if found.clone().all(|pair| *pair != at) {
                self.lose(&field.name, Lost::Skipped);
            }
        }
        if found.clone().zip(found.skip(1)).all(|(one, next)| one < next) {
            self.in_order(theirs, own, ours, &pairs)
        } else {
            self.moved(theirs, own, ours, &pairs)
        }
    }

    /// A record whose common fields stand in one order: read once from front to back.
    fn in_order(
        &mut self,
        theirs: &'s [Field],
        own: &'s str,
        ours: &'s [Field],
        pairs: &[Option<usize>],
    ) -> Result<Vec<Part>, WireError> {
        let is_last = core::mem::take(&mut self.last);
        let (mut steps, mut next) = (Vec::new(), 0);
        for (at, (field, pair)) in ours.iter().zip(pairs).enumerate() {
            let Some(pair) = *pair else {
                self.lose(&field.name, Lost::Held);
                steps.extend(self.absent(own, at, &field.kind));
                continue;
            };
            for skipped in &theirs[next..pair] {
                steps.extend(self.skip(&skipped.kind)?);
            }
            next = pair + 1;
            self.last = is_last && next == theirs.len() && at + 1 == ours.len();
            match self.field(&theirs[pair], field, (own, at))? {
                Some(converted) => steps.extend(converted),
                None => {
                    steps.extend(self.skip(&theirs[pair].kind)?);
                    steps.extend(self.absent(own, at, &field.kind));
                }
            }
        }
        for skipped in &theirs[next..] {
            steps.extend(self.skip(&skipped.kind)?);
        }
        Ok(steps)
    }

    /// A record whose fields stand in another order: walked once to find them, then read in runs
    /// that stand in one order.
    fn moved(
        &mut self,
        theirs: &'s [Field],
        own: &'s str,
        ours: &'s [Field],
        pairs: &[Option<usize>],
    ) -> Result<Vec<Part>, WireError> {
        self.last = false;
        // Each list is counted by the field that was newest where it stands.
        let (mut newest, mut skips) = (Vec::new(), Vec::new());
        for field in theirs {
            newest.push(self.newest);
            skips.push(self.skip(&field.kind)?);
        }
        let after = self.newest;
        // What each field here comes to, and the field there that it is read from.
        let mut reads = Vec::new();
        for (place, (field, pair)) in ours.iter().zip(pairs).enumerate() {
            let converted = match *pair {
                Some(pair) => {
                    self.newest = newest[pair];
                    self.field(&theirs[pair], field, (own, place))?.map(|read| (Some(pair), read))
                }
                None => {
                    self.lose(&field.name, Lost::Held);
                    None
                }
            };
            reads.push(converted.unwrap_or_else(|| (None, self.absent(own, place, &field.kind))));
        }
        self.newest = after;
        let is_fixed = |parts: &Vec<Part>| parts.iter().all(|it| matches!(it, Part::Fixed(_)));
        if skips.iter().chain(reads.iter().map(|(_, read)| read)).all(is_fixed)
            && made(&reads) <= SEGMENT_MAX
        {
            return Ok([placed(skips, reads).into()].into());
        }
        Ok(self.gone_through(skips, reads))
    }

    /// The steps that walk over all fields, and then go to each that is read out of order.
    fn gone_through(&mut self, skips: Vec<Vec<Part>>, reads: Vec<Read>) -> Vec<Part> {
        // The field that the peer's bytes are at, and the fields that have to be gone to.
        let (end, mut gone_to, mut steps) = (skips.len(), BTreeMap::new(), Vec::new());
        let mut at = end;
        for (pair, read) in reads {
            if let Some(pair) = pair {
                if at != pair {
                    steps.push(self.go_to(pair, &mut gone_to));
                }
                at = pair + 1;
            }
            steps.extend(read);
        }
        if at != end {
            steps.push(self.go_to(end, &mut gone_to));
        }
        let mark = |at: usize| gone_to.get(&at).map(|place| Step::Mark(*place).into());
        let mut all = Vec::new();
        for (at, skip) in skips.into_iter().enumerate() {
            all.extend(mark(at));
            all.extend(skip);
        }
        all.extend(mark(end));
        all.extend(steps);
        all
    }

    /// The step back to one of the peer's fields, which is marked on the way.
    fn go_to(&mut self, field: usize, gone_to: &mut BTreeMap<usize, usize>) -> Part {
        let place = gone_to.entry(field).or_insert_with(|| {
            self.notes += 1;
            self.notes - 1
        });
        Step::Go(*place).into()
    }

    /// The steps for a field of this build that the peer does not have.
    fn absent(&self, own: &str, at: usize, kind: &Type) -> Vec<Part> {
        match kind {
            Type::Leaf(Kind::Count16) => [Step::PutCount(None).into()].into(),
            Type::List { count: CountAt::Field(_), .. } => [Step::NoEntries.into()].into(),
            Type::Named(name) if holds_count(self.own, kind) => match self.own.shapes.get(name) {
                Some(Shape::Record(fields)) => {
                    let fields = fields.iter().enumerate();
                    fields.flat_map(|(at, field)| self.absent(name, at, &field.kind)).collect()
                }
                _ => Vec::new(),
            },
            _ => {
                let held = self.held(own, at, kind);
                held.chunks(SEGMENT_MAX).map(|held| Layout::hold(held.into()).into()).collect()
            }
        }
    }

    /// The steps over a value that only the peer has.
    pub(super) fn skip(&mut self, kind: &'s Type) -> Result<Vec<Part>, WireError> {
        if let Some(size) = size_of(self.peer, kind) {
            return Ok([Layout::skip(size).into()].into());
        }
        Ok(match kind {
            Type::Leaf(Kind::Count16) => [Step::TakeCount(self.take_count()).into()].into(),
            Type::List { count: CountAt::Field(_), cap, entry } => {
                let skip = Skips::of_counted(self.peer, *cap, entry)?;
                [Step::SkipCounted(self.taken()?, skip).into()].into()
            }
            Type::Named(name) => match self.peer.shapes.get(name) {
                Some(Shape::Record(fields)) => {
                    let mut steps = Vec::new();
                    for field in fields {
                        steps.extend(self.skip(&field.kind)?);
                    }
                    steps
                }
                _ => [Step::Skip(Skips::of(self.peer, kind)?).into()].into(),
            },
            _ => [Step::Skip(Skips::of(self.peer, kind)?).into()].into(),
        })
    }
}

/// How many bytes the fixed of these make.
fn made(reads: &[Read]) -> usize {
    let made = |part: &Part| if let Part::Fixed(layout) = part { layout.to } else { 0 };
    reads.iter().flat_map(|(_, read)| read).map(made).sum()
}

/// Fields that all have their places before the first byte comes, each read where it lies.
fn placed(skips: Vec<Vec<Part>>, reads: Vec<Read>) -> Layout {
    let fixed = |parts: Vec<Part>| {
        let mut whole = Layout::default();
        for part in parts {
            if let Part::Fixed(layout) = part {
                whole.append(layout);
            }
        }
        whole
    };
    let (mut starts, mut layout) = (Vec::new(), Layout::default());
    for skip in skips {
        starts.push(layout.from);
        layout.append(fixed(skip));
    }
    for (pair, read) in reads {
        layout.place(pair.map_or(0, |pair| starts[pair]), fixed(read));
    }
    layout
}
