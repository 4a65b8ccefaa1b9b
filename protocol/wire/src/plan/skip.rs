//! How a value is stepped over that only the peer has.
//!
//! Made by `compile`, carried out by `rewrite`. No name is looked for on the way and a record is
//! what it holds, so that each step takes a byte and a short time, whatever the peer's schema says.
//! Values are not checked, as nobody reads them. Never: a byte on its way out.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::error::{Fault, WireError};
use crate::kind::{Kind, Width};
use crate::limit::SECTION_MAX;
use crate::reader::Reader;
use crate::schema::{CountAt, Schema, Shape, Type};

/// Steps over what follows each other. Records around them have no steps of their own.
#[derive(Debug, Default)]
pub(super) struct Skips(Box<[Skip]>);

#[derive(Debug)]
enum Skip {
    /// So many bytes.
    Bytes(usize),
    /// Bytes behind their length, of which there are at most so many.
    Prefixed(Width, usize),
    /// A packed number.
    Varu32,
    /// Everything that is left.
    Rest,
    /// How many entries a list after it has.
    Count,
    /// A presence byte, then what follows if present.
    Optional(Skips),
    /// A count where one stands here, then at most so many entries.
    List(Option<Width>, usize, Skips),
    /// A mask, then the members whose bit is set.
    Sparse(Width, Box<[Skips]>),
    /// A tag, then its case; sorted by tag.
    Union(Width, Box<[(u32, Skips)]>),
    /// What follows if anything is left.
    Tail(Skips),
}

impl Skips {
    /// The steps over a value of the peer's.
    pub(super) fn of(peer: &Schema, kind: &Type) -> Result<Self, WireError> {
        let mut skips = Vec::new();
        add(peer, kind, &mut skips)?;
        Ok(Self(skips.into()))
    }

    /// The steps over a list whose count lies before it.
    pub(super) fn of_counted(peer: &Schema, cap: usize, entry: &Type) -> Result<Self, WireError> {
        Ok(Self([Skip::List(None, cap, Self::of(peer, entry)?)].into()))
    }

    /// Whether there is nothing to step over.
    #[inline]
    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes behind it.
    #[inline(always)]
    pub(super) fn behind<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], WireError> {
        // Most of what has no fixed size is a text.
        if let [Skip::Prefixed(width, cap)] = &*self.0
            && let Some(rest) = behind_prefixed(bytes, *width, *cap)
        {
            return Ok(rest);
        }
        self.behind_rarer(bytes)
    }

    #[inline(never)]
    fn behind_rarer<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8], WireError> {
        let mut packet = Reader::new(bytes);
        self.over(&mut packet, 0)?;
        Ok(packet.rest())
    }

    /// Steps over it; a list whose count lies before it has `count` entries.
    #[inline]
    pub(super) fn over(&self, packet: &mut Reader<'_>, count: usize) -> Result<(), WireError> {
        match &*self.0 {
            // Most of what has no fixed size.
            [Skip::Prefixed(width, cap)] => packet.take_prefixed("", *width, *cap).map(drop),
            skips => over(skips, packet, count),
        }
    }
}

/// What follows bytes behind their length; nothing where they are too few or too many.
#[inline(always)]
fn behind_prefixed(bytes: &[u8], width: Width, cap: usize) -> Option<&[u8]> {
    let (len, rest) = match width {
        Width::One => bytes.split_first().map(|(len, rest)| (u32::from(*len), rest)),
        Width::Two => {
            bytes.split_first_chunk().map(|(len, rest)| (u16::from_le_bytes(*len).into(), rest))
        }
        Width::Four => {
            bytes.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len), rest))
        }
    }?;
    let len = len as usize;
    if len <= cap { rest.get(len..) } else { None }
}

