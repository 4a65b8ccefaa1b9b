//! The ranges of what the server may change about a running world; snapshots carry the values.

use dh_messages::WorldSettings;

/// The slowest and fastest time, simulated seconds a real second.
const TIME_SCALE: (f32, f32) = (0.05, 10.0);
/// The slowest and fastest noclip flight, m/s.
const NOCLIP_SPEED: (f32, f32) = (0.1, 1_000.0);

/// These settings with each brought into its range (time 0.05 to 10, flight 0.1 to 1,000 m/s); what
/// is not a number becomes the default. Both ends apply it before they compute with settings.
#[must_use]
pub fn fit_settings(settings: WorldSettings) -> WorldSettings {
    let default = WorldSettings::default();
    let fit = |value: f32, (low, high): (f32, f32), default| {
        if value.is_nan() { default } else { value.clamp(low, high) }
    };
    WorldSettings {
        time_scale: fit(settings.time_scale, TIME_SCALE, default.time_scale),
        noclip_speed: fit(settings.noclip_speed, NOCLIP_SPEED, default.noclip_speed),
    }
}
