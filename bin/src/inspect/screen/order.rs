//! Order: something a process is asked to do, which is asked back about once before.

use dh_host::inspect::{LaneName, Order as Ordered};

use super::keys::Key;
use super::state::Mode;

/// Digits of a bound.
const DIGITS_MAX: usize = 6;

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The process that does it.
    pub(crate) source: usize,
    /// What it would be, in words.
    pub(crate) question: String,
    /// What is posted.
    pub(crate) body: Ordered,
}

/// A bound that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounding {
    source: usize,
    path: String,
    /// The lanes and their bounds, the one that is meant first.
    lanes: [(LaneName, u64); 2],
    digits: String,
}

impl Order {
    /// Make an actor's machine anew.
    pub(crate) fn restart(source: usize, path: &str) -> Self {
        let body = Ordered::Restart { path: path.to_owned() };
        Self { source, question: format!("restart {path}?"), body }
    }

    /// Have the flight recorder written.
    pub(crate) fn dump(source: usize, name: &str) -> Self {
        let question = format!("write what the flight recorder of {name} holds?");
        Self { source, question, body: Ordered::DumpFlight {} }
    }
}

/// Two words that are being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wording {
    source: usize,
    /// What they are asked with.
    prompt: String,
    text: String,
    /// What they are for.
    words: Words,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Words {
    KeyAndValue,
    PathAndLevel,
}

impl Wording {
    /// A preference of a process, and its value.
    pub(crate) fn set(source: usize, name: &str) -> Self {
        let (prompt, words) = (format!("preference of {name}, KEY VALUE"), Words::KeyAndValue);
        Self { source, prompt, text: String::new(), words }
    }

    /// A part of a process, and the level it is logged at.
    pub(crate) fn log_level(source: usize, name: &str) -> Self {
        let (prompt, words) = (format!("log of {name}, PATH LEVEL"), Words::PathAndLevel);
        Self { source, prompt, text: String::new(), words }
    }

    /// What has been typed so far, and what can be.
    pub(crate) fn prompt(&self) -> String {
        format!("{}: {}_", self.prompt, self.text)
    }

    /// What keys are for after this one.
    pub(crate) fn pressed(mut self, key: Key) -> Mode {
        match key {
            Key::Esc => return Mode::Keys,
            Key::Backspace => drop(self.text.pop()),
            Key::Char(c) if self.text.len() < Ordered::WORD_MAX => self.text.push(c),
            Key::Enter => return self.order().map_or(Mode::Keys, Mode::Sure),
            _ => (),
        }
        Mode::Words(self)
    }

    fn order(&self) -> Option<Order> {
        let text = self.text.trim();
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, rest) = (first.to_owned(), rest.trim().to_owned());
        let (question, body) = match self.words {
            _ if first.is_empty() => return None,
            Words::KeyAndValue => {
                (format!("set {first} to {rest:?}?"), Ordered::Set { key: first, value: rest })
            }
            Words::PathAndLevel => {
                let question = format!("log {first} at {rest:?}?");
                (question, Ordered::LogLevel { path: first, level: rest })
            }
        };
        Some(Order { source: self.source, question, body })
    }
}

fn name(lane: LaneName) -> &'static str {
    match lane {
        LaneName::Data => "data",
        LaneName::Control => "control",
    }
}

impl Bounding {
    /// A bound for a lane of an actor; `lanes` have these now.
    pub(crate) fn new(source: usize, path: &str, lanes: [(LaneName, u64); 2]) -> Self {
        Self { source, path: path.to_owned(), lanes, digits: String::new() }
    }

    /// What has been typed so far, and what can be.
    pub(crate) fn prompt(&self) -> String {
        let [(lane, now), (other, _)] = self.lanes;
        let (lane, other, digits) = (name(lane), name(other), &self.digits);
        format!("{} {lane} (Tab: {other}), now {now}, bound: {digits}_", self.path)
    }

    /// What keys are for after this one.
    pub(crate) fn pressed(mut self, key: Key) -> Mode {
        match key {
            Key::Esc => return Mode::Keys,
            Key::Tab => self.lanes.reverse(),
            Key::Backspace => drop(self.digits.pop()),
            Key::Char(c) if c.is_ascii_digit() && self.digits.len() < DIGITS_MAX => {
                self.digits.push(c);
            }
            Key::Enter => match self.digits.parse() {
                Ok(max) => return Mode::Sure(self.order(max)),
                Err(_) => return Mode::Keys,
            },
            _ => (),
        }
        Mode::Bound(self)
    }

    fn order(self, max: usize) -> Order {
        let [(lane, now), _] = self.lanes;
        let Self { path, source, .. } = self;
        let question =
            format!("bound the {} lane of {path} to {max} instead of {now}?", name(lane));
        let body = Ordered::Bound { path, lane, max };
        Order { source, question, body }
    }
}
