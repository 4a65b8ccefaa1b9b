//! Text: the panel in the corner and the names above heads, laid out in egui.
//!
//! Used by the studio after the scene, before the GPU. A fresh egui context for each picture makes
//! the glyphs' places depend on nothing but that picture. Never: touches the device.

use dh_view::{Hud, PixelBox};
use egui::epaint::{ClippedPrimitive, ImageDelta};
use egui::{Align2, Color32, Context, CornerRadius, FontId, Galley, Id, LayerId, Order, Painter};
use egui::{Pos2, RawInput, Rect, Stroke, StrokeKind, TextureId, pos2, vec2};
use std::sync::Arc;

use crate::scene::lens::{pixels, whole};
use crate::scene::{DrawList, PlayerMark};

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
}

impl Lettering {
    /// Lay out the panel and the names of this list.
    #[must_use]
    pub(crate) fn new(list: &DrawList, hud: &Hud) -> Self {
        let size = vec2(pixels(list.lens.width), pixels(list.lens.height));
        let screen = Rect::from_min_size(Pos2::ZERO, size);
        let scale = (size.y / DESIGN_HEIGHT).max(0.5);
        let ctx = Context::default();
        let input = RawInput { screen_rect: Some(screen), time: Some(0.0), ..RawInput::default() };
        let (mut tags, mut panel) = (vec![None; list.marks.len()], (None, 0));
        let mut output = ctx.run_ui(input, |ui| {
            let layer = LayerId::new(Order::Background, Id::unique("picture"));
            let painter = Painter::new(ui.ctx().clone(), layer, screen);
            tags = names(&painter, &list.marks, scale);
            panel = corner(&painter, hud, scale);
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
        }
    }
}

/// The panel; its box and how many runs of text it shows.
fn corner(painter: &Painter, hud: &Hud, scale: f32) -> (Option<Rect>, u32) {
    let font = FontId::monospace((PANEL_FONT * scale).round());
    let rows: Vec<Arc<Galley>> = hud
        .lines
        .iter()
        .take(Hud::LINES_MAX)
        .filter(|line| !line.is_empty())
        .enumerate()
        .map(|(index, line)| {
            let ink = if index == 0 { INK } else { INK_DIM };
            let shown: String = line.chars().take(Hud::LINE_MAX).collect();
            painter.layout_no_wrap(shown, font.clone(), ink)
        })
        .collect();
    if rows.is_empty() {
        return (None, 0);
    }
    let leading = (PANEL_LEADING * scale).round();
    let wide = rows.iter().map(|row| row.size().x).fold(0.0, f32::max);
    let tall: f32 = rows.iter().map(|row| row.size().y + leading).sum::<f32>() - leading;
    let margin = (PANEL_MARGIN * scale).round();
    let at = Pos2::ZERO + egui::Vec2::splat((PANEL_AT * scale).round());
    let rect = Rect::from_min_size(at, (vec2(wide, tall) + margin * 2.0).ceil());
    painter.rect_filled(rect, CornerRadius::same(6), PAPER);
    let mut pen = at + margin;
    for row in &rows {
        let down = row.size().y + leading;
        painter.galley(pen.round(), Arc::clone(row), INK);
        pen.y += down;
    }
    (Some(rect), u32::try_from(rows.len()).unwrap_or(u32::MAX))
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
