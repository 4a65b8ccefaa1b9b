//! Book: what is known of a scene's meshes before any is drawn: which add up, and where their
//! triangles lie, coarsely, so that a ray finds them. Owned by the studio, read by the draw list.

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_view::{Bounds, Mesh, ModelView, Scene};
use glam::Vec3;

/// Neighbouring triangles that share one bound, and neighbouring bounds that share a wider one.
const GROUP: usize = 64;
/// Bytes of a corner on the device.
pub const CORNER_BYTES: u64 = 32;

/// The meshes of the scene that was read last.
#[derive(Debug, Default)]
pub struct Book {
    scene: Option<Arc<Scene>>,
    meshes: BTreeMap<usize, Entry>,
    /// The longest buffer that the device takes, bytes.
    buffer_max: u64,
}

/// A mesh is named by its place in memory, where the book's scene holds it.
#[must_use]
pub fn name<T>(shared: &Arc<T>) -> usize {
    Arc::as_ptr(shared).addr()
}

#[derive(Debug)]
enum Entry {
    Sound(Blocks),
    LeftOut,
}

impl Book {
    /// An empty book for a device that takes buffers of so many bytes.
    #[must_use]
    pub fn new(buffer_max: u64) -> Self {
        Self { buffer_max, ..Self::default() }
    }

    /// Turn to this scene; the one before is forgotten, but for the meshes that both have.
    pub fn read(&mut self, scene: &Arc<Scene>) {
        if self.scene.as_ref().is_some_and(|it| Arc::ptr_eq(it, scene)) {
            return;
        }
        let mut before = std::mem::take(&mut self.meshes);
        for model in &scene.models {
            let key = name(&model.mesh);
            let (known, meshes) = (before.remove(&key), &mut self.meshes);
            meshes.entry(key).or_insert_with(|| {
                known.unwrap_or_else(|| match fault(&model.mesh, self.buffer_max) {
                    None => Entry::Sound(Blocks::new(&model.mesh)),
                    Some(fault) => {
                        tracing::warn!("a mesh is left out: {fault}");
                        Entry::LeftOut
                    }
                })
            });
        }
        // Last, so that no mesh of the scene before gave its place to another meanwhile.
        self.scene = Some(Arc::clone(scene));
    }

    /// Whether this model can be drawn.
    #[must_use]
    pub fn is_sound(&self, model: &ModelView) -> bool {
        matches!(self.meshes.get(&name(&model.mesh)), Some(Entry::Sound(_)))
            && model.transform.is_finite()
            && model.bounds.min.is_finite()
            && model.bounds.max.is_finite()
    }

    /// Whether a triangle of this model cuts the way from `from` to `to`.
    #[must_use]
    pub fn blocks(&self, model: &ModelView, from: Vec3, to: Vec3) -> bool {
        let Some(Entry::Sound(blocks)) = self.meshes.get(&name(&model.mesh)) else { return false };
        if !cuts(&model.bounds, from, to) || model.transform.matrix3.determinant() == 0.0 {
            return false;
        }
        let into = model.transform.inverse();
        blocks.cut(&model.mesh, into.transform_point3(from), into.transform_point3(to))
    }
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

/// Bounds of runs of triangles in two steps. Exporters put neighbours one after the other, which is
/// all the order that a few rays a picture need.
#[derive(Debug)]
struct Blocks {
    fine: Vec<Bounds>,
    coarse: Vec<Bounds>,
}

impl Blocks {
    fn new(mesh: &Mesh) -> Self {
        let fine: Vec<Bounds> = mesh
            .indices
            .chunks(GROUP * 3)
            .map(|run| Bounds::around(run.iter().map(|index| corner(mesh, *index))))
            .collect();
        let joined = |run: &[Bounds]| Bounds::around(run.iter().flat_map(|it| [it.min, it.max]));
        let coarse = fine.chunks(GROUP).map(joined).collect();
        Self { fine, coarse }
    }

