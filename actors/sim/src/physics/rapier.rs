//! `RapierCasts`: the same casts by rapier's broad phase and parry's shape casts.
//!
//! The tests hold our own sweeps to these, and the bench measures one mover step with each. No pawn
//! of a running world moves by them.

use dh_cook::Cooked;
use glam::Vec3;
use rapier3d::math::Pose;
use rapier3d::parry::bounding_volume::Aabb;
use rapier3d::parry::query::{self, DefaultQueryDispatcher, ShapeCastOptions};
use rapier3d::parry::shape;
use rapier3d::prelude::{
    BroadPhaseBvh, ColliderBuilder, ColliderSet, IntegrationParameters, QueryFilter, RigidBodySet,
};

use super::solid::{length, surface_of};
use super::{BodyId, Capsule, Casts, Hit, Overlap, Solid, Solids};

/// A motion that closes a gap by less than this part of its length runs along the surface.
const ALONG: f32 = 1e-4;

/// The colliders of [`Solids`] in rapier's own tree, the triangles in parry's.
pub struct RapierScene {
    solids: Solids,
    triangles: Option<shape::TriMesh>,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad_phase: BroadPhaseBvh,
}

impl RapierScene {
    /// A scene with one collider for each box, and one mesh of all triangles.
    ///
    /// # Panics
    /// If parry takes what was cooked for no mesh.
    #[must_use]
    pub fn new(solids: &Solids) -> Self {
        let mut colliders = ColliderSet::new();
        let mut broad_phase = BroadPhaseBvh::new();
        let parameters = IntegrationParameters::default();
        for (number, solid) in solids.all().iter().enumerate() {
            let collider = ColliderBuilder::cuboid(solid.half.x, solid.half.y, solid.half.z)
                .position(Pose::from_parts(solid.centre, solid.rotation))
                .user_data(number as u128)
                .build();
            let around = collider.compute_aabb();
            let handle = colliders.insert(collider);
            broad_phase.set_aabb(&parameters, handle, around);
        }
        let (solids, bodies) = (solids.clone(), RigidBodySet::new());
        let mesh = |cooked: &Cooked| {
            let (vertices, triangles) = (cooked.vertices().to_vec(), cooked.triangles().to_vec());
            shape::TriMesh::new(vertices, triangles).expect("a cook's indices are sound")
        };
        let filled = solids.triangles().filter(|cooked| !cooked.triangles().is_empty());
        let triangles = filled.map(mesh);
        Self { solids, triangles, bodies, colliders, broad_phase }
    }

    /// Hands over the number of each solid that may meet the space between two corners.
    fn near(&self, low: Vec3, high: Vec3, mut found: impl FnMut(&Solid)) {
        let dispatcher = DefaultQueryDispatcher;
        let filter = QueryFilter::default();
        let pipeline =
            self.broad_phase.as_query_pipeline(&dispatcher, &self.bodies, &self.colliders, filter);
        for (_, collider) in pipeline.intersect_aabb_conservative(Aabb::new(low, high)) {
            let number = usize::try_from(collider.user_data).unwrap_or(usize::MAX);
            if let Some(solid) = self.solids.all().get(number) {
                found(solid);
            }
        }
    }

    /// Hands over each triangle that may meet the space between two corners, with its body.
    fn triangles_near(
        &self,
        low: Vec3,
        high: Vec3,
        mut found: impl FnMut(BodyId, shape::Triangle),
    ) {
        let (Some(mesh), Some(cooked)) = (&self.triangles, self.solids.triangles()) else { return };
        for number in mesh.bvh().intersect_aabb(&Aabb::new(low, high)) {
            found(BodyId::of_map(cooked.object(number) as usize), mesh.triangle(number));
        }
    }
}

impl std::fmt::Debug for RapierScene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RapierScene").field("solids", &self.solids).finish_non_exhaustive()
    }
}

/// Casts among a [`RapierScene`].
#[derive(Debug)]
pub struct RapierCasts<'a> {
    scene: &'a RapierScene,
    near: Vec<Solid>,
    triangles: Vec<(BodyId, shape::Triangle)>,
}

