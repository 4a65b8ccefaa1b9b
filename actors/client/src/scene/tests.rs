//! Maps as they are loaded, and the scene that comes of them.
#![expect(clippy::float_cmp, reason = "what is compared exactly is handed on as it is")]

use std::sync::Arc;

use dh_map::{AlphaMode, Map, Surface};
use dh_store::load::LoadedMap;
use dh_view::{Colour, Part, Scene, Sky, Sun};
use glam::{Quat, Vec3};

use super::scene;

fn loaded(text: &str) -> LoadedMap {
    let map = Map::parse(text, "test.dh-map").unwrap();
    LoadedMap { worlds: map.worlds(), map, ..LoadedMap::default() }
}

fn drawn(text: &str) -> Scene {
    scene(&mut loaded(text))
}

/// One triangle of these surfaces, a part each.
fn triangle(materials: Vec<Surface>) -> dh_map::Mesh {
    let parts = (0..).zip(&materials).map(|(material, _)| dh_map::Part {
        name: String::new(),
        first: material * 3,
        count: 3,
        material,
    });
    dh_map::Mesh {
        positions: vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, -3.0]],
        normals: vec![[0.0, 1.0, 0.0]; 3],
        indices: [0, 1, 2].repeat(materials.len()),
        parts: parts.collect(),
        materials,
        ..dh_map::Mesh::default()
    }
}

fn picture(red: u8) -> Arc<dh_map::Image> {
    Arc::new(dh_map::Image { width: 1, height: 1, rgba: vec![red, 0, 0, 255] })
}

fn near(a: [f32; 3], b: [f32; 3]) -> bool {
    Vec3::from(a).abs_diff_eq(Vec3::from(b), 1e-5)
}

#[test]
fn a_box_is_drawn_where_and_as_large_as_it_is_solid() {
    let scene = drawn(
        r#"{"objects":[
            {"id":"yard","transform":{"position":[10,0,0],"scale":[2,2,2]}},
            {"id":"wall","parent":"yard",
             "transform":{"position":[0,1,0],"rotation":[0,90,0],"scale":[1,1,3]},
             "components":{"dh.box":{"size":[4,2,1]}}}
        ]}"#,
    );
    let [wall] = &scene.boxes[..] else { panic!("{:?}", scene.boxes) };
    assert!(near(wall.centre.into(), [10.0, 2.0, 0.0]));
    assert!(near(wall.half.into(), [4.0, 2.0, 3.0]));
    assert!(wall.rotation.dot(Quat::from_rotation_y(std::f32::consts::FRAC_PI_2)).abs() > 0.9999);
    assert_eq!(wall.material, None, "what names no material is of the gray box's grid");
}

#[test]
fn a_box_has_its_material_and_its_own_colour_in_the_place_of_the_materials() {
    let mut map = loaded(
        r##"{"materials":{
            "brass":{"color":"#c0a040","metallic":1,"roughness":0.25},
            "lamp":{"color":"#102030","emissive":"#ff8000","glow":2},
            "tiles":{"texture":"core:assets/tiles.png","tile":2.5}},
          "objects":[
            {"id":"a","components":{"dh.box":{"material":"tiles"}}},
            {"id":"b","components":{"dh.box":{"material":"brass","color":"#ffffff"}}},
            {"id":"c","components":{"dh.box":{"material":"lamp"}}},
            {"id":"d","components":{"dh.box":{"color":"#123456"}}}
        ]}"##,
    );
    map.pictures.insert("core:assets/tiles.png".to_owned(), picture(9));
    let scene = scene(&mut map);
    let at = |place: usize| {
        let material = scene.boxes[place].material?;
        Some(&scene.materials[usize::try_from(material).unwrap()])
    };
    let colours: Vec<Colour> = scene.boxes.iter().map(|it| it.colour).collect();
    let white = Colour(0x00ff_ffff);
    assert_eq!(colours, [white, white, Colour(0x0010_2030), Colour(0x0012_3456)]);
    let tiles = at(0).unwrap();
    assert_eq!((tiles.tiling, tiles.base), (2.5, [1.0; 4]), "the box alone has a colour");
    assert_eq!(tiles.image.as_ref().unwrap().rgba, [9, 0, 0, 255]);
    assert_eq!(at(1).map(|it| (it.metallic, it.roughness)), Some((1.0, 0.25)));
    let [red, green, blue] = at(2).unwrap().emissive;
    assert!(near([red, green, blue], [2.0, Colour(0x80).linear()[2] * 2.0, 0.0]), "as light");
    assert!(at(3).is_none());
}