fn add(peer: &Schema, kind: &Type, skips: &mut Vec<Skip>) -> Result<(), WireError> {
    let of = |kind: &Type| Skips::of(peer, kind);
    let next = match kind {
        Type::Leaf(Kind::Varu32) => Skip::Varu32,
        Type::Leaf(Kind::Rest) => Skip::Rest,
        Type::Leaf(Kind::Count16) => Skip::Count,
        Type::Leaf(kind) => Skip::Bytes(kind.size().unwrap_or(0)),
        Type::Str8(cap) => Skip::Prefixed(Width::One, *cap),
        Type::Str16(cap) => Skip::Prefixed(Width::Two, *cap),
        // Its body may be longer than the peer's schema says anyway.
        Type::Section(_) => Skip::Prefixed(Width::Two, SECTION_MAX),
        Type::Optional(inner) => Skip::Optional(of(inner)?),
        Type::Tail(inner) => Skip::Tail(of(inner)?),
        Type::List { count, cap, entry } => {
            let width = match count {
                CountAt::One => Some(Width::One),
                CountAt::Two => Some(Width::Two),
                CountAt::Field(_) => None,
            };
            let is_counted = || skips.iter().rev().any(|it| matches!(it, Skip::Count));
            if width.is_none() && !is_counted() {
                return Err(WireError::new("", Fault::NoCount));
            }
            Skip::List(width, *cap, of(entry)?)
        }
        Type::Named(name) => match peer.shapes.get(name) {
            Some(Shape::Record(fields)) => {
                return fields.iter().try_for_each(|field| add(peer, &field.kind, skips));
            }
            Some(Shape::Enum { width, .. } | Shape::Flags(width, _)) => Skip::Bytes(width.bytes()),
            Some(Shape::Sparse(width, members)) => {
                let members = members.iter().map(|member| of(&member.kind));
                Skip::Sparse(*width, members.collect::<Result<_, _>>()?)
            }
            Some(Shape::Union(width, cases)) => {
                let case = |(tag, kind): (u32, &Type)| Ok((tag, of(kind)?));
                let cases = cases.iter().map(|it| case((it.tag, &it.kind)));
                let mut cases: Box<[_]> = cases.collect::<Result<_, WireError>>()?;
                cases.sort_unstable_by_key(|(tag, _)| *tag);
                Skip::Union(*width, cases)
            }
            None => return Err(WireError::new("", Fault::NoShape)),
        },
    };
    match (skips.last_mut(), next) {
        (Some(Skip::Bytes(len)), Skip::Bytes(more)) => *len += more,
        (_, next) => skips.push(next),
    }
    Ok(())
}

#[inline(never)]
fn over(skips: &[Skip], packet: &mut Reader<'_>, mut count: usize) -> Result<(), WireError> {
    for skip in skips {
        match skip {
            Skip::Bytes(len) => drop(packet.take_slice("", *len)?),
            Skip::Prefixed(width, cap) => drop(packet.take_prefixed("", *width, *cap)?),
            Skip::Varu32 => _ = packet.take_varu32("")?,
            Skip::Rest => drop(packet.take_slice("", packet.remaining())?),
            Skip::Count => count = packet.take_width("", Width::Two)? as usize,
            Skip::Optional(inner) => {
                if packet.take_bool("")? {
                    inner.over(packet, 0)?;
                }
            }
            Skip::List(width, cap, entry) => {
                let count = match width {
                    Some(width) => packet.take_width("", *width)? as usize,
                    None => count,
                };
                entries(count, *cap, entry, packet)?;
            }
            Skip::Sparse(width, members) => {
                let mask = packet.take_width("", *width)?;
                for (bit, member) in members.iter().enumerate() {
                    if mask >> bit & 1 == 1 {
                        member.over(packet, 0)?;
                    }
                }
                if u64::from(mask) >> members.len() != 0 {
                    return Err(WireError::new("", Fault::UnknownBits(mask)));
                }
            }
            Skip::Union(width, cases) => {
                let tag = packet.take_width("", *width)?;
                let found = cases.binary_search_by_key(&tag, |(tag, _)| *tag);
                let at = found.map_err(|_| WireError::new("", Fault::UnknownCase(tag)))?;
                cases[at].1.over(packet, 0)?;
            }
            Skip::Tail(inner) => {
                if packet.remaining() > 0 {
                    inner.over(packet, 0)?;
                }
            }
        }
    }
    Ok(())
}

fn entries(
    count: usize,
    cap: usize,
    entry: &Skips,
    packet: &mut Reader<'_>,
) -> Result<(), WireError> {
    if count > cap {
        return Err(WireError::too_many("", count, cap));
    }
    if let [Skip::Bytes(len)] = &*entry.0 {
        return packet.take_slice("", count.saturating_mul(*len)).map(drop);
    }
    for _ in 0..count {
        let before = packet.offset();
        entry.over(packet, 0)?;
        if packet.offset() == before {
            return Err(WireError::new("", Fault::EmptyEntry));
        }
    }
    Ok(())
}
