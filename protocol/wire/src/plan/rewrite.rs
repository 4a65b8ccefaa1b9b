//! Carries out the steps of a plan on one packet.
//!
//! Used through `Plan::rewrite`. The packet is hostile: what is read is bounded by its bytes, what
//! is written by a share of them. Values are copied unchecked; the reader after this checks them.

use alloc::vec::Vec;

use super::out::{Out, segment_at};
use super::program::{
    CountedBy, Entries, List, Packed, Sparse, Step, Stretch, Text, Union, Winding,
};
use super::segment::{Segment, number_of};
use super::skip::Skips;
use crate::error::{Fault, WireError, counted};
use crate::kind::{NumberBytes, Width};
use crate::limit::{PLAN_GROWTH_BASE_BYTES, PLAN_GROWTH_RATIO_MAX, SECTION_MAX};
use crate::reader::Reader;
use crate::walk::{Group, Walk as _};

/// Why a value is not rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The bytes are not what the peer's schema says.
    Fault(Fault),
    /// This build has no such case.
    Unknown,
}

impl From<WireError> for Halt {
    fn from(WireError { fault, .. }: WireError) -> Self {
        Self::Fault(fault)
    }
}

/// What rewriting needs, kept from one packet to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    buffer: Vec<u8>,
    /// How much of the buffer is the packet that was rewritten last.
    len: usize,
    /// Places in the packet, and what the peer's count fields say.
    notes: Vec<usize>,
    /// Why the newest packet that is not what the peer's schema says is none.
    pub(super) fault: Option<WireError>,
}

impl Scratch {
    /// The body that was rewritten last.
    #[inline]
    pub fn body(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    #[cold]
    pub(super) fn take_fault(&mut self) -> WireError {
        self.fault.take().unwrap_or(WireError::new("", Fault::Truncated))
    }
}

/// Rewrites all of a packet whose form here has one length.
#[inline(always)]
pub(super) fn straight(
    stretches: &[Stretch],
    body: &[u8],
    Scratch { buffer, len, .. }: &mut Scratch,
) -> Result<(), WireError> {
    *len = 0;
    let room = segment_at(buffer, 0)?;
    let (mut packet, mut made) = (body, 0);
    for Stretch { segment, skip } in stretches {
        let Some((from, rest)) = packet.split_at_checked(segment.from) else {
            return Err(WireError::new("", Fault::Truncated));
        };
        segment.carry_out(from, room);
        made += segment.to;
        packet = if skip.is_nothing() { rest } else { skip.behind(rest)? };
    }
    if !packet.is_empty() {
        return Err(WireError::new("", Fault::Trailing(counted(packet.len()))));
    }
    *len = made;
    Ok(())
}

/// Rewrites all of any packet.
#[inline(never)]
pub(super) fn winding(
    Winding { steps, notes: notes_len }: &Winding,
    body: &[u8],
    Scratch { buffer, len, notes, .. }: &mut Scratch,
) -> Result<(), Halt> {
    *len = 0;
    if notes.len() < *notes_len {
        notes.resize(*notes_len, 0);
    }
    let out_max = body.len() * PLAN_GROWTH_RATIO_MAX + PLAN_GROWTH_BASE_BYTES;
    let (packet, out) = (Reader::new(body), Out { buffer, len: 0 });
    let mut rewrite = Rewrite { packet, out, out_max, notes, count_at: None };
    rewrite.steps(steps)?;
    rewrite.packet.finish()?;
    *len = rewrite.out.len;
    Ok(())
}

/// A packet on its way from the peer's shape to this build's.
struct Rewrite<'a> {
    packet: Reader<'a>,
    out: Out<'a>,
    out_max: usize,
    notes: &'a mut [usize],
    /// Where this build's newest count field was put, if no list has filled it in.
    count_at: Option<usize>,
}

