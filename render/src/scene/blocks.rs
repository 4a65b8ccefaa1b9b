//! Blocks: where the triangles of a mesh lie, coarsely, so that a ray finds them and what they
//! cover is known before they are drawn.

use dh_view::{Bounds, Mesh, ModelView};
use glam::{Affine3A, Vec3, Vec4};

use super::budget::{Looks, SHARE_MIN, away, share, share_of};
use super::lens::Lens;

/// Neighbouring triangles that share one bound, and neighbouring bounds that share a wider one.
const GROUP: usize = 64;

/// Bounds of runs of triangles in two steps. Exporters put neighbours one after the other, which is
/// all the order that a few rays a picture need.
#[derive(Debug)]
pub(super) struct Blocks {
    fine: Vec<Block>,
    coarse: Vec<Block>,
    /// All of its triangles.
    whole: Block,
}

/// A run of triangles.
#[derive(Clone, Copy, Debug)]
struct Block {
    bounds: Bounds,
    /// Square metres, as the mesh was made.
    area: f32,
    count: f32,
}

impl Block {
    fn around(mesh: &Mesh, indices: &[u32]) -> Self {
        let area = |it: &[u32]| {
            let [a, b, c] = [it[0], it[1], it[2]].map(|index| corner(mesh, index));
            (b - a).cross(c - a).length() * 0.5
        };
        let runs = indices.chunks_exact(3);
        Self {
            bounds: Bounds::around(indices.iter().map(|index| corner(mesh, *index))),
            count: runs.clone().fold(0.0, |count, _| count + 1.0),
            area: runs.map(area).sum(),
        }
    }

    fn joined(run: &[Self]) -> Self {
        Self {
            bounds: Bounds::around(run.iter().flat_map(|it| [it.bounds.min, it.bounds.max])),
            count: run.iter().map(|it| it.count).sum(),
            area: run.iter().map(|it| it.area).sum(),
        }
    }
}

impl Blocks {
    pub(super) fn new(mesh: &Mesh) -> Self {
        let runs = mesh.indices.chunks(GROUP * 3);
        let fine: Vec<Block> = runs.map(|run| Block::around(mesh, run)).collect();
        let coarse: Vec<Block> = fine.chunks(GROUP).map(Block::joined).collect();
        let whole = Block::joined(&coarse);
        Self { fine, coarse, whole }
    }

    /// How many triangles it has.
    pub(super) const fn count(&self) -> f32 {
        self.whole.count
    }

    /// The mesh's area where it stands so, square metres.
    pub(super) fn area(&self, place: &Affine3A) -> f32 {
        self.whole.area * growth(place)
    }

    /// At most how often its triangles cover the sphere around the eye, at a glance.
    pub(super) fn layers_at_most(&self, model: &ModelView, eye: Vec3) -> f32 {
        share_of(self.whole.count, self.area(&model.transform), away(&model.bounds, eye))
    }

    /// The same as far as the lens sees them, looked at closely; no further than `most`.
    pub(super) fn layers(&self, model: &ModelView, lens: &Lens, most: f32) -> f32 {
        let near = Near { model, planes: lens.planes(), eye: lens.eye };
        let mut sum = 0.0;
        for (group, coarse) in self.coarse.iter().enumerate() {
            let share = near.share(coarse);
            if share < SHARE_MIN {
                sum += share;
                continue;
            }
            let first = group * GROUP;
            for run in first..(first + GROUP).min(self.fine.len()) {
                let share = near.share(&self.fine[run]);
                sum += if share < SHARE_MIN { share } else { near.triangles(run) };
                if sum > most {
                    return sum;
                }
            }
        }
        sum
    }

    /// Whether a triangle cuts the way from the one to the other, as far as looks go.
    pub(super) fn cut(&self, mesh: &Mesh, [from, to]: [Vec3; 2], looks: &Looks) -> bool {
        let near = |block: &Block| looks.at(1) && cuts(&block.bounds, from, to);
        let wide = self.coarse.iter().enumerate();
        wide.filter(|(_, block)| near(block)).any(|(group, _)| {
            let first = group * GROUP;
            let last = (first + GROUP).min(self.fine.len());
            (first..last).filter(|run| near(&self.fine[*run])).any(|run| {
                run_of(mesh, run).chunks_exact(3).any(|it| {
                    let triangle = [it[0], it[1], it[2]].map(|index| corner(mesh, index));
                    looks.at(1) && cuts_triangle(triangle, from, to)
                })
            })
        })
    }
}

/// The triangles of a fine block.
fn run_of(mesh: &Mesh, run: usize) -> &[u32] {
    &mesh.indices[run * GROUP * 3..((run + 1) * GROUP * 3).min(mesh.indices.len())]
}

/// A model as it is looked at.
struct Near<'a> {
    model: &'a ModelView,
    planes: [Vec4; 5],
    eye: Vec3,
}

impl Near<'_> {
    /// At most the part of the sphere around the eye that a run covers; none where it is not seen.
    fn share(&self, block: &Block) -> f32 {
        let bounds = block.bounds.placed(&self.model.transform);
        let (centre, half) = (bounds.centre(), bounds.half());
        let seen = self
            .planes
            .iter()
            .all(|plane| plane.dot(centre.extend(1.0)) >= -plane.truncate().abs().dot(half));
        if !seen {
            return 0.0;
        }
        let area = block.area * growth(&self.model.transform);
        share_of(block.count, area, away(&bounds, self.eye))
    }

    fn triangles(&self, run: usize) -> f32 {
        let (mesh, place) = (&self.model.mesh, &self.model.transform);
        let at = |index: u32| place.transform_point3(corner(mesh, index)) - self.eye;
        run_of(mesh, run).chunks_exact(3).map(|it| share([it[0], it[1], it[2]].map(at))).sum()
    }
}

/// At most how much larger areas become when they stand so.
fn growth(place: &Affine3A) -> f32 {
    let [x, y, z] = [place.matrix3.x_axis, place.matrix3.y_axis, place.matrix3.z_axis];
    let faces = [x.cross(y), y.cross(z), z.cross(x)];
    faces.iter().map(|face| face.length_squared()).sum::<f32>().sqrt()
}

fn corner(mesh: &Mesh, index: u32) -> Vec3 {
    usize::try_from(index)
        .ok()
        .and_then(|index| mesh.positions.get(index))
        .map_or(Vec3::ZERO, |at| Vec3::from_array(*at))
}

/// Whether a box cuts the way from `from` to `to`.
pub(super) fn cuts(bounds: &Bounds, from: Vec3, to: Vec3) -> bool {
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