impl<'a> RapierCasts<'a> {
    /// Casts among `scene`.
    #[must_use]
    pub const fn new(scene: &'a RapierScene) -> Self {
        Self { scene, near: Vec::new(), triangles: Vec::new() }
    }
}

impl Casts for RapierCasts<'_> {
    fn gather(&mut self, low: Vec3, high: Vec3) {
        self.near.clear();
        let near = &mut self.near;
        self.scene.near(low, high, |solid| near.push(*solid));
        near.sort_unstable_by_key(|solid| solid.id);
        self.triangles.clear();
        let triangles = &mut self.triangles;
        self.scene.triangles_near(low, high, |body, shape| triangles.push((body, shape)));
    }

    fn fastest(&self) -> f32 {
        self.scene.solids.fastest()
    }

    fn sweep(&self, capsule: &Capsule, motion: Vec3, skip: BodyId) -> Option<Hit> {
        let far = length(motion);
        if far <= 0.0 {
            return None;
        }
        let (from, moving) = (Pose::from_translation(capsule.centre), shape_of(capsule));
        let mut options = ShapeCastOptions::with_max_time_of_impact(1.0);
        options.stop_at_penetration = false;
        let mut first: Option<Hit> = None;
        let cast = |at: &Pose, shape: &dyn shape::Shape| {
            query::cast_shapes(at, Vec3::ZERO, shape, &from, motion, &moving, options)
        };
        let mut meet = |hit: Hit| {
            let meets = hit.normal.dot(motion) < -ALONG * far;
            if meets && first.is_none_or(|first| hit.time < first.time) {
                first = Some(hit);
            }
        };
        for solid in self.near.iter().filter(|solid| solid.id != skip) {
            let Ok(Some(cast)) = cast(&pose_of(solid), &cuboid_of(solid)) else { continue };
            let surface = surface_of(&solid.axes(), solid.half, cast.witness1);
            let (time, normal) = (cast.time_of_impact, solid.rotation * cast.normal1);
            meet(Hit { time, normal, surface, body: solid.id });
        }
        for (body, triangle) in self.triangles.iter().filter(|(body, _)| *body != skip) {
            let Ok(Some(cast)) = cast(&Pose::IDENTITY, triangle) else { continue };
            let (time, normal) = (cast.time_of_impact, cast.normal1);
            let face = triangle.normal().unwrap_or(normal);
            let surface = if face.dot(normal) < 0.0 { -face } else { face };
            meet(Hit { time, normal, surface, body: *body });
        }
        first
    }

    fn deepest(&self, capsule: &Capsule) -> Option<Overlap> {
        let (from, moving) = (Pose::from_translation(capsule.centre), shape_of(capsule));
        let contact = |at: &Pose, shape: &dyn shape::Shape, body| {
            let contact = query::contact(at, shape, &from, &moving, 0.0).ok()??;
            Some(Overlap { normal: contact.normal1, depth: -contact.dist, body })
        };
        let boxes = self.near.iter();
        let boxes = boxes.filter_map(|solid| contact(&pose_of(solid), &cuboid_of(solid), solid.id));
        let triangles = self.triangles.iter();
        let triangles =
            triangles.filter_map(|(body, triangle)| contact(&Pose::IDENTITY, triangle, *body));
        let mut deepest: Option<Overlap> = None;
        for found in boxes.chain(triangles) {
            if found.depth > 0.0 && deepest.is_none_or(|deepest| found.depth > deepest.depth) {
                deepest = Some(found);
            }
        }
        deepest
    }

    fn point_velocity(&self, body: BodyId, point: Vec3) -> Vec3 {
        self.scene.solids.get(body).map_or(Vec3::ZERO, |solid| solid.point_velocity(point))
    }

    fn carry(&mut self, body: BodyId, by: Vec3) {
        for solid in self.near.iter_mut().filter(|solid| solid.id == body) {
            solid.centre += by;
        }
    }
}

fn shape_of(capsule: &Capsule) -> shape::Capsule {
    shape::Capsule::new_y(capsule.straight, capsule.radius)
}

fn cuboid_of(solid: &Solid) -> shape::Cuboid {
    shape::Cuboid::new(solid.half)
}

fn pose_of(solid: &Solid) -> Pose {
    Pose::from_parts(solid.centre, solid.rotation)
}
