//! The window by itself: what it shows, and what its keys are for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_view::{Camera, Hud, RenderMsg, View};

use super::booth::{Booth, difference, gray_box};
use super::keys::{C, CONTROL, D, ESCAPE, F3, SPACE, W};
use super::{TITLE, on_a_display};

/// From the corner of the picture to a panel, pixels.
const PANEL_AT: usize = 16;

#[test]
fn the_window_shows_the_picture_and_shows_it_again_after_its_device_was_lost() {
    let name = "window::pane::\
                the_window_shows_the_picture_and_shows_it_again_after_its_device_was_lost";
    on_a_display(name, |display| {
        let mut booth = Booth::open();
        let window = display.window(TITLE);
        let view = Arc::new(gray_box());
        booth.show(&view, 5);
        let shown = display.pixels(window);
        let taken = booth.picture(shown.0);
        assert!(difference(&shown, &taken) <= 1.0, "{}", difference(&shown, &taken));

        let yaw = view.camera.yaw + 5_f32.to_radians();
        let turned = Arc::new(View { camera: Camera { yaw, ..view.camera }, ..(*view).clone() });
        booth.show(&turned, 1);
        let aside = booth.picture(shown.0);
        assert!(difference(&shown, &aside) > 1.0, "{}", difference(&shown, &aside));

        booth.tell(RenderMsg::Drill);
        let until = Instant::now() + Duration::from_secs(30);
        while difference(&display.pixels(window), &aside) > 1.0 {
            assert!(Instant::now() < until, "the window stayed as it was");
            booth.show(&turned, 1);
        }
        display.resize(window, 640, 400);
        booth.show(&view, 5);
        let small = display.pixels(window);
        assert_eq!(small.0, 640);
        let taken = booth.picture(small.0);
        assert!(difference(&small, &taken) <= 1.0, "{}", difference(&small, &taken));
    });
}

#[test]
fn details_change_the_picture_in_two_corners_only_and_leave_it_as_it_was() {
    let name = "window::pane::\
                details_change_the_picture_in_two_corners_only_and_leave_it_as_it_was";
    on_a_display(name, |display| {
        let mut booth = Booth::open();
        booth.plain = false;
        let window = display.window(TITLE);
        let lines = ["fps 60", "ping 42.0 ms"].map(String::from).to_vec();
        let hud = Hud { lines, detail: vec![String::from("correction 0.0 mm")] };
        let view = Arc::new(View { hud, ..gray_box() });
        booth.show(&view, 5);
        let (wide, before) = display.pixels(window);
        display.tap(F3);
        booth.until("details are asked for", dh_render::Window::wants_detail);
        booth.show(&view, 5);
        let (_, with) = display.pixels(window);
        let changed = |at: &usize| before[*at] != with[*at];
        let places: Vec<usize> = (0..before.len()).filter(changed).collect();
        for left in [true, false] {
            let half = places.iter().filter(|at| (*at % wide < wide / 2) == left);
            let (columns, rows): (Vec<_>, Vec<_>) = half.map(|at| (at % wide, at / wide)).unzip();
            let (first, last) = (columns.iter().min().unwrap(), columns.iter().max().unwrap());
            let (top, bottom) = (rows.iter().min().unwrap(), rows.iter().max().unwrap());
            let side = if left { *first } else { wide - 1 - last };
            assert!(side.abs_diff(PANEL_AT) <= 1 && top.abs_diff(PANEL_AT) <= 1, "{side} {top}");
            let area = (last + 1 - first) * (bottom + 1 - top);
            assert!(last - first < wide / 2 && bottom - top < 300, "{area}");
            assert!(columns.len() * 10 > area * 9, "nearly all of a panel: {}", columns.len());
        }
        display.tap(F3);
        booth.until("details are gone", |window| !window.wants_detail());
        booth.show(&view, 5);
        assert!(display.pixels(window).1 == before, "the same picture again");
    });
}

