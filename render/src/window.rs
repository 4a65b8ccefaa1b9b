//! Window: a place on the display, and the hands of whoever sits before it.
//!
//! Owned by the role, on the process's main thread, which pumps it and then the renderer that draws
//! into its [`Screen`]. Never: draws, knows a world or a session.

mod keys;

use std::collections::BTreeSet;
use std::fmt::{Display, Formatter, Result as Written};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dh_view::Hands;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{DeviceEvent, DeviceId, ElementState, MouseButton, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop, OwnedDisplayHandle};
use winit::keyboard::{KeyCode, PhysicalKey};
use winit::platform::pump_events::{EventLoopExtPumpEvents, PumpStatus};
use winit::platform::x11::EventLoopBuilderExtX11;
use winit::window::{CursorGrabMode, Window as Pane, WindowAttributes, WindowId};

use self::keys::{Deed, deed};

/// The size it opens at, before scaling.
const SIZE: LogicalSize<f64> = LogicalSize::new(1280.0, 720.0);
/// Radians that a look turns for each count of the mouse.
const TURN: f32 = 0.002;
/// How long the display may take to give a window.
const OPEN_MAX: Duration = Duration::from_secs(5);

/// A window, and what its user does.
#[derive(Debug)]
pub struct Window {
    events: EventLoop<()>,
    seat: Seat,
    screen: Screen,
}

/// Where a renderer draws into a window; it stays valid as long as the renderer keeps it.
#[derive(Clone, Debug)]
pub struct Screen {
    pub(crate) pane: Arc<Pane>,
    pub(crate) display: OwnedDisplayHandle,
    /// Whether nothing of it can be seen, as far as the display tells.
    covered: Arc<AtomicBool>,
}

impl Screen {
    /// Whether drawing into it would be for nobody.
    pub(crate) fn is_hidden(&self) -> bool {
        self.covered.load(Ordering::Acquire) || self.pane.is_minimized() == Some(true)
    }
}

/// There is no display to open a window on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoDisplay(String);

impl Display for NoDisplay {
    fn fmt(&self, f: &mut Formatter<'_>) -> Written {
        // The system's reasons come on several lines.
        let why = reason(&self.0).split_whitespace().collect::<Vec<_>>().join(" ");
        write!(f, "there is no display to open a window on ({why})")
    }
}

impl std::error::Error for NoDisplay {}

/// An error of the window library without the place in its sources, which helps nobody here.
fn reason(text: &str) -> &str {
    let after = text.split_once(".rs:").and_then(|(_, after)| after.split_once(": "));
    after.map_or(text, |(_, why)| why)
}

impl Window {
    /// Open a window of this title.
    ///
    /// # Errors
    /// [`NoDisplay`] where there is none, or its libraries are missing.
    pub fn open(title: &str) -> Result<Self, NoDisplay> {
        let mut wanted = EventLoop::builder();
        // Only other systems insist on the main thread.
        EventLoopBuilderExtX11::with_any_thread(&mut wanted, true);
        let mut events = wanted.build().map_err(|error| NoDisplay(error.to_string()))?;
        let mut seat = Seat { title: title.to_owned(), ..Seat::default() };
        let until = Instant::now() + OPEN_MAX;
        while seat.pane.is_none() && seat.refused.is_none() && Instant::now() < until {
            events.pump_app_events(Some(Duration::from_millis(20)), &mut seat);
        }
        let why = || seat.refused.clone().unwrap_or_else(|| "it gave no window in time".to_owned());
        let pane = seat.pane.clone().ok_or_else(|| NoDisplay(why()))?;
        let covered = Arc::clone(&seat.covered);
        let screen = Screen { pane, display: events.owned_display_handle(), covered };
        Ok(Self { events, seat, screen })
    }

    /// Take what happened, waiting for it up to `wait`.
    pub fn pump(&mut self, wait: Duration) {
        let status = self.events.pump_app_events(Some(wait), &mut self.seat);
        if matches!(status, PumpStatus::Exit(_)) {
            self.seat.closed = true;
        }
    }

    /// Where it is drawn into.
    #[must_use]
    pub fn screen(&self) -> Screen {
        self.screen.clone()
    }

    /// What its user does right now.
    #[must_use]
    pub const fn hands(&self) -> Hands {
        self.seat.hands
    }

    /// Whether the pointer turns the look instead of moving over the screen.
    #[must_use]
    pub const fn is_captured(&self) -> bool {
        self.seat.captured
    }

    /// Whether details are asked for.
    #[must_use]
    pub const fn wants_detail(&self) -> bool {
        self.seat.detail
    }

    /// Whether its user has closed it.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.seat.closed
    }
}

/// What is known of the window and its user.
#[derive(Debug, Default)]
struct Seat {
    title: String,
    pane: Option<Arc<Pane>>,
    refused: Option<String>,
    hands: Hands,
    /// Keys that were held already when the window got the keyboard: until they are let go they are
    /// for nothing, however often the display repeats them.
    stale: BTreeSet<KeyCode>,
    covered: Arc<AtomicBool>,
    captured: bool,
    detail: bool,
    closed: bool,
}

