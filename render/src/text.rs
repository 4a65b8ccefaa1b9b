//! Text: the panel in the corner and the names above heads, laid out in egui.
//!
//! Used by the studio after the scene, before the GPU. A fresh egui context for each picture makes
//! the glyphs' places depend on nothing but that picture. Never: touches the device.

mod graph;
mod panes;

use dh_view::{Hud, PixelBox};
use egui::epaint::{ClippedPrimitive, ImageDelta};
use egui::{
    Align, Align2, Color32, Context, CornerRadius, FontId, Galley, Id, LayerId, Order, Painter,
};
use egui::{Pos2, RawInput, Rect, Stroke, StrokeKind, TextureId, pos2, vec2};
use std::sync::Arc;

use self::panes::Panes;
use crate::overlay::Overlay;
use crate::scene::lens::{pixels, whole};
use crate::scene::{DrawList, PlayerMark, count};

/// The picture height that sizes below are meant for, pixels.
const DESIGN_HEIGHT: f32 = 720.0;
/// The panel's distance from the corner and its inner margin.
const PANEL_AT: f32 = 16.0;
const PANEL_MARGIN: egui::Vec2 = vec2(12.0, 9.0);
const PANEL_FONT: f32 = 13.0;
const PANEL_LEADING: f32 = 4.0;
const INK: Color32 = Color32::from_rgb(236, 240, 243);
const INK_DIM: Color32 = Color32::from_rgb(168, 180, 190);
const PAPER: Color32 = Color32::from_rgba_premultiplied(9, 12, 16, 172);
/// The height of the graph of frames.
const GRAPH_TALL: f32 = 48.0;
/// The least width of one of two panels: below that the one with the details is left out.
const COLUMN_MIN: f32 = 240.0;
const HINT_FONT: f32 = 14.0;
const NOTICE_FONT: f32 = 20.0;
/// The smallest and largest name, and the distance at which it is the largest, metres.
const NAME_FONT: [f32; 2] = [12.0, 18.0];
const NAME_NEAR: f32 = 7.0;
/// How near a name may come to the left and right border, pixels.
const EDGE: f32 = 4.0;

/// Text as triangles, with the boxes it fills.
pub(crate) struct Lettering {
    /// What to draw, in order.
    pub(crate) primitives: Vec<ClippedPrimitive>,
    /// The glyphs, in the order they are to be uploaded.
    pub(crate) glyphs: Vec<(TextureId, ImageDelta)>,
    /// The box of each player's name, in the order of the list's marks.
    pub(crate) tags: Vec<Option<PixelBox>>,
    /// The panel's box.
    pub(crate) hud: Option<PixelBox>,
    /// Runs of text in the panel.
    pub(crate) hud_runs: u32,
    /// Every panel's box.
    #[cfg(test)]
    pub(crate) panels: Vec<PixelBox>,
}

impl Lettering {
    /// Lay out the panel and the names of this list, with glyphs of its own.
    #[must_use]
    pub(crate) fn new(list: &DrawList, hud: &Hud) -> Self {
        Self::over(&Context::default(), list, hud, &Overlay::default())
    }

    /// Lay out the panel, the names and what a window shows over them. Glyphs that this context had
    /// before are not among those to be uploaded.
    #[must_use]
    pub(crate) fn over(ctx: &Context, list: &DrawList, hud: &Hud, overlay: &Overlay) -> Self {
        let size = vec2(pixels(list.lens.width), pixels(list.lens.height));
        let screen = Rect::from_min_size(Pos2::ZERO, size);
        let scale = (size.y / DESIGN_HEIGHT).max(0.5);
        let input = RawInput { screen_rect: Some(screen), time: Some(0.0), ..RawInput::default() };
        let (mut tags, mut panel) = (vec![None; list.marks.len()], (None, 0));
        #[cfg(test)]
        let mut taken = Vec::new();
        let mut output = ctx.run_ui(input, |ui| {
            let layer = LayerId::new(Order::Background, Id::unique("picture"));
            let painter = Painter::new(ui.ctx().clone(), layer, screen);
            tags = names(&painter, &list.marks, scale);
            if let Some(notice) = &list.notice {
                middle(&painter, notice, scale);
            }
            let panes = Panes::new(&painter, scale, !overlay.lines.is_empty());
            let rows = panes.rows(&hud.lines);
            panel = (panes.corner(&rows, Align::Min, 0.0), count(rows.len()));
            panes.details(overlay);
            if let Some(hint) = overlay.hint {
                panes.hint(hint);
            }
            #[cfg(test)]
            taken.extend(panes.taken());
        });
        let mut sets: Vec<_> = output.textures_delta.set.drain().collect();
        sets.sort_by_key(|(id, _)| *id);
        output.textures_delta.clear();
        let glyphs =
            sets.into_iter().flat_map(|(id, parts)| parts.into_iter().map(move |it| (id, it)));
        let on_pixels = |rect: Rect| on_pixels(rect, list.lens.width, list.lens.height);
        Self {
            primitives: ctx.tessellate(output.shapes, 1.0),
            glyphs: glyphs.collect(),
            tags: tags.into_iter().map(|rect| rect.and_then(on_pixels)).collect(),
            hud: panel.0.and_then(on_pixels),
            hud_runs: panel.1,
            #[cfg(test)]
            panels: taken.into_iter().filter_map(on_pixels).collect(),
        }
    }
}

