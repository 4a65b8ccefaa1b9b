//! What becomes of one number, and of one value or set of bits by name.
//!
//! Used by `compile`. Never: a group.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::change::Change;
use super::program::{Packed, Part, Step};
use super::segment::{Layout, number_of};
use crate::kind::{Kind, Width};
use crate::reader::Reader;

/// Names and their numbers, and how wide those are.
type Named<'s> = (Width, &'s [(String, u32)]);

/// A number of another kind, or a packed one; nothing where the families differ.
pub(super) fn number(from: Kind, to: Kind, held: &[u8]) -> Option<Part> {
    let preset = match to {
        Kind::Varu32 => u64::from(Reader::new(held).take_varu32("").unwrap_or(0)),
        _ => number_of(held),
    };
    let change = Change::of(from, to, preset)?;
    Some(match (from.size(), to.size()) {
        (Some(from), Some(to)) => Layout::number(from, to, change).into(),
        (from, to) => Step::Packed(Packed { from, to, change }).into(),
    })
}

/// A value by name. One without a name here is what is held.
pub(super) fn member(from: Named<'_>, to: Named<'_>, held: &[u8]) -> Layout {
    let (members, preset) = (paired(from.1, to.1).into(), number_of(held));
    let mask = u64::from(u32::MAX >> (32 - from.0.bits()));
    Layout::number(from.0.bytes(), to.0.bytes(), Change::Member { mask, members, preset })
}

/// Bits by name.
pub(super) fn bits(from: Named<'_>, to: Named<'_>) -> Layout {
    Layout::number(from.0.bytes(), to.0.bytes(), Change::Bits(paired(from.1, to.1).into()))
}

/// The numbers of names that both have, sorted by the peer's.
fn paired(theirs: &[(String, u32)], ours: &[(String, u32)]) -> Vec<(u32, u32)> {
    let ours: BTreeMap<&str, u32> =
        ours.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let pair = |(name, value): &(String, u32)| ours.get(name.as_str()).map(|own| (*value, *own));
    let mut pairs: Vec<(u32, u32)> = theirs.iter().filter_map(pair).collect();
    pairs.sort_unstable();
    pairs
}
