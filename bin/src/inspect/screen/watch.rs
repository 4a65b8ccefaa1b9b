//! Watch: keys and signals, each read on a thread of its own.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use ratatui::crossterm::event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::keys::Key;
use super::{Event, spawn, terminal};
use crate::exit::{Exit, Failure};
use crate::front::ignored;

/// How long the screen may take to end in order before it is ended.
const ENDING_MAX: Duration = Duration::from_millis(500);

/// How long it rests where a key has come only in part.
const HALF_READ: Duration = Duration::from_millis(10);
/// No time at all.
const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Start to watch both.
pub(super) fn start(to: &SyncSender<Event>) -> Result<(), Failure> {
    let heard = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !ignored(*signal));
    let mut signals = Signals::new(heard.chain([SIGWINCH])).map_err(|error| {
        Failure::new(Exit::Internal, format!("no signal can be heard: {error}"))
    })?;
    let tell = to.clone();
    spawn("signals", move || {
        for signal in signals.forever() {
            if signal == SIGWINCH {
                // The size is looked at with every picture; this only makes it soon.
                let _ = tell.try_send(Event::Resized);
                continue;
            }
            let _ = tell.try_send(Event::End);
            // A terminal that takes nothing holds the main thread.
            std::thread::sleep(ENDING_MAX);
            terminal::give_back();
            let _ = emulate_default_handler(signal);
        }
    })?;
    let to = to.clone();
    spawn("keys", move || {
        while let Some(key) = next_key() {
            if key.is_some_and(|key| to.send(Event::Pressed(key)).is_err()) {
                return;
            }
        }
        // The terminal has gone.
        let _ = to.send(Event::End);
    })
}

/// The next key, if what comes next is one; nothing once the terminal has gone.
fn next_key() -> Option<Option<Key>> {
    // The reader of events would read a terminal that has gone again and again; so that is looked
    // at first. It may hold keys that came together with others.
    wait_for_input(Some(&NOW))?;
    if !event::poll(Duration::ZERO).ok()? {
        wait_for_input(None)?;
        if !event::poll(HALF_READ).ok()? {
            return Some(None);
        }
    }
    event::read().ok().map(|event| Key::of(&event))
}

/// Wait until the terminal has input; nothing once it has gone.
fn wait_for_input(at_most: Option<&Timespec>) -> Option<()> {
    let stdin = std::io::stdin();
    let mut wait = [PollFd::new(&stdin, PollFlags::IN)];
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    match poll(&mut wait, at_most) {
        Ok(_) => Some(()).filter(|()| !wait[0].revents().intersects(gone)),
        Err(Errno::INTR) => Some(()),
        Err(_) => None,
    }
}
