//! Graph: how long each of the newest frames took, against a scale that fits them.

use egui::{Align2, Color32, CornerRadius, FontId, Painter, Rect, Stroke, pos2};

use super::{INK_DIM, PAPER};

const BAR: Color32 = Color32::from_rgb(90, 190, 140);
const BAR_LATE: Color32 = Color32::from_rgb(226, 120, 76);
/// What a bar is given that is longer than the scale.
const BAR_CUT: Color32 = Color32::from_rgb(255, 226, 140);
const CUT_TALL: f32 = 2.0;
/// The milliseconds that the top may stand for.
const TOPS: [f32; 7] = [25.0, 50.0, 100.0, 200.0, 400.0, 1_000.0, 2_000.0];
/// How far the usual frame stays below the top.
const ROOM: f32 = 1.25;
/// So many frames of a hundred are usual; the others may be cut.
const USUAL: usize = 90;
/// A frame that takes so many times what half of them take is late.
const LATE: f32 = 1.5;
/// The size of the scale's numbers, and how many lines it has.
const SCALE_FONT: f32 = 10.0;

/// What a graph is drawn against, milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// What its top stands for.
    pub(super) top: f32,
    /// What takes longer is late.
    pub(super) late: f32,
}

impl Scale {
    /// The scale that fits these frames.
    pub(super) fn of(spans: &[f32]) -> Self {
        let mut sorted = spans.to_vec();
        sorted.sort_by(f32::total_cmp);
        let at = |part: usize| sorted.get(sorted.len() * part / 100).copied().unwrap_or(0.0);
        let usual = at(USUAL) * ROOM;
        let top = TOPS.into_iter().find(|top| *top >= usual);
        Self { top: top.unwrap_or(TOPS[TOPS.len() - 1]), late: at(50) * LATE }
    }

    /// How high a frame reaches, 0 to 1.
    pub(super) fn part(&self, span: f32) -> f32 {
        (span / self.top).clamp(0.0, 1.0)
    }
}

/// One bar a frame, and a line for the half and the whole of the scale.
pub(super) fn graph(painter: &Painter, rect: Rect, spans: &[f32], scale: f32) {
    let fitting = Scale::of(spans);
    let high = |span: f32| rect.bottom() - rect.height() * fitting.part(span);
    let mut left = rect.left();
    let wide = rect.width() / f32::from(u16::try_from(spans.len().max(1)).unwrap_or(u16::MAX));
    for span in spans {
        let bar = Rect::from_min_max(pos2(left, high(*span)), pos2(left + wide, rect.bottom()));
        let colour = if *span > fitting.late { BAR_LATE } else { BAR };
        painter.rect_filled(bar, CornerRadius::ZERO, colour);
        if *span > fitting.top {
            let tip = bar.with_max_y(bar.top() + CUT_TALL);
            painter.rect_filled(tip, CornerRadius::ZERO, BAR_CUT);
        }
        left += wide;
    }
    let font = FontId::monospace((SCALE_FONT * scale).round());
    for span in [fitting.top, fitting.top * 0.5] {
        painter.hline(rect.x_range(), high(span), Stroke::new(1.0, INK_DIM.gamma_multiply(0.6)));
        let galley = painter.layout_no_wrap(format!("{span:.0} ms"), font.clone(), INK_DIM);
        let at =
            Align2::LEFT_TOP.anchor_size(pos2(rect.left() + 2.0, high(span) + 1.0), galley.size());
        painter.rect_filled(at, CornerRadius::ZERO, PAPER);
        painter.galley(at.min.round(), galley, INK_DIM);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_any_pace_fill_between_a_third_and_most_of_the_graph() {
        for pace in [4.2, 16.7, 33.3, 66.0, 150.0, 200.0, 700.0] {
            let mut spans = vec![pace; 117];
            spans.extend([pace * 1.1, pace * 8.0, pace * 3.0]);
            let scale = Scale::of(&spans);
            let part = scale.part(pace);
            assert!((0.15..=0.8).contains(&part), "{pace} ms are {part} of {scale:?}");
            assert!(pace < scale.late && pace * 3.0 > scale.late, "only hitches are late");
        }
        assert!(Scale::of(&[]).top > 1.0, "before the first frame");
        assert!(Scale::of(&[1e9; 5]).part(1e9) > 0.99, "frames of a fortnight are cut");
    }
}
