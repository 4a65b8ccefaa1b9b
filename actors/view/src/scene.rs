//! Scene: the part of a picture that outlives many views. Filled once a map by whoever loads it,
//! shared, and never changed after; the renderer keeps on its device what a scene shares.

use alloc::{sync::Arc, vec::Vec};

use glam::{Affine3A, Quat, Vec3};

use crate::{Bounds, Camera, Colour, Material, Mesh, palette};

/// A world as it is drawn, but for those who move in it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The boxes.
    pub boxes: Arc<[BoxView]>,
    /// What boxes are made of; they name it by its index.
    pub materials: Vec<Material>,
    /// The models, wherever they stand. Equal meshes are shared and cost their memory once.
    pub models: Vec<ModelView>,
    /// The light with a shadow.
    pub sun: Sun,
    /// The light without one, and what lies behind everything.
    pub sky: Sky,
    /// Where a picture of the whole is taken from.
    pub camera: Camera,
}

impl Scene {
    /// Nothing under the default sky.
    #[must_use]
    pub fn empty() -> Self {
        Self::of_boxes(Arc::from(Vec::new()))
    }

    /// Painted boxes under the default sky.
    #[must_use]
    pub fn of_boxes(boxes: Arc<[BoxView]>) -> Self {
        Self {
            boxes,
            materials: Vec::new(),
            models: Vec::new(),
            sun: Sun::default(),
            sky: Sky::default(),
            camera: Camera::default(),
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
    /// What it is painted; with a material, what that is tinted with.
    pub colour: Colour,
    /// What it is made of, by its index in the scene; `None`, or one that is not there, is the
    /// metre grid of the gray box.
    pub material: Option<u32>,
}

impl BoxView {
    /// A painted box along the axes.
    #[must_use]
    pub const fn upright(centre: Vec3, half: Vec3, colour: Colour) -> Self {
        Self { centre, half, rotation: Quat::IDENTITY, colour, material: None }
    }
}

/// One mesh at one place.
#[derive(Clone, Debug)]
pub struct ModelView {
    /// Its triangles.
    pub mesh: Arc<Mesh>,
    /// Its place: mesh to world, metres.
    pub transform: Affine3A,
    /// Around all of it, in the world.
    pub bounds: Bounds,
}

impl ModelView {
    /// A mesh that stands here.
    #[must_use]
    pub fn new(mesh: Arc<Mesh>, transform: Affine3A) -> Self {
        let bounds = mesh.bounds.placed(&transform);
        Self { mesh, transform, bounds }
    }
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
    /// Whether anything casts a shadow.
    pub shadows: bool,
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
    /// How much light comes from all sides, 0 to 10; 1 is that of the colours themselves.
    pub strength: f32,
    /// Metres after which half of a thing has faded into the horizon, above 0.
    pub haze: f32,
}

impl Default for Sky {
    fn default() -> Self {
        palette::SKY
    }
}
