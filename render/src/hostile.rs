//! Maps that were made to stop a picture. Only tests use it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_view::{Bounds, BoxView, Colour, Image, Material, Mesh, ModelView, Part, Scene, View};
use glam::{Affine3A, Vec3};

use crate::Studio;
use crate::gallery::sheet;
use crate::gray_box::{ball, yard};
use crate::tests::studio;

/// As many objects as a map may have.
const OBJECTS: u16 = 65_000;
/// A picture of whatever map comes sooner than this, on two cores that do the drawing.
const PATIENCE: Duration = Duration::from_secs(55);

/// The same mesh all over a field before the camera.
fn crowd(mesh: Mesh) -> View {
    let mesh = Arc::new(mesh);
    let place = |at: u16| {
        let (x, z) = (f32::from(at % 250), f32::from(at / 250));
        Affine3A::from_translation(Vec3::new(x - 125.0, 0.0, 4.0 - z))
    };
    let models = (0..OBJECTS).map(|at| ModelView::new(Arc::clone(&mesh), place(at))).collect();
    let camera = dh_view::Camera::look_at(Vec3::new(0.0, 2.0, 10.0), Vec3::ZERO, 1.0);
    View { camera, ..View::of(Arc::new(Scene { models, ..Scene::empty() })) }
}

/// Take a picture, which is done in time; how many things it leaves out.
fn over(studio: &mut Studio, view: &View) -> u32 {
    let start = Instant::now();
    let report = studio.picture(view, 640, 360).unwrap().report;
    let took = start.elapsed();
    eprintln!("{took:?}: {} left out, {} triangles", report.over_budget, report.world_triangles);
    assert!(took < PATIENCE, "{took:?}");
    assert!(report.world_triangles > 0, "something is drawn");
    report.over_budget
}

#[test]
fn a_million_triangles_in_sixty_five_thousand_places_are_a_picture_in_time() {
    let Some(mut studio) = studio() else { return };
    let view = crowd(ball(500));
    let first = over(&mut studio, &view);
    assert!(first > 10_000);
    assert_eq!(over(&mut studio, &view), first, "the same are left out each time");
}

#[test]
fn as_many_parts_in_as_many_places_are_a_picture_in_time() {
    let Some(mut studio) = studio() else { return };
    let mut mesh = ball(182);
    let count = u32::try_from(mesh.indices.len() / 3).unwrap().min(65_536);
    mesh.parts = (0..count).map(|at| Part { first: at * 3, count: 3, material: at % 3 }).collect();
    mesh.materials = vec![Material::default(); 3];
    let start = Instant::now();
    let report = studio.picture(&crowd(mesh.clone()), 640, 360).unwrap().report;
    assert!(start.elapsed() < PATIENCE && report.over_budget > 10_000, "{report:?}");
    mesh.parts.truncate(4_000);
    assert!(over(&mut studio, &crowd(mesh)) > 10_000);
}

/// So many walls of one mesh before the camera, the farthest first, so that each is drawn over all
/// before it.
fn walls(layers: u32) -> View {
    let one = sheet();
    let mut mesh = Mesh::default();
    for layer in 0..layers {
        let away = f64::from(layer) / f64::from(layers) - 1.0;
        #[expect(clippy::cast_possible_truncation, reason = "within a metre")]
        mesh.positions.extend(one.positions.iter().map(|[x, y, _]| [*x, *y, away as f32]));
        mesh.indices.extend(one.indices.iter().map(|index| index + layer * 4));
    }
    let count = u32::try_from(mesh.indices.len()).unwrap();
    mesh.parts = vec![Part { first: 0, count, material: 0 }];
    mesh.bounds = Bounds::around(mesh.positions.iter().map(|at| Vec3::from_array(*at)));
    let scene = Scene {
        models: vec![ModelView::new(Arc::new(mesh), Affine3A::IDENTITY)],
        ..(*yard().scene).clone()
    };
    let camera = dh_view::Camera::look_at(Vec3::new(0.0, 1.0, 0.5), Vec3::Y, 1.0);
    View { camera, ..View::of(Arc::new(scene)) }
}

#[test]
fn walls_before_walls_before_walls_are_a_picture_in_time() {
    let Some(mut studio) = studio() else { return };
    assert_eq!(over(&mut studio, &walls(30)), 0, "the most that is drawn");
    let view = walls(100_000);
    assert_eq!(over(&mut studio, &view), 1);
    let camera = view.camera;

    let wall = |at: u16| {
        let centre = Vec3::new(0.0, 0.0, f32::from(at) * -1e-3);
        let colour = Colour(u32::from(at));
        let material = Some(u32::from(u16::MAX - at));
        BoxView { material, ..BoxView::upright(centre, Vec3::new(900.0, 900.0, 1e-4), colour) }
    };
    let scene = Scene {
        boxes: (0..OBJECTS).map(wall).collect(),
        materials: vec![Material::default(); usize::from(u16::MAX)],
        ..Scene::empty()
    };
    let view = View { camera, players: yard().players, ..View::of(Arc::new(scene)) };
    assert!(over(&mut studio, &view) > 10_000);
}

#[test]
fn two_hundred_large_pictures_are_made_smaller_until_they_fit() {
    let Some(mut studio) = studio() else { return };
    let scene = |count: u16| {
        let image = || Image { width: 1024, height: 1024, rgba: vec![90; 4 << 20] };
        let material = |_| Material { image: Some(Arc::new(image())), ..Material::default() };
        let materials: Vec<Material> = (0..count).map(material).collect();
        let boxes = (0..count).map(|at| BoxView {
            material: Some(u32::from(at)),
            ..BoxView::upright(Vec3::X * f32::from(at), Vec3::splat(0.4), Colour(0xff_ff_ff))
        });
        let scene = Scene { boxes: boxes.collect(), materials, ..Scene::empty() };
        View { camera: yard().camera, ..View::of(Arc::new(scene)) }
    };
    let few = scene(4);
    let before = studio.picture(&few, 320, 180).unwrap();
    assert_eq!(over(&mut studio, &scene(256)), 0);
    let most = if studio.adapter().software { 256 << 20 } else { 1 << 30 };
    assert!((1 << 20..=most).contains(&studio.gpu.texture_bytes()));
    assert_eq!(studio.picture(&few, 320, 180).unwrap(), before, "and large again");
}
