//! A map: materials by name and a list of objects, as authored and as it lies in a pallet.
//!
//! Used by the compiler, which reads drafts and rewrites what they refer to, and by whoever opens a
//! pallet. A `Map` that was parsed keeps every rule of `rules`.

use crate::components::{Box, Components};
use crate::jsonc::{Node, Report, Value};
use crate::problem::Problem;
use crate::record::{self, Field, Record, Walk};
use crate::reference::Reference;
use crate::rules;
use crate::schema;
use crate::value::{Color, Id};
use crate::world::{World, worlds};
use std::collections::BTreeMap;

/// A map may hold so many objects.
pub const OBJECTS_MAX: usize = 65_536;
/// The farthest an object may lie from its parent, in metres.
pub const REACH_MAX: f64 = 100_000.0;
/// The smallest and the greatest scale of an object.
pub const SCALE: (f64, f64) = (0.001, 1000.0);
/// The colour of a surface that says nothing of itself.
const BARE: Color = Color::hex(0xb0_b0_b0);
/// A tint that changes nothing.
const WHITE: Color = Color::hex(0xff_ff_ff);

/// A map whose rules have been checked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Map {
    /// Surfaces that boxes name.
    pub materials: BTreeMap<Id, Material>,
    /// What stands in it.
    pub objects: Vec<Object>,
    schema: Option<String>,
}

impl Record for Map {
    const ABOUT: &'static str = "A map: materials by name, and what stands in it";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        walk.optional(Field::new("$schema", "for editors; left out of pallets"), &mut self.schema);
        let materials = Field::new("materials", "surfaces by name, for boxes");
        walk.field(materials, &mut self.materials, BTreeMap::new());
        let objects = Field::new("objects", "what stands in the map").items(OBJECTS_MAX);
        walk.needed(objects, &mut self.objects);
    }
}

impl Map {
    /// Reads a map; all mistakes of the file, if there are any.
    pub fn parse(text: &str, file: &str) -> Result<Self, Vec<Problem>> {
        Draft::read(text, file).finish()
    }

    /// Canonical text: strict JSON in one line, which parses back to the same map.
    pub fn text(&self) -> String {
        record::text_of(&Self { schema: None, ..self.clone() })
    }

    /// The JSON Schema of map files.
    pub fn schema() -> String {
        schema::document::<Self>("Driftholm map")
    }

    /// Where every object stands in the world, by index.
    pub fn worlds(&self) -> Vec<World> {
        worlds(self)
    }

    /// The surface of a box: its named material, with the colour it says itself.
    pub fn material_of(&self, solid: &Box) -> Material {
        let named = solid.material.as_ref().and_then(|name| self.materials.get(name));
        let material = named.cloned().unwrap_or_default();
        Material { color: solid.color.unwrap_or(material.color), ..material }
    }

    /// Everything the map refers to, to be rewritten.
    pub fn references_mut(&mut self) -> impl Iterator<Item = (Named, &mut Reference)> {
        let textures = self.materials.values_mut().filter_map(|material| material.texture.as_mut());
        let models = self.objects.iter_mut().filter_map(|object| object.components.model.as_mut());
        let models = models.map(|model| (Named::Model, &mut model.model));
        textures.map(|texture| (Named::Texture, texture)).chain(models)
    }
}

/// What kind of content a reference must name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// A model.
    Model,
    /// A picture.
    Texture,
}

/// The surface of a box.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Colour, or tint of the texture; where none is said it is white with a texture.
    pub color: Color,
    /// A picture laid over each face.
    pub texture: Option<Reference>,
    /// Edge of one repetition of the texture, in metres.
    pub tile: f32,
    /// 0 is a mirror, 1 is chalk.
    pub roughness: f32,
    /// 0 is not metal, 1 is.
    pub metallic: f32,
    /// Colour of its own light.
    pub emissive: Color,
    /// Strength of its own light.
    pub glow: f32,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            color: BARE,
            texture: None,
            tile: 1.0,
            roughness: 0.9,
            metallic: 0.0,
            emissive: Color::hex(0),
            glow: 1.0,
        }
    }
}

