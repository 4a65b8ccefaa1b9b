//! Pairs two shapes by name and makes the steps from one to the other.
//!
//! Used once for each message of a peer's schema. The peer's schema has been checked, so its shapes
//! nest and multiply within bounds. Never: bytes of a packet.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::alike::{same_named, same_type};
use super::leaf::{leaf, paired};
use super::loss::{Loss, Lost};
use super::measure::{holds_count, size_of};
use super::preset::preset;
use super::program::{
    CountedBy, Entries, Enum, Flags, List, Program, Sparse, Step, Steps, Text, Union, tidy,
};
use crate::error::{Fault, WireError};
use crate::kind::{Kind, Width};
use crate::schema::{Case, CountAt, Field, Schema, Shape, Type};

/// What has become of a pair of shapes.
pub(super) enum Compiled {
    /// They are the same.
    Same,
    /// They differ, and what that costs.
    Program(Program, Vec<Loss>),
}

/// The steps from the peer's shape to this build's.
pub(super) fn compile(
    own: &Schema,
    own_shape: &str,
    peer: &Schema,
    peer_shape: &str,
) -> Result<Compiled, WireError> {
    let (path, losses) = (Vec::new(), Vec::new());
    let mut compiler =
        Compiler { own, peer, places: 0, counts: 0, newest: None, last: true, path, losses };
    if same_named((peer, peer_shape), (own, own_shape)) {
        return Ok(Compiled::Same);
    }
    let steps = compiler.named(peer_shape, own_shape, ("", 0))?.unwrap_or_default();
    let Compiler { places, counts, losses, .. } = compiler;
    Ok(Compiled::Program(Program { steps: tidy(steps), places, counts }, losses))
}

struct Compiler<'s> {
    own: &'s Schema,
    peer: &'s Schema,
    places: usize,
    counts: usize,
    /// The peer's newest count field that no list has taken.
    newest: Option<usize>,
    /// Whether what is paired ends both messages.
    last: bool,
    /// The names of the fields around what is paired.
    path: Vec<&'s str>,
    losses: Vec<Loss>,
}

