//! Log: the lines a server writes while a scenario runs, for tests that look at their words.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Every line so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(Level, String)>>>);

impl Log {
    /// Run `course` on this thread and write down what it logs.
    pub(crate) fn of<T>(course: impl FnOnce(&Self) -> T) -> T {
        let log = Self::default();
        tracing::subscriber::with_default(log.clone(), || course(&log))
    }

    /// The lines at `level` or louder.
    pub(crate) fn lines(&self, level: Level) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|(at, _)| *at <= level).map(|(_, line)| line.clone()).collect()
    }

    /// The lines at `info` or louder that hold `text`.
    pub(crate) fn with(&self, text: &str) -> Vec<String> {
        self.lines(Level::INFO).into_iter().filter(|line| line.contains(text)).collect()
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("dh_") || metadata.target() == "chat"
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((*event.metadata().level(), line.0));
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// The message of one event, then its fields.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}
