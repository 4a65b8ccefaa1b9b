//! The window, on a display that nobody sees: what its user does arrives, what it shows is right.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dh_host::{Actor, Context, Performed, Place, Pump, RealOptions, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};
use dh_render::{Renderer, Window};
use dh_sim::GrayBox;
use dh_view::{Answer, Camera, Picture, RenderMsg, Scene, Shot, Sitting, View};
use serde_json::Value;

use crate::demo::has_adapter;
use crate::display::Display;
use crate::process::Process;

/// Keys by their place: W, and Escape.
const W: u8 = 25;
const ESCAPE: u8 = 9;
/// Tells the test that it runs for another, with a display.
const INNER: &str = "DH_TEST_ON_DISPLAY";
const TITLE: &str = "Driftholm";

#[test]
fn a_person_at_the_window_walks_looks_around_and_closes_it() {
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let words = ["play", "--peers", "1", "--picture", "seen.png", "--json"];
    let variables = [("DISPLAY", display.name.as_str()), ("WAYLAND_DISPLAY", "")];
    let mut demo = Process::start_with(&words, &variables);
    demo.line_with("spawned");
    let window = display.window(TITLE);
    thread::sleep(Duration::from_millis(500));
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
    let ended = demo.end();
    assert!(ended.status.success(), "{ended:?}");
    let told: Value = serde_json::from_str(ended.out.last().unwrap()).unwrap();
    let camera = &told["picture"]["camera"];
    let eye: Vec<f64> =
        camera["eye"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap()).collect();
    let spawns = GrayBox::new().spawns();
    let walked = spawns
        .iter()
        .map(|spawn| (f64::from(spawn.feet.x) - eye[0]).hypot(f64::from(spawn.feet.z) - eye[2]));
    assert!(walked.fold(f64::MAX, f64::min) > 1.0, "{camera}");
    let yaw = camera["yaw"].as_f64().unwrap();
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
fn the_window_shows_the_picture_and_shows_it_again_after_its_device_was_lost() {
    if std::env::var_os(INNER).is_some() {
        return;
    }
    if !has_adapter() {
        return;
    }
    let Some(display) = Display::start() else { return };
    let name = "window::on_a_display";
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

/// What the test above runs on its display. On its own it does nothing.
#[test]
fn on_a_display() {
    let Ok(name) = std::env::var(INNER) else { return };
    let display = Display::attach(&name);
    let mut booth = Booth::open();
    let window = display.window(TITLE);
    let gray_box = GrayBox::new();
    let scene = Scene { camera: gray_box.viewpoint(), ..Scene::of_boxes(gray_box.boxes()) };
    let view = Arc::new(View::of(Arc::new(scene)));
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
}

/// The mean difference of two pictures, of 255, in the worst of red, green and blue.
fn difference(shown: &(usize, Vec<[u8; 3]>), picture: &Picture) -> f64 {
    let taken = picture.rgba.chunks_exact(4);
    assert_eq!(shown.1.len(), taken.len());
    let sum = |part: usize| -> u64 {
        let pairs = shown.1.iter().zip(taken.clone());
        pairs.map(|(a, b)| u64::from(a[part].abs_diff(b[part]))).sum()
    };
    let worst = (0..3).map(sum).max().unwrap_or_default();
    worst as f64 / shown.1.len() as f64
}

/// A window with its renderer, pumped by the test.
struct Booth {
    window: Window,
    runtime: Runtime,
    port: dh_host::Port<RenderMsg>,
    renderer: Pump<Renderer>,
    answers: Arc<Mutex<Option<Answer>>>,
}

impl Booth {
    fn open() -> Self {
        let window = Window::open(TITLE).unwrap();
        let runtime = Runtime::real(RealOptions::for_this_machine()).unwrap();
        let answers = Arc::new(Mutex::new(None));
        let asker = Asker(Arc::clone(&answers));
        let asker = runtime.root().spawn(Place::Control, "asker", asker);
        let renderer = Renderer::on_screen(asker.inlet(AskerMsg::Answered), window.screen());
        let (port, renderer) = runtime.root().pumped("renderer", renderer);
        // Nothing is written over the picture.
        port.offer(RenderMsg::Sit(Sitting { detail: false, captured: true })).unwrap();
        Self { window, runtime, port, renderer, answers }
    }

    fn tell(&mut self, msg: RenderMsg) {
        self.port.offer(msg).unwrap();
        self.renderer.pump_now(16);
    }

    fn show(&mut self, view: &Arc<View>, frames: u8) {
        for _ in 0..frames {
            self.window.pump(Duration::from_millis(20));
            self.tell(RenderMsg::Show(Arc::clone(view)));
        }
        // What was handed over is on the screen soon after.
        thread::sleep(Duration::from_millis(300));
    }

    fn picture(&mut self, width: usize) -> Picture {
        let width = u32::try_from(width).unwrap();
        let height = if width == 1280 { 720 } else { 400 };
        self.tell(RenderMsg::Take(Shot { id: 1, width, height }));
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(answer) = self.answers.lock().unwrap().take() {
                return answer.picture.unwrap();
            }
            assert!(Instant::now() < until && self.runtime.failure().is_none());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

actor_message! {
    /// What the asker is told.
    enum AskerMsg {
        /// The renderer's answer.
        Answered(Answer): Control Refuse,
    }
}

/// Keeps the newest answer.
struct Asker(Arc<Mutex<Option<Answer>>>);

/// Hands everything on.
struct Passing;

impl Machine for Passing {
    type Msg = AskerMsg;
    type Effect = AskerMsg;

    fn handle(&mut self, _now: Micros, msg: AskerMsg, out: &mut Outbox<AskerMsg>) {
        out.push(msg);
    }
}

impl Actor for Asker {
    type Machine = Passing;
    const SPEC: Spec = Spec {
        kind: "asker",
        control_max: 16,
        data_max: 16,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, AskerMsg>) -> Passing {
        Passing
    }

    fn perform(&mut self, msg: AskerMsg, _cx: &mut Context<'_, AskerMsg>) -> Performed<AskerMsg> {
        let AskerMsg::Answered(answer) = msg;
        *self.0.lock().unwrap() = Some(answer);
        Performed::Done
    }
}
