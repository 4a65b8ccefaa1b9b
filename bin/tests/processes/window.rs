//! The window, on a display that nobody sees: what its user does arrives, what it shows is right.

mod booth;
mod keys;
mod pane;
mod play;

use std::process::Command;

use crate::demo::has_adapter;
use crate::display::Display;

/// Tells a test that it runs for itself, with a display.
const INNER: &str = "DH_TEST_ON_DISPLAY";
const TITLE: &str = "Driftholm";

/// Run the test of this name in a process of its own, which has a display. A process opens
/// windows on the display that its environment names, and on one only.
fn on_a_display(name: &str, test: impl FnOnce(&Display)) {
    if let Ok(display) = std::env::var(INNER) {
        return test(&Display::attach(&display));
    }
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let inner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env("DISPLAY", &display.name)
        .env_remove("WAYLAND_DISPLAY")
        .env(INNER, &display.name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&inner.stdout) + String::from_utf8_lossy(&inner.stderr);
    assert!(inner.status.success() && said.contains("1 passed"), "{said}");
}
