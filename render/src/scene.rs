//! The scene: what of a view is drawn, and where on the picture it falls.
//!
//! [`DrawList::new`] turns a `View` into counts, instances and pixel boxes without a GPU; `text`
//! and `gpu` draw exactly this list. Never: draws, keeps state between pictures.

pub mod book;
pub mod capsule;
pub mod lens;
pub mod models;
pub mod shadow;
pub mod sight;

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use dh_view::{BoxView, Colour, PixelBox, PlayerView, View};
use glam::{Vec2, Vec3};

use self::book::Book;
use self::capsule::{Capsule, Spin, nod, straight};
use self::lens::{Lens, pixels};
use self::models::Models;
use self::shadow::ShadowFrame;

/// Triangles of one box.
const BOX_TRIANGLES: u32 = 12;
/// The widest part of a world that gets shadows, metres.
const SHADOW_SPAN_MAX: f32 = 96.0;
/// Characters of a name that are shown.
const NAME_MAX: usize = 32;
/// Metres from the crown to the middle of the name.
const TAG_LIFT: f32 = 0.30;
/// Texels along one side of the sun's depth map.
pub const SUN_SIDE: u16 = 2048;
/// Texels along one side of the depth map that is seen from straight above.
pub const TOP_SIDE: u16 = 1024;

/// Everything one picture submits.
#[derive(Clone, Debug)]
pub struct DrawList {
    /// The camera and the picture's size.
    pub lens: Lens,
    /// What the sun's depth map covers.
    pub sun: ShadowFrame,
    /// What the depth map from above covers.
    pub top: ShadowFrame,
    /// All boxes; the first `boxes_seen` are in the camera's view, the others only cast shadows.
    pub boxes: Vec<BoxInstance>,
    /// How many boxes the camera sees.
    pub boxes_seen: u32,
    /// The boxes the camera sees, by their material in the scene.
    pub runs: Vec<(Option<u32>, Range<u32>)>,
    /// What is submitted of the scene's models.
    pub models: Models,
    /// All players; the first `players_seen` are in the camera's view.
    pub players: Vec<PlayerInstance>,
    /// How many players' bodies are submitted to the camera.
    pub players_seen: u32,
    /// Where each player of the view falls, in the view's order.
    pub marks: Vec<PlayerMark>,
}

impl DrawList {
    /// The list for a picture of this many pixels.
    #[must_use]
    pub fn new(view: &View, book: &Book, shape: &Capsule, width: u32, height: u32) -> Self {
        let scene = &*view.scene;
        let lens = Lens::new(&view.camera, width, height);
        let level = lens.forward.with_y(0.0).normalize_or_zero();
        let focus = lens.eye + level * (SHADOW_SPAN_MAX / 3.0);
        let frame = |toward, side| ShadowFrame::fit(scene, toward, focus, SHADOW_SPAN_MAX, side);
        let sun = frame(scene.sun.toward.normalize_or(Vec3::Y), SUN_SIDE);
        let top = frame(Vec3::Y, TOP_SIDE);
        let at = Place { lens: &lens, sun: &sun, view, book, shape };
        let marks: Vec<PlayerMark> = view.players.iter().map(|it| at.mark(it)).collect();

        let is_seen = |item: &BoxView| lens.sees_ball(item.centre, item.half.length());
        let (mut seen, hidden): (Vec<_>, Vec<_>) =
            scene.boxes.iter().partition(|item| is_seen(item));
        let material = |item: &&BoxView| {
            item.material
                .filter(|it| usize::try_from(*it).is_ok_and(|it| it < scene.materials.len()))
        };
        // Of one material the nearest first: it hides what is far before that is shaded.
        seen.sort_by(|a, b| {
            material(a).cmp(&material(b)).then(gap(a, lens.eye).total_cmp(&gap(b, lens.eye)))
        });
        let bodies = view.players.iter().zip(&marks);
        let (near, off): (Vec<_>, Vec<_>) = bodies.partition(|(_, mark)| mark.body.is_some());
        Self {
            models: Models::new(scene, book, &lens, [&sun, &top]),
            runs: runs(seen.iter().map(material)),
            lens,
            sun,
            top,
            boxes: seen.iter().chain(&hidden).copied().map(BoxInstance::new).collect(),
            boxes_seen: count(seen.len()),
            players: near.iter().chain(&off).map(|(it, _)| PlayerInstance::new(it)).collect(),
            players_seen: count(near.len()),
            marks,
        }
    }

