//! A window with its renderer, pumped by the test; and how two pictures differ.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use dh_host::{Actor, Context, Performed, Place, Pump, RealOptions, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};
use dh_render::{Renderer, Window};
use dh_sim::GrayBox;
use dh_view::{Answer, Picture, RenderMsg, Scene, Shot, Sitting, View};

use super::TITLE;

/// The gray box from where its camera stands.
pub(super) fn gray_box() -> View {
    let gray_box = GrayBox::new();
    let scene = Scene { camera: gray_box.viewpoint(), ..Scene::of_boxes(gray_box.boxes()) };
    View::of(Arc::new(scene))
}

/// The mean difference of two pictures, of 255, in the worst of red, green and blue.
pub(super) fn difference(shown: &(usize, Vec<[u8; 3]>), picture: &Picture) -> f64 {
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
pub(super) struct Booth {
    pub(super) window: Window,
    runtime: Runtime,
    port: dh_host::Port<RenderMsg>,
    renderer: Pump<Renderer>,
    answers: Arc<Mutex<Option<Answer>>>,
    /// Nothing is written over the picture, whatever its user does.
    pub(super) plain: bool,
}

impl Booth {
    pub(super) fn open() -> Self {
        let window = Window::open(TITLE).unwrap();
        let runtime = Runtime::real(RealOptions::for_this_machine()).unwrap();
        let answers = Arc::new(Mutex::new(None));
        let asker = Asker(Arc::clone(&answers));
        let asker = runtime.root().spawn(Place::Control, "asker", asker);
        let renderer = Renderer::on_screen(asker.inlet(AskerMsg::Answered), window.screen());
        let (port, renderer) = runtime.root().pumped("renderer", renderer);
        Self { window, runtime, port, renderer, answers, plain: true }
    }

    pub(super) fn tell(&mut self, msg: RenderMsg) {
        self.port.offer(msg).unwrap();
        self.renderer.pump_now(16);
    }

    /// Take what happens at the window until so much time has passed.
    pub(super) fn wait(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.window.pump(Duration::from_millis(10));
        }
    }

    /// Take what happens at the window until this is so.
    pub(super) fn until(&mut self, what: &str, is_so: impl Fn(&Window) -> bool) {
        let until = Instant::now() + Duration::from_secs(20);
        while !is_so(&self.window) {
            assert!(Instant::now() < until, "{what}; {:?}", self.window.hands());
            self.window.pump(Duration::from_millis(10));
        }
    }

    pub(super) fn show(&mut self, view: &Arc<View>, frames: u8) {
        for _ in 0..frames {
            self.window.pump(Duration::from_millis(20));
            let (detail, captured) = (self.window.wants_detail(), self.window.is_captured());
            let seat = if self.plain {
                Sitting { detail: false, captured: true }
            } else {
                Sitting { detail, captured }
            };
            self.tell(RenderMsg::Sit(seat));
            self.tell(RenderMsg::Show(Arc::clone(view)));
        }
        // What was handed over is on the screen soon after.
        thread::sleep(Duration::from_millis(300));
    }

    pub(super) fn picture(&mut self, width: usize) -> Picture {
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
