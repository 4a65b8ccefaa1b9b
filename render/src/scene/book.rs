//! Book: what is known of a scene's meshes before any is drawn: which add up, and where their
//! triangles lie, coarsely, so that a ray finds them. Owned by the studio, read by the draw list.

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_view::{Mesh, ModelView, Scene};
use glam::Vec3;

use super::blocks::{Blocks, cuts};
use super::budget::{Limits, Load, Looks};

/// Bytes of a corner on the device.
pub const CORNER_BYTES: u64 = 32;
/// Bytes of meshes that a scene may have on the device.
const MESH_BYTES_MAX: u64 = 1 << 30;
/// Parts that the meshes of a scene may have, each mesh counted once.
const PARTS_MAX: usize = 1 << 16;
/// The same of materials; and as many may be on boxes.
pub const MATERIALS_MAX: usize = 1 << 13;

/// The meshes of the scene that was read last.
#[derive(Debug, Default)]
pub struct Book {
    scene: Option<Arc<Scene>>,
    meshes: BTreeMap<usize, Entry>,
    /// The longest buffer that the device takes, bytes.
    buffer_max: u64,
    /// What one frame draws at most.
    pub(super) limits: Limits,
}

/// A mesh is named by its place in memory, where the book's scene holds it.
#[must_use]
pub fn name<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared).addr()
}

#[derive(Debug)]
enum Entry {
    Sound(Sound),
    /// It does not add up.
    Broken,
    /// The scene has more than fits.
    Over,
}

/// A mesh that can be drawn.
#[derive(Debug)]
pub struct Sound {
    /// What drawing it once takes, but for what it covers.
    pub load: Load,
    pub(super) blocks: Blocks,
}

impl Sound {
    fn new(mesh: &Mesh) -> Self {
        let drawn = mesh.parts.iter().filter(|part| part.count > 0);
        let load = Load { triangles: drawn_by(mesh), draws: drawn.count() as u64, layers: 0.0 };
        Self { load, blocks: Blocks::new(mesh) }
    }
}

/// What the meshes of a scene take so far.
#[derive(Debug, Default)]
struct Taken {
    bytes: u64,
    parts: usize,
    materials: usize,
}

impl Taken {
    /// Take this mesh in, if it fits.
    fn add(&mut self, mesh: &Mesh) -> bool {
        let bytes = self.bytes.saturating_add(bytes(mesh));
        let parts = self.parts.saturating_add(mesh.parts.len());
        let materials = self.materials.saturating_add(mesh.materials.len());
        let fits = bytes <= MESH_BYTES_MAX && parts <= PARTS_MAX && materials <= MATERIALS_MAX;
        if fits {
            *self = Self { bytes, parts, materials };
        }
        fits
    }
}

impl Book {
    /// An empty book for a device that takes buffers of so many bytes.
    #[must_use]
    pub fn new(buffer_max: u64, limits: Limits) -> Self {
        Self { buffer_max, limits, ..Self::default() }
    }

    /// Turn to this scene; the one before is forgotten, but for the meshes that both have.
    pub fn read(&mut self, scene: &Arc<Scene>) {
        if self.scene.as_ref().is_some_and(|it| Arc::ptr_eq(it, scene)) {
            return;
        }
        let mut before = std::mem::take(&mut self.meshes);
        let (mut taken, mut over) = (Taken::default(), 0_u32);
        for model in &scene.models {
            let key = name(&model.mesh);
            if self.meshes.contains_key(&key) {
                continue;
            }
            let known = match before.remove(&key) {
                Some(Entry::Sound(known)) => Ok(Some(known)),
                _ => fault(&model.mesh, self.buffer_max).map_or(Ok(None), Err),
            };
            let entry = match known {
                Err(fault) => {
                    tracing::warn!("a mesh is left out: {fault}");
                    Entry::Broken
                }
                Ok(_) if !taken.add(&model.mesh) => {
                    over += 1;
                    Entry::Over
                }
                Ok(known) => Entry::Sound(known.unwrap_or_else(|| Sound::new(&model.mesh))),
            };
            self.meshes.insert(key, entry);
        }
        if over > 0 {
            tracing::warn!(
                "{over} of {} meshes are left out: a scene may have {} MiB of meshes with \
                 {PARTS_MAX} parts and {MATERIALS_MAX} materials",
                self.meshes.len(),
                MESH_BYTES_MAX >> 20
            );
        }
        // Last, so that no mesh of the scene before gave its place to another meanwhile.
        self.scene = Some(Arc::clone(scene));
    }

    /// What is known of this model's mesh, if the model can be drawn.
    #[must_use]
    pub fn sound(&self, model: &ModelView) -> Option<&Sound> {
        let Entry::Sound(sound) = self.meshes.get(&name(&model.mesh))? else { return None };
        let finite = model.transform.is_finite()
            && model.bounds.min.is_finite()
            && model.bounds.max.is_finite();
        finite.then_some(sound)
    }

