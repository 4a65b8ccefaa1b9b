//! `RapierCasts`: the same casts by rapier's broad phase and parry's shape casts.
//!
//! The tests hold our own sweeps to these, and the bench measures one mover step with each. No pawn
//! of a running world moves by them.

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

/// The colliders of [`Solids`] in rapier's own tree.
pub struct RapierScene {
    solids: Solids,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad_phase: BroadPhaseBvh,
}

impl RapierScene {
    /// A scene with one collider for each solid.
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
        Self { solids: solids.clone(), bodies: RigidBodySet::new(), colliders, broad_phase }
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
}

impl<'a> RapierCasts<'a> {
    /// Casts among `scene`.
    #[must_use]
    pub const fn new(scene: &'a RapierScene) -> Self {
        Self { scene, near: Vec::new() }
    }
}

impl Casts for RapierCasts<'_> {
    fn gather(&mut self, low: Vec3, high: Vec3) {
        self.near.clear();
        let near = &mut self.near;
        self.scene.near(low, high, |solid| near.push(*solid));
        near.sort_unstable_by_key(|solid| solid.id);
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
        for solid in self.near.iter().filter(|solid| solid.id != skip) {
            let (at, cuboid) = (pose_of(solid), cuboid_of(solid));
            let cast =
                query::cast_shapes(&at, Vec3::ZERO, &cuboid, &from, motion, &moving, options);
            let Ok(Some(cast)) = cast else { continue };
            let normal = solid.rotation * cast.normal1;
            let meets = normal.dot(motion) < -ALONG * far;
            if meets && first.is_none_or(|first| cast.time_of_impact < first.time) {
                let surface = surface_of(&solid.axes(), solid.half, cast.witness1);
                first = Some(Hit { time: cast.time_of_impact, normal, surface, body: solid.id });
            }
        }
        first
    }

    fn deepest(&self, capsule: &Capsule) -> Option<Overlap> {
        let (from, moving) = (Pose::from_translation(capsule.centre), shape_of(capsule));
        let mut deepest: Option<Overlap> = None;
        for solid in &self.near {
            let contact = query::contact(&pose_of(solid), &cuboid_of(solid), &from, &moving, 0.0);
            let Ok(Some(contact)) = contact else { continue };
            let depth = -contact.dist;
            if depth > 0.0 && deepest.is_none_or(|deepest| depth > deepest.depth) {
                deepest = Some(Overlap { normal: contact.normal1, depth, body: solid.id });
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
