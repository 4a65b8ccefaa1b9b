//! Panes: the panels in the corners and the line at the bottom, laid out so that none covers
//! another.

use std::cell::RefCell;
use std::sync::Arc;

use dh_view::Hud;
use egui::{Align, Align2, CornerRadius, FontId, Galley, Painter, Rect, pos2, vec2};

use super::graph::graph;
use super::{
    COLUMN_MIN, GRAPH_TALL, HINT_FONT, INK, INK_DIM, PANEL_AT, PANEL_FONT, PANEL_LEADING,
    PANEL_MARGIN, PAPER,
};
use crate::overlay::Overlay;

/// Where panels go on one picture.
pub(super) struct Panes<'a> {
    painter: &'a Painter,
    scale: f32,
    /// Where panels may be.
    screen: Rect,
    /// The widest that a line may be; none where there is no room for two panels.
    column: f32,
    two: bool,
    taken: RefCell<Vec<Rect>>,
}

impl<'a> Panes<'a> {
    /// Room for one panel, or for two beside one another.
    pub(super) fn new(painter: &'a Painter, scale: f32, two: bool) -> Self {
        let at = (PANEL_AT * scale).round();
        let screen = painter.clip_rect().shrink(at);
        let margin = (PANEL_MARGIN * scale).round().x * 2.0;
        let half = (screen.width() - at) / 2.0;
        let two = two && half >= COLUMN_MIN * scale;
        let column = if two { half } else { screen.width() } - margin;
        Self { painter, scale, screen, column, two, taken: RefCell::default() }
    }

    /// Lines as rows of text, the first one brighter.
    pub(super) fn rows(&self, lines: &[String]) -> Vec<Arc<Galley>> {
        let font = FontId::monospace((PANEL_FONT * self.scale).round());
        let lines = lines.iter().take(Hud::LINES_MAX).filter(|line| !line.is_empty()).enumerate();
        let row = |(index, line): (usize, &String)| {
            let ink = if index == 0 { INK } else { INK_DIM };
            let shown: String = line.chars().take(Hud::LINE_MAX).collect();
            self.painter.layout(shown, font.clone(), ink, self.column.max(1.0))
        };
        lines.map(row).collect()
    }

    /// A panel of rows in an upper corner, with so much room below them; its box. Nothing where it
    /// would cover another.
    pub(super) fn corner(&self, rows: &[Arc<Galley>], side: Align, room: f32) -> Option<Rect> {
        if rows.is_empty() {
            return None;
        }
        let leading = (PANEL_LEADING * self.scale).round();
        let wide = rows.iter().map(|row| row.size().x).fold(0.0, f32::max);
        let tall: f32 = rows.iter().map(|row| row.size().y + leading).sum::<f32>() - leading;
        let margin = (PANEL_MARGIN * self.scale).round();
        let size = (vec2(wide, tall + room) + margin * 2.0).ceil();
        let at = match side {
            Align::Max => pos2(self.screen.right() - size.x, self.screen.top()),
            Align::Min | Align::Center => self.screen.left_top(),
        };
        let rect = self.take(Rect::from_min_size(at, size))?;
        self.painter.rect_filled(rect, CornerRadius::same(6), PAPER);
        let mut pen = at + margin;
        for row in rows {
            let down = row.size().y + leading;
            self.painter.galley(pen.round(), Arc::clone(row), INK);
            pen.y += down;
        }
        Some(rect)
    }

    /// What those see who ask for details, with the graph of frames where there is room for it.
    pub(super) fn details(&self, overlay: &Overlay) {
        if !self.two {
            return;
        }
        let rows = self.rows(&overlay.lines);
        let tall = (GRAPH_TALL * self.scale).round();
        let leading = (PANEL_LEADING * self.scale).round();
        if let Some(rect) = self.corner(&rows, Align::Max, tall + leading) {
            let inner = rect.shrink2((PANEL_MARGIN * self.scale).round());
            let rect = inner.with_min_y(inner.bottom() - tall);
            graph(self.painter, rect, &overlay.graph, self.scale);
        } else {
            self.corner(&rows, Align::Max, 0.0);
        }
    }

    /// One line at the bottom, where there is room for it.
    pub(super) fn hint(&self, hint: &str) {
        let font = FontId::proportional((HINT_FONT * self.scale).round());
        let galley = self.painter.layout_no_wrap(hint.to_owned(), font, INK);
        let size = galley.size() + (PANEL_MARGIN * self.scale).round() * 2.0;
        let at = pos2(self.screen.center().x, self.screen.bottom());
        let Some(rect) = self.take(Align2::CENTER_BOTTOM.anchor_size(at, size)) else { return };
        self.painter.rect_filled(rect, CornerRadius::same(6), PAPER);
        let place = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
        self.painter.galley(place.min.round(), galley, INK);
    }

    /// The boxes of all panels.
    #[cfg(test)]
    pub(super) fn taken(self) -> Vec<Rect> {
        self.taken.into_inner()
    }

    /// This place, unless it reaches past the picture or another has some of it. The first may be
    /// too large: it is the one that is wanted most.
    fn take(&self, rect: Rect) -> Option<Rect> {
        let mut taken = self.taken.borrow_mut();
        let fits = self.screen.expand(1.0).contains_rect(rect);
        if !taken.is_empty() && (!fits || taken.iter().any(|other| other.intersects(rect))) {
            return None;
        }
        taken.push(rect);
        Some(rect)
    }
}