/// One line in the middle of the picture, on more lines where it is too long.
fn middle(painter: &Painter, text: &str, scale: f32) {
    let screen = painter.clip_rect().shrink((PANEL_AT * scale).round());
    let font = FontId::proportional((NOTICE_FONT * scale).round());
    let galley = painter.layout(text.to_owned(), font, INK, screen.width().max(1.0));
    let at = Align2::CENTER_CENTER.anchor_size(screen.center(), galley.size());
    painter.galley(at.min.round(), galley, INK);
}

/// The names, the nearest placed first and painted last; a name that would cover a nearer one moves
/// up. Their boxes are in the order of `marks`.
fn names(painter: &Painter, marks: &[PlayerMark], scale: f32) -> Vec<Option<Rect>> {
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_by(|a, b| marks[*a].distance.total_cmp(&marks[*b].distance));
    let mut placed: Vec<(usize, Rect, Arc<Galley>)> = Vec::new();
    for index in order {
        let mark = &marks[index];
        let Some(anchor) = mark.tag else { continue };
        let near = (NAME_NEAR / mark.distance.max(NAME_NEAR)).sqrt();
        let points = NAME_FONT[1] * near * scale;
        let font = FontId::proportional(points.max(NAME_FONT[0] * scale).round());
        let galley = painter.layout_no_wrap(mark.name.clone(), font, INK);
        let size = (galley.size() + margin(galley.size().y) * 2.0).ceil();
        let mut rect = Rect::from_center_size(pos2(anchor.x, anchor.y), size);
        let across = painter.clip_rect().shrink(EDGE);
        let inward =
            (across.right() - rect.right()).min(0.0) + (across.left() - rect.left()).max(0.0);
        rect = Rect::from_min_size((rect.min + vec2(inward, 0.0)).round(), size);
        // Each move clears one nearer name, so this ends.
        while let Some((_, other, _)) = placed.iter().find(|(_, other, _)| touch(*other, rect)) {
            rect = rect.translate(vec2(0.0, other.top() - rect.bottom() - 2.0));
        }
        placed.push((index, rect, galley));
    }
    let mut rects = vec![None; marks.len()];
    for (index, rect, galley) in placed.into_iter().rev() {
        tag(painter, rect, galley, &marks[index]);
        rects[index] = Some(rect);
    }
    rects
}

fn tag(painter: &Painter, rect: Rect, galley: Arc<Galley>, mark: &PlayerMark) {
    let [red, green, blue] = mark.colour.rgb();
    let round = CornerRadius::same(5);
    painter.rect_filled(rect, round, PAPER);
    let line = Stroke::new(1.0, Color32::from_rgb(red, green, blue).gamma_multiply(0.85));
    painter.rect_stroke(rect, round, line, StrokeKind::Inside);
    let at = Align2::CENTER_CENTER.anchor_size(rect.center(), galley.size());
    painter.galley(at.min.round(), galley, INK);
}

/// The room around a name of this height.
fn margin(tall: f32) -> egui::Vec2 {
    vec2((tall * 0.42).round(), (tall * 0.10).round())
}

fn touch(a: Rect, b: Rect) -> bool {
    a.left() < b.right() && b.left() < a.right() && a.top() < b.bottom() && b.top() < a.bottom()
}

/// The whole pixels of a rectangle, with the one that smooth edges reach beyond it.
fn on_pixels(rect: Rect, width: u32, height: u32) -> Option<PixelBox> {
    let found = PixelBox {
        left: whole((rect.left() - 1.0).floor(), width),
        top: whole((rect.top() - 1.0).floor(), height),
        right: whole((rect.right() + 1.0).ceil(), width),
        bottom: whole((rect.bottom() + 1.0).ceil(), height),
    };
    (found.left < found.right && found.top < found.bottom).then_some(found)
}

#[cfg(test)]
mod tests;
