//! What is said is heard, by whoever said it first of all: a line that no rate of the server's
//! refuses comes back, or its session ends.

use dh_machine::Micros;
use dh_messages::ChatKind;

use super::settled::Look;

/// After so long a silence a line is within every rate.
const SILENCE: Micros = Micros::from_secs(6);
/// How long a settled peer may wait to hear itself.
const HEARD_AFTER: Micros = Micros::from_secs(5);

/// What one peer says.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// When it said something last.
    spoke: Option<Micros>,
    /// The line that has not come back.
    waits: Option<Waits>,
}

/// A line on its way.
#[derive(Debug)]
struct Waits {
    /// What it was said in.
    within: Within,
    /// How much the peer had heard before.
    heard: usize,
    /// Since when it waits on a whole path.
    since: Option<Micros>,
}

/// The session and the map of a line: whatever is said where one of them ends may end with it. So
/// does a line that broke what passes lines on twice.
#[derive(Debug, PartialEq, Eq)]
struct Within {
    session: u32,
    endings: usize,
    maps: usize,
    loaded: usize,
    lost: u64,
}

impl Within {
    /// None where the peer does not play as far as its server knows, or not on the map that stands.
    fn of(look: &Look<'_>, lost: u64) -> Option<Self> {
        let Look { record, server, .. } = *look;
        let standing = server.frames.back().map(|frame| frame.generation());
        let plays = record.is_playing() && record.loaded.last().copied() == standing;
        let (maps, loaded) = (server.maps.len(), record.loaded.len());
        let session = look.session().filter(|_| plays)?;
        Some(Self { session, endings: record.endings.len(), maps, loaded, lost })
    }
}

impl Talk {
    /// A line is said. `lost` is what was lost by those who pass lines on.
    pub(super) fn says(&mut self, look: &Look<'_>, lost: u64) {
        let is_rare = self.spoke.is_none_or(|at| SILENCE <= look.now.since(at));
        self.spoke = Some(look.now);
        if is_rare && let Some(within) = Within::of(look, lost) {
            self.waits = Some(Waits { within, heard: look.record.chat.len(), since: None });
        }
    }

    /// Whether a line has not come back for too long; told once.
    pub(super) fn is_unheard(
        &mut self,
        look: &Look<'_>,
        settled: bool,
        lost: impl FnOnce() -> u64,
    ) -> bool {
        let Some(waits) = &mut self.waits else { return false };
        let slot = look.record.spawns.last().map(|(slot, ..)| *slot);
        let mut heard = look.record.chat[waits.heard..].iter();
        if heard.any(|line| line.kind == ChatKind::Player && Some(line.slot) == slot) {
            self.waits = None;
            return false;
        }
        if !settled {
            waits.since = None;
            return false;
        }
        if look.now.since(*waits.since.get_or_insert(look.now)) <= HEARD_AFTER {
            return false;
        }
        let waits = self.waits.take();
        waits.is_some_and(|waits| Within::of(look, lost()) == Some(waits.within))
    }
}
