//! Pictures taken on this machine's adapter. Without one these tests say so and pass, unless
//! `DH_REQUIRE_ADAPTER=1` asks for one.

use std::collections::BTreeSet;
use std::sync::Arc;

use dh_view::{
    BoxView, Camera, Colour, Hud, Image, Material, Mesh, NoPicture, Picture, PixelBox, PlayerView,
    Scene, View,
};
use glam::Vec3;

use crate::gallery::hall;
use crate::gray_box::yard;
use crate::{Studio, png_bytes};

const SIZE: [u32; 2] = [1280, 720];

/// A studio, or one line that says why there is none.
pub(crate) fn studio() -> Option<Studio> {
    match Studio::open() {
        Ok(studio) => Some(studio),
        Err(error) if std::env::var_os("DH_REQUIRE_ADAPTER").is_some_and(|it| it == "1") => {
            panic!("DH_REQUIRE_ADAPTER=1 and {error}")
        }
        Err(error) => {
            eprintln!("SKIPPED a test of pictures: {error}");
            None
        }
    }
}

fn take(studio: &mut Studio, view: &View) -> Picture {
    studio.picture(view, SIZE[0], SIZE[1]).unwrap()
}

/// The pixels in which two pictures differ, but for both panels.
fn differing(a: &Picture, b: &Picture) -> Vec<(u32, u32)> {
    let panels = [a.report.hud, b.report.hud];
    let masked = |x, y| panels.iter().flatten().any(|panel| panel.contains(x, y));
    let pairs = a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).enumerate();
    let changed = pairs.filter(|(_, (a, b))| a != b).map(|(index, _)| {
        let index = u32::try_from(index).unwrap();
        (index % a.report.width, index / a.report.width)
    });
    changed.filter(|(x, y)| !masked(*x, *y)).collect()
}

/// Every difference lies in a listed box of either picture, grown by two pixels.
fn assert_explained(a: &Picture, b: &Picture) -> Vec<(u32, u32)> {
    let players = a.report.players.iter().chain(&b.report.players);
    let listed: Vec<PixelBox> =
        players.flat_map(|it| it.boxes().collect::<Vec<_>>()).map(|it| it.grown(2)).collect();
    let changed = differing(a, b);
    let stray: Vec<_> =
        changed.iter().filter(|(x, y)| !listed.iter().any(|it| it.contains(*x, *y))).collect();
    assert!(stray.is_empty(), "{} pixels outside all boxes, as {:?}", stray.len(), stray.first());
    changed
}

fn cameras() -> [Camera; 4] {
    [
        yard().camera,
        Camera::look_at(Vec3::new(3.6, 2.0, -0.6), Vec3::new(0.0, 1.2, 3.4), 1.0),
        Camera::look_at(Vec3::new(-18.0, 9.0, -17.0), Vec3::ZERO, 1.2),
        Camera::look_at(Vec3::new(1.0, 1.6, 18.0), Vec3::new(0.0, 1.0, 0.0), 0.8),
    ]
}

#[test]
fn eight_players_change_no_pixel_outside_their_boxes_and_every_one_that_is_seen_changes_its_own() {
    let Some(mut studio) = studio() else { return };
    for camera in cameras() {
        let full = View { camera, ..yard() };
        let empty = View { players: Vec::new(), ..full.clone() };
        let (with, without) = (take(&mut studio, &full), take(&mut studio, &empty));
        assert_eq!((with.report.players.len(), without.report.players.len()), (8, 0));
        let changed = assert_explained(&with, &without);
        for player in with.report.players.iter().filter(|it| it.visible) {
            let body = player.body.unwrap();
            let own = changed.iter().filter(|(x, y)| body.contains(*x, *y)).count();
            assert!(own > 0, "{} is seen and changes nothing", player.name);
        }
        assert!(with.report.players.iter().filter(|it| it.visible).count() >= 2);
    }
}

