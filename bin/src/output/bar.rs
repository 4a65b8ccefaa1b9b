//! Bar: how far long work is, on stderr where that is a terminal.
//!
//! Used by the verbs around content and by clients that fetch. Short work draws nothing, and
//! nothing is left of a bar.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner needs no bar.
const SHORT: Duration = Duration::from_millis(300);
/// Pictures of a bar in a second.
const RATE: u8 = 10;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Files,
    Runs,
    Seconds,
}

/// One bar, told of any number of works one after the other, from any thread.
#[derive(Debug)]
pub(crate) struct Bar {
    started: Instant,
    /// The work it shows, and the bar.
    shown: Mutex<(String, ProgressBar)>,
}

impl Bar {
    /// A bar that shows nothing yet.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::hidden();
        Self { started: Instant::now(), shown: Mutex::new((String::new(), bar)) }
    }

    /// Do what writes lines, with the bar out of its way.
    pub(crate) fn aside(&self, write: impl FnOnce()) {
        match self.shown.lock() {
            Ok(shown) => shown.1.suspend(write),
            Err(_) => write(),
        }
    }

    /// So much of this work is done.
    pub(crate) fn told(&self, work: &str, unit: Unit, done: u64, total: u64) {
        if self.started.elapsed() < SHORT {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        let (name, bar) = &mut *shown;
        if name == work {
            bar.set_length(total);
            bar.set_position(done);
            return;
        }
        // What was done before there was a bar is no measure of the rate; nor is it drawn.
        work.clone_into(name);
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.set_style(style(unit));
        bar.set_message(work.to_owned());
        bar.reset();
        bar.set_length(total);
        bar.set_position(done);
        bar.reset_eta();
        bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(RATE));
        bar.tick();
    }
}

/// What comes next on stderr finds a clean line.
impl Drop for Bar {
    fn drop(&mut self) {
        if let Ok(shown) = self.shown.lock() {
            shown.1.finish_and_clear();
        }
    }
}

fn style(unit: Unit) -> ProgressStyle {
    let style = ProgressStyle::with_template(template(unit));
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> ")
}

const fn template(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => {
            "{msg} [{bar:30}] {decimal_bytes}/{decimal_total_bytes}, \
             {decimal_bytes_per_sec}, {eta} left"
        }
        Unit::Seconds => "{msg} [{bar:30}] {pos}/{len} s, {eta} left",
        Unit::Files | Unit::Runs => "{msg} [{bar:30}] {pos}/{len}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_one() {
        for unit in [Unit::Bytes, Unit::Files, Unit::Runs, Unit::Seconds] {
            assert!(ProgressStyle::with_template(template(unit)).is_ok(), "{unit:?}");
        }
    }

    #[test]
    fn a_later_work_takes_the_place_of_the_one_before() {
        let mut bar = Bar::new();
        bar.started -= SHORT * 2;
        bar.told("models", Unit::Files, 3, 10);
        bar.told("writing", Unit::Bytes, 5, 100);
        let shown = bar.shown.lock().unwrap();
        assert_eq!(
            (shown.0.as_str(), shown.1.position(), shown.1.length()),
            ("writing", 5, Some(100))
        );
    }
}
