//! Barrier: where a panic stops, and what is kept of it.
//!
//! Used by shells around machine and actor code. The process's panic hook stays what it was for all
//! threads that are not inside a barrier.

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// What is kept of a panic: at most [`PanicNote::TEXT_MAX`] bytes of message, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PanicNote {
    /// The panic's message.
    pub text: String,
    /// File, line and column.
    pub location: String,
}

impl PanicNote {
    /// Bytes of message that are kept.
    pub const TEXT_MAX: usize = 512;

    fn of(info: &PanicHookInfo<'_>) -> Self {
        let payload = info.payload();
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("a panic without a message");
        Self {
            text: text[..text.floor_char_boundary(Self::TEXT_MAX)].to_owned(),
            location: info.location().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

impl fmt::Display for PanicNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.text.lines().next().unwrap_or_default();
        write!(f, "{line} at {}", self.location)
    }
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot { depth: 0, note: None }) };
}

struct Slot {
    /// Barriers this thread is inside of.
    depth: u32,
    note: Option<PanicNote>,
}

/// Run `code`; a panic in it comes back as a note instead of unwinding further.
pub(crate) fn guard<R>(code: impl FnOnce() -> R) -> Result<R, PanicNote> {
    static HOOK: Once = Once::new();
    HOOK.call_once(install);
    SLOT.with_borrow_mut(|slot| slot.depth += 1);
    // The caller throws away whatever the code may have left half changed.
    let result = catch_unwind(AssertUnwindSafe(code));
    let note = SLOT.with_borrow_mut(|slot| {
        slot.depth -= 1;
        slot.note.take()
    });
    result.map_err(|_payload| note.unwrap_or_default())
}

fn install() {
    let outer = take_hook();
    set_hook(Box::new(move |info| {
        let inside = SLOT.try_with(|slot| match slot.try_borrow_mut() {
            Ok(mut slot) if slot.depth > 0 => {
                slot.note = Some(PanicNote::of(info));
                true
            }
            _ => false,
        });
        if !inside.unwrap_or(false) {
            outer(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_kept_with_its_message_and_place() {
        let note = guard(|| panic!("lost {} boats", 3)).unwrap_err();
        assert_eq!(note.text, "lost 3 boats");
        assert!(note.location.contains("barrier.rs"), "{}", note.location);
    }

    #[test]
    fn an_endless_message_is_cut_at_a_character() {
        let note = guard(|| panic!("{}", "\u{e9}".repeat(1000))).unwrap_err();
        assert_eq!(note.text.len(), PanicNote::TEXT_MAX);
    }

    #[test]
    fn code_that_does_not_panic_hands_back_its_result() {
        assert_eq!(guard(|| 7), Ok(7));
        assert_eq!(guard(|| guard(|| panic!("inner")).is_err()), Ok(true));
    }
}