#[test]
fn one_player_who_moves_changes_only_where_it_was_and_where_it_is() {
    let Some(mut studio) = studio() else { return };
    let before = yard();
    let mut after = yard();
    for player in &mut after.players {
        player.feet += Vec3::new(0.7, 0.4, -0.6);
        player.yaw += 1.0;
        player.height = PlayerView::CROUCHED;
    }
    let (a, b) = (take(&mut studio, &before), take(&mut studio, &after));
    assert!(!assert_explained(&a, &b).is_empty());
}

#[test]
fn a_shadow_darkens_pixels_outside_of_body_and_name() {
    let Some(mut studio) = studio() else { return };
    let full = View { players: yard().players.into_iter().take(1).collect(), ..yard() };
    let (with, without) =
        (take(&mut studio, &full), take(&mut studio, &View { players: Vec::new(), ..yard() }));
    let ada = &with.report.players[0];
    let (body, shadow) = (ada.body.unwrap().grown(2), ada.shadow.unwrap());
    let brightness = |picture: &Picture, (x, y): (u32, u32)| {
        picture.pixel(x, y).unwrap()[..3].iter().map(|it| u32::from(*it)).sum::<u32>()
    };
    let dark = differing(&with, &without)
        .into_iter()
        .filter(|(x, y)| !body.contains(*x, *y) && shadow.contains(*x, *y));
    let dark: Vec<_> = dark.collect();
    assert!(dark.len() > 500, "only {} pixels", dark.len());
    assert!(dark.iter().all(|at| brightness(&with, *at) < brightness(&without, *at)));
}

#[test]
fn the_same_view_gives_the_same_bytes_whatever_was_drawn_before() {
    let Some(mut first) = studio() else { return };
    let once = take(&mut first, &yard());
    let mut other = yard();
    other.camera = cameras()[2];
    other.hud.lines = vec![String::from("something else entirely: 0123456789")];
    first.picture(&other, 640, 360).unwrap();
    assert_eq!(take(&mut first, &yard()), once);
    drop(first);
    let Some(mut second) = studio() else { return };
    assert_eq!(take(&mut second, &yard()), once);
}

#[test]
fn a_picture_shows_a_world_and_not_a_plain_colour() {
    let Some(mut studio) = studio() else { return };
    let picture = take(&mut studio, &yard());
    let colours: BTreeSet<&[u8]> = picture.rgba.chunks_exact(4).collect();
    assert!(colours.len() > 5_000, "{} colours", colours.len());
    assert!(picture.rgba.chunks_exact(4).all(|it| it[3] == 255));
    let [red, _, blue, _] = picture.pixel(640, 5).unwrap();
    assert!(blue > red + 30, "the sky is blue");
    assert!(picture.report.world_triangles > 100 && picture.report.players_drawn == 8);
}

#[test]
fn the_panel_changes_only_its_own_box_and_counts_its_lines() {
    let Some(mut studio) = studio() else { return };
    let with = take(&mut studio, &yard());
    let without = take(&mut studio, &View { hud: Hud::default(), ..yard() });
    assert_eq!((with.report.hud_runs, without.report.hud_runs), (5, 0));
    assert!(with.report.hud.is_some() && without.report.hud.is_none());
    assert!(differing(&with, &without).is_empty());
    assert_ne!(with.rgba, without.rgba);
}

#[test]
fn pictures_of_odd_sizes_and_of_an_empty_world_are_whole() {
    let Some(mut studio) = studio() else { return };
    for (width, height) in [(333, 217), (1, 1), (64, 700)] {
        let picture = studio.picture(&yard(), width, height).unwrap();
        assert_eq!(picture.rgba.len(), (width * height * 4) as usize);
    }
    let nothing = studio.picture(&View::empty(), 64, 64).unwrap();
    assert_eq!((nothing.report.world_triangles, nothing.report.players_drawn), (0, 0));
}

