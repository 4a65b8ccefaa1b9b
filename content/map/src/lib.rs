//! What a place is made of, as data: maps, meshes, pictures, and the grammar of authored files.
//!
//! Used by the compiler, which reads what people write, and by servers and clients, which read
//! what arrived in a pallet. Every byte is treated as hostile: nothing panics, nothing is allocated
//! before its count is checked, and every limit has a name. Never opens a file.
//!
//! Units are metres and, in files, degrees. Axes are glTF's: right-handed, +y up, -z forward.

mod choice;
pub mod components;
pub mod image;
pub mod jsonc;
pub mod map;
pub mod mesh;
mod mesh_read;
mod mesh_write;
pub mod problem;
pub mod record;
pub mod reference;
mod rules;
pub mod schema;
pub mod value;
pub mod world;

pub use components::{Box, Camera, Collider, Collision, Components, Model, Sky, Spawn, Sun};
pub use image::{Image, ImageError, ImageFormat, Probed};
pub use map::{Draft, Map, Material, Named, Object, Transform};
pub use mesh::{AlphaMode, Mesh, MeshError, Part, Surface};
pub use problem::Problem;
pub use reference::Reference;
pub use value::Color;
pub use world::World;
