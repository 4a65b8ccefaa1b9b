//! Hud: the lines in the corner of a picture. Filled by the presenter, laid out by the renderer;
//! the `buf` and `interp` lines are worded by `netcode` and only passed through here.

use alloc::{format, string::String, vec::Vec};

use dh_machine::{Micros, Tick, TickRate};

/// Lines of text in the corner, top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hud {
    /// The lines; none hides the panel.
    pub lines: Vec<String>,
    /// Lines for those who ask for details.
    pub detail: Vec<String>,
}

impl Hud {
    /// Lines that are shown; what is over is left out.
    pub const LINES_MAX: usize = 16;
    /// Characters of a line that are shown; what is over is left out.
    pub const LINE_MAX: usize = 96;

    /// The panel of somebody who plays: `facts` first, then lines worded elsewhere.
    #[must_use]
    pub fn playing<'a>(facts: &HudFacts, worded: impl IntoIterator<Item = &'a str>) -> Self {
        let mut lines = facts.lines();
        lines.extend(worded.into_iter().map(String::from));
        Self { lines, detail: Vec::new() }
    }
}

/// The numbers of the panel's own lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HudFacts {
    /// Pictures a second; `None` before the second picture and where pictures are single.
    pub fps: Option<f32>,
    /// Round trip to the server; `None` before it was measured.
    pub ping: Option<Micros>,
    /// The newest tick that was predicted.
    pub tick: Tick,
    /// Ticks a second.
    pub rate: TickRate,
}

impl HudFacts {
    /// `fps 60 (16.7 ms)`, `ping 42.0 ms`, `tick 1234 at 60 Hz`; unknown numbers are `-`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let fps = match self.fps {
            Some(fps) if fps > 0.0 => format!("fps {fps:.0} ({:.1} ms)", 1000.0 / fps),
            _ => String::from("fps -"),
        };
        let ping = match self.ping {
            Some(ping) => format!("ping {:.1} ms", ping.as_secs_f64() * 1e3),
            None => String::from("ping -"),
        };
        let tick = format!("tick {} at {} Hz", self.tick.0, self.rate.hz());
        Vec::from([fps, ping, tick])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FACTS: HudFacts = HudFacts {
        fps: Some(60.0),
        ping: Some(Micros(42_040)),
        tick: Tick(1234),
        rate: TickRate::DEFAULT,
    };

    #[test]
    fn the_panel_says_fps_ping_and_tick_before_the_worded_lines() {
        let hud = Hud::playing(&FACTS, ["buf 2/2.0 rate x1.000"]);
        let expected =
            ["fps 60 (16.7 ms)", "ping 42.0 ms", "tick 1234 at 60 Hz", "buf 2/2.0 rate x1.000"];
        assert_eq!(hud.lines, expected);
    }

    #[test]
    fn what_is_not_known_yet_is_a_dash() {
        let facts = HudFacts { fps: None, ping: None, ..FACTS };
        assert_eq!(facts.lines()[..2], ["fps -", "ping -"]);
        assert_eq!(HudFacts { fps: Some(0.0), ..FACTS }.lines()[0], "fps -");
    }
}
