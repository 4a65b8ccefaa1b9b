//! Printable: text that others wrote, as a terminal may show it.
//!
//! Names and texts of content end in lines that people read. A control character in one could move
//! the cursor, colour what follows or make a second line; one of the bidirectional controls turns
//! round what is read. Used by whoever prints such a text.

/// A text is shown up to so many characters.
pub const PRINTABLE_CHARS_MAX: usize = 500;
/// Behind what was cut.
const CUT: char = '\u{2026}';

/// The text on one line, with everything escaped that does more than stand there, and cut at
/// [`PRINTABLE_CHARS_MAX`] characters.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    let mut left = PRINTABLE_CHARS_MAX;
    for letter in text.chars() {
        let is_plain = !letter.is_control() && !turns_or_breaks(letter);
        let width = if is_plain { 1 } else { letter.escape_default().count() };
        if width > left {
            shown.push(CUT);
            break;
        }
        left -= width;
        if is_plain {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_default());
        }
    }
    shown
}

/// The text as it is, cut at [`PRINTABLE_CHARS_MAX`] characters; for JSON, which escapes itself.
#[must_use]
pub fn clipped(text: &str) -> String {
    match text.char_indices().nth(PRINTABLE_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", &text[..end]),
    }
}

/// Whether a character turns the direction of writing, or ends a line or a paragraph.
const fn turns_or_breaks(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}'
    )
}
