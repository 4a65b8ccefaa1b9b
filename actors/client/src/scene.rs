//! Scene: a map that was loaded, as the renderer draws it. Used by the map loader. Big arrays move
//! from the one to the other; what the renderer cannot draw is told in plainer terms here.

mod surface;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_map::{Box, Map, Object, World};
use dh_store::load::LoadedMap;
use dh_view::{
    Bounds, BoxView, Camera, Image, Material, Mesh, ModelView, Part, Scene, Sky, Sun, facing,
};
use glam::{Affine3A, Quat, Vec3};

use self::surface::{brush, colour, surface};

/// How high above a spawn the eye of a map without a camera is, metres.
const EYE: f32 = 1.62;
/// The lowest a sun stands: what shines from below is drawn as a sunset.
const SUN_LOW: f32 = 0.02;
/// Metres of haze in clear air.
const CLEAR: f32 = 1.0e7;

/// The pictures of a map, by the reference that map or mesh makes.
type Pictures = BTreeMap<String, Arc<Image>>;

/// What is drawn of a map. Its meshes and pictures are taken out of it.
#[must_use]
pub fn scene(loaded: &mut LoadedMap) -> Scene {
    let pictures = std::mem::take(&mut loaded.pictures).into_iter();
    let pictures: Pictures = pictures.map(|(name, it)| (name, Arc::new(image(it)))).collect();
    let meshes = std::mem::take(&mut loaded.meshes).into_iter();
    let meshes: BTreeMap<String, Arc<Mesh>> = meshes
        .map(|(name, it)| {
            let mesh = mesh(&name, Arc::unwrap_or_clone(it), &pictures);
            (name, Arc::new(mesh))
        })
        .collect();
    let map = &loaded.map;
    let placed = || map.objects.iter().zip(&loaded.worlds);
    let (boxes, materials) = boxes(map, placed(), &pictures);
    let models = placed().filter_map(|(object, world)| {
        let model = object.components.model.as_ref()?;
        let mesh = meshes.get(model.model.as_str())?;
        Some(ModelView::new(Arc::clone(mesh), place(world)))
    });
    Scene {
        boxes: boxes.into(),
        materials,
        models: models.collect(),
        sun: placed().find_map(|(object, world)| sun(object, world)).unwrap_or_default(),
        sky: placed().find_map(|(object, _)| sky(object)).unwrap_or_default(),
        camera: camera(placed()),
    }
}

fn image(picture: Arc<dh_map::Image>) -> Image {
    let dh_map::Image { width, height, rgba } = Arc::unwrap_or_clone(picture);
    Image { width, height, rgba }
}

/// A mesh names its pictures by path alone: they lie in its own pallet, which `reference` names.
fn mesh(reference: &str, mesh: dh_map::Mesh, pictures: &Pictures) -> Mesh {
    let pallet =
        reference.split_once(':').map_or(String::new(), |(pallet, _)| format!("{pallet}:"));
    let find = |path: &str| pictures.get(&format!("{pallet}{path}")).cloned();
    let parts = mesh.parts.iter();
    let corners = mesh.positions.iter().copied().map(Vec3::from_array);
    Mesh {
        bounds: Bounds::around(corners),
        parts: parts
            .map(|part| Part { first: part.first, count: part.count, material: part.material })
            .collect(),
        materials: mesh.materials.iter().map(|it| surface(it, find)).collect(),
        positions: mesh.positions,
        normals: mesh.normals,
        uvs: mesh.uvs,
        colours: mesh.colors,
        indices: mesh.indices,
    }
}

/// The boxes, and the materials that they name. A box that names none has the grid of the gray box.
fn boxes<'a>(
    map: &Map,
    placed: impl Iterator<Item = (&'a Object, &'a World)>,
    pictures: &Pictures,
) -> (Vec<BoxView>, Vec<Material>) {
    let names: BTreeMap<_, u32> = map.materials.keys().zip(0..).collect();
    let material = |solid: &Box| names.get(solid.material.as_ref()?).copied();
    let boxes = placed.filter_map(|(object, world)| {
        let solid = object.components.solid.as_ref()?;
        Some(BoxView {
            centre: Vec3::from_array(world.position),
            half: Vec3::from_array(solid.size) * Vec3::from_array(world.scale) * 0.5,
            rotation: Quat::from_array(world.rotation),
            colour: colour(map.material_of(solid).color),
            material: material(solid),
        })
    });
    (boxes.collect(), map.materials.values().map(|it| brush(it, pictures)).collect())
}

fn place(world: &World) -> Affine3A {
    Affine3A::from_scale_rotation_translation(
        Vec3::from_array(world.scale),
        Quat::from_array(world.rotation),
        Vec3::from_array(world.position),
    )
}

fn sun(object: &Object, world: &World) -> Option<Sun> {
    let sun = object.components.sun.as_ref()?;
    let [x, y, z] = world.forward();
    Some(Sun {
        toward: Vec3::new(-x, (-y).max(SUN_LOW), -z).normalize(),
        colour: colour(sun.color),
        strength: sun.intensity.min(10.0),
        shadows: sun.shadows,
    })
}

fn sky(object: &Object) -> Option<Sky> {
    let sky = object.components.sky.as_ref()?;
    Some(Sky {
        zenith: colour(sky.zenith),
        horizon: colour(sky.horizon),
        ground: colour(sky.ground),
        strength: sky.intensity.min(10.0),
        haze: sky.haze.unwrap_or(CLEAR),
    })
}

/// The first camera of the map; without one, the eyes of who arrives first.
fn camera<'a>(placed: impl Iterator<Item = (&'a Object, &'a World)> + Clone) -> Camera {
    let mut cameras = placed.clone().filter_map(|(object, world)| {
        let fov = object.components.camera.as_ref()?.fov.to_radians();
        let eye = Vec3::from_array(world.position);
        let ahead = Vec3::from_array(world.forward());
        Some(Camera::look_at(eye, eye + ahead, fov))
    });
    let mut spawns = placed.filter_map(|(object, world)| {
        object.components.spawn.as_ref()?;
        let eye = Vec3::from_array(world.position) + Vec3::Y * EYE;
        Some(Camera::look_at(eye, eye + facing(world.yaw(), 0.0), Camera::FOV))
    });
    cameras.next().or_else(|| spawns.next()).unwrap_or_default()
}
