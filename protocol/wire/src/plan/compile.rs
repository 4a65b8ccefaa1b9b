//! Pairs two shapes by name and makes the steps from one to the other.
//!
//! Used once for each message of a peer's schema. The peer's schema has been checked, so its shapes
//! nest and multiply within bounds. Never: bytes of a packet.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::alike::{same_named, same_type};
use super::change::Change;
use super::leaf::{bits, member, number};
use super::loss::{Loss, Lost};
use super::measure::size_of_single;
use super::program::{
    CountedBy, Entries, List, Part, Program, Sparse, Step, Steps, Text, Union, joined,
};
use super::segment::Layout;
use super::skip::Skips;
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
    let mut compiler = Compiler { own, peer, notes: 0, newest: None, last: true, path, losses };
    if same_named((peer, peer_shape), (own, own_shape)) {
        return Ok(Compiled::Same);
    }
    let steps = compiler.named(peer_shape, own_shape, ("", 0))?.unwrap_or_default();
    let Compiler { notes, losses, .. } = compiler;
    Ok(Compiled::Program(Program::new(steps, notes), losses))
}

pub(super) struct Compiler<'s> {
    pub(super) own: &'s Schema,
    pub(super) peer: &'s Schema,
    /// How many numbers the steps so far remember.
    pub(super) notes: usize,
    /// The peer's newest count field that no list has taken.
    pub(super) newest: Option<usize>,
    /// Whether what is paired ends both messages.
    pub(super) last: bool,
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
    ) -> Result<Option<Vec<Part>>, WireError> {
        let (peer_schema, own_schema) = (self.peer, self.own);
        let shapes = (peer_schema.shapes.get(peer), own_schema.shapes.get(own));
        let (Some(theirs), Some(ours)) = shapes else { return Ok(None) };
        Ok(Some(match (theirs, ours) {
            (Shape::Record(theirs), Shape::Record(ours)) => self.record(theirs, own, ours)?,
            (Shape::Sparse(from, theirs), Shape::Sparse(to, ours)) => {
                [self.sparse((*from, theirs), (*to, ours))?.into()].into()
            }
            (Shape::Union(from, theirs), Shape::Union(to, ours)) => {
                [self.union((*from, theirs), (*to, ours))?.into()].into()
            }
            (
                Shape::Enum { width: from, members: theirs, open },
                Shape::Enum { width: to, members: ours, .. },
            ) => {
                let preset = self.held(place.0, place.1, &Type::Named(own.into()));
                self.lose_members(theirs, ours, Lost::Member);
                if *open {
                    self.lose_some(Lost::Unnamed);
                }
                [member((*from, theirs), (*to, ours), &preset).into()].into()
            }
            (Shape::Flags(from, theirs), Shape::Flags(to, ours)) => {
                self.lose_members(theirs, ours, Lost::Bit);
                [bits((*from, theirs), (*to, ours)).into()].into()
            }
            _ => return Ok(None),
        }))
    }

    /// The number that the peer's next count field is remembered by.
    pub(super) fn take_count(&mut self) -> usize {
        self.newest = Some(self.notes);
        self.notes += 1;
        self.notes - 1
    }

    /// The peer's newest count field, which no other list may take then.
    pub(super) fn taken(&mut self) -> Result<usize, WireError> {
        self.newest.take().ok_or(WireError::new("", Fault::NoCount))
    }

    /// The steps for two fields of one name; nothing where they are of different families.
    pub(super) fn field(
        &mut self,
        peer: &'s Field,
        own: &'s Field,
        place: (&'s str, usize),
    ) -> Result<Option<Vec<Part>>, WireError> {
        self.path.push(&own.name);
        let steps = self.kind(&peer.kind, &own.kind, place);
        self.path.pop();
        if let Ok(None) = steps {
            self.lose(&own.name, Lost::Family);
        }
        steps
    }

    /// Writes down what is lost of a name inside what is paired.
    pub(super) fn lose(&mut self, name: &str, lost: Lost) {
        let path = self.path.iter().copied().chain([name]).collect::<Vec<_>>().join(".");
        self.losses.push(Loss { path, lost });
    }

    /// Writes down what is lost of some values of what is paired.
    fn lose_some(&mut self, lost: Lost) {
        self.losses.push(Loss { path: self.path.join("."), lost });
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
    ) -> Result<Option<Vec<Part>>, WireError> {
        if let Some(size) = size_of_single(self.peer, peer)
            && same_type((self.peer, peer), (self.own, own))
        {
            return Ok(Some([Layout::copy(size).into()].into()));
        }
        let held = || self.held(place.0, place.1, own);
        let step = match (peer, own) {
            (Type::Tail(peer), Type::Tail(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Tail { steps, absent: Vec::new() }
            }
            // Where this build's packet may end, its field holds what its type does.
            (peer, Type::Tail(own)) => return self.kind(peer, own, ("", 0)),
            (Type::Tail(peer), own) => {
                let absent = held();
                let Some(steps) = self.kind(peer, own, place)? else { return Ok(None) };
                Step::Tail { steps: joined(steps), absent }
            }
            (Type::Leaf(Kind::Count16), Type::Leaf(Kind::Count16)) => {
                let count = self.take_count();
                let steps = [Step::TakeCount(count), Step::PutCount(Some(count))];
                return Ok(Some(steps.map(Part::from).into()));
            }
            (Type::Leaf(Kind::Rest), Type::Leaf(Kind::Rest)) => Step::CopyRest,
            (Type::Leaf(from), Type::Leaf(to)) => {
                let steps = number(*from, *to, &held()).map(|part| [part].into());
                if let Some(lost) = Change::loss(*from, *to) {
                    self.lose_some(lost);
                }
                return Ok(steps);
            }
            (Type::Str8(from_cap) | Type::Str16(from_cap), Type::Str8(cap) | Type::Str16(cap)) => {
                let width = |it: &Type| {
                    if matches!(it, Type::Str8(_)) { Width::One } else { Width::Two }
                };
                let (from, to) = (width(peer), width(own));
                let step = Step::Text(Text { from, to, cap: *cap, preset: held() });
                if from_cap > cap {
                    self.lose_some(Lost::Text(*cap));
                }
                step
            }
            (Type::Named(peer), Type::Named(own)) => return self.named(peer, own, place),
            (Type::Optional(peer), Type::Optional(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Optional { steps, skip: Skips::of(self.peer, peer)? }
            }
            (Type::List { .. }, Type::List { .. }) => return self.list(peer, own),
            (Type::Section(peer), Type::Section(own)) => {
                let Some(steps) = self.inner(peer, own)? else { return Ok(None) };
                Step::Section(steps)
            }
            _ => return Ok(None),
        };
        Ok(Some([step.into()].into()))
    }

    /// Two types inside a group, where a value holds what its type does before a visit.
    fn inner(&mut self, peer: &'s Type, own: &'s Type) -> Result<Option<Steps>, WireError> {
        self.last = false;
        Ok(self.kind(peer, own, ("", 0))?.map(joined))
    }

    fn list(&mut self, peer: &'s Type, own: &'s Type) -> Result<Option<Vec<Part>>, WireError> {
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
        } else {
            Entries::of(steps, Skips::of(self.peer, theirs)?)
        };
        let (from_cap, to_cap) = (*from_cap, *to_cap);
        if from_cap > to_cap {
            self.lose_some(Lost::Entries(to_cap));
        }
        let list = List { from, to, from_cap, to_cap, entries };
        Ok(Some([Step::List(Box::new(list)).into()].into()))
    }

    fn sparse(
        &mut self,
        (from, theirs): (Width, &'s [Field]),
        (to, ours): (Width, &'s [Field]),
    ) -> Result<Step, WireError> {
        let place = self.notes;
        self.notes += theirs.len() + 1;
        let skips = theirs.iter().map(|member| Skips::of(self.peer, &member.kind));
        let skips = skips.collect::<Result<_, _>>()?;
        let mut members = Vec::new();
        for (bit, member) in (0_u32..).zip(ours) {
            let Some(pair) = theirs.iter().position(|it| it.name == member.name) else {
                self.lose(&member.name, Lost::Held);
                continue;
            };
            self.last = false;
            if let Some(steps) = self.field(&theirs[pair], member, ("", 0))? {
                members.push((bit, pair, joined(steps)));
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
    pub(super) fn held(&self, record: &str, at: usize, kind: &Type) -> Vec<u8> {
        let held = self.own.presets.get(record).and_then(|fields| fields.get(at));
        held.cloned().unwrap_or_else(|| self.own.held(kind))
    }
}