#[test]
fn a_picture_that_is_not_there_leaves_a_plain_colour() {
    let text = r#"{"materials":{"a":{"texture":"assets/a.png"}},
        "objects":[{"id":"m","components":{"dh.model":{"model":"core:assets/a.dh-mesh"}}}]}"#;
    let mut map = loaded(text);
    let surface = Surface { base_image: Some("assets/b.png".to_owned()), ..Surface::default() };
    map.meshes.insert("core:assets/a.dh-mesh".to_owned(), Arc::new(triangle(vec![surface])));
    let scene = scene(&mut map);
    assert_eq!(scene.materials[0].image, None);
    assert_eq!(scene.models[0].mesh.materials[0].image, None);
}

#[test]
fn equal_models_share_one_mesh_whose_arrays_are_those_that_were_loaded() {
    let model = r#""components":{"dh.model":{"model":"core:assets/a.dh-mesh"}}"#;
    let mut map = loaded(&format!(
        r#"{{"objects":[{{"id":"a",{model}}},{{"id":"b",{model},
            "transform":{{"position":[5,0,0],"rotation":[0,180,0],"scale":[2,1,1]}}}},
            {{"id":"gone","components":{{"dh.model":{{"model":"assets/gone.dh-mesh"}}}}}}]}}"#
    ));
    let mesh = triangle(vec![Surface::default(); 2]);
    let arrays = mesh.positions.as_ptr();
    map.meshes.insert("core:assets/a.dh-mesh".to_owned(), Arc::new(mesh));
    let scene = scene(&mut map);
    let [a, b] = &scene.models[..] else { panic!("{} models", scene.models.len()) };
    assert!(Arc::ptr_eq(&a.mesh, &b.mesh));
    assert_eq!(a.mesh.positions.as_ptr(), arrays, "moved and not copied");
    assert_eq!(a.mesh.parts[1], Part { first: 3, count: 3, material: 1 });
    assert!(
        near(a.bounds.min.into(), [0.0, 0.0, -3.0]) && near(a.bounds.max.into(), [2.0, 1.0, 0.0])
    );
    // Scaled, then turned, then moved.
    assert!(near(b.transform.transform_point3(Vec3::new(2.0, 0.0, 1.0)).into(), [1.0, 0.0, -1.0]));
    assert!(near(b.bounds.min.into(), [1.0, 0.0, 0.0]), "{:?}", b.bounds);
}

