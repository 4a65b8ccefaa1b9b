//! Text: whatever a process says of itself as cells of a screen, and numbers as few characters.
//!
//! Names come from others: nothing but what takes one or two cells is ever drawn, and no more of it
//! than fits.

use ratatui::text::Span;

/// Characters of a text that are looked at; no screen is wider.
const CHARS_MAX: usize = 1_024;

/// Which characters the terminal has, and whether it has colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// It shows characters that are not ASCII.
    pub(crate) unicode: bool,
    /// It has colours, and the user wants them.
    pub(crate) colours: bool,
}

impl Look {
    /// What the environment says: the locale's variables, `TERM` and `NO_COLOR`.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let locale = locale.unwrap_or_default().to_ascii_lowercase();
        let plain = ["dumb", "vt100", "vt102", "vt220", "linux-m", "xterm-mono"];
        let term = set("TERM").unwrap_or_default();
        Self {
            unicode: locale.contains("utf-8") || locale.contains("utf8"),
            colours: set("NO_COLOR").is_none() && !plain.contains(&term.as_str()),
        }
    }

    /// A part of a cell filled from below, in eighths.
    pub(crate) fn column(self, eighths: usize) -> char {
        const BLOCKS: [char; 9] = [
            ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}',
            '\u{2587}', '\u{2588}',
        ];
        const PLAIN: [char; 9] = [' ', '.', '.', ':', ':', ':', '|', '|', '#'];
        if self.unicode { BLOCKS[eighths.min(8)] } else { PLAIN[eighths.min(8)] }
    }

    /// A bar of `cells`, filled to a share.
    pub(crate) fn bar(self, share: f64, cells: usize) -> String {
        const PARTS: [char; 8] = [
            ' ', '\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}',
        ];
        let eighths = whole(share.clamp(0.0, 1.0) * cells as f64 * 8.0);
        let (full, part) = (eighths / 8, eighths % 8);
        let (fill, rest) = if self.unicode { ('\u{2588}', ' ') } else { ('#', '.') };
        let mut bar: String = std::iter::repeat_n(fill, full).collect();
        if full < cells {
            bar.push(if self.unicode { PARTS[part] } else { rest });
        }
        bar.extend(std::iter::repeat_n(rest, cells.saturating_sub(full + 1)));
        bar
    }

    /// What stages of a tick are drawn with, so that they differ without colours.
    pub(crate) fn fill(self, stage: usize) -> char {
        const BLOCKS: [char; 6] =
            ['\u{2588}', '\u{2592}', '\u{2593}', '\u{2591}', '\u{259a}', '\u{2595}'];
        const PLAIN: [char; 6] = ['#', '=', '+', '-', 'o', 'x'];
        if self.unicode { BLOCKS[stage % 6] } else { PLAIN[stage % 6] }
    }

    /// The mark of a text that was cut.
    fn cut(self) -> char {
        if self.unicode { '\u{2026}' } else { '~' }
    }

    /// The mark of a sorted column.
    pub(crate) fn sorted(self, descending: bool) -> char {
        match (self.unicode, descending) {
            (true, true) => '\u{25bc}',
            (true, false) => '\u{25b2}',
            (false, true) => 'v',
            (false, false) => '^',
        }
    }

    /// Text that takes as many cells as it seems to: what would move the cursor, or take no cell,
    /// becomes a question mark.
    pub(crate) fn clean(self, text: &str) -> String {
        let fits = |c: char| match c {
            ' '..='~' => true,
            c => self.unicode && !c.is_control() && matches!(width(c), 1 | 2),
        };
        text.chars().take(CHARS_MAX).map(|c| if fits(c) { c } else { '?' }).collect()
    }

    /// The begin of a text, cleaned, in at most so many cells.
    pub(crate) fn clip(self, text: &str, cells: usize) -> String {
        let text = self.clean(text);
        if cells_of(&text) <= cells {
            return text;
        }
        let mut kept = fitting(text.chars(), cells.saturating_sub(1));
        if cells > 0 {
            kept.push(self.cut());
        }
        kept
    }

    /// The end of a text, cleaned, in at most so many cells: of a path that says more.
    pub(crate) fn clip_front(self, text: &str, cells: usize) -> String {
        let skipped = text.chars().count().saturating_sub(CHARS_MAX);
        let end: String = text.chars().skip(skipped).collect();
        let text = self.clean(&end);
        if skipped == 0 && cells_of(&text) <= cells {
            return text;
        }
        let kept = fitting(text.chars().rev(), cells.saturating_sub(1));
        let cut = Some(self.cut()).filter(|_| cells > 0);
        cut.into_iter().chain(kept.chars().rev()).collect()
    }
}

/// The nearest whole number of cells, or of parts of one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and positive")]
pub(crate) fn whole(value: f64) -> usize {
    value.round().clamp(0.0, 1e9) as usize
}