impl Record for Material {
    const ABOUT: &'static str = "The surface of a box";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let plain = Self::default();
        let texture = Field::new("texture", "a PNG or JPEG, such as \"assets/tiles.png\"");
        walk.optional(texture, &mut self.texture);
        // A picture is seen as it is, unless it is tinted.
        let plain_color = if self.texture.is_some() { WHITE } else { plain.color };
        let color = "colour, or tint of the texture; with a texture #ffffff if not given";
        walk.field(Field::new("color", color), &mut self.color, plain_color);
        let tile = Field::new("tile", "metres that one repetition of the texture covers");
        walk.field(tile.within(0.01, 1000.0), &mut self.tile, plain.tile);
        let roughness = Field::new("roughness", "0 is a mirror, 1 is chalk").within(0.0, 1.0);
        walk.field(roughness, &mut self.roughness, plain.roughness);
        let metallic = Field::new("metallic", "0 is not metal, 1 is").within(0.0, 1.0);
        walk.field(metallic, &mut self.metallic, plain.metallic);
        walk.field(
            Field::new("emissive", "colour of its own light"),
            &mut self.emissive,
            plain.emissive,
        );
        let glow = Field::new("glow", "strength of its own light").within(0.0, 100.0);
        walk.field(glow, &mut self.glow, plain.glow);
    }
}

/// One thing of a map.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    /// Its id, unique in the map.
    pub id: Id,
    /// What people call it.
    pub name: Option<String>,
    /// The object whose transform it rides on.
    pub parent: Option<Id>,
    /// Where it stands on its parent.
    pub transform: Transform,
    /// What it is.
    pub components: Components,
}

impl Record for Object {
    const ABOUT: &'static str = "One thing of the map";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        walk.needed(Field::new("id", "its id, unique in the map"), &mut self.id);
        walk.optional(Field::new("name", "what people call it"), &mut self.name);
        walk.optional(Field::new("parent", "id of the object it rides on"), &mut self.parent);
        let transform = Field::new("transform", "where it stands on its parent");
        walk.field(transform, &mut self.transform, Transform::default());
        let components = Field::new("components", "what it is");
        walk.field(components, &mut self.components, Components::default());
    }
}

/// A place: first scaled, then turned, then moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    /// Metres along x, y and z.
    pub position: [f32; 3],
    /// Degrees: pitch about x, yaw about y, roll about z. Roll turns first, then pitch, then yaw.
    pub rotation: [f32; 3],
    /// Factors along x, y and z.
    pub scale: [f32; 3],
}

impl Default for Transform {
    fn default() -> Self {
        Self { position: [0.0; 3], rotation: [0.0; 3], scale: [1.0; 3] }
    }
}

impl Record for Transform {
    const ABOUT: &'static str = "A place: scaled, then turned, then moved";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let plain = Self::default();
        let position = Field::new("position", "[x, y, z] in metres").within(-REACH_MAX, REACH_MAX);
        walk.field(position, &mut self.position, plain.position);
        let rotation = Field::new("rotation", "[pitch, yaw, roll] in degrees; roll turns first");
        walk.field(rotation.within(-36_000.0, 36_000.0), &mut self.rotation, plain.rotation);
        let scale = Field::new("scale", "factors [x, y, z], or one for all three");
        walk.field(scale.within(SCALE.0, SCALE.1).one_for_all(), &mut self.scale, plain.scale);
    }
}

/// A map being read, with its places, so that mistakes can still be told.
#[derive(Debug)]
pub struct Draft<'a> {
    /// What could be read.
    pub map: Map,
    /// The mistakes so far.
    pub report: Report<'a>,
    pub(crate) root: Option<Node<'a>>,
}

impl<'a> Draft<'a> {
    /// Reads a text as far as possible and checks every rule that lies within the file.
    pub fn read(text: &'a str, file: &'a str) -> Self {
        let mut report = Report::new(file, text);
        let root = report.parse();
        let map = root.as_ref().and_then(|root| record::read(root, &mut report));
        let mut draft = Self { map: map.unwrap_or_default(), report, root };
        rules::check(&mut draft);
        draft
    }

    /// Everything the map refers to, with the place where it does.
    pub fn references(&self) -> Vec<(Named, Reference, usize)> {
        let Some(root) = &self.root else { return Vec::new() };
        let mut found = Vec::new();
        let mut put = |kind, node: Option<&Node<'_>>| {
            let Some(Node { at, value: Value::Text(text) }) = node else { return };
            found.extend(Reference::new(text).ok().map(|reference| (kind, reference, *at)));
        };
        if let Some(Value::Record(materials)) = root.get("materials").map(|node| &node.value) {
            materials.iter().for_each(|each| put(Named::Texture, each.node.get("texture")));
        }
        if let Some(Value::List(objects)) = root.get("objects").map(|node| &node.value) {
            for object in objects {
                let model = object.get("components").and_then(|node| node.get("dh.model"));
                put(Named::Model, model.and_then(|node| node.get("model")));
            }
        }
        found
    }

    /// The map, or all mistakes.
    pub fn finish(self) -> Result<Map, Vec<Problem>> {
        if self.report.is_clean() { Ok(self.map) } else { Err(self.report.into_problems()) }
    }
}

#[cfg(test)]
mod tests;
