//! Models: which meshes are drawn, where, and in how few calls. Equal meshes become one batch; what
//! cannot be made out is left out. Used by the draw list; never touches the device.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use dh_view::{Mesh, ModelView, Scene};
use glam::Vec3;

use super::book::{Book, name};
use super::count;
use super::lens::{Lens, pixels};
use super::shadow::ShadowFrame;

/// A model of fewer pixels across is left out.
const PIXELS_MIN: f32 = 0.75;
/// Half-lives of haze after which nothing is left of a thing: less than a step of brightness.
const HAZE_MAX: f32 = 9.0;

/// One model as the GPU reads it: three rows of mesh to world.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ModelInstance {
    /// The rows; the last number of each is the move.
    pub rows: [[f32; 4]; 3],
}

/// All places of one mesh, one after the other in the list's instances.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What is drawn.
    pub mesh: Arc<Mesh>,
    /// Whether its places are mirrored, so that triangles wind the other way.
    pub mirrored: bool,
    /// The first of its instances.
    pub first: u32,
    /// How many, from the first, the camera sees.
    pub seen: u32,
    /// How many, from the first, the depth maps need.
    pub all: u32,
    /// Metres from the eye to the nearest that is seen.
    near: f32,
}

/// Everything of a scene's models that one picture submits.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// What is drawn, the nearest first.
    pub batches: Vec<Batch>,
    /// Where, in the order of the batches.
    pub instances: Vec<ModelInstance>,
    /// Triangles that are submitted to the camera.
    pub triangles: u64,
    /// Models whose mesh cannot be drawn.
    pub left_out: u32,
}

#[derive(Default)]
struct Sorted<'a> {
    seen: Vec<&'a ModelView>,
    hidden: Vec<&'a ModelView>,
    near: f32,
}

impl Models {
    /// The models of a scene as this lens and these depth maps need them.
    #[must_use]
    pub fn new(scene: &Scene, book: &Book, lens: &Lens, maps: [&ShadowFrame; 2]) -> Self {
        let mut found = Self::default();
        let mut sorted: BTreeMap<(usize, bool), Sorted<'_>> = BTreeMap::new();
        for model in &scene.models {
            if !book.is_sound(model) {
                found.left_out += 1;
                continue;
            }
            let seen = is_seen(lens, scene.sky.haze, model);
            let cast = maps.iter().any(|map| map.covers(&model.bounds));
            if !seen && !cast {
                continue;
            }
            let mirrored = model.transform.matrix3.determinant() < 0.0;
            let group = sorted.entry((name(&model.mesh), mirrored)).or_default();
            if seen {
                let far = lens.eye.distance(model.bounds.centre()) - model.bounds.half().length();
                group.near = if group.seen.is_empty() { far } else { group.near.min(far) };
                group.seen.push(model);
            } else {
                group.hidden.push(model);
            }
        }
        for ((_, mirrored), group) in sorted {
            found.add(mirrored, &group);
        }
        // What is near hides what is far before that is shaded.
        found.batches.sort_by(|a, b| a.near.total_cmp(&b.near));
        found
    }

    fn add(&mut self, mirrored: bool, group: &Sorted<'_>) {
        let all = || group.seen.iter().chain(&group.hidden);
        let Some(model) = all().next() else { return };
        let drawn: u64 = model.mesh.parts.iter().map(|part| u64::from(part.count / 3)).sum();
        self.triangles += drawn * group.seen.len() as u64;
        self.batches.push(Batch {
            mesh: Arc::clone(&model.mesh),
            mirrored,
            first: count(self.instances.len()),
            seen: count(group.seen.len()),
            all: count(all().count()),
            near: group.near,
        });
        self.instances.extend(all().map(|model| ModelInstance::new(model)));
    }
}

impl ModelInstance {
    fn new(model: &ModelView) -> Self {
        let (turn, at) = (model.transform.matrix3, Vec3::from(model.transform.translation));
        let row = |axis: usize| [turn.x_axis[axis], turn.y_axis[axis], turn.z_axis[axis], at[axis]];
        Self { rows: [row(0), row(1), row(2)] }
    }
}

fn is_seen(lens: &Lens, haze: f32, model: &ModelView) -> bool {
    let (centre, radius) = (model.bounds.centre(), model.bounds.half().length());
    let far = (lens.eye.distance(centre) - radius).max(0.0);
    let across = 2.0 * radius / far.max(1e-3) * pixels(lens.height) / (2.0 * lens.up.length());
    far < HAZE_MAX * haze.max(1.0) && across >= PIXELS_MIN && lens.sees_ball(centre, radius)
}
