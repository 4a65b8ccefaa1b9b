//! Views in, draw lists out, without a GPU.

use std::sync::Arc;

use dh_view::{BoxView, Camera, PixelBox, PlayerView, Scene, Sun, View, palette};
use glam::{Quat, Vec3};

use super::book::Book;
use super::budget::Limits;
use super::capsule::Capsule;
use super::lens::{Lens, whole};
use super::{DrawList, SHADOW_SPAN_MAX, SUN_SIDE, ShadowFrame};
use crate::gray_box::yard;

fn list(view: &View) -> DrawList {
    let mut book = Book::new(1 << 28, Limits::CARD);
    book.read(&view.scene);
    DrawList::new(view, &book, &Capsule::new(), 1280, 720)
}

fn player(feet: Vec3) -> PlayerView {
    PlayerView {
        id: 7,
        name: String::from("ada"),
        feet,
        yaw: 0.0,
        pitch: 0.0,
        height: PlayerView::STANDING,
        colour: palette::player(0),
    }
}

/// A floor, seen from 10 m away along -z.
fn plain(players: Vec<PlayerView>) -> View {
    let floor = BoxView::upright(Vec3::NEG_Y, Vec3::new(30.0, 1.0, 30.0), palette::FLOOR);
    let camera = Camera::look_at(Vec3::new(0.0, 3.0, 10.0), Vec3::Y, Camera::FOV);
    View { camera, players, ..View::of(scene_of([floor].into())) }
}

fn scene_of(boxes: Arc<[BoxView]>) -> Arc<Scene> {
    Arc::new(Scene::of_boxes(boxes))
}

/// The same view under another sun.
fn under(view: View, toward: Vec3) -> View {
    let sun = Sun { toward, ..view.scene.sun };
    View { scene: Arc::new(Scene { sun, ..(*view.scene).clone() }), ..view }
}

fn middle(found: PixelBox) -> (u32, u32) {
    ((found.left + found.right) / 2, (found.top + found.bottom) / 2)
}

#[test]
fn only_boxes_the_camera_sees_are_counted_and_the_others_still_cast_shadows() {
    let mut view = plain(Vec::new());
    let ahead = BoxView::upright(Vec3::Y, Vec3::splat(0.5), palette::CRATE);
    let behind = BoxView { centre: Vec3::new(0.0, 1.0, 20.0), ..ahead };
    view.scene = scene_of([behind, view.scene.boxes[0], ahead].into());
    let list = list(&view);
    assert_eq!((list.boxes.seen, list.world_triangles(), list.boxes.instances.len()), (2, 24, 3));
    let last = list.boxes.instances[2].centre[2];
    assert!((last - 20.0).abs() < 1e-6, "what is not seen comes last");
}

#[test]
fn a_player_in_the_middle_is_drawn_in_the_middle_with_the_name_above_the_head() {
    let list = list(&plain(vec![player(Vec3::ZERO)]));
    let mark = &list.marks[0];
    let body = mark.body.unwrap();
    assert!(body.contains(640, 360) && body.right - body.left < body.bottom - body.top);
    let tag = mark.tag.unwrap();
    assert!((tag.x - 640.0).abs() < 1.0 && tag.y < body.top as f32);
    assert!(mark.visible && list.players_seen == 1);
    assert!(mark.shadow.unwrap().bottom > body.bottom - 20, "the shadow starts at the feet");
}

#[test]
fn a_player_who_crouches_fills_fewer_rows_and_keeps_the_feet() {
    let tall = list(&plain(vec![player(Vec3::ZERO)])).marks[0].body.unwrap();
    let crouched = PlayerView { height: PlayerView::CROUCHED, ..player(Vec3::ZERO) };
    let short = list(&plain(vec![crouched])).marks[0].body.unwrap();
    assert!(short.top > tall.top + 30 && short.bottom.abs_diff(tall.bottom) <= 1);
}

#[test]
fn a_player_behind_the_camera_is_not_drawn_but_its_shadow_may_be() {
    let low_sun = Vec3::new(0.0, 0.3, 1.0).normalize();
    let list = list(&under(plain(vec![player(Vec3::new(0.0, 0.0, 12.0))]), low_sun));
    let mark = &list.marks[0];
    assert!(mark.body.is_none() && mark.tag.is_none() && !mark.visible);
    assert_eq!((list.players_seen, list.players.len()), (0, 1));
    assert!(mark.shadow.is_some(), "it falls past the camera");
}

#[test]
fn a_player_behind_a_wall_keeps_the_box_and_loses_the_name() {
    let mut view = plain(vec![player(Vec3::new(0.0, 0.0, -3.0))]);
    let wall = BoxView::upright(Vec3::Y, Vec3::new(2.0, 2.0, 0.2), palette::WALL);
    view.scene = scene_of([view.scene.boxes[0], wall].into());
    let mark = list(&view).marks.remove(0);
    assert!(mark.body.is_some() && !mark.visible && mark.tag.is_none());
}

#[test]
fn a_player_at_the_eye_takes_the_whole_picture_rather_than_too_little() {
    let view = plain(vec![player(Vec3::new(0.0, 2.0, 9.9))]);
    let body = list(&view).marks[0].body.unwrap();
    assert_eq!((body.left, body.top, body.right, body.bottom), (0, 0, 1280, 720));
}

