//! The name a player is shown by: what may stand in it, and what it is when nobody gave one.
//!
//! Names are display only. Nothing here knows who a player is.

use dh_machine::Digest;

/// The longest name, in UTF-16 units.
pub const NAME_UNITS_MAX: usize = 32;

/// The name to join with: `preferred` where it shows anything, else the default name.
///
/// `id` makes the fallback name the same on every start: some 16 bits of the client's key.
#[must_use]
pub fn player_name(preferred: Option<&str>, host: Option<&str>, platform: &str, id: u16) -> String {
    let shown = preferred.map(|name| printable(name, NAME_UNITS_MAX)).unwrap_or_default();
    if shown.is_empty() { default_name(host, platform, id) } else { shown }
}

/// The host's name reduced to letters, digits, `-` and `_`; where that says nothing, the platform
/// and four hex digits, like `linux-3f2a`.
#[must_use]
pub fn default_name(host: Option<&str>, platform: &str, id: u16) -> String {
    let host = host.unwrap_or_default();
    let reduced: String = host.chars().filter(|it| is_plain(*it)).take(NAME_UNITS_MAX).collect();
    let first_label = host.split('.').next().unwrap_or_default().trim();
    if !reduced.is_empty() && !first_label.eq_ignore_ascii_case("localhost") {
        return reduced;
    }
    let letters = |it: &char| it.is_ascii_alphabetic();
    let platform: String = platform.chars().filter(letters).take(NAME_UNITS_MAX - 5).collect();
    let platform = if platform.is_empty() { "host" } else { platform.as_str() };
    format!("{}-{id:04x}", platform.to_ascii_lowercase())
}

/// A name as a server takes it from a client: without control characters, trimmed, cut to
/// [`NAME_UNITS_MAX`], and `player` where nothing is left.
#[must_use]
pub fn display_name(claimed: &str) -> String {
    let shown = printable(claimed, NAME_UNITS_MAX);
    if shown.is_empty() { "player".to_owned() } else { shown }
}

/// A colour worked out from a name, 0xRRGGBB, for those who chose none: equal names have equal
/// colours.
#[must_use]
pub fn default_colour(name: &str) -> u32 {
    const COLOURS: [u32; 12] = [
        0x00e6_5f5c,
        0x00f2_9e4c,
        0x00f1_c453,
        0x00a3_c95a,
        0x004c_b572,
        0x002e_b8a6,
        0x003f_a7d6,
        0x0059_7ee0,
        0x0087_6ad6,
        0x00b5_63cf,
        0x00de_5f9e,
        0x009c_7a5b,
    ];
    let mut digest = Digest::new();
    digest.bytes(name.as_bytes());
    let place = usize::try_from(digest.value() % COLOURS.len() as u64).unwrap_or_default();
    COLOURS[place]
}

/// `text` without what cannot be shown, trimmed, at most `units_max` UTF-16 units, cut between two
/// characters: what one side says, as everybody may see it.
#[must_use]
pub fn printable(text: &str, units_max: usize) -> String {
    let shown: String = text.chars().filter(|it| is_displayable(*it)).collect();
    let mut left = units_max;
    let fits = |character: &char| {
        let room = left.checked_sub(character.len_utf16());
        left = room.unwrap_or_default();
        room.is_some()
    };
    let cut: String = shown.trim().chars().take_while(fits).collect();
    cut.trim_end().to_owned()
}

/// UTF-16 units of a text, which is how lengths of names and lines are counted.
pub(crate) fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// Whether a character may be shown: no control character, no separator of lines or paragraphs,
/// nothing that changes the direction of the text after it.
#[must_use]
pub fn is_displayable(character: char) -> bool {
    let turns = matches!(character, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}');
    let separates_or_turns = turns || matches!(character, '\u{2028}'..='\u{202e}');
    !character.is_control() && !separates_or_turns
}

const fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JOIN-23
    #[test]
    fn an_unset_name_is_the_host_name_reduced_and_cut() {
        let named = |host: &str| player_name(None, Some(host), "linux", 0x3f2a);
        assert_eq!(named("My Host!\u{e9}"), "MyHost");
        assert_eq!(named(&"a".repeat(40)), "a".repeat(32));
        assert_eq!(named("dev_box-7.lan"), "dev_box-7lan");
    }

    /// JOIN-23
    #[test]
    fn a_name_that_was_set_is_used_and_one_that_shows_nothing_is_not() {
        let named = |name| player_name(Some(name), Some("box"), "linux", 1);
        assert_eq!(named("  Edda\u{7}  "), "Edda");
        assert_eq!(named(" \u{202e}\n "), "box");
    }

    /// JOIN-24
    #[test]
    fn a_host_name_that_says_nothing_gives_the_platform_and_four_hex_digits() {
        let hosts = [Some("localhost"), Some("LocalHost.localdomain"), Some("\u{e9}!"), None];
        assert!(hosts.iter().all(|host| default_name(*host, "linux", 0x3f2a) == "linux-3f2a"));
        assert_eq!(default_name(None, "iOS 17", 0xa), "ios-000a");
        assert_eq!(default_name(None, "", 0xa), "host-000a");
        assert!(units(&default_name(None, &"x".repeat(99), 0)) <= NAME_UNITS_MAX);
    }

    #[test]
    fn a_claimed_name_is_cut_on_a_character_at_32_utf16_units_and_never_blank() {
        let claimed = format!("{}\u{1f600}b", "a".repeat(31));
        assert_eq!(display_name(&claimed), "a".repeat(31), "the emoji takes two units");
        assert_eq!(display_name("\u{2029}\u{0}"), "player");
        assert_eq!(display_name("bob\u{202e}cat"), "bobcat");
    }

    #[test]
    fn what_is_said_loses_what_cannot_be_shown_and_is_cut_between_characters() {
        assert_eq!(printable(" a\u{0}b\u{2028}c\td ", 200), "abcd");
        assert_eq!(printable("ab \u{1f600}", 4), "ab", "no half emoji, no blank at the end");
        assert_eq!(printable("anything", 0), "");
    }

    #[test]
    fn equal_names_have_equal_colours_and_a_crowd_has_many() {
        assert_eq!(default_colour("edda"), default_colour("edda"));
        let crowd: std::collections::BTreeSet<u32> =
            (0..32).map(|n| default_colour(&format!("peer-{n}"))).collect();
        assert!(crowd.len() >= 8 && crowd.iter().all(|rgb| *rgb <= 0x00ff_ffff));
    }
}