#[test]
fn a_size_outside_the_limits_is_refused_and_the_next_picture_is_fine() {
    let Some(mut studio) = studio() else { return };
    for (width, height) in [(0, 720), (1280, 0), (5000, 10), (u32::MAX, u32::MAX)] {
        let refused = studio.picture(&yard(), width, height).unwrap_err();
        assert!(matches!(refused, NoPicture::Size { .. }), "{refused}");
    }
    assert!(studio.picture(&yard(), 16, 16).is_ok());
}

#[test]
fn a_png_holds_exactly_the_pixels_of_the_picture() {
    let Some(mut studio) = studio() else { return };
    let picture = studio.picture(&yard(), 320, 180).unwrap();
    let bytes = png_bytes(&picture);
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let mut rgba = vec![0; reader.output_buffer_size().unwrap()];
    let read = reader.next_frame(&mut rgba).unwrap();
    assert_eq!((read.width, read.height, rgba), (320, 180, picture.rgba));
}

#[test]
fn players_among_meshes_change_no_pixel_outside_their_boxes() {
    let Some(mut studio) = studio() else { return };
    let eyes = [hall().camera.eye, Vec3::new(-7.0, 1.7, 6.0), Vec3::new(3.0, 5.0, -5.5)];
    for eye in eyes {
        let camera = Camera::look_at(eye, Vec3::new(-0.4, 0.8, 0.4), 1.0);
        let full = View { camera, ..hall() };
        let empty = View { players: Vec::new(), ..full.clone() };
        let (with, without) = (take(&mut studio, &full), take(&mut studio, &empty));
        let changed = assert_explained(&with, &without);
        for player in with.report.players.iter().filter(|it| it.visible) {
            let body = player.body.unwrap();
            assert!(changed.iter().any(|(x, y)| body.contains(*x, *y)), "{}", player.name);
        }
    }
}

#[test]
fn meshes_images_and_holes_are_on_the_picture_once_it_is_taken() {
    let Some(mut studio) = studio() else { return };
    let bare = |view: &View| {
        let scene = Scene { models: Vec::new(), materials: Vec::new(), ..(*view.scene).clone() };
        View { scene: Arc::new(scene), players: Vec::new(), ..view.clone() }
    };
    let view = View { players: Vec::new(), ..hall() };
    let (full, empty) = (take(&mut studio, &view), take(&mut studio, &bare(&view)));
    assert!(full.report.world_triangles > empty.report.world_triangles + 60_000);
    // A ball, a tile, and the floor through a hole of the grid.
    for (x, y) in [(812, 370), (300, 640), (1000, 390)] {
        assert_ne!(full.pixel(x, y), empty.pixel(x, y), "{x} {y}");
    }
    assert_eq!(take(&mut studio, &view), full, "after another scene the same comes again");
}

#[test]
fn a_model_that_cannot_be_drawn_is_left_out_counted_and_harms_no_other() {
    let Some(mut studio) = studio() else { return };
    let view = View { players: Vec::new(), ..hall() };
    let mut models = view.scene.models.clone();
    let mut broken = (*models[3].mesh).clone();
    broken.indices[5] = u32::MAX;
    let lying = Image { width: 4000, height: 4000, rgba: vec![0; 16] };
    let material = Material { image: Some(Arc::new(lying)), ..Material::default() };
    models[3].mesh = Arc::new(broken);
    models[4].mesh = Arc::new(Mesh { materials: vec![material], ..(*models[4].mesh).clone() });
    models[5].transform.translation.x = f32::NAN;
    let scene = Scene { models, ..(*view.scene).clone() };
    let picture = take(&mut studio, &View { scene: Arc::new(scene), ..view.clone() });
    assert_eq!(picture.report.models_left_out, 2);
    assert_eq!(take(&mut studio, &view).report.models_left_out, 0);
}

