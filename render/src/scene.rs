//! The scene: what of a view is drawn, and where on the picture it falls.
//!
//! [`DrawList::new`] turns a `View` into counts, instances and pixel boxes without a GPU; `text`
//! and `gpu` draw exactly this list. Never: draws, keeps state between pictures.

mod blocks;
pub mod book;
pub mod boxes;
pub mod budget;
pub mod capsule;
pub mod lens;
pub mod models;
pub mod shadow;
pub mod sight;

use bytemuck::{Pod, Zeroable};
use dh_view::{Colour, PixelBox, PlayerView, View};
use glam::{Vec2, Vec3};

use self::book::Book;
use self::boxes::Boxes;
use self::budget::Looks;
use self::capsule::{Capsule, Spin, nod, straight};
use self::lens::{Lens, pixels};
use self::models::Models;
use self::shadow::ShadowFrame;

/// The widest part of a world that gets shadows, metres.
const SHADOW_SPAN_MAX: f32 = 96.0;
/// Characters of a map's name that are shown.
const MAP_MAX: usize = 64;
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
    /// What is submitted of the scene's boxes.
    pub boxes: Boxes,
    /// What is submitted of the scene's models.
    pub models: Models,
    /// All players; the first `players_seen` are in the camera's view.
    pub players: Vec<PlayerInstance>,
    /// How many players' bodies are submitted to the camera.
    pub players_seen: u32,
    /// Where each player of the view falls, in the view's order.
    pub marks: Vec<PlayerMark>,
    /// One line that is shown instead of a world.
    pub notice: Option<String>,
}

impl DrawList {
    /// The list for a picture of this many pixels.
    #[must_use]
    pub fn new(view: &View, book: &Book, shape: &Capsule, width: u32, height: u32) -> Self {
        if let Some(map) = &view.loading {
            let nothing = View { camera: view.camera, ..View::empty() };
            let notice = Some(notice(map));
            return Self { notice, ..Self::new(&nothing, book, shape, width, height) };
        }
        let scene = &*view.scene;
        let lens = Lens::new(&view.camera, width, height);
        let level = lens.forward.with_y(0.0).normalize_or_zero();
        let focus = lens.eye + level * (SHADOW_SPAN_MAX / 3.0);
        let frame = |toward, side| ShadowFrame::fit(scene, toward, focus, SHADOW_SPAN_MAX, side);
        let sun = frame(scene.sun.toward.normalize_or(Vec3::Y), SUN_SIDE);
        let top = frame(Vec3::Y, TOP_SIDE);
        let looks = Looks::new();
        let at = Place { lens: &lens, sun: &sun, view, book, shape, looks: &looks };
        let marks: Vec<PlayerMark> = view.players.iter().map(|it| at.mark(it)).collect();

        let mut left = book.limits;
        let boxes = Boxes::new(scene, &lens, [&sun, &top], &mut left);
        let models = Models::new(scene, book, &lens, [&sun, &top], &mut left);
        let bodies = view.players.iter().zip(&marks);
        let (near, off): (Vec<_>, Vec<_>) = bodies.partition(|(_, mark)| mark.body.is_some());
        Self {
            lens,
            sun,
            top,
            boxes,
            models,
            players: near.iter().chain(&off).map(|(it, _)| PlayerInstance::new(it)).collect(),
            players_seen: count(near.len()),
            marks,
            notice: None,
        }
    }

    /// Triangles of the world that are submitted to the camera.
    #[must_use]
    pub fn world_triangles(&self) -> u32 {
        let models = u32::try_from(self.models.triangles).unwrap_or(u32::MAX);
        models.saturating_add(self.boxes.triangles())
    }

    /// Boxes and models that are left out because there are more than a scene or a frame may have.
    #[must_use]
    pub const fn over(&self) -> u32 {
        self.boxes.over.saturating_add(self.models.over)
    }
}

/// What is said while this map is waited for.
fn notice(map: &str) -> String {
    let shown: String = map.chars().filter(|it| !it.is_control()).take(MAP_MAX).collect();
    let space = if shown.is_empty() { "" } else { " " };
    format!("loading{space}{shown} ...")
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
    looks: &'a Looks,
}

impl Place<'_> {
    fn mark(&self, player: &PlayerView) -> PlayerMark {
        let Self { lens, sun, view, book, shape, looks } = *self;
        let half = player.height / 2.0;
        let middle = player.feet + Vec3::Y * half;
        let in_view = lens.sees_ball(middle, half.max(PlayerView::RADIUS) + 0.1);
        let body = if in_view { lens.hull(shape.placed(player)) } else { None };
        let visible = body.is_some() && sight::seen(lens, &view.scene, book, player, looks);
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
            shadow: sun.shade(lens, &view.scene, shape.placed(player), looks),
            tag,
            distance: lens.eye.distance(anchor),
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
