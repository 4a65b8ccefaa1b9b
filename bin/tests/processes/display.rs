//! A display that nobody sees, and a hand that presses keys on it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    self, AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, ImageFormat, InputFocus,
    MapState, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

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
        Self { server: None, name: name.to_owned(), x, root }
    }

    /// Wait for a window of this title, and give it the keyboard.
    pub(crate) fn window(&self, title: &str) -> Window {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(found) = self.find(title) {
                let now = x11rb::CURRENT_TIME;
                self.x.set_input_focus(InputFocus::PARENT, found, now).unwrap();
                self.x.flush().unwrap();
                return found;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("no window of title {title:?} came");
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
        (usize::from(wide), pixels.collect())
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
