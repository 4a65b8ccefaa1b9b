//! A page of rows: titles, rows, which one is chosen.

use super::canvas::{Canvas, Tone};
use crate::inspect::screen::lines::Line;
use crate::inspect::screen::listing::{Listing, fitting};
use crate::inspect::screen::state::FRAME_ROWS;
use crate::inspect::screen::text::columns;

/// Draw the rows of a page; as a tree where the first column is a path.
pub(crate) fn draw<L: Line>(
    listing: &Listing,
    lines: Vec<L>,
    is_tree: bool,
    canvas: &mut Canvas<'_>,
) {
    let (shown, first) = fitting::<L>(usize::from(canvas.width), listing.sort);
    titles::<L>(listing, &shown, first, canvas);
    let is_empty = lines.is_empty();
    let lines = listing.arranged(lines);
    if lines.is_empty() {
        let told = if is_empty { "there are none" } else { "none passes the filter" };
        canvas.put(1, 3, told, canvas.width, Tone::Dim);
    }
    let rows = usize::from(canvas.height).saturating_sub(FRAME_ROWS);
    let is_tree = is_tree && listing.sort == 0;
    let mut before = String::new();
    for (at, line) in lines.iter().skip(listing.top).take(rows).enumerate() {
        let y = 2 + columns(at);
        let is_chosen = listing.chosen == Some(line.id());
        if is_chosen {
            canvas.fill(y, Tone::Chosen);
        }
        let mut x = 0;
        for &column in &shown {
            let width = if column == 0 { first } else { L::COLUMNS[column].cells() };
            let tone = match column {
                _ if is_chosen => Tone::Chosen,
                _ if line.is_stale() => Tone::Dim,
                column if line.is_alarming(column) => Tone::Alarm,
                _ => Tone::Plain,
            };
            let value = line.value(column);
            let text = value.text();
            if column == 0 && is_tree {
                let shared = shared(&before, &text);
                let indent = (text[..shared].matches('/').count() * 2).min(width / 2);
                let left = columns(width - indent);
                canvas.put_end(x + columns(indent), y, &text[shared..], left, tone);
                before = text.into_owned();
            } else if column == 0 {
                canvas.put_end(x, y, &text, columns(width), tone);
            } else if L::COLUMNS[column].is_text {
                canvas.put(x, y, &text, columns(width), tone);
            } else {
                canvas.put_right(x, y, &text, columns(width), tone);
            }
            x += columns(width) + 1;
        }
    }
}

/// The titles, that of the order marked.
fn titles<L: Line>(listing: &Listing, shown: &[usize], first: usize, canvas: &mut Canvas<'_>) {
    let mut x = 0;
    for &at in shown {
        let column = &L::COLUMNS[at];
        let width = columns(if at == 0 { first } else { column.cells() });
        let mut title = column.title.to_owned();
        if at == listing.sort {
            title.push(canvas.look.sorted(listing.descending));
        }
        let tone = if at == listing.sort { Tone::Title } else { Tone::Bold };
        if column.is_text {
            canvas.put(x, 1, &title, width, tone);
        } else {
            canvas.put_right(x, 1, &title, width, tone);
        }
        x += width + 1;
    }
}

/// Bytes of the parts that two paths begin with, up to the last `/` among them.
fn shared(before: &str, path: &str) -> usize {
    let same = before.bytes().zip(path.bytes()).take_while(|(one, two)| one == two).count();
    path.bytes().take(same).rposition(|byte| byte == b'/').map_or(0, |at| at + 1)
}