#[test]
fn keys_are_for_jumping_and_crouching_as_long_as_they_are_held() {
    let name = "window::pane::keys_are_for_jumping_and_crouching_as_long_as_they_are_held";
    on_a_display(name, |display| {
        let mut booth = Booth::open();
        display.window(TITLE);
        booth.wait(Duration::from_millis(200));
        for (key, what) in [(SPACE, 0), (C, 1), (CONTROL, 1), (W, 2), (D, 3)] {
            let held = |window: &dh_render::Window| {
                let hands = window.hands();
                [hands.jump, hands.crouch, hands.ahead, hands.right]
            };
            let only: [bool; 4] = std::array::from_fn(|at| at == what);
            display.key(key, true);
            booth.until("the key is held", |window| held(window) == only);
            // As long as a display waits before it repeats a key, and longer.
            booth.wait(Duration::from_millis(1_200));
            assert_eq!(held(&booth.window), only);
            display.key(key, false);
            booth.until("the key is let go", |window| held(window) == [false; 4]);
        }
    });
}

#[test]
fn a_click_holds_the_pointer_and_escape_lets_go_of_it_and_of_every_key() {
    let name = "window::pane::a_click_holds_the_pointer_and_escape_lets_go_of_it_and_of_every_key";
    on_a_display(name, |display| {
        let mut booth = Booth::open();
        display.window(TITLE);
        booth.wait(Duration::from_millis(200));
        display.turn(50);
        booth.wait(Duration::from_millis(200));
        assert_eq!((booth.window.hands().yaw, display.is_pointer_held()), (0.0, false));
        for _ in 0..2 {
            display.click();
            booth.until("the pointer is held", dh_render::Window::is_captured);
            assert!(display.is_pointer_held());
            let before = booth.window.hands();
            display.turn(50);
            booth.until("it turns the look", |window| window.hands() != before);
            display.key(W, true);
            booth.until("a key is held", |window| window.hands().ahead);
            display.tap(ESCAPE);
            booth.until("the pointer is free", |window| !window.is_captured());
            let after = booth.window.hands();
            assert_eq!(after, after.released());
            display.turn(-50);
            booth.wait(Duration::from_millis(1_200));
            assert_eq!(booth.window.hands(), after, "W is held still, and for nothing");
            assert!(!display.is_pointer_held());
            display.key(W, false);
        }
    });
}

#[test]
fn without_the_keyboard_nothing_is_held_and_nothing_moves_by_itself_when_it_is_back() {
    let name = "window::pane::\
                without_the_keyboard_nothing_is_held_and_nothing_moves_by_itself_when_it_is_back";
    on_a_display(name, |display| {
        let mut booth = Booth::open();
        let window = display.window(TITLE);
        booth.wait(Duration::from_millis(200));
        display.click();
        booth.until("the pointer is held", dh_render::Window::is_captured);
        display.key(W, true);
        display.key(C, true);
        booth.until("both are held", |it| it.hands().ahead && it.hands().crouch);
        display.focus_elsewhere();
        booth.until("all is let go", |it| it.hands() == it.hands().released());
        booth.until("the pointer too", |it| !it.is_captured());
        assert!(!display.is_pointer_held());
        display.key(C, false);
        display.focus(window);
        // The display repeats W, which is held still.
        let until = Instant::now() + Duration::from_millis(1_500);
        while Instant::now() < until {
            booth.wait(Duration::from_millis(20));
            let hands = booth.window.hands();
            assert_eq!(hands, hands.released());
        }
        assert!(!booth.window.is_captured());
        display.key(W, false);
        booth.wait(Duration::from_millis(100));
        display.key(W, true);
        booth.until("it is pressed anew", |it| it.hands().ahead);
        display.key(W, false);
        booth.until("and let go", |it| !it.hands().ahead);
        display.close(window);
        booth.until("it is closed", dh_render::Window::is_closed);
    });
}
