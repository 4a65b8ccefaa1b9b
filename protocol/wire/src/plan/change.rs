//! What becomes of a number on its way from one build to the other.
//!
//! Used by `segment`, and by `rewrite` where a number is packed. A number comes as its first bytes
//! and whatever lies behind them, and goes the same way: who puts it somewhere knows its size.

use alloc::boxed::Box;

use super::loss::Lost;
use crate::kind::Kind;

/// What becomes of it. What does not fit, or has no name here, is the preset.
#[derive(Debug)]
pub(super) enum Change {
    /// The peer does not have it.
    Hold(u64),
    /// An unsigned integer that has these bits and fits up to `most`.
    Unsigned { mask: u64, most: u64, preset: u64 },
    /// A signed integer that has all but so many bits, and fits from `least` to `span` above it.
    Signed { unused: usize, least: u64, span: u64, preset: u64 },
    /// An `f32` to an `f64`.
    Widen,
    /// An `f64` to the nearest `f32`.
    Narrow { preset: u64 },
    /// The value of a member: the peer's and this build's, sorted.
    Member { mask: u64, members: Box<[(u32, u32)]>, preset: u64 },
    /// Flags: the peer's bits and this build's. Those without a name here vanish.
    Bits(Box<[(u32, u32)]>),
}

impl Change {
    /// Nothing becomes of it.
    pub(super) const NONE: Self = Self::Unsigned { mask: u64::MAX, most: u64::MAX, preset: 0 };

    /// From one kind of number to another; nothing where they are of different families.
    pub(super) fn of(from: Kind, to: Kind, preset: u64) -> Option<Self> {
        match (from, to) {
            (Kind::F32, Kind::F64) => return Some(Self::Widen),
            (Kind::F64, Kind::F32) => return Some(Self::Narrow { preset }),
            _ => {}
        }
        let ((from_least, from_most), (to_least, to_most)) = (range(from)?, range(to)?);
        let (least, most) = (from_least.max(to_least), from_most.min(to_most));
        Some(if from_least < 0 {
            let unused = 64 - 8 * from.size()?;
            let (least, span) = (twos_complement(least), twos_complement(most - least));
            Self::Signed { unused, least, span, preset }
        } else {
            let (mask, most) = (twos_complement(from_most), twos_complement(most));
            Self::Unsigned { mask, most, preset }
        })
    }

    /// What numbers of one kind lose as another; nothing where all of them fit.
    pub(super) fn loss(from: Kind, to: Kind) -> Option<Lost> {
        if (from, to) == (Kind::F64, Kind::F32) {
            return Some(Lost::Rounded);
        }
        let ((from_least, from_most), (to_least, to_most)) = (range(from)?, range(to)?);
        (from_least < to_least || from_most > to_most).then_some(Lost::Range)
    }

    /// What the number has become.
    #[inline]
    pub(super) fn make(&self, number: u64) -> u64 {
        match self {
            Self::Unsigned { mask, most, preset } => {
                let value = number & mask;
                if value <= *most { value } else { *preset }
            }
            Self::Narrow { preset } => {
                let wide = f64::from_bits(number);
                #[expect(clippy::cast_possible_truncation, reason = "the nearest")]
                let narrow = wide as f32;
                let fits = narrow.is_finite() || !wide.is_finite();
                if fits { u64::from(narrow.to_bits()) } else { *preset }
            }
            rarer => rarer.make_rarer(number),
        }
    }

    /// Apart, so that a loop over what is more frequent stays short.
    #[inline(never)]
    fn make_rarer(&self, number: u64) -> u64 {
        match self {
            Self::Hold(held)
            | Self::Unsigned { preset: held, .. }
            | Self::Narrow { preset: held } => *held,
            Self::Signed { unused, least, span, preset } => {
                let value = ((number << unused).cast_signed() >> unused).cast_unsigned();
                if value.wrapping_sub(*least) <= *span { value } else { *preset }
            }
            Self::Widen => f64::from(f32::from_bits(low_half(number))).to_bits(),
            Self::Member { mask, members, preset } => {
                let value = low_half(number & mask);
                match members.binary_search_by_key(&value, |(theirs, _)| *theirs) {
                    Ok(found) => u64::from(members[found].1),
                    Err(_) => *preset,
                }
            }
            Self::Bits(bits) => {
                let kept = bits.iter().filter(|(theirs, _)| number >> theirs & 1 == 1);
                kept.fold(0, |kept, (_, ours)| kept | 1 << ours)
            }
        }
    }
}

/// The numbers that an integer kind has; nothing for any other kind.
fn range(kind: Kind) -> Option<(i128, i128)> {
    let unsigned = |bits: u32| Some((0, (1 << bits) - 1));
    let signed = |bits: u32| Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1));
    match kind {
        Kind::U8 => unsigned(8),
        Kind::U16 => unsigned(16),
        Kind::U32 | Kind::Varu32 => unsigned(32),
        Kind::U64 => unsigned(64),
        Kind::I8 => signed(8),
        Kind::I16 => signed(16),
        Kind::I32 => signed(32),
        Kind::I64 => signed(64),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the bits")]
const fn twos_complement(value: i128) -> u64 {
    value as u64
}

#[expect(clippy::cast_possible_truncation, reason = "the first four bytes")]
const fn low_half(value: u64) -> u32 {
    value as u32
}
