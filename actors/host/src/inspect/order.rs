//! Orders: what whoever looks may have done, and what it takes to do it.
//!
//! Each is asked for over HTTP, checked by the inspector, done by its shell and logged with who
//! asked, whether it was done or not.

use std::fmt;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::inspector::Reply;

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", deny_unknown_fields)]
pub enum Order {
    /// Make the machine of an actor anew.
    Restart {
        /// Where the actor stands.
        path: String,
    },
    /// Change the bound of a lane.
    Bound {
        /// Where the actor stands.
        path: String,
        /// Which lane.
        lane: LaneName,
        /// Messages that may wait there from now on.
        max: usize,
    },
    /// Change what is logged below one path.
    LogLevel {
        /// A part of the program, as the log names it.
        path: String,
        /// `off`, `error`, `warn`, `info`, `debug` or `trace`.
        level: String,
    },
    /// Change a preference that can change while the process runs.
    Set {
        /// Its key.
        key: String,
        /// Its new value.
        value: String,
    },
    /// Write what the flight recorder holds. With braces, so that fields it has not are refused.
    DumpFlight {},
}

/// One of the two lanes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LaneName {
    /// The lane that is always taken first.
    Control,
    /// The other lane.
    Data,
}

/// Why something was not done, in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// What was asked for makes no sense.
    Wrong(String),
    /// There is no such thing here.
    Missing(String),
    /// It makes sense, and whoever decides has said no.
    Refused(String),
    /// It was tried, and the system failed.
    Failed(String),
    /// This process cannot do it.
    Cannot(&'static str),
}

/// How the log begins to tell of what was not done.
pub(crate) const REFUSED: &str = "refused through the inspector";
/// Bytes of an order that the log tells.
const LOGGED_MAX: usize = 4_096;

/// What an order came to: what was done, in a few words.
pub type Outcome = Result<String, Undone>;

/// Does something with words; an error says in a line why not.
pub type Hook<W> = Box<dyn Fn(W) -> Result<String, String> + Send>;

/// Has somebody do something with words, who answers when it is done.
pub type AskHook<W> = Box<dyn Fn(W, Answer) + Send>;

/// Where it is told what an order came to. Dropped, it says that nobody answered.
pub struct Answer {
    by: SocketAddr,
    order: String,
    reply: Option<Reply<Outcome>>,
}

impl Answer {
    pub(crate) fn new(by: SocketAddr, order: &Order, reply: Reply<Outcome>) -> Self {
        let mut order = format!("{order:?}");
        order.truncate(order.floor_char_boundary(LOGGED_MAX));
        Self { by, order, reply: Some(reply) }
    }

    /// Tell whoever asked what became of it, and the log that somebody did.
    pub fn tell(mut self, outcome: Outcome) {
        self.told(outcome);
    }

    fn told(&mut self, outcome: Outcome) {
        let Some(reply) = self.reply.take() else { return };
        let Self { by, order, .. } = self;
        match &outcome {
            Ok(done) => tracing::info!(%by, order, "asked through the inspector: {done}"),
            Err(why) => tracing::warn!(%by, order, "{REFUSED}: {why}"),
        }
        reply.send(outcome);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.told(Err(Undone::Cannot("whoever was to do it has gone")));
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("order", &self.order).finish_non_exhaustive()
    }
}

/// What the inspector cannot do by itself and the program does for it; the answers say in a few
/// words what was done.
#[derive(Default)]
pub struct Hooks {
    /// Log what lies below a path at a level.
    pub log_level: Option<Hook<(String, String)>>,
    /// Set a preference to a value.
    pub set: Option<AskHook<(String, String)>>,
    /// Write what the flight recorder holds to a file.
    pub dump_flight: Option<Hook<()>>,
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

impl Order {
    /// The most that may wait in a lane.
    pub const BOUND_MAX: usize = 65_536;
    /// Bytes of a path, key or value.
    pub const WORD_MAX: usize = 1_024;

    /// Whether it makes sense at all.
    pub(crate) fn check(&self) -> Result<(), Undone> {
        let words = match self {
            Self::Restart { path } | Self::Bound { path, .. } => vec![("path", path)],
            Self::LogLevel { path, level } => vec![("path", path), ("level", level)],
            Self::Set { key, value } => vec![("key", key), ("value", value)],
            Self::DumpFlight {} => Vec::new(),
        };
        for (name, word) in words {
            let bytes = word.len();
            if bytes > Self::WORD_MAX || word.chars().any(char::is_control) {
                return Err(Undone::Wrong(format!(
                    "{name}: expected at most {} bytes without control characters, found {bytes}",
                    Self::WORD_MAX
                )));
            }
        }
        match self {
            Self::Bound { max, .. } if !(1..=Self::BOUND_MAX).contains(max) => {
                Err(Undone::Wrong(format!("max: expected 1 to {}, found {max}", Self::BOUND_MAX)))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong(why) | Self::Missing(why) | Self::Refused(why) | Self::Failed(why) => {
                f.write_str(why)
            }
            Self::Cannot(why) => f.write_str(why),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fmt::Write as _;
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Keeps what is logged, field by field.
    #[derive(Clone, Default)]
    struct Logged(Arc<Mutex<String>>);

    impl Visit for Logged {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            write!(self.0.lock().unwrap(), "{field}={value:?} ").unwrap();
        }
    }

    impl Subscriber for Logged {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            write!(self.0.lock().unwrap(), "{} ", event.metadata().level()).unwrap();
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// What the log says of a restart of this that came to that.
    fn logged(path: &str, outcome: Outcome) -> String {
        said(|| {
            let order = Order::Restart { path: path.to_owned() };
            let (reply, _arrives) = Reply::new();
            Answer::new("127.0.0.1:4711".parse().unwrap(), &order, reply).tell(outcome);
        })
    }

    /// Every line that this has the log say, but for time and place.
    pub(in crate::inspect) fn said(work: impl FnOnce()) -> String {
        let logged = Logged::default();
        tracing::subscriber::with_default(logged.clone(), work);
        logged.0.lock().unwrap().clone()
    }

    #[test]
    fn every_order_is_logged_with_who_asked_for_it() {
        let (done, gone) = (Ok("done".to_owned()), Err(Undone::Missing("gone".to_owned())));
        for (outcome, level) in [(done, "INFO "), (gone, "WARN ")] {
            let text = logged("a/b", outcome);
            assert!(text.contains("by=127.0.0.1:4711") && text.contains("a/b"), "{text}");
            assert!(text.starts_with(level), "{text}");
        }
        let text = logged(&"\u{e9}\n".repeat(8_000), Ok("done".to_owned()));
        assert!(text.len() < 3 * LOGGED_MAX && !text.contains('\n'), "{}", text.len());
    }
}
