//! Carries out the steps of a plan on one packet.
//!
//! Used through `Plan::rewrite`. The packet is hostile: what is read is bounded by its bytes, what
//! is written by a share of them. Values are copied unchecked; the reader after this checks them.

use alloc::vec::Vec;

use super::program::{
    CountedBy, Entries, Enum, Flags, List, Number, Program, Sparse, Step, Text, Union,
};
use crate::error::{Fault, counted};
use crate::kind::{Kind, Width};
use crate::limit::{PLAN_GROWTH_BASE_BYTES, PLAN_GROWTH_RATIO_MAX, SECTION_MAX};
use crate::reader::Reader;
use crate::schema::{Schema, Type};
use crate::slot::Slot;
use crate::stride::step;
use crate::walk::Walk as _;
use crate::writer::Writer;

/// Why a value is not rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The bytes are not what the peer's schema says.
    Fault(Fault),
    /// This build has no such case.
    Unknown,
}

/// What rewriting needs, kept from one packet to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The packet that was rewritten last.
    pub(super) out: Vec<u8>,
    places: Vec<usize>,
    counts: Vec<u16>,
}

impl Scratch {
    /// The body that was rewritten last.
    pub fn body(&self) -> &[u8] {
        &self.out
    }
}

/// A packet on its way from the peer's shape to this build's.
pub(super) struct Rewrite<'a> {
    peer: &'a Schema,
    bytes: &'a [u8],
    /// The next byte to be read.
    at: usize,
    /// Where the packet or section ends.
    end: usize,
    out: &'a mut Vec<u8>,
    out_max: usize,
    /// Places in the packet that were marked.
    places: &'a mut [usize],
    /// What the peer's count fields say.
    counts: &'a mut [u16],
    /// Where this build's newest count field was put, if no list has filled it in.
    count_at: Option<usize>,
}

