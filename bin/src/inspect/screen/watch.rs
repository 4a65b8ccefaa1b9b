//! Watch: keys and signals, each read on a thread of its own.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::io::{Errno, read};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::keys::Keys;
use super::{Event, spawn, terminal};
use crate::exit::{Exit, Failure};
use crate::front::ignored;

/// How long the screen may take to end in order before it is ended.
const ENDING_MAX: Duration = Duration::from_millis(500);

/// Bytes that are read at once.
const BYTES_AT_ONCE: usize = 1_024;

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
        let mut keys = Keys::default();
        let mut bytes = [0; BYTES_AT_ONCE];
        while let Some(read) = input(&mut bytes) {
            for key in keys.take(&bytes[..read]) {
                if to.send(Event::Pressed(key)).is_err() {
                    return;
                }
            }
        }
        // The terminal has gone.
        let _ = to.send(Event::End);
    })
}

/// Wait for input and read it; nothing once the terminal has gone.
fn input(bytes: &mut [u8]) -> Option<usize> {
    loop {
        match read(std::io::stdin(), &mut *bytes) {
            Ok(0) => return None,
            Ok(read) => return Some(read),
            Err(Errno::INTR) => (),
            Err(_) => return None,
        }
    }
}
