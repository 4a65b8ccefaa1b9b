//! View: everything one picture shows. Filled by the presenter, read by the renderer; never drawn
//! from here and never changed once it is handed over.

use alloc::{string::String, sync::Arc, vec::Vec};

use glam::{Quat, Vec3};

use crate::{Camera, Colour, Hud, palette};

/// Everything one picture shows.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it is taken from.
    pub camera: Camera,
    /// The boxes of the world. Shared, because they outlive many views.
    pub boxes: Arc<[BoxView]>,
    /// The players to draw: everyone but the one whose eyes these are.
    pub players: Vec<PlayerView>,
    /// The light with a shadow.
    pub sun: Sun,
    /// The light without one, and what lies behind everything.
    pub sky: Sky,
    /// Text in the corner.
    pub hud: Hud,
}

impl View {
    /// An empty world under the default sky.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            camera: Camera::default(),
            boxes: Arc::from(Vec::new()),
            players: Vec::new(),
            sun: Sun::default(),
            sky: Sky::default(),
            hud: Hud::default(),
        }
    }
}

/// One box of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxView {
    /// Its middle, metres.
    pub centre: Vec3,
    /// Half its size along its own axes, metres, above 0.
    pub half: Vec3,
    /// Its turn, a unit quaternion.
    pub rotation: Quat,
    /// What it is painted.
    pub colour: Colour,
}

impl BoxView {
    /// A box along the axes.
    #[must_use]
    pub const fn upright(centre: Vec3, half: Vec3, colour: Colour) -> Self {
        Self { centre, half, rotation: Quat::IDENTITY, colour }
    }
}

/// One player: an upright capsule with a face.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerView {
    /// The pawn's entity id; reports name players by it.
    pub id: u32,
    /// Shown above the head; empty shows nothing.
    pub name: String,
    /// The lowest point of the capsule, metres.
    pub feet: Vec3,
    /// Which way the face looks, radians, as in [`Camera::yaw`].
    pub yaw: f32,
    /// How far up the face looks, radians, as in [`Camera::pitch`].
    pub pitch: f32,
    /// From feet to crown, metres: 1.80 standing, 1.10 crouched; at least twice the radius.
    pub height: f32,
    /// What the capsule is painted.
    pub colour: Colour,
}

impl PlayerView {
    /// The radius of every player, metres.
    pub const RADIUS: f32 = 0.35;
    /// The height of a player who stands, metres.
    pub const STANDING: f32 = 1.80;
    /// The height of a player who crouches, metres.
    pub const CROUCHED: f32 = 1.10;
}

/// The light that casts shadows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sun {
    /// Towards the sun, a unit vector that points up.
    pub toward: Vec3,
    /// Its colour.
    pub colour: Colour,
    /// How bright a white surface that faces it gets, 0 to 10; 1 is a plain white.
    pub strength: f32,
}

impl Default for Sun {
    fn default() -> Self {
        Self { toward: Vec3::new(-0.80, 0.62, -0.06).normalize(), ..palette::SUN }
    }
}

/// What lies behind everything, and the light that comes from all sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sky {
    /// Straight up.
    pub zenith: Colour,
    /// At the horizon; far things fade towards it.
    pub horizon: Colour,
    /// Below the horizon, and what light from below is tinted with.
    pub ground: Colour,
    /// Metres after which half of a thing has faded into the horizon, above 0.
    pub haze: f32,
}

impl Default for Sky {
    fn default() -> Self {
        palette::SKY
    }
}