/// A number of cells, as the terminal counts them.
pub(crate) fn columns(cells: usize) -> u16 {
    u16::try_from(cells).unwrap_or(u16::MAX)
}

/// Cells that a cleaned text takes.
pub(crate) fn cells_of(text: &str) -> usize {
    text.chars().map(width).sum()
}

fn width(c: char) -> usize {
    Span::raw(&*c.encode_utf8(&mut [0; 4])).width()
}

fn fitting(chars: impl Iterator<Item = char>, cells: usize) -> String {
    let mut left = cells;
    chars
        .take_while(|&c| {
            let fits = width(c) <= left;
            left = left.saturating_sub(width(c));
            fits
        })
        .collect()
}

/// A duration in at most six characters.
pub(crate) fn nanos(ns: u64) -> String {
    let (value, unit) = match ns {
        0 => return "0".to_owned(),
        1..1_000 => return format!("{ns}ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        1_000_000_000..600_000_000_000 => (ns as f64 / 1e9, "s"),
        600_000_000_000..36_000_000_000_000 => (ns as f64 / 6e10, "min"),
        _ => (ns as f64 / 3.6e12, "h"),
    };
    if value < 9.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

/// A number in at most five characters.
pub(crate) fn count(value: f64) -> String {
    let (value, unit) = match value {
        v if v < 9_999.5 => (v, ""),
        v if v < 9_999_500.0 => (v / 1e3, "k"),
        v if v < 9_999_500_000.0 => (v / 1e6, "M"),
        v if v < 9_999_500_000_000.0 => (v / 1e9, "G"),
        v => (v / 1e12, "T"),
    };
    if value < 9.95 && value.fract() > 0.04 {
        format!("{value:.1}{unit}")
    } else {
        format!("{value:.0}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Look = Look { unicode: true, colours: true };
    const PLAIN: Look = Look { unicode: false, colours: false };

    #[test]
    fn nothing_that_moves_a_cursor_or_hides_is_left_in_a_text() {
        let hostile = "a\u{1b}[2J\u{7}\n\u{9b}1m\u{202e}b\u{200b}c\u{301}";
        assert_eq!(FULL.clean(hostile), "a?[2J???1m?b?c?");
        assert_eq!(PLAIN.clean("\u{e9}\u{4e16}x"), "??x");
        assert_eq!(FULL.clean("\u{e9}\u{4e16}x"), "\u{e9}\u{4e16}x");
    }

    #[test]
    fn a_text_of_any_length_takes_no_more_cells_than_it_is_given() {
        let long = "p/".repeat(5_000);
        for look in [FULL, PLAIN] {
            for cells in [0, 1, 2, 7, 80] {
                for text in [&long, "\u{4e16}\u{4e16}\u{4e16}\u{4e16}\u{4e16}", "", "abc"] {
                    assert!(cells_of(&look.clip(text, cells)) <= cells, "{text:.9} {cells}");
                    assert!(cells_of(&look.clip_front(text, cells)) <= cells, "{text:.9} {cells}");
                }
            }
        }
        assert_eq!(PLAIN.clip("roster", 4), "ros~");
        assert_eq!(PLAIN.clip_front("server/roster", 7), "~roster");
    }

    #[test]
    fn numbers_take_few_characters() {
        let times = [0, 999, 1_000, 12_345, 9_960_000, 61_000_000_000, u64::MAX].map(nanos);
        assert_eq!(times, ["0", "999ns", "1.0us", "12us", "10ms", "61s", "5124096h"]);
        let counts = [0.0, 0.5, 7.0, 9_999.0, 12_345.0, 9.9e9].map(count);
        assert_eq!(counts, ["0", "0.5", "7", "9999", "12k", "9900M"]);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(PLAIN.bar(0.5, 4), "##..");
        assert_eq!(PLAIN.bar(7.0, 3), "###");
        assert_eq!(FULL.bar(0.5625, 2), "\u{2588}\u{258f}");
        assert_eq!(FULL.bar(0.0, 2), "  ");
    }

    #[test]
    fn colours_and_blocks_are_for_terminals_that_have_them() {
        let of = |pairs: &'static [(&str, &str)]| {
            let found = |name: &str| pairs.iter().find(|pair| pair.0 == name);
            Look::of(move |name| found(name).map(|pair| pair.1.to_owned()))
        };
        assert_eq!(of(&[("LANG", "en_US.UTF-8"), ("TERM", "xterm")]), FULL);
        assert_eq!(of(&[("LANG", "C.utf8"), ("LC_ALL", "C"), ("NO_COLOR", "1")]), PLAIN);
        assert_eq!(of(&[("LANG", "C.utf8"), ("NO_COLOR", "")]), FULL);
        assert_eq!(of(&[("TERM", "vt100")]), PLAIN);
    }
}
