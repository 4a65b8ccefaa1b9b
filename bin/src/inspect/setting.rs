//! Setting: a preference that somebody sets through the inspector, on its way to who owns it, and
//! back with what came of it.
//!
//! Made by the inspector's thread, carried to the main thread like a typed line, answered by the
//! console that it belongs to. One that is dropped on its way says so itself.

use std::collections::BTreeMap;

use dh_host::inspect::{Answer, Undone};
use dh_prefs::{Applies, Change, PrefError, Prefs, Problem, Side};

/// Where the numbers of their lines begin: beyond those that somebody types.
const FIRST: u32 = 1 << 30;
/// Settings that may wait for a console's answer.
const WAITING_MAX: usize = 64;

/// A preference that is to be set to a value it allows.
#[derive(Debug)]
pub(crate) struct Setting {
    change: Change,
    /// The value as it was asked for.
    text: String,
    answer: Answer,
}

/// Those that were typed on a console, by the numbers of their lines.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    waiting: BTreeMap<u32, Setting>,
    typed: u32,
}

impl Setting {
    /// What is asked for, if it can be: otherwise whoever asks is told so.
    pub(crate) fn read(key: &str, value: &str, answer: Answer) -> Option<Self> {
        let text = value.trim().to_owned();
        match Prefs::default().set_console(key, &text) {
            Ok(change) if change.preference.applies != Applies::Live => {
                answer.tell(Err(Undone::Refused(later(&change))));
            }
            // The line of a console that names no value shows the one there is.
            Ok(_) if text.is_empty() => {
                answer.tell(Err(Undone::Wrong(format!("{key}: expected a value, found none"))));
            }
            Ok(change) => return Some(Self { change, text, answer }),
            Err(error) => answer.tell(Err(undone(&error))),
        }
        None
    }

    /// Whose preference it is.
    pub(crate) fn side(&self) -> Side {
        self.change.preference.side()
    }

    /// It as a line of a console.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.change.preference.key, self.text)
    }

    /// Set it here, and answer; whether it was set.
    pub(crate) fn apply(self, prefs: &mut Prefs) -> bool {
        let set = prefs.set_console(self.change.preference.key, &self.text);
        let is_set = set.is_ok();
        self.answer.tell(set.map(|change| change.line()).map_err(|error| undone(&error)));
        is_set
    }

    /// A console has answered its line: with the value that holds now, or with why it does not.
    pub(crate) fn answered(self, text: &str) {
        let is_set = text == self.change.line();
        let text = text.to_owned();
        self.answer.tell(if is_set { Ok(text) } else { Err(Undone::Refused(text)) });
    }

    /// It is not done: why.
    pub(crate) fn refused(self, why: &str) {
        self.answer.tell(Err(Undone::Refused(format!("{}: {why}", self.change.preference.key))));
    }
}

impl Waiting {
    /// One is typed on a console: the number and the text of its line.
    pub(crate) fn type_in(&mut self, setting: Setting) -> (u32, String) {
        self.typed += 1;
        let (number, line) = (FIRST + self.typed % FIRST, setting.line());
        self.wait(number, setting);
        (number, line)
    }

    /// One was typed on a console, whose line has this number.
    pub(crate) fn wait(&mut self, number: u32, setting: Setting) {
        if self.waiting.len() == WAITING_MAX {
            // Whoever asked for it has long been told that nobody answered.
            self.waiting.pop_first();
        }
        self.waiting.insert(number, setting);
    }

    /// The line of this number was answered; whether it was a setting.
    pub(crate) fn answered(&mut self, number: u32, text: &str) -> bool {
        let setting = self.waiting.remove(&number);
        setting.map(|setting| setting.answered(text)).is_some()
    }
}

/// Why a preference that counts later is not set here.
fn later(change: &Change) -> String {
    let key = change.preference.key;
    let when = match change.preference.applies {
        Applies::NextJoin => "changes only at the next join",
        _ => "needs a restart",
    };
    format!(
        "{key}: expected a preference that can change while the process runs, found one that \
         {when}; keep it with dh prefs set {key} VALUE"
    )
}

/// What a mistake means to whoever asked.
fn undone(error: &PrefError) -> Undone {
    match error.problem {
        Problem::Unknown { .. } => Undone::Missing(error.to_string()),
        _ => Undone::Wrong(error.to_string()),
    }
}
