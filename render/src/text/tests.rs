//! Lists in, boxes of text out, without a GPU.

use std::sync::Arc;

use dh_view::{Hud, PixelBox, PlayerView, Scene, View};
use glam::Vec3;

use super::Lettering;
use crate::gray_box::yard;
use crate::overlay::Overlay;
use crate::scene::DrawList;
use crate::scene::book::Book;
use crate::scene::capsule::Capsule;

fn list(view: &View) -> DrawList {
    DrawList::new(view, &Book::default(), &Capsule::new(), 1280, 720)
}

fn lettering(view: &View) -> Lettering {
    let list = list(view);
    Lettering::new(&list, &view.hud)
}

fn tags(view: &View) -> Vec<PixelBox> {
    lettering(view).tags.into_iter().flatten().collect()
}

#[test]
fn names_never_cover_one_another_even_where_players_stand_in_line() {
    let mut view = yard();
    let away = (view.players[0].feet - view.camera.eye).with_y(0.0).normalize();
    let first = view.players[0].clone();
    view.players = (0..5_u8)
        .map(|place| PlayerView {
            feet: first.feet + away * (0.2 * f32::from(place)),
            name: format!("player {place}"),
            ..first.clone()
        })
        .collect();
    let tags = tags(&view);
    assert_eq!(tags.len(), 5);
    for (index, tag) in tags.iter().enumerate() {
        // One pixel of each is the smooth edge.
        let inner = PixelBox { left: tag.left + 1, top: tag.top + 1, ..*tag };
        assert!(tags[index + 1..].iter().all(|other| !other.overlaps(inner)), "{tags:?}");
    }
}

#[test]
fn a_name_at_the_border_is_moved_in_so_that_it_can_be_read_whole() {
    let mut view = yard();
    view.players.truncate(1);
    view.players[0].name = "n".repeat(32);
    view.camera.yaw += 0.95;
    let list = list(&view);
    let anchor = list.marks[0].tag.unwrap();
    let tag = Lettering::new(&list, &view.hud).tags[0].unwrap();
    assert!(anchor.x > 1180.0, "{anchor}");
    assert!(tag.right < 1280 && tag.right - tag.left > 200, "{tag:?}");
}

#[test]
fn a_nearer_player_has_a_larger_name() {
    let mut view = yard();
    view.players.truncate(1);
    let tall = |view: &View| tags(view).first().map(|tag| tag.bottom - tag.top).unwrap();
    let near = tall(&view);
    let away = (view.players[0].feet - view.camera.eye).with_y(0.0).normalize();
    view.scene = Arc::new(Scene::empty());
    view.players[0].feet += away * 20.0 + Vec3::Y;
    assert!(tall(&view) < near);
}

#[test]
fn the_panel_counts_what_it_shows_and_stops_at_its_limits() {
    let mut view = yard();
    assert_eq!(lettering(&view).hud_runs, 5);
    view.hud.lines = vec!["x".repeat(5_000); 500];
    let full = lettering(&view);
    assert_eq!(full.hud_runs as usize, Hud::LINES_MAX);
    assert!(full.hud.unwrap().right < 1280);
    view.hud.lines = vec![String::new()];
    assert_eq!((lettering(&view).hud_runs, lettering(&view).hud), (0, None));
}

#[test]
fn panels_never_cover_one_another_at_any_size_of_a_window() {
    let view = yard();
    let lines =
        |many: usize| vec![String::from("a line of some length, as drivers have them"); many];
    let detailed = Overlay { lines: lines(9), graph: vec![33.0; 120], hint: Some("click to look") };
    let mut both = 0;
    for (width, height) in [(160, 90), (300, 200), (640, 360), (1280, 720), (1920, 400), (400, 900)]
    {
        let list = DrawList::new(&view, &Book::default(), &Capsule::new(), width, height);
        let shown = |overlay: &Overlay| {
            let ctx = egui::Context::default();
            Lettering::over(&ctx, &list, &view.hud, overlay).panels
        };
        let panels = shown(&detailed);
        assert!(!panels.is_empty(), "the panel is there at {width}x{height}");
        for (index, panel) in panels.iter().enumerate() {
            let others = &panels[index + 1..];
            assert!(!others.iter().any(|other| other.overlaps(*panel)), "{panels:?}");
        }
        both += usize::from(panels.len() == 3);
        let plain = shown(&Overlay::default());
        assert_eq!(plain.len(), 1);
    }
    assert!(both >= 2, "where there is room all are shown");
}
