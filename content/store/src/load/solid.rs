//! What of a map's models is solid, as parts to be cooked.

use dh_cook::Part;
use dh_map::{Collision, Object};
use glam::{Mat3, Quat, Vec3};

use super::LoadedMap;

/// A part for each object whose model is solid as it is seen, by the object's place in the map.
pub(super) fn parts(loaded: &LoadedMap) -> Vec<Part<'_>> {
    let objects = loaded.map.objects.iter().zip(&loaded.worlds).enumerate();
    objects
        .filter(|(_, (object, _))| is_solid(object))
        .filter_map(|(at, (object, world))| {
            let model = object.components.model.as_ref()?;
            let mesh = loaded.meshes.get(model.model.as_str())?;
            let turn = Mat3::from_quat(Quat::from_array(world.rotation));
            let axes = turn * Mat3::from_diagonal(Vec3::from_array(world.scale));
            Some(Part {
                object: u32::try_from(at).ok()?,
                positions: &mesh.positions,
                indices: &mesh.indices,
                axes: axes.to_cols_array_2d(),
                origin: world.position,
            })
        })
        .collect()
}

/// Without a collider a model is solid as it is seen.
fn is_solid(object: &Object) -> bool {
    object.components.collider.as_ref().is_none_or(|it| it.shape == Collision::Mesh)
}
