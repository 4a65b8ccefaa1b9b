//! Printable: nothing that others wrote moves a terminal or fills it.

use crate::{PRINTABLE_CHARS_MAX, PalletError, clipped, printable};

#[test]
fn controls_and_turns_of_direction_are_escaped_and_letters_are_not() {
    for (text, shown) in [
        ("a\u{1b}[31mb", "a\\u{1b}[31mb"),
        ("a\nb\r\t\0", "a\\nb\\r\\t\\u{0}"),
        ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
        ("x\u{202e}gpj\u{2066}", "x\\u{202e}gpj\\u{2066}"),
        ("x\u{2028}y\u{2029}", "x\\u{2028}y\\u{2029}"),
        ("\u{feff}\u{200f}", "\\u{feff}\\u{200f}"),
        ("U\u{308}n\u{ef}code \u{4f60} \"\\", "U\u{308}n\u{ef}code \u{4f60} \"\\"),
    ] {
        assert_eq!(printable(text), shown);
    }
}

#[test]
fn a_long_text_is_cut_at_the_limit_whatever_it_is_made_of() {
    for text in ["x", "\u{4f60}", "\u{1b}"] {
        let shown = printable(&text.repeat(31_000_000 / text.len()));
        assert!(shown.chars().count() <= PRINTABLE_CHARS_MAX + 1, "{text:?}");
        assert!(shown.ends_with('\u{2026}'), "{text:?}");
    }
    let fits = "x".repeat(PRINTABLE_CHARS_MAX);
    assert_eq!((printable(&fits), clipped(&fits)), (fits.clone(), fits.clone()));
    assert_eq!(clipped(&(fits.clone() + "yz")), fits + "\u{2026}");
    assert_eq!(clipped("a\u{1b}"), "a\u{1b}");
}

#[test]
fn an_error_shows_the_name_it_is_about_as_text() {
    let error = PalletError::NoEntry("a\u{202e}\n".repeat(1000));
    let shown = error.to_string();
    assert!(shown.starts_with("the pallet holds no \"a\\u{202e}\\na"), "{shown}");
    assert!(shown.chars().count() < PRINTABLE_CHARS_MAX + 50, "{shown}");
}
