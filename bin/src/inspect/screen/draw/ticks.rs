//! The ticks page: the newest ticks of one loop as columns, how late each was and what it did.

use dh_host::inspect::{TickRow, TickStrip};

use super::canvas::{Canvas, Tone};
use crate::inspect::screen::source::Source;
use crate::inspect::screen::state::State;
use crate::inspect::screen::text::{columns, nanos, whole};

/// Cells left of the columns, for the scale.
const MARGIN: u16 = 7;
/// Rows above the charts: the loop, its percentiles, the stages.
const HEAD: u16 = 4;

/// Draw the chosen loop.
pub(crate) fn draw(state: &State, canvas: &mut Canvas<'_>) {
    let strips: Vec<(&Source, &TickStrip)> = state
        .sources()
        .iter()
        .flat_map(|source| source.snapshot.ticks.iter().map(move |strip| (source, strip)))
        .collect();
    let Some(&(source, strip)) = strips.get(state.strip) else {
        canvas.put(1, 3, "nothing ticks in this process", canvas.width, Tone::Dim);
        return;
    };
    head(source, strip, (state.strip, strips.len()), canvas);
    let shown = usize::from(canvas.width.saturating_sub(MARGIN));
    let recent = &strip.recent[strip.recent.len().saturating_sub(shown)..];
    let rows = canvas.height.saturating_sub(HEAD + 4);
    let late_rows = rows / 3;
    lateness(recent, HEAD, late_rows, canvas);
    work(strip, recent, HEAD + late_rows + 1, rows - late_rows, canvas);
}

fn head(source: &Source, strip: &TickStrip, (at, of): (usize, usize), canvas: &mut Canvas<'_>) {
    let width = canvas.width;
    let path = source.snapshot.actor(strip.actor).map_or("a loop that has ended", |row| &row.path);
    let newest = strip.recent.last().map_or(0, |tick| tick.tick);
    let which = if of > 1 { format!("{} of {of}  ", at + 1) } else { String::new() };
    let [period, longest] = [strip.period_ns, strip.longest_ns].map(nanos);
    let mean = strip.mean_ns.map_or_else(|| "-".to_owned(), nanos);
    let title = format!(
        "{which}tick {newest}  every {period}, lately {mean}, longest {longest}  overruns {}  ",
        strip.overruns
    );
    let tone = if strip.overruns > 0 { Tone::Alarm } else { Tone::Title };
    let x = canvas.put(0, 1, &title, width, tone);
    canvas.put_end(x, 1, path, width - x, Tone::Plain);
    let spread = |name: &str, spread: &dh_host::inspect::Spread| {
        let [p50, p99, max] = [spread.p50_ns, spread.p99_ns, spread.max_ns].map(nanos);
        format!("{name} p50 {p50} p99 {p99} max {max}")
    };
    let told = format!("{}   {}", spread("late", &strip.late), spread("work", &strip.work));
    canvas.put(0, 2, &told, width, Tone::Plain);
    let mut x = 0;
    let many = strip.recent.len().max(1) as u64;
    for (at, stage) in strip.stages.iter().enumerate() {
        let of = |tick: &TickRow| tick.stages_ns.get(at).copied().unwrap_or(0);
        let mean = strip.recent.iter().map(of).sum::<u64>() / many;
        let fill = canvas.look.fill(at).to_string();
        x += canvas.put(x, 3, &fill, 1, Tone::Part(at)) + 1;
        let told = format!("{stage} {}  ", nanos(mean));
        x += canvas.put(x, 3, &told, width.saturating_sub(x), Tone::Plain);
    }
}

/// How late each tick began.
fn lateness(recent: &[TickRow], y: u16, rows: u16, canvas: &mut Canvas<'_>) {
    let most = recent.iter().map(|tick| tick.late_ns).max().unwrap_or(0);
    scale("late", most, y, canvas);
    for (at, tick) in recent.iter().enumerate() {
        let eighths = eighths(tick.late_ns, most, rows);
        for row in 0..rows {
            let filled = eighths.saturating_sub(usize::from(row) * 8).min(8);
            let block = canvas.look.column(filled).to_string();
            let tone = if tick.behind > 0 { Tone::Alarm } else { Tone::Chart };
            canvas.put(MARGIN + columns(at), y + rows - 1 - row, &block, 1, tone);
        }
    }
}

/// What each tick did, its stages one upon the other; `!` below those that took too long.
fn work(strip: &TickStrip, recent: &[TickRow], y: u16, rows: u16, canvas: &mut Canvas<'_>) {
    let most = recent.iter().map(|tick| tick.work_ns).max().unwrap_or(0);
    scale("work", most, y, canvas);
    let cells = |ns: u64| columns(eighths(ns, most, rows).div_ceil(8));
    for (at, tick) in recent.iter().enumerate() {
        let x = MARGIN + columns(at);
        let (mut sum, mut from) = (0_u64, 0_u16);
        for (stage, &ns) in tick.stages_ns.iter().enumerate() {
            sum = sum.saturating_add(ns);
            let to = cells(sum.min(tick.work_ns)).min(rows);
            let fill = canvas.look.fill(stage).to_string();
            for row in from..to {
                canvas.put(x, y + rows - 1 - row, &fill, 1, Tone::Part(stage));
            }
            from = from.max(to);
        }
        if tick.work_ns > strip.period_ns {
            canvas.put(x, y + rows, "!", 1, Tone::Alarm);
        }
    }
}

fn scale(name: &str, most: u64, y: u16, canvas: &mut Canvas<'_>) {
    canvas.put(0, y, &nanos(most), MARGIN - 1, Tone::Dim);
    canvas.put(0, y + 1, name, MARGIN - 1, Tone::Bold);
}

/// How high a column is, in eighths of a cell.
fn eighths(ns: u64, most: u64, rows: u16) -> usize {
    whole(ns as f64 / most.max(1) as f64 * f64::from(rows) * 8.0)
}
