//! What the server's actors read from the preferences, each in its own terms.

use dh_host::pacer::Pacing;
use dh_machine::Micros;
use dh_messages::WorldSettings;
use dh_prefs::{Prefs, key};

/// Sessions at one time.
#[must_use]
pub fn players_max(prefs: &Prefs) -> usize {
    usize::try_from(prefs.get(key::MAX_PLAYERS)).unwrap_or(usize::MAX)
}

/// How the tick thread waits, catches up and warns, and the settings of its world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The most ticks of one turn.
    pub catch_up_max: u32,
    /// How the thread waits for the next tick.
    pub pacing: Pacing,
    /// The share of the nominal rate below which a warning is logged, 0 to 1.
    pub warn_fraction: f32,
    /// The least time between two such warnings.
    pub warn_interval: Micros,
    /// Time scale and flight speed.
    pub world: WorldSettings,
}

impl Pace {
    /// As the preferences say.
    #[must_use]
    pub fn of(prefs: &Prefs) -> Self {
        Self {
            catch_up_max: prefs.get(key::TICK_MAX_CATCH_UP),
            pacing: Pacing {
                max_spin: Micros::from_secs_f64(f64::from(prefs.get(key::TICK_MAX_SPIN)) / 1e3),
                raise_priority: prefs.get(key::TICK_RAISE_PRIORITY),
                tight_timer: prefs.get(key::TIMER_PERIOD),
            },
            warn_fraction: prefs.get(key::TICK_RATE_WARN_FRACTION),
            warn_interval: Micros::from_secs_f64(prefs.get(key::TICK_RATE_WARN_INTERVAL).into()),
            world: WorldSettings {
                time_scale: prefs.get(key::TIME_SCALE),
                noclip_speed: prefs.get(key::NOCLIP_SPEED),
            },
        }
    }
}
