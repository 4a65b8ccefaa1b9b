//! What the client's actors read from the preferences, each in its own terms.

use dh_machine::{Micros, TickRate};
use dh_netcode::{ClockSettings, InterpSettings, MarginSettings};
use dh_prefs::{Prefs, default_colour, key};

use crate::connection::Profile;

/// The tick clock's knobs.
pub(crate) fn clock(prefs: &Prefs) -> ClockSettings {
    let standard = ClockSettings::new(TickRate::DEFAULT);
    ClockSettings {
        max_rate: prefs.get(key::CLOCK_MAX_RATE),
        hold_backlog: prefs.get(key::HOLD_BACKLOG).unwrap_or(standard.hold_backlog),
        margin: MarginSettings {
            growth: prefs.get(key::NET_MARGIN_GROWTH),
            max: prefs.get(key::NET_MARGIN_MAX),
            decay: prefs.get(key::NET_MARGIN_DECAY),
        },
        ..standard
    }
}

/// Interpolation's knobs.
pub(crate) fn interp(prefs: &Prefs) -> InterpSettings {
    let standard = InterpSettings::new(TickRate::DEFAULT);
    InterpSettings {
        delay: prefs.get(key::INTERP).unwrap_or(standard.delay),
        buffer_ticks: u16::try_from(prefs.get(key::INTERP_BUFFER_TICKS))
            .unwrap_or(standard.buffer_ticks),
        auto_margin: prefs.get(key::INTERP_AUTO_MARGIN),
        margin: MarginSettings {
            growth: prefs.get(key::INTERP_MARGIN_GROWTH),
            max: prefs.get(key::INTERP_MAX_MARGIN_TICKS),
            decay: prefs.get(key::INTERP_MARGIN_DECAY),
        },
        report_interval: prefs.get(key::INTERP_REPORT_INTERVAL),
    }
}

/// Who the player is; `fallback_name` is used where no name is set.
pub(crate) fn profile(prefs: &Prefs, fallback_name: &str) -> Profile {
    let name = prefs.get(key::CLIENT_NAME).unwrap_or_else(|| fallback_name.to_owned());
    let colour = prefs.get(key::CLIENT_SEED_COLOUR).unwrap_or_else(|| default_colour(&name));
    Profile { name, colour, connect_timeout: micros(prefs.get(key::CONNECT_TIMEOUT)) }
}

/// Seconds as microseconds; the table bounds them.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 10 minutes")]
fn micros(seconds: f32) -> Micros {
    Micros((f64::from(seconds) * 1e6) as u64)
}
