//! Log: the lines a server writes while a scenario runs, for tests that look at their words.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber, set_global_default};
use tracing::{Event, Level, Metadata};

thread_local! {
    /// What this thread has logged since it began to write down.
    static LINES: RefCell<Option<Vec<(Level, String)>>> = const { RefCell::new(None) };
}

/// Run `course`, whose worlds live on this thread; the lines it logs at `info` or louder.
pub(crate) fn lines_of(course: impl FnOnce()) -> Vec<String> {
    static READY: Once = Once::new();
    // One for all threads: which lines are worth making is remembered for the whole process.
    READY.call_once(|| set_global_default(Scribe).unwrap());
    LINES.set(Some(Vec::new()));
    course();
    let lines = LINES.take().unwrap_or_default();
    lines.into_iter().filter(|(level, _)| *level <= Level::INFO).map(|(_, line)| line).collect()
}

/// Writes down what is logged by threads that want it.
struct Scribe;

impl Subscriber for Scribe {
    fn register_callsite(&self, _metadata: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && LINES.with_borrow(Option::is_some)
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        LINES.with_borrow_mut(|lines| {
            if let Some(lines) = lines {
                lines.push((*event.metadata().level(), line.0));
            }
        });
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
