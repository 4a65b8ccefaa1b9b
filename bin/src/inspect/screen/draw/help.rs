//! The page of keys.

use super::canvas::{Canvas, Tone};
use crate::inspect::screen::text::columns;

const KEYS: [(&str, &str); 20] = [
    ("1 2 3 4 5  Tab", "actors, ticks, links, waits, limits"),
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

/// Draw it.
pub(crate) fn draw(canvas: &mut Canvas<'_>) {
    let rows = usize::from(canvas.height).saturating_sub(4);
    for (at, (keys, what)) in KEYS.into_iter().take(rows).enumerate() {
        let y = 2 + columns(at);
        canvas.put(2, y, keys, 20, Tone::Bold);
        canvas.put(23, y, what, canvas.width - 23, Tone::Plain);
    }
}
