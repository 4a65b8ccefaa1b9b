//! What is said is heard, by whoever said it first of all: a line that no rate of the server's
//! refuses comes back, or its session ends.

use dh_machine::Micros;
use dh_messages::ChatKind;

use super::settled::Look;

/// After so long a silence a line is within every rate.
const SILENCE: Micros = Micros::from_secs(6);
/// How long a line may need to its server.
const UNDERWAY: Micros = Micros::from_secs(2);
/// How long a peer may wait to hear itself while nothing happens to its path.
const HEARD_AFTER: Micros = Micros::from_secs(6);

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
    said: Micros,
    within: Within,
    map: Map,
    /// How much the peer had heard before.
    heard: usize,
}

/// What a line may end with: its session, and the fault that broke what passes lines on twice.
#[derive(Debug, PartialEq, Eq)]
struct Within {
    session: Option<u32>,
    endings: usize,
    lost: u64,
}

/// Maps that stood and maps that were loaded: nobody is heard while one changes.
type Map = (usize, usize);

impl Talk {
    /// A line is said. `lost` is what was lost by those who pass lines on.
    pub(super) fn says(&mut self, look: &Look<'_>, heard: usize, lost: u64) {
        let is_rare = self.spoke.is_none_or(|at| SILENCE <= look.now.since(at));
        self.spoke = Some(look.now);
        if is_rare && look.is_on_the_map() {
            self.waits =
                Some(Waits { said: look.now, within: within(look, lost), map: map(look), heard });
        }
    }

    /// Whether a line has not come back for too long; told once. The path has been fair since
    /// `fair`, if it is.
    pub(super) fn is_unheard(
        &mut self,
        look: &Look<'_>,
        fair: Option<Micros>,
        lost: impl FnOnce() -> u64,
    ) -> bool {
        let Some(waits) = &mut self.waits else { return false };
        let slot = look.record.spawns.last().map(|(slot, ..)| *slot);
        let mut heard = look.record.chat[waits.heard..].iter();
        let is_heard = heard.any(|it| it.kind == ChatKind::Player && Some(it.slot) == slot);
        let is_underway = look.now.since(waits.said) <= UNDERWAY;
        if is_heard || is_underway && (fair.is_none() || waits.map != map(look)) {
            self.waits = None;
            return false;
        }
        if fair.is_none_or(|fair| look.now.since(fair.max(waits.said)) <= HEARD_AFTER) {
            return false;
        }
        let waits = self.waits.take();
        waits.is_some_and(|waits| waits.within == within(look, lost()))
    }
}

fn within(look: &Look<'_>, lost: u64) -> Within {
    Within { session: look.session(), endings: look.record.endings.len(), lost }
}

fn map(look: &Look<'_>) -> Map {
    (look.server.maps.len(), look.record.loaded.len())
}
