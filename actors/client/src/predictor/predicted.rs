//! Predicted: the own pawn, as a picture needs it.

use dh_machine::{Micros, Tick};
use dh_messages::EntityId;
use dh_netcode::{ReconcileOffset, Stance};

/// The own pawn, as a picture needs it. It holds until the next one comes.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The pawn.
    pub pawn: EntityId,
    /// When `newest` fell due.
    pub at: Micros,
    /// Ticks a second at which it goes on from there.
    pub pace: f32,
    /// One tick before.
    pub before: Stance,
    /// The newest predicted tick.
    pub newest: Stance,
    /// What is added while corrections ease out, as it was at `eased_at`.
    pub offset: ReconcileOffset,
    /// See `offset`.
    pub eased_at: Micros,
    /// Heading and elevation, radians.
    pub look: [f32; 2],
    /// From feet to crown, metres.
    pub height: f32,
    /// The server tick of the newest answer.
    pub tick: Tick,
    /// The clock's overlay line.
    pub overlay: String,
}

impl Predicted {
    /// What is drawn at `now`: between the two newest ticks, with what is left of corrections.
    #[must_use]
    pub fn drawn(&self, now: Micros) -> Stance {
        let mut offset = self.offset;
        offset.ease(now.since(self.eased_at));
        offset.drawn(self.before, self.newest, share(now.since(self.at), self.pace))
    }

    /// How much of a correction is still to be eased out at `now`, metres.
    #[must_use]
    pub fn eased(&self, now: Micros) -> f32 {
        let mut offset = self.offset;
        offset.ease(now.since(self.eased_at));
        let shown = offset.drawn(self.newest, self.newest, 1.0).feet;
        let parts = shown.iter().zip(self.newest.feet).map(|(a, b)| (a - b) * (a - b));
        parts.sum::<f32>().sqrt()
    }
}

/// How far `since` reaches into a tick, 0 to 1.
#[expect(clippy::cast_possible_truncation, reason = "a share of at most 1")]
fn share(since: Micros, pace: f32) -> f32 {
    (since.as_secs_f64() * f64::from(pace)).min(1.0) as f32
}
