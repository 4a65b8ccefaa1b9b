//! Printed: what a script says by `print` and `debug`, for whoever wrote it.

use dh_machine::Micros;
use rhai::Position;

use super::limit::{PRINT_MAX, PRINTS_MAX};
use super::stage::Stage;

/// One line that a script printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// When.
    pub at: Micros,
    /// What; where it stands before it, if it was `debug`.
    pub text: String,
}

impl Stage {
    /// Keep what is printed, within a bound.
    pub(super) fn print(&self, text: &str, place: Position) {
        let mut prints = self.0.prints.borrow_mut();
        let text = match prints.len() {
            0..PRINTS_MAX => text,
            PRINTS_MAX => "more was printed than is kept",
            _ => return,
        };
        let mut text: String = text.chars().take(PRINT_MAX).collect();
        if let (Some(line), Some(column)) = (place.line(), place.position()) {
            text = format!("{}:{line}:{column}: {text}", self.0.script.file());
        }
        prints.push(Printed { at: self.0.now.get(), text });
    }
}
