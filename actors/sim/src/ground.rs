//! Ground: what a pawn stands on in a map, and where it arrives.
//!
//! Made from a map that was read, by whoever prepares it: the server's map switch and the client's
//! map loader. Equal maps give equal ground on every machine. Never reads a file or a pallet.

use std::sync::Arc;

use dh_cook::Cooked;
use dh_map::{Collision, Map, Object, World};
use glam::{Quat, Vec3};

use crate::graybox::{GrayBox, SpawnPoint};
use crate::physics::{BodyId, Solid, Solids};

/// Places on the ring of a wide spawn, beside its middle.
const RING: [[f32; 2]; 6] = [
    [1.0, 0.0],
    [0.5, 0.866_025_4],
    [-0.5, 0.866_025_4],
    [-1.0, 0.0],
    [-0.5, -0.866_025_4],
    [0.5, -0.866_025_4],
];
/// Where players arrive in a map that names no place.
const NOWHERE: SpawnPoint = SpawnPoint { feet: Vec3::new(0.0, 1.0, 0.0), yaw: 0.0 };

/// What a map is to the mover.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Everything that stops movement.
    pub solids: Arc<Solids>,
    /// Where pawns arrive, at least one place.
    pub spawns: Arc<[SpawnPoint]>,
}

impl Ground {
    /// The ground of the world without content.
    #[must_use]
    pub fn gray_box() -> Self {
        let gray_box = GrayBox::new();
        Self { solids: gray_box.solids(), spawns: gray_box.spawns() }
    }

    /// The ground of `map`, whose objects stand at `worlds`, by index, and whose solid models were
    /// cooked to `triangles`.
    #[must_use]
    pub fn of(map: &Map, worlds: &[World], triangles: Option<Arc<Cooked>>) -> Self {
        let objects = map.objects.iter().zip(worlds);
        let boxes = objects
            .clone()
            .enumerate()
            .filter_map(|(at, (object, world))| solid(at, object, world));
        let solids = Solids::new(boxes.collect());
        let solids = match triangles {
            Some(triangles) => solids.with_triangles(triangles),
            None => solids,
        };
        let mut spawns: Vec<SpawnPoint> =
            objects.flat_map(|(object, world)| arrivals(object, world)).collect();
        if spawns.is_empty() {
            spawns.push(NOWHERE);
        }
        Self { solids: Arc::new(solids), spawns: spawns.into() }
    }
}

/// The box that an object is to the mover, if it is one.
fn solid(at: usize, object: &Object, world: &World) -> Option<Solid> {
    let size = match (&object.components.collider, &object.components.solid) {
        (Some(collider), _) if collider.shape == Collision::None => return None,
        (Some(collider), _) if collider.shape == Collision::Box => collider.size,
        (_, Some(shape)) => shape.size,
        (_, None) => return None,
    };
    let half = Vec3::from_array(size) * Vec3::from_array(world.scale) * 0.5;
    let mut solid = Solid::fixed(BodyId::of_map(at), Vec3::from_array(world.position), half);
    solid.rotation = Quat::from_array(world.rotation);
    Some(solid)
}

fn arrivals(object: &Object, world: &World) -> Vec<SpawnPoint> {
    let Some(spawn) = &object.components.spawn else { return Vec::new() };
    let (middle, yaw) = (Vec3::from_array(world.position), world.yaw());
    let ring = RING.iter().filter(|_| spawn.radius > 0.0);
    let places = ring.map(|[x, z]| middle + Vec3::new(*x, 0.0, *z) * spawn.radius);
    [middle].into_iter().chain(places).map(|feet| SpawnPoint { feet, yaw }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(text: &str) -> Ground {
        let map = Map::parse(text, "test.dh-map").unwrap();
        Ground::of(&map, &map.worlds(), None)
    }

    #[test]
    fn a_box_is_solid_where_it_stands_unless_its_collider_says_otherwise() {
        let ground = ground(
            r#"{"objects":[
                {"id":"floor","transform":{"position":[0,-1,0],"scale":[2,1,2]},
                 "components":{"dh.box":{"size":[10,2,10]}}},
                {"id":"ghost","components":{"dh.box":{},"dh.collider":{"shape":"none"}}},
                {"id":"wall","transform":{"rotation":[0,90,0]},
                 "components":{"dh.collider":{"shape":"box","size":[4,2,1]}}},
                {"id":"light","components":{"dh.sun":{}}}
            ]}"#,
        );
        let halves: Vec<Vec3> = ground.solids.all().iter().map(|solid| solid.half).collect();
        assert_eq!(halves, [Vec3::new(10.0, 1.0, 10.0), Vec3::new(2.0, 1.0, 0.5)]);
        let ids: Vec<BodyId> = ground.solids.all().iter().map(|solid| solid.id).collect();
        assert_eq!(ids, [BodyId::of_map(0), BodyId::of_map(2)], "an object keeps its number");
        assert!(ground.solids.all()[1].half_size().abs_diff_eq(Vec3::new(0.5, 1.0, 2.0), 1e-5));
    }

    #[test]
    fn pawns_arrive_at_spawns_in_their_order_around_wide_ones_and_somewhere_in_any_case() {
        let spawns = ground(
            r#"{"objects":[
                {"id":"a","transform":{"position":[1,2,3],"rotation":[0,90,0]},
                 "components":{"dh.spawn":{}}},
                {"id":"b","components":{"dh.spawn":{"radius":2}}}
            ]}"#,
        )
        .spawns;
        assert_eq!(spawns.len(), 1 + 7);
        assert_eq!(spawns[0].feet, Vec3::new(1.0, 2.0, 3.0));
        assert!((spawns[0].yaw - std::f32::consts::FRAC_PI_2).abs() < 1e-5);
        let far = spawns[2..].iter().all(|spawn| (spawn.feet.length() - 2.0).abs() < 1e-5);
        assert!(far && spawns[1].feet == Vec3::ZERO);
        assert_eq!(ground(r#"{"objects":[]}"#).spawns.len(), 1);
    }
}