impl Rewrite<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Halt> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    #[inline]
    fn step(&mut self, step: &Step) -> Result<(), Halt> {
        match step {
            Step::Segment(segment) => self.segments(segment, 1)?,
            Step::Skip(skip) => skip.over(&mut self.packet, 0)?,
            Step::CopyRest => self.copy(self.packet.remaining())?,
            Step::SkipCounted(count, skip) => {
                let count = self.noted(*count);
                skip.over(&mut self.packet, count)?;
            }
            Step::Mark(place) => self.note(*place, self.packet.offset()),
            Step::Go(place) => self.packet.go(self.noted(*place)),
            Step::TakeCount(count) => {
                let read = self.packet.take_width("", Width::Two)?;
                self.note(*count, read as usize);
            }
            Step::PutCount(count) => {
                self.count_at = Some(self.out.len);
                let told = count.map_or(0, |count| self.noted(count));
                self.put_number(Width::Two, counted(told));
            }
            Step::NoEntries => self.fill_in(0)?,
            Step::Packed(packed) => self.packed(packed)?,
            Step::Text(text) => self.text(text)?,
            Step::Optional { steps, skip } => self.optional(steps, skip)?,
            Step::List(list) => self.list(list)?,
            Step::Sparse(sparse) => self.sparse(sparse)?,
            Step::Union(union) => self.union(union)?,
            Step::Section(steps) => self.section(steps)?,
            Step::Tail { absent, .. } if self.packet.remaining() == 0 => self.out.put(absent),
            Step::Tail { steps, .. } => self.steps(steps)?,
        }
        Ok(())
    }

    fn segments(&mut self, segment: &Segment, count: usize) -> Result<(), Halt> {
        let from = self.packet.take_slice("", count.saturating_mul(segment.from))?;
        self.ask_for(count.saturating_mul(segment.to))?;
        for at in 0..count {
            let from = &from[at * segment.from..][..segment.from];
            segment.carry_out(from, self.out.segment(segment.to)?);
        }
        Ok(())
    }

    fn copy(&mut self, len: usize) -> Result<(), Halt> {
        self.out.put(self.packet.take_slice("", len)?);
        Ok(())
    }

    fn put_number(&mut self, width: Width, number: u32) {
        self.out.put(&width.number(number));
    }

    fn note(&mut self, at: usize, note: usize) {
        if let Some(slot) = self.notes.get_mut(at) {
            *slot = note;
        }
    }

    fn noted(&self, at: usize) -> usize {
        self.notes.get(at).copied().unwrap_or(0)
    }

    /// Fills in this build's newest count field.
    fn fill_in(&mut self, count: usize) -> Result<(), Halt> {
        let at = self.count_at.take().ok_or(Halt::Fault(Fault::NoCount))?;
        let count = counted(count).min(u32::from(u16::MAX));
        self.out.set(at, &Width::Two.number(count));
        Ok(())
    }

    fn packed(&mut self, Packed { from, to, change }: &Packed) -> Result<(), Halt> {
        let number = match from {
            Some(size) => number_of(self.packet.take_slice("", *size)?),
            None => u64::from(self.packet.take_varu32("")?),
        };
        let made = change.make(number);
        match to {
            Some(size) => self.out.put(&made.to_le_bytes()[..*size]),
            // It fits: that is what was asked of it.
            None => self.out.put(&NumberBytes::varu32(u32::try_from(made).unwrap_or(u32::MAX))),
        }
        Ok(())
    }

    fn text(&mut self, Text { from, to, cap, preset }: &Text) -> Result<(), Halt> {
        let len = self.packet.take_width("", *from)?;
        let text = self.packet.take_slice("", len as usize)?;
        if text.len() <= *cap {
            self.put_number(*to, len);
            self.out.put(text);
        } else {
            self.out.put(preset);
        }
        Ok(())
    }

    fn optional(&mut self, steps: &[Step], skip: &Skips) -> Result<(), Halt> {
        let is_present = self.packet.take_bool("")?;
        let start = self.out.len;
        self.out.put(&[u8::from(is_present)]);
        if is_present && !self.known(steps, Some(skip))? {
            self.out.len = start;
            self.out.put(&[0]);
        }
        Ok(())
    }

    /// Rewrites a value, if this build knows its case; else nothing is put out, and the value is
    /// stepped over where it is told how.
    fn known(&mut self, steps: &[Step], skip: Option<&Skips>) -> Result<bool, Halt> {
        let (packet, start, count_at) = (self.packet.clone(), self.out.len, self.count_at);
        match self.steps(steps) {
            Ok(()) => Ok(true),
            Err(Halt::Unknown) => {
                (self.packet, self.count_at) = (packet, count_at);
                self.out.len = start;
                skip.map_or(Ok(()), |skip| skip.over(&mut self.packet, 0))?;
                Ok(false)
            }
            Err(fault) => Err(fault),
        }
    }

    fn list(&mut self, list: &List) -> Result<(), Halt> {
        let count = match list.from {
            CountedBy::Width(width) => self.packet.take_width("", width)? as usize,
            CountedBy::Field(count) => self.noted(count),
        };
        if count > list.from_cap {
            return Err(WireError::too_many("", count, list.from_cap).into());
        }
        let start = self.out.len;
        if let CountedBy::Width(width) = list.to {
            self.put_number(width, 0);
        }
        let body = self.out.len;
        let kept = self.entries(&list.entries, count)?;
        let kept = if kept <= list.to_cap { kept } else { 0 };
        if kept == 0 {
            self.out.len = body;
        }
        match list.to {
            CountedBy::Width(width) => {
                self.out.set(start, &width.number(counted(kept)));
                Ok(())
            }
            CountedBy::Field(_) => self.fill_in(kept),
        }
    }

    /// How many entries have come through.
    fn entries(&mut self, entries: &Entries, count: usize) -> Result<usize, Halt> {
        match entries {
            Entries::Rest => self.copy(self.packet.remaining())?,
            Entries::Copies(size) => self.copy(count.saturating_mul(*size))?,
            Entries::Segments(segment) => self.segments(segment, count)?,
            Entries::Each { steps, skip } => {
                let mut kept = 0;
                for _ in 0..count {
                    kept += usize::from(self.known(steps, Some(skip))?);
                    self.ask_for(0)?;
                }
                return Ok(kept);
            }
        }
        Ok(count)
    }

    /// Whether so many bytes more are within what the packet may grow to.
    fn ask_for(&self, more: usize) -> Result<(), Halt> {
        let len = self.out.len.saturating_add(more);
        if len > self.out_max {
            return Err(WireError::too_long("", len, self.out_max).into());
        }
        Ok(())
    }

    fn sparse(&mut self, sparse: &Sparse) -> Result<(), Halt> {
        let mask = self.packet.take_width("", sparse.from)?;
        let unknown = u64::from(mask) >> sparse.skips.len();
        if unknown != 0 {
            return Err(Halt::Fault(Fault::UnknownBits(mask)));
        }
        for (bit, skip) in sparse.skips.iter().enumerate() {
            self.note(sparse.place + bit, self.packet.offset());
            if mask >> bit & 1 == 1 {
                skip.over(&mut self.packet, 0)?;
            }
        }
        let end = sparse.place + sparse.skips.len();
        self.note(end, self.packet.offset());
        let start = self.out.len;
        self.put_number(sparse.to, 0);
        let mut set = 0_u32;
        for (ours, theirs, steps) in &sparse.members {
            if mask >> theirs & 1 == 0 {
                continue;
            }
            self.packet.go(self.noted(sparse.place + theirs));
            if self.known(steps, None)? {
                set |= 1 << ours;
            }
        }
        self.packet.go(self.noted(end));
        self.out.set(start, &sparse.to.number(set));
        Ok(())
    }

    fn union(&mut self, Union { from, to, cases }: &Union) -> Result<(), Halt> {
        let tag = self.packet.take_width("", *from)?;
        let found = cases.iter().find(|(theirs, ..)| *theirs == tag);
        let (_, ours, steps) = found.ok_or(Halt::Unknown)?;
        self.put_number(*to, *ours);
        self.steps(steps)
    }

    fn section(&mut self, steps: &[Step]) -> Result<(), Halt> {
        let mark = self.packet.open("", Group::Section)?;
        let start = self.out.len;
        self.put_number(Width::Two, 0);
        self.steps(steps)?;
        // What the peer has put behind the body it describes is stepped over.
        self.packet.close(mark)?;
        let len = self.out.len - start - 2;
        if len > SECTION_MAX {
            return Err(WireError::too_long("", len, SECTION_MAX).into());
        }
        self.out.set(start, &Width::Two.number(counted(len)));
        Ok(())
    }
}