    /// Triangles of the world that are submitted to the camera.
    #[must_use]
    pub fn world_triangles(&self) -> u32 {
        let models = u32::try_from(self.models.triangles).unwrap_or(u32::MAX);
        models.saturating_add(self.boxes_seen.saturating_mul(BOX_TRIANGLES))
    }
}

/// Where one player falls on the picture.
#[derive(Clone, Debug)]
pub struct PlayerMark {
    /// The pawn's entity id.
    pub id: u32,
    /// The name as it is shown.
    pub name: String,
    /// What the capsule is painted.
    pub colour: Colour,
    /// Whether some of the body can be seen past the boxes.
    pub visible: bool,
    /// The body's pixels.
    pub body: Option<PixelBox>,
    /// The pixels of the world its shadow may darken.
    pub shadow: Option<PixelBox>,
    /// Where the middle of the name goes, pixels; `None` where there is no name to show.
    pub tag: Option<Vec2>,
    /// Metres from the eye to the crown.
    pub distance: f32,
}

/// What the marks of one picture are made from.
struct Place<'a> {
    lens: &'a Lens,
    sun: &'a ShadowFrame,
    view: &'a View,
    book: &'a Book,
    shape: &'a Capsule,
}

impl Place<'_> {
    fn mark(&self, player: &PlayerView) -> PlayerMark {
        let Self { lens, sun, view, book, shape } = *self;
        let half = player.height / 2.0;
        let middle = player.feet + Vec3::Y * half;
        let in_view = lens.sees_ball(middle, half.max(PlayerView::RADIUS) + 0.1);
        let body = if in_view { lens.hull(shape.placed(player)) } else { None };
        let visible = body.is_some() && sight::seen(lens, &view.scene, book, player);
        let name: String =
            player.name.chars().filter(|it| !it.is_control()).take(NAME_MAX).collect();
        let anchor = player.feet + Vec3::Y * (player.height + TAG_LIFT);
        let size = Vec2::new(pixels(lens.width), pixels(lens.height));
        let on_picture = |at: &Vec2| at.cmpge(Vec2::ZERO).all() && at.cmplt(size).all();
        let tag = lens.pixel(anchor).filter(on_picture).filter(|_| visible && !name.is_empty());
        PlayerMark {
            id: player.id,
            name,
            colour: player.colour,
            visible,
            body,
            shadow: sun.shade(lens, &view.scene, shape.placed(player)),
            tag,
            distance: lens.eye.distance(anchor),
        }
    }
}

/// Metres from a point to the nearest of a box.
fn gap(item: &BoxView, from: Vec3) -> f32 {
    let inside = item.rotation.conjugate() * (from - item.centre);
    (inside.abs() - item.half).max(Vec3::ZERO).length()
}

/// Equal neighbours as ranges.
fn runs(items: impl Iterator<Item = Option<u32>>) -> Vec<(Option<u32>, Range<u32>)> {
    let mut runs: Vec<(Option<u32>, Range<u32>)> = Vec::new();
    for (at, item) in (0..).zip(items) {
        match runs.last_mut() {
            Some((last, range)) if *last == item => range.end = at + 1,
            _ => runs.push((item, at..at + 1)),
        }
    }
    runs
}

/// One box as the GPU reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BoxInstance {
    /// Its middle, metres.
    pub centre: [f32; 3],
    /// Half its size, metres.
    pub half: [f32; 3],
    /// Its turn, x y z w.
    pub rotation: [f32; 4],
    /// Its paint, linear.
    pub colour: [f32; 3],
}

impl BoxInstance {
    fn new(item: &BoxView) -> Self {
        Self {
            centre: item.centre.to_array(),
            half: item.half.to_array(),
            rotation: item.rotation.to_array(),
            colour: item.colour.linear(),
        }
    }
}

/// One player as the GPU reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct PlayerInstance {
    /// Where the feet are, metres.
    pub feet: [f32; 3],
    /// The straight part between the two balls, metres.
    pub straight: f32,
    /// Sine and cosine of the yaw, sine and cosine of the visor's nod.
    pub turn: [f32; 4],
    /// Its paint, linear.
    pub colour: [f32; 3],
}

impl PlayerInstance {
    fn new(player: &PlayerView) -> Self {
        let (yaw, nod) = (Spin::new(player.yaw), Spin::new(nod(player.pitch)));
        Self {
            feet: player.feet.to_array(),
            straight: straight(player.height),
            turn: [yaw.sin, yaw.cos, nod.sin, nod.cos],
            colour: player.colour.linear(),
        }
    }
}

/// A length as a number the GPU takes. A view with more is drawn up to there.
pub(crate) fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