impl<'a> Rewrite<'a> {
    pub(super) fn new(
        peer: &'a Schema,
        program: &Program,
        bytes: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Self {
        let Scratch { out, places, counts } = scratch;
        out.clear();
        places.resize(program.places.max(places.len()), 0);
        counts.resize(program.counts.max(counts.len()), 0);
        let out_max = bytes.len() * PLAN_GROWTH_RATIO_MAX + PLAN_GROWTH_BASE_BYTES;
        Self { peer, bytes, at: 0, end: bytes.len(), out, out_max, places, counts, count_at: None }
    }

    /// Rewrites all of the packet.
    pub(super) fn whole(mut self, program: &Program) -> Result<(), Halt> {
        self.steps(&program.steps)?;
        match self.end - self.at {
            0 => Ok(()),
            left => Err(Fault::Trailing(counted(left)).into()),
        }
    }

    fn steps(&mut self, steps: &[Step]) -> Result<(), Halt> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    #[inline]
    fn step(&mut self, step: &Step) -> Result<(), Halt> {
        match step {
            Step::Copy(len) => self.copy(*len)?,
            Step::CopyRest => self.copy(self.end - self.at)?,
            Step::Skip(len) => drop(self.take(*len)?),
            Step::Walk(kind) => self.walk(kind, 0)?,
            Step::WalkCounted(count, kind) => self.walk(kind, self.count(*count))?,
            Step::Insert(bytes) => self.out.extend_from_slice(bytes),
            Step::Mark(place) => self.mark(*place),
            Step::Go(place) => self.go(*place),
            Step::TakeCount(count) => {
                let read = self.take_number(Width::Two)?;
                if let Some(slot) = self.counts.get_mut(*count) {
                    *slot = u16::try_from(read).unwrap_or(u16::MAX);
                }
            }
            Step::PutCount(count) => {
                self.count_at = Some(self.out.len());
                let told = count.map_or(0, |count| self.count(count));
                self.out.extend_from_slice(&told.to_le_bytes());
            }
            Step::NoEntries => self.fill_in(0)?,
            Step::Varu32 => self.varu32()?,
            Step::Number(number) => self.number(number)?,
            Step::Enum(members) => self.member(members)?,
            Step::Flags(flags) => self.flags(flags)?,
            Step::Text(text) => self.text(text)?,
            Step::Optional { steps, kind } => self.optional(steps, kind)?,
            Step::List(list) => self.list(list)?,
            Step::Sparse(sparse) => self.sparse(sparse)?,
            Step::Union(union) => self.union(union)?,
            Step::Section(steps) => self.section(steps)?,
            Step::Tail { absent, .. } if self.at == self.end => {
                self.out.extend_from_slice(absent);
            }
            Step::Tail { steps, .. } => self.steps(steps)?,
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], Halt> {
        let taken = self.bytes[..self.end].get(self.at..self.at + len).ok_or(Fault::Truncated)?;
        self.at += len;
        Ok(taken)
    }

    #[inline]
    fn copy(&mut self, len: usize) -> Result<(), Halt> {
        let bytes = self.take(len)?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn take_number(&mut self, width: Width) -> Result<u32, Halt> {
        let mut bytes = [0; 4];
        bytes[..width.bytes()].copy_from_slice(self.take(width.bytes())?);
        Ok(u32::from_le_bytes(bytes))
    }

    fn put_number(&mut self, width: Width, number: u32) {
        self.out.extend_from_slice(&number.to_le_bytes()[..width.bytes()]);
    }

    fn walk(&mut self, kind: &Type, count: u16) -> Result<(), Halt> {
        self.at += step(self.peer, kind, &self.bytes[self.at..self.end], count)?;
        Ok(())
    }

    fn mark(&mut self, place: usize) {
        if let Some(slot) = self.places.get_mut(place) {
            *slot = self.at;
        }
    }

    fn go(&mut self, place: usize) {
        self.at = self.places.get(place).copied().unwrap_or(self.at);
    }

    fn count(&self, count: usize) -> u16 {
        self.counts.get(count).copied().unwrap_or(0)
    }

    /// Fills in this build's newest count field.
    fn fill_in(&mut self, count: usize) -> Result<(), Halt> {
        let at = self.count_at.take().ok_or(Fault::NoCount)?;
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        self.out[at..at + 2].copy_from_slice(&count.to_le_bytes());
        Ok(())
    }

    fn varu32(&mut self) -> Result<(), Halt> {
        let left = &self.bytes[self.at..self.end];
        let len = left.iter().take(5).position(|byte| *byte < 0x80).ok_or(Fault::Truncated)?;
        self.copy(len + 1)
    }

    fn number(&mut self, Number { from, to, preset }: &Number) -> Result<(), Halt> {
        if matches!(from, Kind::F32 | Kind::F64) {
            return self.float(*from, preset);
        }
        let value = self.integer(*from)?;
        if !put_integer(*to, value, self.out) {
            self.out.extend_from_slice(preset);
        }
        Ok(())
    }

    fn integer(&mut self, kind: Kind) -> Result<i128, Halt> {
        if kind == Kind::Varu32 {
            let (mut value, mut reader) = (0, Reader::new(&self.bytes[self.at..self.end]));
            reader.leaf("", Slot::Varu32(&mut value))?;
            self.at += reader.offset();
            return Ok(i128::from(value));
        }
        let (len, is_signed) = match kind {
            Kind::U8 => (1, false),
            Kind::U16 => (2, false),
            Kind::U32 => (4, false),
            Kind::I8 => (1, true),
            Kind::I16 => (2, true),
            Kind::I32 => (4, true),
            Kind::I64 => (8, true),
            _ => (8, false),
        };
        let taken = self.take(len)?;
        let is_negative = is_signed && taken.last().is_some_and(|high| high & 0x80 != 0);
        let mut bytes = [if is_negative { 0xff } else { 0 }; 16];
        bytes[..len].copy_from_slice(taken);
        Ok(i128::from_le_bytes(bytes))
    }

    fn float(&mut self, from: Kind, preset: &[u8]) -> Result<(), Halt> {
        if from == Kind::F32 {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(self.take(4)?);
            self.out.extend_from_slice(&f64::from(f32::from_le_bytes(bytes)).to_le_bytes());
            return Ok(());
        }
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        let wide = f64::from_le_bytes(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "the nearest of the narrower kind")]
        let narrow = wide as f32;
        if narrow.is_finite() || !wide.is_finite() {
            self.out.extend_from_slice(&narrow.to_le_bytes());
        } else {
            self.out.extend_from_slice(preset);
        }
        Ok(())
    }

    fn member(&mut self, Enum { from, to, members, preset }: &Enum) -> Result<(), Halt> {
        let value = self.take_number(*from)?;
        match members.binary_search_by_key(&value, |(theirs, _)| *theirs) {
            Ok(found) => self.put_number(*to, members[found].1),
            Err(_) => self.out.extend_from_slice(preset),
        }
        Ok(())
    }

    fn flags(&mut self, Flags { from, to, bits }: &Flags) -> Result<(), Halt> {
        let set = self.take_number(*from)?;
        let kept = bits.iter().filter(|(theirs, _)| set >> theirs & 1 == 1);
        self.put_number(*to, kept.fold(0, |kept, (_, ours)| kept | 1 << ours));
        Ok(())
    }

    fn text(&mut self, Text { from, to, cap, preset }: &Text) -> Result<(), Halt> {
        let len = self.take_number(*from)?;
        let text = self.take(len as usize)?;
        if text.len() <= *cap {
            self.put_number(*to, len);
            self.out.extend_from_slice(text);
        } else {
            self.out.extend_from_slice(preset);
        }
        Ok(())
    }

    fn take_bool(&mut self) -> Result<bool, Halt> {
        match self.take(1)? {
            [0] => Ok(false),
            [1] => Ok(true),
            other => Err(Fault::NotBool(other.first().copied().unwrap_or(0)).into()),
        }
    }

    fn optional(&mut self, steps: &[Step], kind: &Type) -> Result<(), Halt> {
        let is_present = self.take_bool()?;
        let start = self.out.len();
        self.out.push(u8::from(is_present));
        if is_present && !self.known(steps, Some(kind))? {
            self.out.truncate(start);
            self.out.push(0);
        }
        Ok(())
    }

    /// Rewrites a value, if this build knows its case; else nothing is put out, and the value is
    /// stepped over where its type is told.
    fn known(&mut self, steps: &[Step], kind: Option<&Type>) -> Result<bool, Halt> {
        let (at, end, start, count_at) = (self.at, self.end, self.out.len(), self.count_at);
        match self.steps(steps) {
            Ok(()) => Ok(true),
            Err(Halt::Unknown) => {
                (self.at, self.end, self.count_at) = (at, end, count_at);
                self.out.truncate(start);
                kind.map_or(Ok(()), |kind| self.walk(kind, 0))?;
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    fn list(&mut self, list: &List) -> Result<(), Halt> {
        let count = match list.from {
            CountedBy::Width(width) => self.take_number(width)? as usize,
            CountedBy::Field(count) => usize::from(self.count(count)),
        };
        if count > list.from_cap {
            return Err(
                Fault::TooMany { count: counted(count), cap: counted(list.from_cap) }.into()
            );
        }
        let start = self.out.len();
        if let CountedBy::Width(width) = list.to {
            self.put_number(width, 0);
        }
        let body = self.out.len();
        let kept = self.entries(&list.entries, count)?;
        let kept = if kept <= list.to_cap { kept } else { 0 };
        if kept == 0 {
            self.out.truncate(body);
        }
        match list.to {
            CountedBy::Width(width) => {
                let bytes = &counted(kept).to_le_bytes()[..width.bytes()];
                self.out[start..body].copy_from_slice(bytes);
                Ok(())
            }
            CountedBy::Field(_) => self.fill_in(kept),
        }
    }

    /// How many entries have come through.
    fn entries(&mut self, entries: &Entries, count: usize) -> Result<usize, Halt> {
        match entries {
            Entries::Rest => {
                self.copy(self.end - self.at)?;
                Ok(count)
            }
            Entries::Flat(size) => {
                self.copy(count * size)?;
                Ok(count)
            }
            Entries::Each { kind, steps } => {
                let mut kept = 0;
                for _ in 0..count {
                    kept += usize::from(self.known(steps, Some(kind))?);
                    if self.out.len() > self.out_max {
                        let (len, cap) = (counted(self.out.len()), counted(self.out_max));
                        return Err(Fault::TooLong { len, cap }.into());
                    }
                }
                Ok(kept)
            }
        }
    }

    fn sparse(&mut self, sparse: &Sparse) -> Result<(), Halt> {
        let mask = self.take_number(sparse.from)?;
        let unknown = u64::from(mask) >> sparse.skips.len();
        if unknown != 0 {
            return Err(Fault::UnknownBits(mask).into());
        }
        for (bit, skip) in sparse.skips.iter().enumerate() {
            self.mark(sparse.place + bit);
            if mask >> bit & 1 == 1 {
                self.steps(skip)?;
            }
        }
        let end = sparse.place + sparse.skips.len();
        self.mark(end);
        let start = self.out.len();
        self.put_number(sparse.to, 0);
        let mut set = 0_u32;
        for (ours, theirs, steps) in &sparse.members {
            if mask >> theirs & 1 == 0 {
                continue;
            }
            self.go(sparse.place + theirs);
            if self.known(steps, None)? {
                set |= 1 << ours;
            }
        }
        self.go(end);
        let bytes = &set.to_le_bytes()[..sparse.to.bytes()];
        self.out[start..start + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn union(&mut self, Union { from, to, cases }: &Union) -> Result<(), Halt> {
        let tag = self.take_number(*from)?;
        let found = cases.iter().find(|(theirs, ..)| *theirs == tag);
        let (_, ours, steps) = found.ok_or(Halt::Unknown)?;
        self.put_number(*to, *ours);
        self.steps(steps)
    }

    fn section(&mut self, steps: &[Step]) -> Result<(), Halt> {
        let len = self.take_number(Width::Two)? as usize;
        let end = self.at + len;
        if end > self.end {
            return Err(Fault::Truncated.into());
        }
        let start = self.out.len();
        self.out.extend_from_slice(&[0, 0]);
        let around = core::mem::replace(&mut self.end, end);
        self.steps(steps)?;
        // What the peer has put behind the body it describes is stepped over.
        (self.at, self.end) = (end, around);
        let body = self.out.len() - start - 2;
        let Some(len) = u16::try_from(body).ok().filter(|_| body <= SECTION_MAX) else {
            return Err(Fault::TooLong { len: counted(body), cap: counted(SECTION_MAX) }.into());
        };
        self.out[start..start + 2].copy_from_slice(&len.to_le_bytes());
        Ok(())
    }
}

/// Appends an integer as this kind, if it fits.
fn put_integer(kind: Kind, value: i128, out: &mut Vec<u8>) -> bool {
    let (least, most, len) = match kind {
        Kind::U8 => (0, i128::from(u8::MAX), 1),
        Kind::U16 => (0, i128::from(u16::MAX), 2),
        Kind::U32 | Kind::Varu32 => (0, i128::from(u32::MAX), 4),
        Kind::U64 => (0, i128::from(u64::MAX), 8),
        Kind::I8 => (i128::from(i8::MIN), i128::from(i8::MAX), 1),
        Kind::I16 => (i128::from(i16::MIN), i128::from(i16::MAX), 2),
        Kind::I32 => (i128::from(i32::MIN), i128::from(i32::MAX), 4),
        _ => (i128::from(i64::MIN), i128::from(i64::MAX), 8),
    };
    if value < least || value > most {
        return false;
    }
    if kind == Kind::Varu32 {
        // It fits, as was asked above, and writing a number cannot fail.
        let mut value = u32::try_from(value).unwrap_or(u32::MAX);
        return Writer::new(out).leaf("", Slot::Varu32(&mut value)).is_ok();
    }
    out.extend_from_slice(&value.to_le_bytes()[..len]);
    true
}