#[test]
fn surfaces_keep_what_is_drawn_and_take_no_factor_at_its_word_that_an_image_would_soften() {
    let image = Some("assets/a.png".to_owned());
    let plain =
        Surface { base: [0.5, 0.25, 0.1, 1.0], emissive: [0.0, 3.0, 0.0], ..Surface::default() };
    let surfaces = vec![
        plain.clone(),
        Surface { alpha: AlphaMode::Mask, cutoff: 0.3, double_sided: true, ..plain.clone() },
        Surface { alpha: AlphaMode::Blend, base_image: image.clone(), ..plain.clone() },
        Surface { rough_image: image.clone(), emissive_image: image, ..plain },
    ];
    let name = "core:assets/a.dh-mesh";
    let mut map = loaded(&format!(
        r#"{{"objects":[{{"id":"a","components":{{"dh.model":{{"model":"{name}"}}}}}}]}}"#
    ));
    map.meshes.insert(name.to_owned(), Arc::new(triangle(surfaces)));
    map.pictures.insert("core:assets/a.png".to_owned(), picture(7));
    let scene = scene(&mut map);
    let [solid, leaf, glass, worn] = &scene.models[0].mesh.materials[..] else { panic!() };
    assert_eq!(solid.base, [0.5, 0.25, 0.1, 1.0], "glTF's factors are light already");
    assert_eq!((solid.metallic, solid.roughness, solid.emissive), (1.0, 1.0, [0.0, 3.0, 0.0]));
    assert_eq!((solid.alpha_cutoff, solid.double_sided), (0.0, false));
    assert_eq!((leaf.alpha_cutoff, leaf.double_sided), (0.3, true));
    assert_eq!(glass.alpha_cutoff, 0.5);
    assert_eq!(glass.image.as_ref().unwrap().rgba[0], 7, "found in the mesh's own pallet");
    assert_eq!((worn.metallic, worn.emissive), (0.0, [0.0; 3]));
    assert!(worn.roughness < 1.0);
}

#[test]
fn sun_and_sky_are_those_of_the_map_and_a_sun_from_below_is_a_sunset() {
    let scene = drawn(
        r##"{"objects":[
            {"id":"sun","transform":{"rotation":[-90,0,0]},
             "components":{"dh.sun":{"color":"#ff8040","intensity":40,"shadows":false},
             "dh.sky":{"zenith":"#010203","horizon":"#040506","ground":"#070809",
                       "intensity":0.75,"haze":120}}}
        ]}"##,
    );
    assert!(scene.sun.toward.abs_diff_eq(Vec3::Y, 1e-6), "{:?}", scene.sun);
    assert_eq!((scene.sun.colour, scene.sun.strength), (Colour(0x00ff_8040), 10.0));
    assert!(!scene.sun.shadows);
    let sky = Sky {
        zenith: Colour(0x0001_0203),
        horizon: Colour(0x0004_0506),
        ground: Colour(0x0007_0809),
        strength: 0.75,
        haze: 120.0,
    };
    assert_eq!(scene.sky, sky);
    let below = r#"{"objects":[{"id":"s","transform":{"rotation":[30,0,0]},
        "components":{"dh.sun":{},"dh.sky":{}}}]}"#;
    let scene = drawn(below);
    assert!(scene.sun.toward.y > 0.0 && scene.sun.toward.z > 0.9, "{:?}", scene.sun);
    assert!(scene.sky.haze > 1e6, "clear air");
    let scene = drawn(r#"{"objects":[]}"#);
    assert_eq!((scene.sun, scene.sky), (Sun::default(), Sky::default()));
}

#[test]
fn the_first_camera_takes_the_picture_and_without_one_whoever_arrives_first() {
    let camera = r#"{"id":"c","transform":{"position":[1,2,3],"rotation":[-20,60,0]},
        "components":{"dh.camera":{"fov":45}}}"#;
    let spawn = r#"{"id":"s","transform":{"position":[4,0,5],"rotation":[0,90,0]},
        "components":{"dh.spawn":{}}}"#;
    let seen = drawn(&format!(r#"{{"objects":[{spawn},{camera}]}}"#)).camera;
    assert_eq!(seen.eye, Vec3::new(1.0, 2.0, 3.0));
    let angles = [seen.pitch, seen.yaw, seen.fov].map(f32::to_degrees);
    assert!(near(angles.map(|angle| angle / 60.0), [-20.0 / 60.0, 1.0, 45.0 / 60.0]), "{angles:?}");
    let seen = drawn(&format!(r#"{{"objects":[{spawn}]}}"#)).camera;
    assert!(near(seen.eye.into(), [4.0, 1.62, 5.0]));
    assert!(near(seen.forward().into(), [-1.0, 0.0, 0.0]));
}
