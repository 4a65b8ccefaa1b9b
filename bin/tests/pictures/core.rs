//! Compiles, loads and draws.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dh_pallet::{Barcode, Pallet};
use dh_render::{Studio, png_bytes};
use dh_sim::{GrayBox, Ground};
use dh_store::load::{LoadedMap, Loading, Request, Step};
use dh_view::{Picture, Scene, View, facing};

/// Triangles of a world that everybody can draw.
const TRIANGLES_MAX: u32 = 60_000;

fn load(map: &str) -> LoadedMap {
    let bytes = dh_compile::build_bundled(dh_compile::core_sources()).unwrap();
    let pallet = Pallet::open(Box::new(bytes) as _, None).unwrap();
    let request = Request {
        map: Barcode::parse(map).unwrap(),
        pallets: vec![pallet],
        picture_side_max: Some(2048),
        cache: None,
    };
    let mut loading = Loading::new(request);
    loop {
        if let Step::Done(loaded) = loading.step().unwrap() {
            return *loaded;
        }
    }
}

/// The world as a picture, or one line that says why there is none.
fn picture(name: &str, scene: Scene) -> Option<Picture> {
    let mut studio = match Studio::open() {
        Ok(studio) => studio,
        Err(error) if std::env::var_os("DH_REQUIRE_ADAPTER").is_some_and(|it| it == "1") => {
            panic!("DH_REQUIRE_ADAPTER=1 and {error}")
        }
        Err(error) => {
            eprintln!("SKIPPED a test of pictures: {error}");
            return None;
        }
    };
    let picture = studio.picture(&View::of(Arc::new(scene)), 1280, 720).unwrap();
    if let Some(folder) = std::env::var_os("DH_PICTURES") {
        let path = PathBuf::from(folder).join(name).with_extension("png");
        std::fs::write(path, png_bytes(&picture)).unwrap();
    }
    Some(picture)
}

#[test]
fn the_demo_world_is_drawn_whole_with_few_triangles_and_many_colours() {
    let mut loaded = load("core:assets/demo.dh-map");
    assert!(loaded.triangles.is_some(), "its models are solid");
    let scene = dh_client::scene(&mut loaded);
    let images = scene.materials.iter().filter(|material| material.image.is_some());
    assert!(images.count() >= 5);
    let Some(picture) = picture("demo", scene) else { return };
    let report = &picture.report;
    assert_eq!(report.models_left_out, 0);
    assert!((5_000..TRIANGLES_MAX).contains(&report.world_triangles), "{report:?}");
    let colours: BTreeSet<&[u8]> = picture.rgba.chunks_exact(4).collect();
    assert!(colours.len() > 20_000, "{} colours", colours.len());
}

#[test]
fn the_gray_box_of_the_core_pallet_is_the_one_that_needs_no_content() {
    let mut loaded = load("core:assets/gray-box.dh-map");
    let ours = GrayBox::new();
    let ground = Ground::of(&loaded.map, &loaded.worlds, loaded.triangles.clone());
    let (theirs, solids) = (ground.solids.all(), ours.solids());
    assert_eq!(theirs.len(), solids.all().len());
    assert!(ground.solids.triangles().is_none());
    for (a, b) in theirs.iter().zip(solids.all()) {
        let moved = a.centre.distance(b.centre).max(a.half.distance(b.half));
        let turned = 1.0 - a.rotation.dot(b.rotation).abs();
        assert!(moved < 1e-4 && turned < 1e-6, "{a:?} is not {b:?}");
    }
    assert_eq!(ground.spawns.len(), ours.spawns().len());
    for (a, b) in ground.spawns.iter().zip(ours.spawns().iter()) {
        let turned = facing(a.yaw, 0.0).dot(facing(b.yaw, 0.0));
        assert!(a.feet.distance(b.feet) < 0.02 && turned > 0.9999, "{a:?} is not {b:?}");
    }
    let scene = dh_client::scene(&mut loaded);
    let own = Scene { camera: ours.viewpoint(), ..Scene::of_boxes(ours.boxes()) };
    let painted = |scene: &Scene| -> Vec<_> {
        scene.boxes.iter().map(|it| (it.colour, it.material)).collect()
    };
    assert_eq!(painted(&scene), painted(&own));
    assert_eq!(scene.sky, own.sky);
    assert!(scene.sun.toward.abs_diff_eq(own.sun.toward, 1e-4), "{:?}", scene.sun);
    assert_eq!((scene.sun.colour, scene.sun.strength), (own.sun.colour, own.sun.strength));
    assert!(scene.camera.eye.abs_diff_eq(own.camera.eye, 1e-4));
    assert!(scene.camera.forward().abs_diff_eq(own.camera.forward(), 1e-4));
    let (Some(a), Some(b)) = (picture("gray-box", scene), picture("own", own)) else { return };
    let pairs = a.rgba.iter().zip(&b.rgba);
    let far = pairs.filter(|(a, b)| a.abs_diff(**b) > 24).count();
    assert!(far < a.rgba.len() / 200, "{far} parts of pixels differ");
}