    /// Whether this model is left out because the scene has more than fits.
    #[must_use]
    pub fn is_over(&self, model: &ModelView) -> bool {
        matches!(self.meshes.get(&name(&model.mesh)), Some(Entry::Over))
    }

    /// Whether a triangle of this model cuts the way from `from` to `to`, as far as looks go.
    #[must_use]
    pub fn blocks(&self, model: &ModelView, from: Vec3, to: Vec3, looks: &Looks) -> bool {
        let Some(Entry::Sound(sound)) = self.meshes.get(&name(&model.mesh)) else { return false };
        if !cuts(&model.bounds, from, to) || model.transform.matrix3.determinant() == 0.0 {
            return false;
        }
        let into = model.transform.inverse();
        sound.blocks.cut(&model.mesh, [from, to].map(|at| into.transform_point3(at)), looks)
    }
}

/// Triangles that its parts draw.
fn drawn_by(mesh: &Mesh) -> u64 {
    mesh.parts.iter().map(|part| u64::from(part.count / 3)).sum()
}

/// Bytes of a mesh on the device.
fn bytes(mesh: &Mesh) -> u64 {
    mesh.positions.len() as u64 * CORNER_BYTES + mesh.indices.len() as u64 * 4
}

/// Why a mesh cannot be drawn.
fn fault(mesh: &Mesh, buffer_max: u64) -> Option<&'static str> {
    let corners = mesh.positions.len();
    let fits = |count: usize| count == 0 || count == corners;
    let inside = |index: &u32| usize::try_from(*index).is_ok_and(|index| index < corners);
    let runs = |first: u32, count: u32| {
        let end = u64::from(first) + u64::from(count);
        count.is_multiple_of(3) && end <= mesh.indices.len() as u64
    };
    let finite = |at: &[f32; 3]| at.iter().all(|it| it.is_finite());
    if corners == 0 || mesh.indices.is_empty() {
        Some("it has no triangle")
    } else if !(fits(mesh.normals.len()) && fits(mesh.uvs.len()) && fits(mesh.colours.len())) {
        Some("its corners have parts missing")
    } else if !mesh.parts.iter().all(|part| runs(part.first, part.count)) {
        Some("a part reaches past its indices")
    } else if drawn_by(mesh) > mesh.indices.len() as u64 / 3 {
        Some("its parts overlap")
    } else if !mesh.indices.iter().all(inside) {
        Some("an index reaches past its corners")
    } else if !mesh.positions.iter().all(finite) {
        Some("a corner is nowhere")
    } else if corners as u64 * CORNER_BYTES > buffer_max
        || mesh.indices.len() as u64 * 4 > buffer_max
    {
        Some("it is larger than this graphics adapter takes")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use glam::Affine3A;

    use super::*;
    use crate::gray_box::ball;

    fn scene_of(mesh: Mesh) -> Arc<Scene> {
        let model = ModelView::new(Arc::new(mesh), Affine3A::from_translation(Vec3::X * 5.0));
        Arc::new(Scene { models: vec![model], ..Scene::empty() })
    }

    #[test]
    fn a_ray_is_stopped_by_a_ball_exactly_where_it_meets_it() {
        let scene = scene_of(ball(60));
        let mut book = Book::new(1 << 30, Limits::CARD);
        book.read(&scene);
        let looks = Looks::new();
        let blocked = |y: f32, z: f32| {
            book.blocks(&scene.models[0], Vec3::new(0.0, y, z), Vec3::new(10.0, y, z), &looks)
        };
        for step in 0..100_u8 {
            let (y, z) = (f32::from(step % 10) * 0.13, f32::from(step / 10) * 0.13);
            let off = (y * y + z * z).sqrt();
            assert!((0.98..1.01).contains(&off) || blocked(y, z) == (off < 1.0), "{y} {z}");
        }
        let before = book.blocks(&scene.models[0], Vec3::ZERO, Vec3::X * 3.9, &looks);
        assert!(!before, "the way ends before the ball");
    }

    #[test]
    fn a_mesh_that_does_not_add_up_is_left_out() {
        let spoil: [fn(&mut Mesh); 9] = [
            |mesh| mesh.indices[4] = 1_000_000,
            |mesh| mesh.normals.truncate(3),
            |mesh| mesh.uvs.truncate(1),
            |mesh| mesh.colours = vec![[0; 4]],
            |mesh| mesh.parts[0].count += 3,
            |mesh| mesh.parts.push(mesh.parts[0]),
            |mesh| mesh.parts[0].first = u32::MAX,
            |mesh| mesh.positions[7][1] = f32::NAN,
            |mesh| mesh.indices.clear(),
        ];
        for spoil in spoil {
            let mut mesh = ball(8);
            spoil(&mut mesh);
            let scene = scene_of(mesh);
            let mut book = Book::new(1 << 30, Limits::CARD);
            book.read(&scene);
            assert!(book.sound(&scene.models[0]).is_none());
        }
        let scene = scene_of(ball(60));
        let mut small = Book::new(1_000, Limits::CARD);
        small.read(&scene);
        assert!(small.sound(&scene.models[0]).is_none(), "it does not fit the adapter");
    }
}
