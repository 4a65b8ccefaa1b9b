//! The components an object of a map can have: what each field is, its range, its plain value.
//!
//! Used by maps. What they mean: a box is seen and solid; a model is seen and, unless a collider
//! says otherwise, solid as it is seen; spawns, suns and cameras take place and direction from
//! their object's transform and look along its -z.

use crate::record::{Field, Record, Walk};
use crate::reference::Reference;
use crate::value::{Color, Id};

/// The longest edge of a box, in metres.
pub const SIZE_MAX: f64 = 10_000.0;
/// The shortest edge of a box, in metres.
pub const SIZE_MIN: f64 = 0.001;

/// What an object is; each kind at most once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Components {
    /// `dh.box`.
    pub solid: Option<Box>,
    /// `dh.model`.
    pub model: Option<Model>,
    /// `dh.collider`.
    pub collider: Option<Collider>,
    /// `dh.spawn`.
    pub spawn: Option<Spawn>,
    /// `dh.sun`.
    pub sun: Option<Sun>,
    /// `dh.sky`.
    pub sky: Option<Sky>,
    /// `dh.camera`.
    pub camera: Option<Camera>,
}

impl Record for Components {
    const ABOUT: &'static str = "What the object is";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        walk.optional(Field::new("dh.box", "a box, seen and solid"), &mut self.solid);
        walk.optional(Field::new("dh.model", "a model file, placed here"), &mut self.model);
        walk.optional(Field::new("dh.collider", "what is solid here"), &mut self.collider);
        walk.optional(Field::new("dh.spawn", "where players arrive"), &mut self.spawn);
        walk.optional(Field::new("dh.sun", "light from far away, along -z"), &mut self.sun);
        walk.optional(Field::new("dh.sky", "the sky and its light"), &mut self.sky);
        walk.optional(Field::new("dh.camera", "a view for pictures, along -z"), &mut self.camera);
    }
}

/// A box around the object's position.
#[derive(Debug, Clone, PartialEq)]
pub struct Box {
    /// Full edges along x, y and z, in metres.
    pub size: [f32; 3],
    /// Name of a material of the map.
    pub material: Option<Id>,
    /// Takes the place of the material's colour.
    pub color: Option<Color>,
}

impl Default for Box {
    fn default() -> Self {
        Self { size: [1.0; 3], material: None, color: None }
    }
}

impl Record for Box {
    const ABOUT: &'static str = "A box around the object's position, seen and solid";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let size = Field::new("size", "full edges [x, y, z] in metres").within(SIZE_MIN, SIZE_MAX);
        walk.field(size, &mut self.size, Self::default().size);
        walk.optional(Field::new("material", "a name under \"materials\""), &mut self.material);
        let color = Field::new("color", "\"#rrggbb\", instead of the material's colour");
        walk.optional(color, &mut self.color);
    }
}

/// A model placed as the object is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// The model: a glTF file in sources, a dh-mesh entry in pallets.
    pub model: Reference,
}

impl Record for Model {
    const ABOUT: &'static str = "A model placed as the object is";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let model = Field::new("model", "a .gltf or .glb file, such as \"assets/tree.glb\"");
        walk.needed(model, &mut self.model);
    }
}

/// What of an object is solid.
#[derive(Debug, Clone, PartialEq)]
pub struct Collider {
    /// The kind of solid.
    pub shape: Collision,
    /// Edges of the solid where it is a box of its own, in metres.
    pub size: [f32; 3],
}

impl Default for Collider {
    fn default() -> Self {
        Self { shape: Collision::Mesh, size: [1.0; 3] }
    }
}

impl Record for Collider {
    const ABOUT: &'static str = "What of the object is solid; without it, what is seen is solid";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let plain = Self::default();
        let shape = Field::new("shape", "mesh: as seen; none: nothing; box: a box of its own");
        walk.field(shape, &mut self.shape, plain.shape);
        let size = Field::new("size", "edges of the box of its own, in metres");
        walk.field(size.within(SIZE_MIN, SIZE_MAX), &mut self.size, plain.size);
    }
}

crate::choice! {
    /// What of an object is solid.
    pub enum Collision {
        /// What is seen.
        Mesh = "mesh",
        /// Nothing.
        None = "none",
        /// An unseen box of the collider's size.
        Box = "box",
    }
}

/// A place where players arrive, looking along -z.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spawn {
    /// Players arrive within this distance of it, in metres.
    pub radius: f32,
}

impl Record for Spawn {
    const ABOUT: &'static str = "Players arrive with their feet here, looking along -z";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let radius = Field::new("radius", "players arrive within so many metres");
        walk.field(radius.within(0.0, 100.0), &mut self.radius, Self::default().radius);
    }
}

/// Light from far away, along -z.
#[derive(Debug, Clone, PartialEq)]
pub struct Sun {
    /// Its colour.
    pub color: Color,
    /// Its strength; 1 lights a white surface fully.
    pub intensity: f32,
    /// Whether it casts shadows.
    pub shadows: bool,
}

impl Default for Sun {
    fn default() -> Self {
        Self { color: Color::hex(0xff_f4_e0), intensity: 1.0, shadows: true }
    }
}

impl Record for Sun {
    const ABOUT: &'static str = "Light from far away, shining along -z";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let plain = Self::default();
        walk.field(Field::new("color", "colour of the light"), &mut self.color, plain.color);
        let intensity = Field::new("intensity", "1 lights a white surface fully");
        walk.field(intensity.within(0.0, 100.0), &mut self.intensity, plain.intensity);
        let shadows = Field::new("shadows", "whether it casts shadows");
        walk.field(shadows, &mut self.shadows, plain.shadows);
    }
}

/// The sky: three colours, and the light that comes from everywhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Sky {
    /// Straight up.
    pub zenith: Color,
    /// At eye level; also the colour of haze.
    pub horizon: Color,
    /// Straight down.
    pub ground: Color,
    /// Strength of the light from everywhere.
    pub intensity: f32,
    /// Distance at which haze hides half of what is there, in metres; none for clear air.
    pub haze: Option<f32>,
}

impl Default for Sky {
    fn default() -> Self {
        let (zenith, horizon) = (Color::hex(0x4a_80_c0), Color::hex(0xc8_dc_f0));
        Self { zenith, horizon, ground: Color::hex(0x60_5c_54), intensity: 0.5, haze: None }
    }
}

impl Record for Sky {
    const ABOUT: &'static str = "The sky's colours and the light from everywhere";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let plain = Self::default();
        walk.field(Field::new("zenith", "colour straight up"), &mut self.zenith, plain.zenith);
        let horizon = Field::new("horizon", "colour at eye level, and of haze");
        walk.field(horizon, &mut self.horizon, plain.horizon);
        walk.field(Field::new("ground", "colour straight down"), &mut self.ground, plain.ground);
        let intensity = Field::new("intensity", "strength of the light from everywhere");
        walk.field(intensity.within(0.0, 100.0), &mut self.intensity, plain.intensity);
        let haze = Field::new("haze", "metres at which haze hides half; without it, clear air");
        walk.optional(haze.within(1.0, 100_000.0), &mut self.haze);
    }
}

/// A view from the object along -z; the first of a map is the one of its picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Vertical angle of view, in degrees.
    pub fov: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Self { fov: 60.0 }
    }
}

impl Record for Camera {
    const ABOUT: &'static str = "A view along -z; the first of a map is the one of its picture";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let fov = Field::new("fov", "vertical angle of view, in degrees").within(10.0, 150.0);
        walk.field(fov, &mut self.fov, Self::default().fov);
    }
}
