//! `dh` alone: the world, its players, the picture and the table of actors.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde_json::Value;

use crate::process::{Ended, Process};
use crate::session::server_with;

/// Variables that hide every graphics driver.
const NO_DRIVERS: [(&str, &str); 5] = [
    ("VK_DRIVER_FILES", "/nonexistent"),
    ("VK_ICD_FILENAMES", "/nonexistent"),
    ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent"),
    ("LIBGL_DRIVERS_PATH", "/nonexistent"),
    ("GBM_BACKENDS_PATH", "/nonexistent"),
];

/// A finished run: what it said as data, and the pixels of its picture.
struct Run {
    told: Value,
    width: usize,
    pixels: Vec<u8>,
}

type Box4 = [i64; 4];

/// Without an adapter the picture tests say so loudly and pass, unless the switch makes it a fault.
pub(crate) fn has_adapter() -> bool {
    let mut doctor = Process::start(&["doctor", "--json"]);
    let told: Value = serde_json::from_str(&doctor.end().out.join("")).unwrap();
    let checks = told["checks"].as_array().unwrap();
    let found = checks.iter().any(|check| check["name"] == "adapter" && check["ok"] == true);
    let required = std::env::var_os("DH_REQUIRE_ADAPTER").is_some_and(|value| value == "1");
    assert!(found || !required, "DH_REQUIRE_ADAPTER=1, and there is no graphics adapter");
    if !found {
        eprintln!("SKIPPED: no graphics adapter; apt-get install mesa-vulkan-drivers");
    }
    found
}

fn run(peers: &str) -> Run {
    let words = ["play", "--headless", "--seconds", "3", "--peers", peers, "--json"];
    let mut demo = Process::start(&words);
    let ended = demo.end();
    assert!(ended.status.success(), "{ended:?}");
    let told: Value = serde_json::from_str(&ended.out.join("")).unwrap();
    let (width, pixels) = read_png(&demo.home().join("driftholm.png"));
    Run { told, width, pixels }
}

fn read_png(path: &Path) -> (usize, Vec<u8>) {
    let decoder = png::Decoder::new(BufReader::new(File::open(path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgba);
    (info.width as usize, pixels)
}

impl Run {
    fn players(&self) -> &[Value] {
        self.told["picture"]["players"].as_array().unwrap()
    }

    /// Every box a player may have changed, grown by two pixels.
    fn boxes(&self) -> Vec<Box4> {
        let parts = |player: &Value| ["body", "tag", "shadow"].map(|part| corners(&player[part]));
        self.players().iter().flat_map(parts).flatten().map(|it| grown(it, 2)).collect()
    }

    fn hud(&self) -> Box4 {
        corners(&self.told["picture"]["hud"]).unwrap()
    }
}

fn corners(value: &Value) -> Option<Box4> {
    let corners: Vec<i64> = value.as_array()?.iter().map(|it| it.as_i64().unwrap()).collect();
    corners.try_into().ok()
}

fn grown([left, top, right, bottom]: Box4, by: i64) -> Box4 {
    [left - by, top - by, right + by, bottom + by]
}

fn holds([left, top, right, bottom]: Box4, (x, y): (i64, i64)) -> bool {
    left <= x && x < right && top <= y && y < bottom
}

/// The pixels in which two pictures differ.
fn differing(a: &Run, b: &Run) -> Vec<(i64, i64)> {
    let pairs = a.pixels.chunks(4).zip(b.pixels.chunks(4)).enumerate();
    let number = |at: usize| i64::try_from(at).unwrap();
    let place = |at: usize| (number(at % a.width), number(at / a.width));
    pairs.filter(|(_, (a, b))| a != b).map(|(at, _)| place(at)).collect()
}

#[test]
fn the_picture_changes_where_players_are_and_nowhere_else() {
    if !has_adapter() {
        return;
    }
    let (empty, full) = (run("0"), run("8"));
    assert_eq!(empty.players().len(), 1, "the local player");
    assert_eq!(full.players().len(), 9);
    assert!(full.told["picture"]["worldTriangles"].as_u64().unwrap() >= 600);
    assert!(full.told["picture"]["hudRuns"].as_u64().unwrap() >= 5);
    let named = |player: &&Value| player["visible"] == true && !player["tag"].is_null();
    assert!(full.players().iter().filter(named).count() >= 2, "two named players are visible");

    let boxes: Vec<Box4> = [empty.boxes(), full.boxes()].concat();
    let huds = [grown(empty.hud(), 2), grown(full.hud(), 2)];
    let changed = differing(&empty, &full);
    let stray =
        changed.iter().find(|pixel| !boxes.iter().chain(&huds).any(|it| holds(*it, **pixel)));
    assert_eq!(stray, None, "a pixel differs outside every listed box");
    for player in full.players().iter().filter(|player| player["visible"] == true) {
        let body = corners(&player["body"]).unwrap();
        assert!(changed.iter().any(|pixel| holds(body, *pixel)), "{player} is not on the picture");
    }
}

#[test]
fn the_table_of_actors_names_everybody_who_ran() {
    let words = ["play", "--headless", "--seconds", "1", "--peers", "2"];
    let ended = Process::start_with(&words, &NO_DRIVERS).end();
    assert!(ended.status.success(), "{ended:?}");
    for actor in ["tick", "roster", "listener", "session", "predictor", "presenter", "connection"] {
        assert!(ended.out.iter().any(|line| line.contains(actor)), "{actor} in {ended:?}");
    }
}

#[test]
fn a_client_says_where_its_picture_lies() {
    if !has_adapter() {
        return;
    }
    let (_server, address) = server_with(&[]);
    let words = ["client", "--connect", &address, "--headless", "--seconds", "1", "--picture"];
    let mut client = Process::start(&[&words[..], &["seen.png"]].concat());
    client.line_with("seen.png: 1 player, drawn by ");
    assert!(client.end().status.success() && client.home().join("seen.png").exists());
}

/// The lines on stderr that name what to install.
fn told_to_install(ended: &Ended) -> usize {
    ended.err.iter().filter(|line| line.contains("mesa-vulkan-drivers")).count()
}

#[test]
fn without_drivers_the_demo_says_what_to_install_and_plays_on() {
    let words = ["play", "--headless", "--seconds", "1", "--peers", "1"];
    let mut demo = Process::start_with(&words, &NO_DRIVERS);
    let ended = demo.end();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(told_to_install(&ended), 1, "{ended:?}");
    assert!(!demo.home().join("driftholm.png").exists());
}

#[test]
fn a_picture_that_was_asked_for_and_cannot_be_drawn_is_exit_69() {
    let words = ["play", "--headless", "--seconds", "1", "--picture", "x.png"];
    let ended = Process::start_with(&words, &NO_DRIVERS).end();
    assert_eq!(ended.status.code(), Some(69), "{ended:?}");
    assert_eq!(told_to_install(&ended), 1, "{ended:?}");
}
