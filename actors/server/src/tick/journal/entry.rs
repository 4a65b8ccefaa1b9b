//! Entry: one thing that entered a world, or the end of a tick, and its words.

use dh_machine::{Damage, Tick, Words, halves, joined};
use dh_messages::{MapAdvert, PlayerInput, WorldSettings};
use dh_netcode::{INPUT_WORDS, input_of_words, input_words};
use dh_wire::{decode, encode};

use super::super::{Deed, Joining, Place};
use crate::PeerId;

/// One thing that entered a world, or the end of a tick.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A peer wanted a pawn.
    Join(Joining),
    /// A peer was gone.
    Leave(PeerId),
    /// A peer had loaded the map that stood.
    Arrived(PeerId),
    /// An input that was new.
    Input(PeerId, PlayerInput),
    /// Another map came to stand.
    Map(Box<MapAdvert>),
    /// The console did something to the pawn in this slot.
    Deed(u8, Deed),
    /// The settings of the world were these from now on.
    Settings(WorldSettings),
    /// A tick was complete, with this digest.
    Tick(Tick, u64),
}

/// Words of an entry, but for a map's.
pub(super) const ENTRY_WORDS: usize = 1 + INPUT_WORDS;

/// What the first word of an entry says in its upper half; its lower half is whose it is.
mod kind {
    pub(super) const JOIN: u32 = 1;
    pub(super) const LEAVE: u32 = 2;
    pub(super) const ARRIVED: u32 = 3;
    pub(super) const INPUT: u32 = 4;
    pub(super) const MAP: u32 = 5;
    pub(super) const TELEPORT: u32 = 6;
    pub(super) const BESIDE: u32 = 7;
    pub(super) const NOCLIP: u32 = 8;
    pub(super) const RESPAWN: u32 = 9;
    pub(super) const SETTINGS: u32 = 10;
    pub(super) const TICK: u32 = 11;
}

impl Entry {
    /// Its words, in `head`; those of a map in `long`.
    pub(super) fn words<'a>(
        &self,
        head: &'a mut [u64; ENTRY_WORDS],
        long: &'a mut Vec<u64>,
    ) -> &'a [u64] {
        let mut used = 1;
        let mut rest = |words: &[u64]| {
            words.iter().for_each(|word| {
                head[used] = *word;
                used += 1;
            });
        };
        let first = match self {
            Self::Join(Joining { peer, slot }) => {
                rest(&[u64::from(*slot)]);
                joined(kind::JOIN, peer.0)
            }
            Self::Leave(peer) => joined(kind::LEAVE, peer.0),
            Self::Arrived(peer) => joined(kind::ARRIVED, peer.0),
            Self::Input(peer, input) => {
                rest(&input_words(input));
                joined(kind::INPUT, peer.0)
            }
            Self::Map(advert) => {
                advert_words(advert, long);
                long.insert(0, joined(kind::MAP, 0));
                return long;
            }
            Self::Deed(slot, Deed::Teleport(Place::Point(point))) => {
                let [x, y, z] = point.map(f32::to_bits);
                rest(&[joined(x, y), u64::from(z)]);
                joined(kind::TELEPORT, u32::from(*slot))
            }
            Self::Deed(slot, Deed::Teleport(Place::Beside(other))) => {
                rest(&[u64::from(*other)]);
                joined(kind::BESIDE, u32::from(*slot))
            }
            Self::Deed(slot, Deed::Noclip(on)) => {
                rest(&[on.map_or(2, u64::from)]);
                joined(kind::NOCLIP, u32::from(*slot))
            }
            Self::Deed(slot, Deed::Respawn) => joined(kind::RESPAWN, u32::from(*slot)),
            Self::Settings(WorldSettings { time_scale, noclip_speed }) => {
                rest(&[joined(time_scale.to_bits(), noclip_speed.to_bits())]);
                joined(kind::SETTINGS, 0)
            }
            Self::Tick(tick, digest) => {
                rest(&[*digest]);
                joined(kind::TICK, tick.0)
            }
        };
        head[0] = first;
        &head[..used]
    }

    /// The entry of the next words.
    pub(super) fn of_words(words: &mut Words<'_>) -> Result<Self, Damage> {
        let here = words.damage("an entry");
        let (kind, whose) = halves(words.next("an entry")?);
        let (peer, slot) = (PeerId(whose), u8::try_from(whose).map_err(|_| here));
        let byte = |word: u64| u8::try_from(word).ok();
        Ok(match kind {
            kind::JOIN => Self::Join(Joining { peer, slot: words.read("a slot", byte)? }),
            kind::LEAVE => Self::Leave(peer),
            kind::ARRIVED => Self::Arrived(peer),
            kind::INPUT => Self::Input(peer, input_of_words(words)?),
            kind::MAP => Self::Map(Box::new(advert_of_words(words)?)),
            kind::TELEPORT => {
                let (x, y) = halves(words.next("a point")?);
                let (_, z) = halves(words.next("a point")?);
                let point = [x, y, z].map(f32::from_bits);
                Self::Deed(slot?, Deed::Teleport(Place::Point(point)))
            }
            kind::BESIDE => {
                let other = words.read("a slot", byte)?;
                Self::Deed(slot?, Deed::Teleport(Place::Beside(other)))
            }
            kind::NOCLIP => {
                let on = words.read("on, off or either", |word| match word {
                    0 | 1 => Some(Some(word == 1)),
                    2 => Some(None),
                    _ => None,
                })?;
                Self::Deed(slot?, Deed::Noclip(on))
            }
            kind::RESPAWN => Self::Deed(slot?, Deed::Respawn),
            kind::SETTINGS => {
                let (time_scale, noclip_speed) = halves(words.next("settings")?);
                let [time_scale, noclip_speed] = [time_scale, noclip_speed].map(f32::from_bits);
                Self::Settings(WorldSettings { time_scale, noclip_speed })
            }
            kind::TICK => Self::Tick(Tick(whose), words.next("a digest")?),
            _ => return Err(here),
        })
    }
}

/// Appends how many bytes an advert has, and those.
pub(super) fn advert_words(advert: &MapAdvert, out: &mut Vec<u64>) {
    let mut bytes = Vec::new();
    // An advert that stands was made or read by us; were it too long, none would be read again.
    let whole = encode(&mut advert.clone(), &mut bytes).is_ok();
    out.push(if whole { bytes.len() as u64 } else { u64::MAX });
    for part in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        out.push(u64::from_le_bytes(word));
    }
}

/// The advert of the next words.
pub(super) fn advert_of_words(words: &mut Words<'_>) -> Result<MapAdvert, Damage> {
    let here = words.damage("the advert of a map");
    let left = words.left().saturating_mul(8);
    let bytes = words.read("the bytes of an advert", |word| {
        usize::try_from(word).ok().filter(|bytes| *bytes <= left)
    })?;
    let all = words.take(bytes.div_ceil(8), "the advert of a map")?;
    let all: Vec<u8> = all.iter().flat_map(|word| word.to_le_bytes()).collect();
    decode(&all[..bytes]).map_err(|_| here)
}