#[test]
fn a_sun_without_shadows_and_a_stronger_sky_make_a_brighter_picture() {
    let Some(mut studio) = studio() else { return };
    let view = View { players: Vec::new(), hud: Hud::default(), ..yard() };
    let mut light = |change: fn(&mut Scene)| -> u64 {
        let mut scene = (*view.scene).clone();
        change(&mut scene);
        let view = View { scene: Arc::new(scene), ..view.clone() };
        studio.picture(&view, 320, 180).unwrap().rgba.iter().map(|it| u64::from(*it)).sum()
    };
    let plain = light(|_| ());
    assert!(light(|scene| scene.sun.shadows = false) > plain);
    assert!(light(|scene| scene.sky.strength = 2.0) > plain);
}

#[test]
fn while_a_map_is_waited_for_one_line_is_shown_and_nothing_of_another_world() {
    let Some(mut studio) = studio() else { return };
    let waiting = |map: &str| View { loading: Some(map.to_owned()), ..yard() };
    let picture = take(&mut studio, &waiting("core:assets/demo.dh-map"));
    let unnamed = take(&mut studio, &waiting(""));
    assert_eq!((picture.report.world_triangles, picture.report.players_drawn), (0, 0));
    assert!(picture.report.players.is_empty() && picture.report.hud_runs == 5);
    let plain = picture.pixel(3, 3).unwrap();
    let panel = picture.report.hud.unwrap();
    let written = |picture: &Picture| {
        let places = (0..SIZE[1]).flat_map(|y| (0..SIZE[0]).map(move |x| (x, y)));
        let other = |(x, y): &(u32, u32)| picture.pixel(*x, *y).unwrap() != plain;
        places.filter(|(x, y)| !panel.contains(*x, *y)).filter(other).collect::<Vec<_>>()
    };
    let (named, short) = (written(&picture), written(&unnamed));
    assert!(named.len() > short.len() && !short.is_empty());
    assert!(named.iter().all(|(_, y)| (330..390).contains(y)), "one line in the middle");
    let (before, after) = (take(&mut studio, &yard()), take(&mut studio, &yard()));
    assert!(before == after && before.report.world_triangles > 0, "and then the world");
}

/// Two walls that meet, each looked at in cells of so many pixels: light falls off towards the
/// corner without a step from one cell to the next.
#[test]
fn the_shade_of_a_corner_has_no_edges() {
    const CELL: u32 = 12;
    let Some(mut studio) = studio() else { return };
    let made = |centre: [f32; 3], half: [f32; 3]| BoxView {
        material: Some(0),
        ..BoxView::upright(centre.into(), half.into(), Colour(0xff_ff_ff))
    };
    let boxes = [
        made([0.0, -0.1, 0.0], [6.0, 0.1, 6.0]),
        made([0.0, 1.8, -4.0], [6.0, 1.8, 0.15]),
        made([4.0, 1.8, 0.0], [0.15, 1.8, 6.0]),
    ];
    let mut scene = Scene { materials: vec![Material::default()], ..Scene::of_boxes(boxes.into()) };
    scene.sun.strength = 0.0;
    scene.camera = Camera::look_at(Vec3::new(1.6, 1.7, -0.6), Vec3::new(2.6, 1.7, -3.85), 1.0);
    let picture = take(&mut studio, &View::of(Arc::new(scene)));
    let light = |left: u32, top: u32| -> f32 {
        let pixels = (0..CELL * CELL).map(|at| (left + at % CELL, top + at / CELL));
        let sum: u32 = pixels.map(|(x, y)| u32::from(picture.pixel(x, y).unwrap()[1])).sum();
        sum as f32 / (CELL * CELL) as f32
    };
    let mut worst = 0.0_f32;
    for top in (150..480).step_by(CELL as usize) {
        let row: Vec<f32> = (200..680).step_by(CELL as usize).map(|at| light(at, top)).collect();
        let steps = row.windows(3).map(|it| (it[0] - 2.0 * it[1] + it[2]).abs());
        worst = steps.fold(worst, f32::max);
    }
    assert!(worst < 3.5, "{worst}");
}
