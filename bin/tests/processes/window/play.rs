//! `dh play` in a window: what a person does there, and what becomes of the process.

use std::thread;
use std::time::Duration;

use dh_sim::GrayBox;
use serde_json::Value;
use x11rb::protocol::xproto::Window;

use super::TITLE;
use super::keys::{C, ESCAPE, W};
use crate::demo::has_adapter;
use crate::display::Display;
use crate::process::Process;

/// The world with its window, once somebody stands in it.
fn play(display: &Display) -> (Process, Window) {
    let map = "core:assets/gray-box.dh-map";
    let words = ["play", "--map", map, "--peers", "1", "--picture", "seen.png", "--json"];
    let variables = [("DISPLAY", display.name.as_str()), ("WAYLAND_DISPLAY", "")];
    let mut demo = Process::start_with(&words, &variables);
    demo.line_with("spawned");
    let window = display.window(TITLE);
    thread::sleep(Duration::from_millis(500));
    (demo, window)
}

/// Where the eye was when the window closed, and its heading.
fn seen(demo: &mut Process) -> (Vec<f64>, f64) {
    let ended = demo.end();
    assert!(ended.status.success(), "{ended:?}");
    let told: Value = serde_json::from_str(ended.out.last().unwrap()).unwrap();
    let camera = &told["picture"]["camera"];
    let eye = camera["eye"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap());
    (eye.collect(), camera["yaw"].as_f64().unwrap())
}

#[test]
fn a_person_at_the_window_walks_looks_around_and_closes_it() {
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let (mut demo, window) = play(&display);
    display.click();
    thread::sleep(Duration::from_millis(500));
    display.turn(150);
    display.key(W, true);
    thread::sleep(Duration::from_secs(2));
    display.key(W, false);
    display.key(ESCAPE, true);
    display.key(ESCAPE, false);
    // The pointer is free again: nothing turns any more.
    display.turn(-600);
    thread::sleep(Duration::from_millis(500));
    display.close(window);
    let (eye, yaw) = seen(&mut demo);
    let spawns = GrayBox::new().spawns();
    let walked = spawns
        .iter()
        .map(|spawn| (f64::from(spawn.feet.x) - eye[0]).hypot(f64::from(spawn.feet.z) - eye[2]));
    assert!(walked.fold(f64::MAX, f64::min) > 1.0, "{eye:?}");
    assert!((-0.9..-0.2).contains(&yaw), "to the right, while the pointer was held: {yaw}");
    assert!(demo.home().join("seen.png").exists());
}

#[test]
fn without_a_display_one_line_says_so_and_play_goes_on() {
    let nowhere = [("DISPLAY", ""), ("WAYLAND_DISPLAY", "")];
    let words = ["play", "--seconds", "1", "--peers", "1"];
    let ended = Process::start_with(&words, &nowhere).end();
    assert!(ended.status.success(), "{ended:?}");
    let lines = ended.err.iter().filter(|line| line.contains("headless"));
    assert_eq!(lines.count(), 1, "{ended:?}");
}

#[test]
fn a_person_who_crouches_looks_from_lower_down_and_walks_no_further_without_the_keyboard() {
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let (mut demo, window) = play(&display);
    display.close(window);
    let (standing, _) = seen(&mut demo);

    let (mut demo, window) = play(&display);
    display.key(W, true);
    thread::sleep(Duration::from_millis(300));
    display.focus_elsewhere();
    thread::sleep(Duration::from_millis(300));
    display.focus(window);
    thread::sleep(Duration::from_secs(2));
    display.key(W, false);
    display.key(C, true);
    thread::sleep(Duration::from_secs(1));
    display.close(window);
    let (eye, _) = seen(&mut demo);
    display.key(C, false);
    assert!((0.3..1.5).contains(&(standing[1] - eye[1])), "{standing:?} {eye:?}");
    let walked = (standing[0] - eye[0]).hypot(standing[2] - eye[2]);
    assert!((0.1..5.0).contains(&walked), "{standing:?} {eye:?}");
}

#[test]
fn a_window_that_nobody_sees_costs_little_and_shows_the_world_again_when_it_is_back() {
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let (mut demo, window) = play(&display);
    let spent = |time: Duration| {
        let before = demo.cpu_time();
        thread::sleep(time);
        demo.cpu_time().saturating_sub(before)
    };
    let open = spent(Duration::from_secs(3));
    display.minimise(window, true);
    thread::sleep(Duration::from_millis(500));
    let hidden = spent(Duration::from_secs(3));
    assert!(hidden * 2 < open, "{hidden:?} hidden, {open:?} seen");
    display.minimise(window, false);
    thread::sleep(Duration::from_secs(1));
    let (_, pixels) = display.pixels(window);
    let again = spent(Duration::from_secs(3));
    assert!(again > hidden * 2, "{again:?} seen again, {hidden:?} hidden");
    assert!(pixels.iter().any(|pixel| *pixel != pixels[0]), "it shows something");
    // Without a window manager it is only gone, and the program goes on at its pace.
    display.unmap(window);
    let gone = spent(Duration::from_secs(2));
    assert!(gone < Duration::from_secs(4), "{gone:?}");
    display.map(window);
    thread::sleep(Duration::from_secs(1));
    let (_, pixels) = display.pixels(window);
    assert!(pixels.iter().any(|pixel| *pixel != pixels[0]), "it shows something");
    display.close(window);
    seen(&mut demo);
}