    fn cut(&self, mesh: &Mesh, from: Vec3, to: Vec3) -> bool {
        let near = |bounds: &&(usize, &Bounds)| cuts(bounds.1, from, to);
        let wide: Vec<(usize, &Bounds)> = self.coarse.iter().enumerate().collect();
        wide.iter().filter(near).any(|(group, _)| {
            let first = group * GROUP;
            let last = (first + GROUP).min(self.fine.len());
            (first..last).filter(|run| cuts(&self.fine[*run], from, to)).any(|run| {
                let end = ((run + 1) * GROUP * 3).min(mesh.indices.len());
                mesh.indices[run * GROUP * 3..end].chunks_exact(3).any(|it| {
                    let triangle = [it[0], it[1], it[2]].map(|index| corner(mesh, index));
                    cuts_triangle(triangle, from, to)
                })
            })
        })
    }
}

fn corner(mesh: &Mesh, index: u32) -> Vec3 {
    usize::try_from(index)
        .ok()
        .and_then(|index| mesh.positions.get(index))
        .map_or(Vec3::ZERO, |at| Vec3::from_array(*at))
}

/// Whether a box cuts the way from `from` to `to`.
fn cuts(bounds: &Bounds, from: Vec3, to: Vec3) -> bool {
    let inverse = (to - from).recip();
    let (a, b) = ((bounds.min - from) * inverse, (bounds.max - from) * inverse);
    // A way along a face makes one of them not a number; `min` and `max` then keep the other.
    let enter = a.min(b).max_element().max(0.0);
    let leave = a.max(b).min_element().min(1.0);
    enter <= leave
}

/// Moeller and Trumbore, seen from both sides.
fn cuts_triangle([a, b, c]: [Vec3; 3], from: Vec3, to: Vec3) -> bool {
    let (way, ab, ac) = (to - from, b - a, c - a);
    let across = way.cross(ac);
    let volume = ab.dot(across);
    if volume == 0.0 {
        return false;
    }
    let start = from - a;
    let u = start.dot(across) / volume;
    let turned = start.cross(ab);
    let (v, at) = (way.dot(turned) / volume, ac.dot(turned) / volume);
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && at > 0.0 && at < 1.0
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
        let mut book = Book::new(1 << 30);
        book.read(&scene);
        let blocked = |y: f32, z: f32| {
            book.blocks(&scene.models[0], Vec3::new(0.0, y, z), Vec3::new(10.0, y, z))
        };
        for step in 0..100_u8 {
            let (y, z) = (f32::from(step % 10) * 0.13, f32::from(step / 10) * 0.13);
            let off = (y * y + z * z).sqrt();
            assert!((0.98..1.01).contains(&off) || blocked(y, z) == (off < 1.0), "{y} {z}");
        }
        let before = book.blocks(&scene.models[0], Vec3::ZERO, Vec3::X * 3.9);
        assert!(!before, "the way ends before the ball");
    }

    #[test]
    fn a_mesh_that_does_not_add_up_is_left_out() {
        let spoil: [fn(&mut Mesh); 8] = [
            |mesh| mesh.indices[4] = 1_000_000,
            |mesh| mesh.normals.truncate(3),
            |mesh| mesh.uvs.truncate(1),
            |mesh| mesh.colours = vec![[0; 4]],
            |mesh| mesh.parts[0].count += 3,
            |mesh| mesh.parts[0].first = u32::MAX,
            |mesh| mesh.positions[7][1] = f32::NAN,
            |mesh| mesh.indices.clear(),
        ];
        for spoil in spoil {
            let mut mesh = ball(8);
            spoil(&mut mesh);
            let scene = scene_of(mesh);
            let mut book = Book::new(1 << 30);
            book.read(&scene);
            assert!(!book.is_sound(&scene.models[0]));
        }
        let scene = scene_of(ball(60));
        let mut small = Book::new(1_000);
        small.read(&scene);
        assert!(!small.is_sound(&scene.models[0]), "it does not fit the adapter");
    }
}