impl<'s> Compiler<'s> {
    /// The steps for two shapes; nothing where they are of different families. `place` is the
    /// record and the field that the value is of.
    fn named(
        &mut self,
        peer: &'s str,
        own: &'s str,
        place: (&'s str, usize),
    ) -> Result<Option<Vec<Step>>, WireError> {
        let (peer_schema, own_schema) = (self.peer, self.own);
        let shapes = (peer_schema.shapes.get(peer), own_schema.shapes.get(own));
        let (Some(theirs), Some(ours)) = shapes else { return Ok(None) };
        Ok(Some(match (theirs, ours) {
            (Shape::Record(theirs), Shape::Record(ours)) => self.record(theirs, own, ours)?,
            (Shape::Sparse(from, theirs), Shape::Sparse(to, ours)) => {
                [self.sparse((*from, theirs), (*to, ours))?].into()
            }
            (Shape::Union(from, theirs), Shape::Union(to, ours)) => {
                [self.union((*from, theirs), (*to, ours))?].into()
            }
            (
                Shape::Enum { width: from, members: theirs, .. },
                Shape::Enum { width: to, members: ours, .. },
            ) => {
                if (from, theirs) == (to, ours) {
                    return Ok(Some([Step::Copy(to.bytes())].into()));
                }
                let preset = self.held(place.0, place.1, &Type::Named(own.into()));
                let members = paired(theirs, ours);
                self.lose_members(theirs, ours, Lost::Member);
                [Step::Enum(Box::new(Enum { from: *from, to: *to, members, preset }))].into()
            }
            (Shape::Flags(from, theirs), Shape::Flags(to, ours)) => {
                if (from, theirs) == (to, ours) {
                    return Ok(Some([Step::Copy(to.bytes())].into()));
                }
                let bits = paired(theirs, ours);
                self.lose_members(theirs, ours, Lost::Bit);
                [Step::Flags(Box::new(Flags { from: *from, to: *to, bits }))].into()
            }
            _ => return Ok(None),
        }))
    }

    fn record(
        &mut self,
        theirs: &'s [Field],
        own: &'s str,
        ours: &'s [Field],
    ) -> Result<Vec<Step>, WireError> {
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
    ) -> Result<Vec<Step>, WireError> {
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
    ) -> Result<Vec<Step>, WireError> {
        self.last = false;
        // Each list is counted by the field that was newest where it stands.
        let (mut newest, mut skips) = (Vec::new(), Vec::new());
        for field in theirs {
            newest.push(self.newest);
            skips.push(self.skip(&field.kind)?);
        }
        let after = self.newest;
        // The field that the peer's bytes are at, and the fields that have to be gone to.
        let (mut at, mut gone_to, mut read) = (theirs.len(), BTreeMap::new(), Vec::new());
        for (place, (field, pair)) in ours.iter().zip(pairs).enumerate() {
            let mut converted = None;
            if let Some(pair) = *pair {
                self.newest = newest[pair];
                converted = self.field(&theirs[pair], field, (own, place))?;
                if converted.is_some() {
                    if at != pair {
                        read.push(self.go_to(pair, &mut gone_to));
                    }
                    at = pair + 1;
                }
            } else {
                self.lose(&field.name, Lost::Held);
            }
            read.extend(converted.unwrap_or_else(|| self.absent(own, place, &field.kind)));
        }
        self.newest = after;
        if at != theirs.len() {
            read.push(self.go_to(theirs.len(), &mut gone_to));
        }
        let mark = |at: usize| gone_to.get(&at).map(|place| Step::Mark(*place));
        let mut steps = Vec::new();
        for (at, skip) in skips.into_iter().enumerate() {
            steps.extend(mark(at));
            steps.extend(skip);
        }
        steps.extend(mark(theirs.len()));
        steps.extend(read);
        Ok(steps)
    }

    /// The step back to one of the peer's fields, which is marked on the way.
    fn go_to(&mut self, field: usize, gone_to: &mut BTreeMap<usize, usize>) -> Step {
        let place = gone_to.entry(field).or_insert_with(|| {
            self.places += 1;
            self.places - 1
        });
        Step::Go(*place)
    }

    /// The steps for a field of this build that the peer does not have.
    fn absent(&self, own: &str, at: usize, kind: &Type) -> Vec<Step> {
        match kind {
            Type::Leaf(Kind::Count16) => [Step::PutCount(None)].into(),
            Type::List { count: CountAt::Field(_), .. } => [Step::NoEntries].into(),
            Type::Named(name) if holds_count(self.own, kind) => match self.own.shapes.get(name) {
                Some(Shape::Record(fields)) => {
                    let fields = fields.iter().enumerate();
                    fields.flat_map(|(at, field)| self.absent(name, at, &field.kind)).collect()
                }
                _ => Vec::new(),
            },
            _ => [Step::Insert(self.held(own, at, kind))].into(),
        }
    }

    /// The steps over a value that only the peer has.
    fn skip(&mut self, kind: &'s Type) -> Result<Vec<Step>, WireError> {
        if let Some(size) = size_of(self.peer, kind)
            && !holds_count(self.peer, kind)
        {
            return Ok([Step::Skip(size)].into());
        }
        Ok(match kind {
            Type::Leaf(Kind::Count16) => [Step::TakeCount(self.take_count())].into(),
            Type::List { count: CountAt::Field(_), .. } => {
                [Step::WalkCounted(self.taken()?, kind.clone())].into()
            }
            Type::Named(name) => match self.peer.shapes.get(name) {
                Some(Shape::Record(fields)) => {
                    let mut steps = Vec::new();
                    for field in fields {
                        steps.extend(self.skip(&field.kind)?);
                    }
                    steps
                }
                _ => [Step::Walk(kind.clone())].into(),
            },
            _ => [Step::Walk(kind.clone())].into(),
        })
    }

    /// The number that the peer's next count field is remembered by.
    fn take_count(&mut self) -> usize {
        self.newest = Some(self.counts);
        self.counts += 1;
        self.counts - 1
    }

    /// The peer's newest count field, which no other list may take then.
    fn taken(&mut self) -> Result<usize, WireError> {
        self.newest.take().ok_or(WireError::new("", Fault::NoCount))
    }

    /// The steps for two fields of one name; nothing where they are of different families.
    fn field(
        &mut self,
        peer: &'s Field,
        own: &'s Field,
        place: (&'s str, usize),
    ) -> Result<Option<Vec<Step>>, WireError> {
        self.path.push(&own.name);
        let steps = self.kind(&peer.kind, &own.kind, place);
        self.path.pop();
        if let Ok(None) = steps {
            self.lose(&own.name, Lost::Family);
        }
        steps
    }

    /// Writes down what is lost of a name inside what is paired.
    fn lose(&mut self, name: &str, lost: Lost) {
        let path = self.path.iter().copied().chain([name]).collect::<Vec<_>>().join(".");
        self.losses.push(Loss { path, lost });
    }

    fn lose_members(&mut self, theirs: &[(String, u32)], ours: &[(String, u32)], lost: Lost) {
        for (name, _) in theirs {
            if ours.iter().all(|(own, _)| own != name) {
                self.lose(name, lost);
            }
        }
    }

    /// The steps for two types; nothing where they are of different families. `place` is the
    /// record and the field that the value is of.
    fn kind(
        &mut self,
        peer: &'s Type,
        own: &'s Type,
        place: (&'s str, usize),
    ) -> Result<Option<Vec<Step>>, WireError> {
        let held = || self.held(place.0, place.1, own);
        let step = match (peer, own) {
            (Type::Tail(peer), Type::Tail(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Tail { steps, absent: Box::default() }
            }
            // Where this build's packet may end, its field holds what its type does.
            (peer, Type::Tail(own)) => return self.kind(peer, own, ("", 0)),
            (Type::Tail(peer), own) => {
                let absent = held();
                let Some(steps) = self.kind(peer, own, place)? else { return Ok(None) };
                Step::Tail { steps: tidy(steps), absent }
            }
            (Type::Leaf(Kind::Count16), Type::Leaf(Kind::Count16)) => {
                let count = self.take_count();
                return Ok(Some([Step::TakeCount(count), Step::PutCount(Some(count))].into()));
            }
            (Type::Leaf(from), Type::Leaf(to)) => match leaf(*from, *to, held) {
                Some(step) => step,
                None => return Ok(None),
            },
            (Type::Str8(_) | Type::Str16(_), Type::Str8(cap) | Type::Str16(cap)) => {
                let width = |it: &Type| {
                    if matches!(it, Type::Str8(_)) { Width::One } else { Width::Two }
                };
                let (from, to) = (width(peer), width(own));
                Step::Text(Text { from, to, cap: *cap, preset: held() })
            }
            (Type::Named(peer), Type::Named(own)) => return self.named(peer, own, place),
            (Type::Optional(peer), Type::Optional(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Optional { steps, kind: (**peer).clone() }
            }
            (Type::List { .. }, Type::List { .. }) => return self.list(peer, own),
            (Type::Section(peer), Type::Section(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Section(steps)
            }
            _ => return Ok(None),
        };
        Ok(Some([step].into()))
    }

    /// Two types inside a group, where a value holds what its type does before a visit.
    fn inner(&mut self, peer: &'s Type, own: &'s Type) -> Result<Option<Steps>, WireError> {
        self.last = false;
        Ok(self.kind(peer, own, ("", 0))?.map(tidy))
    }

    fn list(&mut self, peer: &'s Type, own: &'s Type) -> Result<Option<Vec<Step>>, WireError> {
        let (
            Type::List { count: from, cap: from_cap, entry: theirs },
            Type::List { count: to, cap: to_cap, entry: ours },
        ) = (peer, own)
        else {
            return Ok(None);
        };
        let is_last = core::mem::take(&mut self.last);
        let newest = self.newest;
        let from = match from {
            CountAt::One => CountedBy::Width(Width::One),
            CountAt::Two => CountedBy::Width(Width::Two),
            CountAt::Field(_) => CountedBy::Field(self.taken()?),
        };
        let to = match to {
            CountAt::One => CountedBy::Width(Width::One),
            CountAt::Two => CountedBy::Width(Width::Two),
            CountAt::Field(_) => CountedBy::Field(0),
        };
        let Some(steps) = self.inner(theirs, ours)? else {
            self.newest = newest;
            return Ok(None);
        };
        let entries = if is_last && same_type((self.peer, theirs), (self.own, ours)) {
            Entries::Rest
        } else if let [Step::Copy(size)] = &*steps {
            Entries::Flat(*size)
        } else {
            Entries::Each { kind: (**theirs).clone(), steps }
        };
        let (from_cap, to_cap) = (*from_cap, *to_cap);
        let list = List { from, to, from_cap, to_cap, entries };
        Ok(Some([Step::List(Box::new(list))].into()))
    }

    fn sparse(
        &mut self,
        (from, theirs): (Width, &'s [Field]),
        (to, ours): (Width, &'s [Field]),
    ) -> Result<Step, WireError> {
        let place = self.places;
        self.places += theirs.len() + 1;
        let mut skips = Vec::new();
        for member in theirs {
            skips.push(tidy(self.skip(&member.kind)?));
        }
        let mut members = Vec::new();
        for (bit, member) in (0_u32..).zip(ours) {
            let Some(pair) = theirs.iter().position(|it| it.name == member.name) else {
                self.lose(&member.name, Lost::Held);
                continue;
            };
            self.last = false;
            if let Some(steps) = self.field(&theirs[pair], member, ("", 0))? {
                members.push((bit, pair, tidy(steps)));
            }
        }
        for member in theirs {
            if ours.iter().all(|own| own.name != member.name) {
                self.lose(&member.name, Lost::Skipped);
            }
        }
        Ok(Step::Sparse(Box::new(Sparse { from, to, skips, members, place })))
    }

    fn union(
        &mut self,
        (from, theirs): (Width, &'s [Case]),
        (to, ours): (Width, &'s [Case]),
    ) -> Result<Step, WireError> {
        let mut cases = Vec::new();
        for case in theirs {
            let Some(pair) = ours.iter().find(|it| it.name == case.name) else {
                self.lose(&case.name, Lost::Case);
                continue;
            };
            self.path.push(&case.name);
            let steps = self.inner(&case.kind, &pair.kind);
            self.path.pop();
            match steps? {
                Some(steps) => cases.push((case.tag, pair.tag, steps)),
                None => self.lose(&case.name, Lost::Case),
            }
        }
        Ok(Step::Union(Box::new(Union { from, to, cases })))
    }

    /// What a field of this build's holds before a visit, as bytes.
    fn held(&self, record: &str, at: usize, kind: &Type) -> Box<[u8]> {
        let held = self.own.presets.get(record).and_then(|fields| fields.get(at));
        held.map_or_else(|| preset(self.own, kind).into(), |bytes| bytes.as_slice().into())
    }
}
