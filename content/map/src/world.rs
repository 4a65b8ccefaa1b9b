//! Where the objects of a map stand in the world.
//!
//! Used by whoever turns a map into solids or pictures. Parents are scaled evenly (a rule of maps),
//! so that a place in the world is again position, rotation and scale.

use crate::map::{Map, Transform};
use glam::{EulerRot, Quat, Vec3};
use std::collections::BTreeMap;

/// A place in the world: first scaled, then turned, then moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct World {
    /// Metres.
    pub position: [f32; 3],
    /// Unit quaternion x, y, z, w.
    pub rotation: [f32; 4],
    /// Factors along the object's own axes.
    pub scale: [f32; 3],
}

impl World {
    /// Where a transform stands that rides on nothing.
    pub fn of(transform: &Transform) -> Self {
        let [pitch, yaw, roll] = transform.rotation.map(f32::to_radians);
        let rotation = Quat::from_euler(EulerRot::YXZ, yaw, pitch, roll);
        Self { position: transform.position, rotation: rotation.to_array(), scale: transform.scale }
    }

    /// Where `inner` stands when it rides on this place.
    pub fn carry(&self, inner: &Self) -> Self {
        let (turn, scale) = (Quat::from_array(self.rotation), Vec3::from_array(self.scale));
        let moved = turn * (scale * Vec3::from_array(inner.position));
        let turned = (turn * Quat::from_array(inner.rotation)).normalize();
        Self {
            position: (moved + Vec3::from_array(self.position)).to_array(),
            rotation: turned.to_array(),
            scale: (scale * Vec3::from_array(inner.scale)).to_array(),
        }
    }

    /// Where a point of the object stands.
    pub fn point(&self, point: [f32; 3]) -> [f32; 3] {
        let scaled = Vec3::from_array(self.scale) * Vec3::from_array(point);
        let turned = Quat::from_array(self.rotation) * scaled;
        (turned + Vec3::from_array(self.position)).to_array()
    }

    /// The direction it looks in: its -z.
    pub fn forward(&self) -> [f32; 3] {
        (Quat::from_array(self.rotation) * Vec3::NEG_Z).to_array()
    }

    /// Turn about +y in radians, positive to the left; 0 looks along -z.
    pub fn yaw(&self) -> f32 {
        Quat::from_array(self.rotation).to_euler(EulerRot::YXZ).0
    }

    /// Turn about its own x in radians, positive upwards.
    pub fn pitch(&self) -> f32 {
        Quat::from_array(self.rotation).to_euler(EulerRot::YXZ).1
    }
}

/// The places of all objects, by index.
pub(crate) fn worlds(map: &Map) -> Vec<World> {
    let numbered = map.objects.iter().enumerate();
    let index: BTreeMap<&str, usize> =
        numbered.map(|(at, object)| (object.id.0.as_str(), at)).collect();
    let parent = |at: usize| {
        let name = map.objects[at].parent.as_ref()?;
        index.get(name.0.as_str()).copied()
    };
    let mut done: Vec<Option<World>> = vec![None; map.objects.len()];
    for at in 0..map.objects.len() {
        let open = |at: &usize| done[*at].is_none();
        let chain = std::iter::successors(Some(at), |at| parent(*at));
        let chain: Vec<usize> = chain.take_while(open).take(map.objects.len()).collect();
        for at in chain.into_iter().rev() {
            let own = World::of(&map.objects[at].transform);
            let above = parent(at).and_then(|above| done[above]);
            done[at] = Some(above.map_or(own, |above| above.carry(&own)));
        }
    }
    let own = |(at, world): (usize, Option<World>)| {
        world.unwrap_or_else(|| World::of(&map.objects[at].transform))
    };
    done.into_iter().enumerate().map(own).collect()
}
