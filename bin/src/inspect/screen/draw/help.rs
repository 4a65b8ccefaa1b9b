//! The page of keys.

use super::canvas::{Canvas, Tone};
use crate::inspect::screen::help::lines;
use crate::inspect::screen::state::FRAME_ROWS;
use crate::inspect::screen::text::columns;

/// Draw it, from this line on.
pub(crate) fn draw(top: usize, canvas: &mut Canvas<'_>) {
    let rows = usize::from(canvas.height).saturating_sub(FRAME_ROWS);
    let lines = lines(usize::from(canvas.width));
    for (at, line) in lines.iter().skip(top).take(rows).enumerate() {
        let (y, x) = (2 + columns(at), 2 + columns(line.at));
        canvas.put(2, y, line.keys, canvas.width - 2, Tone::Bold);
        canvas.put(x, y, &line.what, canvas.width.saturating_sub(x), Tone::Plain);
    }
}
