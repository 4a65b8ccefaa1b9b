//! The step between two leaves, and between the members of two lists of names.
//!
//! Used by `compile`. Never: a group.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use super::measure::size_of_leaf;
use super::program::{Number, Step};
use crate::kind::Kind;

/// The step between two leaves that are no count field; nothing where their families differ.
pub(super) fn leaf(from: Kind, to: Kind, held: impl Fn() -> Box<[u8]>) -> Option<Step> {
    let is_number = |kind| is_integer(kind) || is_float(kind);
    Some(if from == to {
        match from {
            Kind::Varu32 => Step::Varu32,
            Kind::Rest => Step::CopyRest,
            _ => Step::Copy(size_of_leaf(from)?),
        }
    } else if is_number(from)
        && is_integer(from) == is_integer(to)
        && is_float(from) == is_float(to)
    {
        Step::Number(Number { from, to, preset: held() })
    } else {
        return None;
    })
}

const fn is_integer(kind: Kind) -> bool {
    use Kind::{I8, I16, I32, I64, U8, U16, U32, U64, Varu32};
    matches!(kind, U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64 | Varu32)
}

const fn is_float(kind: Kind) -> bool {
    matches!(kind, Kind::F32 | Kind::F64)
}

/// The values of members that both have, sorted by the peer's.
pub(super) fn paired(theirs: &[(String, u32)], ours: &[(String, u32)]) -> Vec<(u32, u32)> {
    let ours: BTreeMap<&str, u32> =
        ours.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let pair = |(name, value): &(String, u32)| ours.get(name.as_str()).map(|own| (*value, *own));
    let mut pairs: Vec<(u32, u32)> = theirs.iter().filter_map(pair).collect();
    pairs.sort_unstable();
    pairs
}
