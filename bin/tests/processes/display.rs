//! A display that nobody sees, and a hand that presses keys on it.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    self, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, GrabMode,
    GrabStatus, ImageFormat, InputFocus, MapState, PropMode, Window, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// How long a window may take to come.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pixels across and down.
const SIZE: &str = "1300x760x24";

/// A running display server.
pub(crate) struct Display {
    /// Ended with the display, where it was started for it.
    server: Option<Child>,
    /// What a client is told to use.
    pub(crate) name: String,
    x: RustConnection,
    root: Window,
    /// How many pictures were kept.
    kept: Cell<u32>,
}

impl Display {
    /// Start one; without a server the tests say so and pass, unless the switch makes it a fault.
    pub(crate) fn start() -> Option<Self> {
        let started = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0", SIZE])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut server = match started {
            Ok(server) => server,
            Err(error) => {
                let required = std::env::var_os("DH_REQUIRE_DISPLAY").is_some_and(|it| it == "1");
                assert!(!required, "DH_REQUIRE_DISPLAY=1, and Xvfb does not start: {error}");
                eprintln!("SKIPPED: Xvfb does not start ({error}); apt-get install xvfb");
                return None;
            }
        };
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let name = format!(":{}", number.trim());
        let mut display = Self::attach(&name);
        display.server = Some(server);
        Some(display)
    }

    /// A display that runs already.
    pub(crate) fn attach(name: &str) -> Self {
        let (x, screen) = RustConnection::connect(Some(name)).unwrap();
        let root = x.setup().roots[screen].root;
        Self { server: None, name: name.to_owned(), x, root, kept: Cell::new(0) }
    }

    /// Wait for a window of this title, and give it the keyboard.
    pub(crate) fn window(&self, title: &str) -> Window {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(found) = self.find(title) {
                self.focus(found);
                return found;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("no window of title {title:?} came");
    }

    /// Give a window the keyboard.
    pub(crate) fn focus(&self, window: Window) {
        let now = x11rb::CURRENT_TIME;
        self.x.set_input_focus(InputFocus::PARENT, window, now).unwrap().check().unwrap();
    }

    /// Give the keyboard to another window, which is made for it.
    pub(crate) fn focus_elsewhere(&self) {
        let other = self.x.generate_id().unwrap();
        let (class, plain) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        let made = self.x.create_window(0, other, self.root, 0, 0, 9, 9, 0, class, 0, &plain);
        made.unwrap().check().unwrap();
        self.map(other);
        self.focus(other);
    }

    /// Show a window.
    pub(crate) fn map(&self, window: Window) {
        self.x.map_window(window).unwrap().check().unwrap();
    }

    /// Show it no more.
    pub(crate) fn unmap(&self, window: Window) {
        self.x.unmap_window(window).unwrap().check().unwrap();
    }

    /// Minimise a window, or bring it back, as a window manager does.
    pub(crate) fn minimise(&self, window: Window, away: bool) {
        let [state, hidden] = [b"_NET_WM_STATE".as_slice(), b"_NET_WM_STATE_HIDDEN"]
            .map(|name| self.x.intern_atom(false, name).unwrap().reply().unwrap().atom);
        let states: &[u32] = if away { &[hidden] } else { &[] };
        let set =
            self.x.change_property32(PropMode::REPLACE, window, state, AtomEnum::ATOM, states);
        set.unwrap().check().unwrap();
        if away { self.unmap(window) } else { self.map(window) }
    }

    /// Whether a window holds the pointer.
    pub(crate) fn is_pointer_held(&self) -> bool {
        let (mode, none, now) = (GrabMode::ASYNC, x11rb::NONE, x11rb::CURRENT_TIME);
        let events = EventMask::NO_EVENT;
        let asked = self.x.grab_pointer(false, self.root, events, mode, mode, none, none, now);
        let free = asked.unwrap().reply().unwrap().status == GrabStatus::SUCCESS;
        self.x.ungrab_pointer(now).unwrap().check().unwrap();
        !free
    }

    /// Press a key and let it go.
    pub(crate) fn tap(&self, code: u8) {
        self.key(code, true);
        self.key(code, false);
    }

    fn find(&self, title: &str) -> Option<Window> {
        let windows = self.x.query_tree(self.root).unwrap().reply().unwrap().children;
        windows.into_iter().find(|window| {
            let name = (AtomEnum::WM_NAME, AtomEnum::ANY);
            let named = self.x.get_property(false, *window, name.0, name.1, 0, 64).unwrap().reply();
            let seen = self.x.get_window_attributes(*window).unwrap().reply();
            named.is_ok_and(|it| it.value == title.as_bytes())
                && seen.is_ok_and(|it| it.map_state == MapState::VIEWABLE)
        })
    }

    fn fake(&self, kind: u8, detail: u8, x: i16, y: i16) {
        let root = self.root;
        self.x.xtest_fake_input(kind, detail, 0, root, x, y, 0).unwrap().check().unwrap();
        self.x.flush().unwrap();
    }

    /// Press or release a key, by its place on the keyboard.
    pub(crate) fn key(&self, code: u8, down: bool) {
        let kind = if down { xproto::KEY_PRESS_EVENT } else { xproto::KEY_RELEASE_EVENT };
        self.fake(kind, code, 0, 0);
    }

    /// Move the pointer to the middle of the screen and click.
    pub(crate) fn click(&self) {
        self.fake(xproto::MOTION_NOTIFY_EVENT, 0, 600, 300);
        self.fake(xproto::BUTTON_PRESS_EVENT, 1, 0, 0);
        self.fake(xproto::BUTTON_RELEASE_EVENT, 1, 0, 0);
    }

    /// Move the mouse so many counts to the right.
    pub(crate) fn turn(&self, counts: i16) {
        // A detail of one makes the place a way.
        self.fake(xproto::MOTION_NOTIFY_EVENT, 1, counts, 0);
    }

    /// Ask a window to close, as its frame's button does.
    pub(crate) fn close(&self, window: Window) {
        let atom = |name: &[u8]| self.x.intern_atom(false, name).unwrap().reply().unwrap().atom;
        let (protocols, delete) = (atom(b"WM_PROTOCOLS"), atom(b"WM_DELETE_WINDOW"));
        let event = ClientMessageEvent::new(32, window, protocols, [delete, 0, 0, 0, 0]);
        self.x.send_event(false, window, EventMask::NO_EVENT, event).unwrap();
        self.x.flush().unwrap();
    }

    /// Resize a window.
    pub(crate) fn resize(&self, window: Window, width: u32, height: u32) {
        let wanted = xproto::ConfigureWindowAux::new().width(width).height(height);
        self.x.configure_window(window, &wanted).unwrap().check().unwrap();
    }

    /// The window's pixels: red, green, blue of each, rows from the top.
    pub(crate) fn pixels(&self, window: Window) -> (usize, Vec<[u8; 3]>) {
        let size = self.x.get_geometry(window).unwrap().reply().unwrap();
        let (wide, high) = (size.width, size.height);
        let image = self.x.get_image(ImageFormat::Z_PIXMAP, window, 0, 0, wide, high, u32::MAX);
        let data = image.unwrap().reply().unwrap().data;
        let pixels = data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]);
        let pixels: Vec<[u8; 3]> = pixels.collect();
        self.keep(usize::from(wide), &pixels);
        (usize::from(wide), pixels)
    }

    /// Keep what a window showed for people to look at, where `DH_PICTURES` names a folder.
    fn keep(&self, wide: usize, pixels: &[[u8; 3]]) {
        let Some(folder) = std::env::var_os("DH_PICTURES") else { return };
        let at = self.kept.get();
        self.kept.set(at + 1);
        let name = format!("window-{}-{at}.ppm", std::process::id());
        let head = format!("P6\n{wide} {}\n255\n", pixels.len() / wide);
        let bytes = [head.as_bytes(), pixels.as_flattened()].concat();
        std::fs::write(std::path::PathBuf::from(folder).join(name), bytes).unwrap();
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            // It may have ended already.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}
