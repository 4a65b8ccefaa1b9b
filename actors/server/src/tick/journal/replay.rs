//! Replay: a span of a journal run again in a world of its own.

use std::sync::Arc;

use dh_machine::{Damage, Machine, Micros, Outbox, Tick, Words};
use dh_messages::MapAdvert;
use dh_prefs::Prefs;
use dh_sim::Ground;
use dh_store::Shelf;

use super::super::state::{Kept, Ticking};
use super::super::{Arrival, PeerInputs, TickCommand, TickMsg};
use super::entry::Entry;
use super::format::{JournalError, Recorded, Span};
use crate::map_switch::{MapError, PreparedMap, prepare_exactly};
use crate::prefs::Pace;

/// The ground of the map that an advert names, of exactly the pallet that it names; the gray box
/// where it names none.
///
/// # Errors
/// It is not on the shelf, or is damaged.
pub fn ground_of(advert: &MapAdvert, shelf: Option<&Shelf>) -> Result<Ground, MapError> {
    if advert.name.is_empty() {
        return Ok(Ground::gray_box());
    }
    prepare_exactly(shelf, advert).map(|map| map.ground)
}

/// A span that is run again, entry by entry.
#[derive(Debug)]
pub struct Replay<'a> {
    ticking: Ticking,
    entries: std::slice::Iter<'a, Entry>,
}

/// One tick, then and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Which.
    pub tick: Tick,
    /// The tick and the digest that were recorded.
    pub recorded: (Tick, u64),
    /// The digest now.
    pub digest: u64,
}

impl Compared {
    /// Whether then and now are one.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.recorded == (self.tick, self.digest)
    }
}

impl<'a> Replay<'a> {
    /// The world as `span` begins, on the ground of its map.
    ///
    /// # Errors
    /// The world in it is damaged, or stood on other ground.
    pub fn new(recorded: &Recorded, span: &'a Span, ground: Ground) -> Result<Self, JournalError> {
        let rate = recorded.rate;
        let placed = |damage: Damage| Damage { word: span.at + damage.word, ..damage };
        let mut words = Words::new(&span.world);
        let kept = Kept::of_words(&mut words, rate, ground.clone()).map_err(placed)?;
        if words.left() > 0 {
            return Err(placed(words.damage("the end of the world")).into());
        }
        let world = kept.settings();
        let pace = Pace { world, ..Pace::of(&Prefs::default()) };
        let peers = kept.peers();
        let ticking = Ticking::new(rate, ground, pace, Micros(0)).restored(&kept, &peers);
        Ok(Self { ticking, entries: span.entries.iter() })
    }

    /// Go on to the end of the next tick; `None` at the end of the span. `ground` finds the ground
    /// of a map that comes to stand meanwhile.
    ///
    /// # Errors
    /// What `ground` says.
    pub fn tick<E>(
        &mut self,
        mut ground: impl FnMut(&MapAdvert) -> Result<Ground, E>,
    ) -> Result<Option<Compared>, E> {
        let mut out = Outbox::default();
        for entry in self.entries.by_ref() {
            out.clear();
            let msg = match entry.clone() {
                Entry::Join(joining) => TickMsg::Join(joining),
                Entry::Leave(peer) => TickMsg::Leave(peer),
                Entry::Arrived(peer) => {
                    let generation = self.ticking.generation();
                    TickMsg::Arrived(Arrival { peer, generation })
                }
                Entry::Input(peer, input) => {
                    TickMsg::Inputs(PeerInputs { peer, inputs: vec![input] })
                }
                Entry::Map(advert) => {
                    let (ground, advert) = (ground(&advert)?, *advert);
                    TickMsg::Install(Arc::new(PreparedMap { advert, ground, closure: Vec::new() }))
                }
                Entry::Deed(slot, deed) => TickMsg::Command(TickCommand { id: 0, slot, deed }),
                Entry::Settings(settings) => {
                    self.ticking.set_world(settings);
                    continue;
                }
                Entry::Tick(tick, digest) => {
                    let now = self.ticking.run_one(&mut out);
                    let recorded = (tick, digest);
                    let tick = self.ticking.tick();
                    return Ok(Some(Compared { tick, recorded, digest: now }));
                }
            };
            self.ticking.handle(Micros(0), msg, &mut out);
        }
        Ok(None)
    }
}
