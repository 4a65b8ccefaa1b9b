//! Theatre: a window, the renderer that draws into it and the presenter that says what, all pumped
//! by the process's main thread.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_client::{Client, PresenterActor, Wish};
use dh_host::{Inlet, Pump, Scope};
use dh_render::{Window, find_adapter};
use dh_view::{Hands, PictureReport, RenderMsg, Sitting, View};

use super::Darkroom;
use crate::exit::Failure;
use crate::front::Front;

/// The least time from one frame to the next, for displays that set no pace: 240 a second.
const FRAME: Duration = Duration::from_micros(4_167);
/// The same where a processor does the drawing, which the world needs as well: 30 a second.
const FRAME_SOFTWARE: Duration = Duration::from_micros(33_333);

/// A window and everything that is pumped for it.
pub(crate) struct Theatre {
    // Dropped first: it holds the renderer, which draws into the window.
    room: Darkroom,
    presenter: Option<Pump<PresenterActor>>,
    window: Window,
    wished: Hands,
    seat: Option<Sitting>,
    frame: Duration,
    due: Instant,
}

impl Theatre {
    /// Open a window.
    ///
    /// # Errors
    /// One line that says why this machine has none.
    pub(crate) fn open(scope: &Scope, front: &Front) -> Result<Self, String> {
        let adapter = find_adapter().map_err(|none| none.to_string())?;
        let window = Window::open("Driftholm").map_err(|none| none.to_string())?;
        let room = Darkroom::on_screen(scope, front, window.screen());
        let frame = if adapter.software { FRAME_SOFTWARE } else { FRAME };
        let (wished, seat, due) = (Hands::default(), None, Instant::now());
        Ok(Self { room, presenter: None, window, wished, seat, frame, due })
    }

    /// Where views are to go.
    pub(crate) fn views(&self) -> Inlet<Arc<View>> {
        self.room.port().inlet(RenderMsg::Show)
    }

    /// Pump this presenter from now on.
    pub(crate) fn seat(&mut self, presenter: Pump<PresenterActor>) {
        self.presenter = Some(presenter);
    }

    /// Wait for the next frame, hand on what its user does, draw; whether the window is still open.
    pub(crate) fn step(&mut self, client: &Client) -> bool {
        loop {
            let now = Instant::now();
            self.window.pump(self.due.saturating_duration_since(now));
            if self.window.is_closed() {
                return false;
            }
            if self.due <= Instant::now() {
                break;
            }
        }
        // A frame that was late delays no other.
        self.due = (self.due + self.frame).max(Instant::now());
        let hands = self.window.hands();
        if hands != self.wished {
            client.wish(Wish::from(hands));
            self.wished = hands;
        }
        let (detail, captured) = (self.window.wants_detail(), self.window.is_captured());
        let seat = Some(Sitting { detail, captured });
        if self.seat != seat {
            self.seat = seat;
            drop(self.room.port().offer(RenderMsg::Sit(Sitting { detail, captured })));
        }
        client.present();
        if let Some(presenter) = &mut self.presenter {
            presenter.pump_now(64);
        }
        self.room.pump();
        true
    }

    /// Write what the window shows to `path`.
    pub(crate) fn develop(&mut self, front: &Front, path: &Path) -> Result<PictureReport, Failure> {
        self.room.take(front, path)
    }
}
