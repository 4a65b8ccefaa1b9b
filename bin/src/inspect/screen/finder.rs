//! Finder: looks for processes that have started since, on a thread of its own.

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::{Event, spawn};
use crate::exit::Failure;
use crate::inspect::target::Target;

/// How often it looks.
const EVERY: Duration = Duration::from_millis(1_500);

/// Look until nobody wants to know.
pub(super) fn start(to: &SyncSender<Event>) -> Result<(), Failure> {
    let to = to.clone();
    spawn("finder", move || {
        loop {
            std::thread::sleep(EVERY);
            // That there are none is no news.
            let found = Target::found().unwrap_or_default();
            if to.send(Event::Found(found)).is_err() {
                return;
            }
        }
    })
}
