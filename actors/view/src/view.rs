//! View: everything one picture shows. Filled by the presenter, read by the renderer; never drawn
//! from here and never changed once it is handed over.

use alloc::{string::String, sync::Arc, vec::Vec};

use glam::Vec3;

use crate::{Camera, Colour, Hud, Scene};

/// Everything one picture shows.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it is taken from.
    pub camera: Camera,
    /// The world around. Shared, because it outlives many views.
    pub scene: Arc<Scene>,
    /// The players to draw: everyone but the one whose eyes these are.
    pub players: Vec<PlayerView>,
    /// Text in the corner.
    pub hud: Hud,
    /// The map that is waited for, empty where its name is not known yet. While there is one, a
    /// line that says so is shown instead of the world.
    pub loading: Option<String>,
}

impl View {
    /// An empty world under the default sky.
    #[must_use]
    pub fn empty() -> Self {
        Self::of(Arc::new(Scene::empty()))
    }

    /// A world without anybody, seen from where its author put the camera.
    #[must_use]
    pub fn of(scene: Arc<Scene>) -> Self {
        let camera = scene.camera;
        Self { camera, scene, players: Vec::new(), hud: Hud::default(), loading: None }
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
