//! Help: the keys, as lines of whatever width there is.

const KEYS: [(&str, &str); 20] = [
    ("1 2 3 4 5 6  Tab", "actors, ticks, links, waits, limits, processes"),
    ("Up Down  j k", "choose a row, or a tick loop"),
    ("PgUp PgDn  Home End", "go far"),
    ("Left Right", "sort by the column beside; a column that is hidden comes in"),
    ("capital letter", "sort by the column with that capital; again turns the order round"),
    ("Enter", "open the page of the actor"),
    ("Esc", "go back, show all, choose none"),
    ("/", "show only rows whose path or state holds a text"),
    ("p", "stop the screen and go on"),
    ("r", "restart the chosen actor"),
    ("b", "bound a lane of the chosen actor"),
    ("d", "write what the flight recorder holds"),
    ("s", "set a preference of the process that can change as it runs"),
    ("l", "change what is logged below one path"),
    ("q  Ctrl-C", "quit"),
    ("", ""),
    ("50 99 max", "half, 99 of 100, all took at most this"),
    ("In/s Refu/s Busy%", "over the last half to whole second"),
    ("Path", "sorted by it: a tree"),
    ("r b d s l", "ask once before anything is done"),
];
/// Cells of the keys, where what they do stands beside them.
const BESIDE: usize = 21;
/// Screens narrower than this have what keys do below them.
const NARROW: usize = 70;
/// How far it is moved in there.
const INDENT: usize = 2;

/// One line: keys, and what they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelpLine {
    pub(crate) keys: &'static str,
    pub(crate) what: String,
    /// Where `what` stands.
    pub(crate) at: usize,
}

/// All lines, for a screen so wide.
pub(crate) fn lines(width: usize) -> Vec<HelpLine> {
    if width >= NARROW {
        let line = |(keys, what): (&'static str, &str)| HelpLine {
            keys,
            what: what.to_owned(),
            at: BESIDE,
        };
        return KEYS.into_iter().map(line).collect();
    }
    let mut lines = Vec::new();
    for (keys, what) in KEYS {
        lines.push(HelpLine { keys, what: String::new(), at: INDENT });
        let below = wrapped(what, width.saturating_sub(INDENT + 2));
        lines.extend(below.into_iter().map(|what| HelpLine { keys: "", what, at: INDENT }));
    }
    lines
}

/// A text in lines of at most so many characters, where its words are not longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_narrow_screen_nothing_of_help_is_cut() {
        for line in lines(40) {
            assert!(line.keys.len() <= 36 && line.at + line.what.len() <= 38, "{line:?}");
        }
        let told: Vec<String> = lines(40).into_iter().map(|line| line.what).collect();
        let wide: Vec<String> = lines(80).into_iter().map(|line| line.what).collect();
        let words = |of: &[String]| of.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(&told), words(&wide));
    }
}
