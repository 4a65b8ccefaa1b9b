//! Overlay: what a window shows over its picture: details for those who ask, and how to begin.
//!
//! Owned by the stage of a window. Never: measures, draws.

use std::collections::VecDeque;
use std::time::Duration;

use dh_view::{Sitting, View};

use crate::scene::DrawList;

/// Frames that the graph shows.
const FRAMES: usize = 120;
/// How many frames a rate is told from.
const RATE_FRAMES: usize = 30;
/// What a window says while the pointer is free.
const HINT: &str =
    "click to look around   WASD walk   Space jump   C crouch   F3 details   Esc let go";

/// What a window knows of its own frames.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    spans: VecDeque<f32>,
}

/// What is shown over one frame.
#[derive(Debug, Default)]
pub(crate) struct Overlay {
    /// Lines for the far corner; none hides them.
    pub(crate) lines: Vec<String>,
    /// The newest frames, oldest first, milliseconds each.
    pub(crate) graph: Vec<f32>,
    /// One line at the bottom.
    pub(crate) hint: Option<&'static str>,
}

impl Frames {
    /// A frame has come so long after the one before.
    pub(crate) fn add(&mut self, span: Duration) {
        if self.spans.len() == FRAMES {
            self.spans.pop_front();
        }
        self.spans.push_back(span.as_secs_f32() * 1e3);
    }

    /// Milliseconds a frame, over the newest; nothing before the first.
    fn mean(&self) -> Option<f32> {
        let newest = self.spans.iter().rev().take(RATE_FRAMES);
        let count = u16::try_from(newest.len()).ok().filter(|count| *count > 0)?;
        Some(newest.sum::<f32>() / f32::from(count))
    }
}

impl Overlay {
    /// What this user wants to see over this frame. `facts` are the device's own lines.
    pub(crate) fn new(
        seat: Sitting,
        frames: &Frames,
        view: &View,
        list: &DrawList,
        facts: Vec<String>,
    ) -> Self {
        let hint = (!seat.captured).then_some(HINT);
        if !seat.detail {
            return Self { hint, ..Self::default() };
        }
        let rate = frames.mean().map_or_else(
            || String::from("window -"),
            |mean| format!("window {:.0} fps ({mean:.1} ms)", 1e3 / mean.max(1e-3)),
        );
        let drawn = format!(
            "triangles {} in {} batches, players {}/{}",
            list.world_triangles(),
            list.models.batches.len() + list.boxes.runs.len(),
            list.players_seen,
            list.players.len(),
        );
        let mut lines = vec![rate];
        lines.extend(facts);
        lines.push(drawn);
        if list.models.left_out > 0 {
            lines.push(format!("models left out {}", list.models.left_out));
        }
        if list.over() > 0 {
            lines.push(format!("over the budget of a frame {}", list.over()));
        }
        lines.extend(view.hud.detail.iter().cloned());
        Self { lines, graph: frames.spans.iter().copied().collect(), hint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gray_box::yard;
    use crate::scene::book::Book;
    use crate::scene::capsule::Capsule;

    #[test]
    fn details_are_shown_to_those_who_ask_and_the_way_to_begin_until_it_is_taken() {
        let mut frames = Frames::default();
        (0..500).for_each(|_| frames.add(Duration::from_millis(20)));
        let view = yard();
        let list = DrawList::new(&view, &Book::default(), &Capsule::new(), 640, 360);
        let shown =
            |seat| Overlay::new(seat, &frames, &view, &list, vec![String::from("an adapter")]);
        let plain = shown(Sitting { detail: false, captured: true });
        assert!(plain.lines.is_empty() && plain.graph.is_empty() && plain.hint.is_none());
        let full = shown(Sitting { detail: true, captured: false });
        assert_eq!(full.lines[..2], ["window 50 fps (20.0 ms)", "an adapter"]);
        assert!(full.graph.len() == FRAMES && full.hint.is_some());
    }
}