impl Seat {
    /// A key goes down or up. `told` is what the display says of keys that it finds held when the
    /// window gets the keyboard, and let go of when it loses it.
    fn key(&mut self, code: KeyCode, down: bool, told: bool) {
        let stale = if down { self.stale.contains(&code) } else { self.stale.remove(&code) };
        if told && down {
            self.stale.insert(code);
        }
        if let Some(deed) = deed(code).filter(|_| !told && !stale) {
            self.press(deed, down);
        }
    }

    fn press(&mut self, deed: Deed, down: bool) {
        let hands = &mut self.hands;
        match deed {
            Deed::Ahead => hands.ahead = down,
            Deed::Back => hands.back = down,
            Deed::Left => hands.left = down,
            Deed::Right => hands.right = down,
            Deed::Jump => hands.jump = down,
            Deed::Crouch => hands.crouch = down,
            Deed::Sprint => hands.sprint = down,
            Deed::Detail => self.detail ^= down,
            Deed::LetGo if down => self.let_go(),
            Deed::LetGo => (),
        }
    }

    /// Hold the pointer: locked where the display can, confined where it cannot.
    fn capture(&mut self) {
        let Some(pane) = &self.pane else { return };
        let held = pane
            .set_cursor_grab(CursorGrabMode::Locked)
            .or_else(|_| pane.set_cursor_grab(CursorGrabMode::Confined));
        match held {
            Ok(()) => {
                pane.set_cursor_visible(false);
                self.captured = true;
            }
            Err(error) => tracing::debug!("the pointer cannot be held: {error}"),
        }
    }

    /// Let go of the pointer and of every key.
    fn let_go(&mut self) {
        self.hands = self.hands.released();
        self.captured = false;
        let Some(pane) = &self.pane else { return };
        pane.set_cursor_visible(true);
        if let Err(error) = pane.set_cursor_grab(CursorGrabMode::None) {
            tracing::debug!("the pointer cannot be let go: {error}");
        }
    }
}

impl ApplicationHandler for Seat {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.pane.is_some() {
            return;
        }
        let wanted = WindowAttributes::default()
            .with_title(&self.title)
            .with_inner_size(SIZE)
            .with_min_inner_size(LogicalSize::new(160.0, 90.0));
        match events.create_window(wanted) {
            Ok(pane) => self.pane = Some(Arc::new(pane)),
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    fn window_event(&mut self, _events: &ActiveEventLoop, _id: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested | WindowEvent::Destroyed => self.closed = true,
            WindowEvent::Focused(false) => self.let_go(),
            WindowEvent::MouseInput {
                state: ElementState::Pressed,
                button: MouseButton::Left,
                ..
            } => self.capture(),
            WindowEvent::Occluded(covered) => self.covered.store(covered, Ordering::Release),
            WindowEvent::KeyboardInput { event, is_synthetic, .. } if !event.repeat => {
                if let PhysicalKey::Code(code) = event.physical_key {
                    self.key(code, event.state.is_pressed(), is_synthetic);
                }
            }
            _ => (),
        }
    }

    fn device_event(&mut self, _events: &ActiveEventLoop, _id: DeviceId, event: DeviceEvent) {
        if let DeviceEvent::MouseMotion { delta: (right, down) } = event
            && self.captured
        {
            self.hands.turn(counts(right) * TURN, -counts(down) * TURN);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a mouse counts far below 2^24")]
fn counts(moved: f64) -> f32 {
    moved as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_was_held_when_the_keyboard_came_is_for_nothing_until_it_is_pressed_anew() {
        let mut seat = Seat::default();
        seat.key(KeyCode::KeyW, true, true);
        seat.key(KeyCode::KeyW, true, false);
        assert!(!seat.hands.ahead, "the display repeats it");
        seat.key(KeyCode::KeyW, false, false);
        seat.key(KeyCode::KeyW, true, false);
        assert!(seat.hands.ahead);
        seat.key(KeyCode::KeyW, false, true);
        seat.let_go();
        seat.key(KeyCode::KeyW, true, false);
        assert!(seat.hands.ahead, "it was let go while another window had the keyboard");
    }

    #[test]
    fn without_a_display_the_reason_is_told_in_one_line_and_no_place_in_anybodys_sources() {
        let why = "os error at /somewhere/linux/mod.rs:765: neither DISPLAY nor\n WAYLAND is set.";
        let told = NoDisplay(why.to_owned()).to_string();
        let reason = "(neither DISPLAY nor WAYLAND is set.)";
        assert_eq!(told, format!("there is no display to open a window on {reason}"));
        assert!(NoDisplay("it gave none".to_owned()).to_string().ends_with("(it gave none)"));
    }
}
