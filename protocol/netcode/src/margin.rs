//! `JitterMargin`: the one control law that turns jitter into latency and gives it back.
//!
//! Owned by the tick clock (starved ticks) and by the render clock (held frames). It never decides
//! what counts as jitter, and has no clock of its own.

/// How a margin is earned and given back. Every value may change while playing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MarginSettings {
    /// Ticks added for each strike, 0 to 8.
    pub growth: f32,
    /// The most it may reach, in ticks.
    pub max: f32,
    /// Seconds of calm that give one tick back; 0 gives everything back at once.
    pub decay: f32,
}

/// Ticks of extra latency that jitter has earned; starts at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JitterMargin {
    ticks: f32,
}

impl JitterMargin {
    /// The margin now, in ticks.
    #[must_use]
    pub const fn ticks(self) -> f32 {
        self.ticks
    }

    /// Jitter struck `strikes` times.
    pub fn grow(&mut self, settings: MarginSettings, strikes: u32) {
        for _ in 0..strikes {
            self.ticks += settings.growth;
            if self.ticks >= settings.max {
                break;
            }
        }
        self.ticks = self.ticks.clamp(0.0, settings.max.max(0.0));
    }

    /// So many seconds went by: the margin narrows, and obeys a bound that was lowered meanwhile.
    pub fn narrow(&mut self, settings: MarginSettings, seconds: f32) {
        let given_back = if settings.decay > 0.0 { seconds / settings.decay } else { self.ticks };
        self.ticks = (self.ticks - given_back).clamp(0.0, settings.max.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: MarginSettings = MarginSettings { growth: 0.5, max: 6.0, decay: 5.0 };

    /// CLK-07, INT-12
    #[test]
    fn each_strike_adds_the_growth_and_the_maximum_caps_it() {
        let mut margin = JitterMargin::default();
        margin.grow(SETTINGS, 3);
        assert!((margin.ticks() - 1.5).abs() < 1e-6);
        margin.grow(SETTINGS, u32::MAX);
        assert!((margin.ticks() - 6.0).abs() < 1e-6);
    }

    /// INT-11, INT-13
    #[test]
    fn a_margin_of_three_at_five_seconds_a_tick_is_gone_after_fifteen() {
        let mut margin = JitterMargin::default();
        margin.grow(SETTINGS, 6);
        for _ in 0..14 * 60 {
            margin.narrow(SETTINGS, 1.0 / 60.0);
        }
        assert!(margin.ticks() > 0.1);
        for _ in 0..61 {
            margin.narrow(SETTINGS, 1.0 / 60.0);
        }
        assert!(margin.ticks().abs() < 1e-3);
    }

    /// CLK-10
    #[test]
    fn a_maximum_lowered_while_playing_is_obeyed_at_the_next_narrowing() {
        let mut margin = JitterMargin::default();
        margin.grow(SETTINGS, 12);
        margin.narrow(MarginSettings { max: 2.0, ..SETTINGS }, 0.0);
        assert!((margin.ticks() - 2.0).abs() < 1e-6);
    }
}
