//! What the client's actors read from the preferences, each in its own terms.

use dh_machine::{Micros, TickRate};
use dh_netcode::{ClockSettings, InterpSettings, MarginSettings};
use dh_prefs::{Prefs, default_colour, key};

use crate::connection::Profile;

/// The tick clock's knobs on a server that runs at `rate`.
pub(crate) fn clock(prefs: &Prefs, rate: TickRate) -> ClockSettings {
    let standard = ClockSettings::new(rate);
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

/// Interpolation's knobs on a server that runs at `rate`.
pub(crate) fn interp(prefs: &Prefs, rate: TickRate) -> InterpSettings {
    let standard = InterpSettings::new(rate);
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
    let connect_timeout = Micros::from_secs_f64(prefs.get(key::CONNECT_TIMEOUT).into());
    Profile { name, colour, connect_timeout }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefs(pairs: &[&str]) -> Prefs {
        let mut prefs = Prefs::default();
        for pair in pairs {
            prefs.set_argument(pair).unwrap();
        }
        prefs
    }

    #[test]
    fn what_is_a_second_or_two_ticks_by_default_follows_the_servers_rate() {
        let fast = TickRate::new(120).unwrap();
        let standard = prefs(&[]);
        assert_eq!(clock(&standard, fast), ClockSettings::new(fast));
        assert_eq!(interp(&standard, fast), InterpSettings::new(fast));
        assert_eq!(clock(&standard, TickRate::DEFAULT).hold_backlog, 60);
        assert_eq!(clock(&prefs(&["client.net.holdBacklog=30"]), fast).hold_backlog, 30);
    }

    #[test]
    fn a_player_without_a_name_takes_the_given_one_and_a_colour_that_follows_from_it() {
        let unnamed = profile(&prefs(&[]), "ada");
        assert_eq!((unnamed.name.as_str(), unnamed.colour), ("ada", default_colour("ada")));
        assert_eq!(unnamed.connect_timeout, Micros::from_secs(10));
        let named = ["client.name=bob", "client.net.connectTimeout=2.1"];
        let named = profile(&prefs(&named), "ada");
        assert_eq!((named.name.as_str(), named.connect_timeout), ("bob", Micros(2_100_000)));
    }
}