#[test]
fn a_name_is_shown_up_to_32_characters_and_without_control_characters() {
    let mut named = player(Vec3::ZERO);
    named.name = format!("a\n\tb{}", "x".repeat(60));
    let mark = list(&plain(vec![named])).marks.remove(0);
    assert_eq!((mark.name.chars().count(), &mark.name[..3]), (32, "abx"));
    let nameless = PlayerView { name: String::new(), ..player(Vec3::ZERO) };
    assert!(list(&plain(vec![nameless])).marks[0].tag.is_none());
}

#[test]
fn players_do_not_move_what_the_depth_maps_cover() {
    let with = list(&yard());
    let without = list(&View { players: Vec::new(), ..yard() });
    assert_eq!(with.sun.clip_from_world(), without.sun.clip_from_world());
    assert_eq!(with.top.clip_from_world(), without.top.clip_from_world());
    assert_eq!(with.boxes.instances, without.boxes.instances);
}

#[test]
fn a_depth_map_covers_a_small_world_whole_and_a_large_one_around_the_focus() {
    let inside = |frame: &ShadowFrame, at: Vec3| {
        let clip = frame.clip_from_world().project_point3(at);
        clip.x.abs() <= 1.0 && clip.y.abs() <= 1.0 && (0.0..=1.0).contains(&clip.z)
    };
    let view = yard();
    let fit = |scene: &Scene, focus| {
        ShadowFrame::fit(scene, view.scene.sun.toward, focus, SHADOW_SPAN_MAX, SUN_SIDE)
    };
    let small = fit(&view.scene, Vec3::splat(1e4));
    for item in view.scene.boxes.iter() {
        assert!(inside(&small, item.centre + item.half) && inside(&small, item.centre - item.half));
    }
    let plain = BoxView::upright(Vec3::ZERO, Vec3::new(900.0, 1.0, 900.0), palette::FLOOR);
    let focus = Vec3::new(300.0, 0.0, -200.0);
    let large = fit(&scene_of([plain].into()), focus);
    assert!(inside(&large, focus) && !inside(&large, Vec3::ZERO));
    assert!(
        fit(&Scene::empty(), focus).clip_from_world().is_finite(),
        "even where there is no world"
    );
}

/// The oracle is a plain ray: from points of the body along the light to the first box, and from
/// the eye to there.
#[test]
fn where_a_ray_of_the_sun_is_stopped_by_a_player_its_shadow_box_says_so() {
    let shape = Capsule::new();
    let suns = [Vec3::new(-0.6, 0.66, 0.4), Vec3::new(0.5, 0.4, -0.7), Vec3::Y];
    let eyes =
        [Vec3::new(10.6, 4.7, 10.6), Vec3::new(-15.0, 2.0, 12.0), Vec3::new(2.0, 9.0, -16.0)];
    let mut landed = 0;
    for (toward, eye) in suns.iter().flat_map(|sun| eyes.map(|eye| (sun.normalize(), eye))) {
        let mut view = under(yard(), toward);
        view.camera = Camera::look_at(eye, Vec3::Y, Camera::FOV);
        let list = list(&view);
        for (player, mark) in view.players.iter().zip(&list.marks) {
            for from in shape.placed(player).step_by(5) {
                let Some(ground) = first_hit(&view.scene.boxes, from, -toward) else { continue };
                let Some((x, y)) = shown(&list.lens, &view.scene.boxes, ground) else { continue };
                landed += 1;
                let found = mark.shadow.unwrap_or_else(|| panic!("{} has none", mark.name));
                assert!(
                    found.contains(x, y),
                    "{} at {ground}: {x},{y} not in {found:?}",
                    mark.name
                );
            }
        }
    }
    assert!(landed > 5_000, "only {landed} rays landed on the picture");
}

#[test]
fn a_shadow_box_is_not_much_larger_than_the_shadow() {
    let list = list(&under(plain(vec![player(Vec3::ZERO)]), Vec3::Y));
    let (body, shadow) = (list.marks[0].body.unwrap(), list.marks[0].shadow.unwrap());
    assert!(shadow.right - shadow.left < 2 * (body.right - body.left), "{shadow:?} {body:?}");
    assert_eq!(middle(shadow).0, middle(body).0);
}

/// The first point of a box on the way from `from`, leaving out a start inside of one.
fn first_hit(boxes: &[BoxView], from: Vec3, way: Vec3) -> Option<Vec3> {
    let nearest = boxes.iter().filter_map(|item| enter(item, from, way)).reduce(f32::min);
    nearest.filter(|far| *far > 0.0).map(|far| from + way * far)
}

fn enter(item: &BoxView, from: Vec3, way: Vec3) -> Option<f32> {
    let back: Quat = item.rotation.inverse();
    let (from, way) = (back * (from - item.centre), back * way);
    let (a, b) = ((-item.half - from) / way, (item.half - from) / way);
    let (near, far) = (a.min(b).max_element(), a.max(b).min_element());
    (near < far && far > 0.0).then_some(near)
}

/// The pixel of a point of the world, if nothing of the world lies before it.
fn shown(lens: &Lens, boxes: &[BoxView], point: Vec3) -> Option<(u32, u32)> {
    let way = point - lens.eye;
    let hit = first_hit(boxes, lens.eye, way)?;
    let at = lens.pixel(point)?;
    let on_picture = at.x >= 0.0 && at.y >= 0.0 && at.x < 1280.0 && at.y < 720.0;
    let free = hit.distance(point) < 1e-2;
    (on_picture && free).then_some((whole(at.x, 1280), whole(at.y, 720)))
}
