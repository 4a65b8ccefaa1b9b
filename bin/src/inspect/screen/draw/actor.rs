//! One actor's page: what it is and does, both lanes, its message mix, how long messages waited
//! and took, its last panic.

use dh_host::inspect::{LaneRow, MessageRow, Spread};

use super::canvas::{Canvas, Tone};
use crate::inspect::screen::lines::ActorLine;
use crate::inspect::screen::text::{columns, count, nanos, whole};

/// Rows of a histogram, where there is room.
const CHARTS_MIN: u16 = 8;
const CHARTS_MAX: u16 = 18;
/// The exponents of two that a histogram's columns end at: 256 ns to 17 s.
const EXPONENTS: std::ops::Range<u32> = 8..34;
/// Cells of one duration of the scale, with the blank behind it.
const LABEL: u16 = 8;
/// Rows of a histogram beside its columns: title and scale.
const HISTOGRAM_FRAME: u16 = 2;

/// Draw it.
pub(crate) fn draw(line: &ActorLine<'_>, canvas: &mut Canvas<'_>) {
    let (width, bottom) = (canvas.width, canvas.height - 2);
    let row = line.row;
    canvas.put_end(0, 1, &line.path, width, Tone::Title);
    let facts = format!(
        "kind {}  place {}  generation {}  turns {}",
        row.kind,
        row.place,
        row.generation,
        count(row.turns as f64)
    );
    canvas.put(0, 2, &facts, width, Tone::Plain);
    let does = match line.rates() {
        None => "rates -".to_owned(),
        Some(rates) => format!(
            "in {}/s  refused {}/s  busy {:.1}%",
            count(rates.offered),
            count(rates.refused),
            rates.busy * 100.0
        ),
    };
    let does =
        format!("state {}  {does}  restarts {}  panics {}", line.state(), row.restarts, row.panics);
    canvas.put(0, 3, &does, width, Tone::Plain);
    let mut y = 4;
    if let Some(panic) = &row.last_panic {
        let told = format!("last panic at {}: {}", panic.location, panic.text);
        canvas.put(0, y, &told, width, Tone::Alarm);
        y += 1;
    }
    lane("control", row.control, y, canvas);
    lane("data", row.data, y + 1, canvas);
    y += 2;
    // The mix gets the rows it needs, but leaves half to the histograms.
    let left = bottom.saturating_sub(y);
    let kinds = columns(row.messages.len().max(1)) + 2;
    let charts = left.saturating_sub(kinds).clamp((left / 2).min(CHARTS_MIN), CHARTS_MAX);
    mix(&row.messages, y, left - charts, canvas);
    let y = bottom - charts;
    let half = width / 2;
    histogram("waited", &row.wait, (0, y), (half - 1, charts), canvas);
    histogram("took", &row.handle, (half, y), (width - half, charts), canvas);
}

fn lane(name: &str, lane: LaneRow, y: u16, canvas: &mut Canvas<'_>) {
    let cells = (canvas.width / 3).max(10);
    canvas.put(0, y, name, 8, Tone::Plain);
    let is_full = lane.depth * 2 > lane.max;
    let bar = canvas.look.bar(lane.depth as f64 / lane.max.max(1) as f64, usize::from(cells));
    canvas.put(8, y, "[", 1, Tone::Dim);
    canvas.put(9, y, &bar, cells, if is_full { Tone::Alarm } else { Tone::Chart });
    canvas.put(9 + cells, y, "]", 1, Tone::Dim);
    let told = format!("{} of {} wait, at most {} so far", lane.depth, lane.max, lane.peak);
    canvas.put(11 + cells, y, &told, canvas.width, Tone::Plain);
}

/// The kinds of messages, most frequent first, each with its share as a bar.
fn mix(messages: &[MessageRow], y: u16, rows: u16, canvas: &mut Canvas<'_>) {
    if rows == 0 {
        return;
    }
    let width = canvas.width;
    let bar = width.saturating_sub(64).max(10);
    let titles = ["offered", "refused", "dropped", "expired", "lost", "depth"];
    canvas.put(0, y, "Message", 16, Tone::Bold);
    canvas.put(17, y, "share", bar, Tone::Bold);
    for (at, title) in titles.into_iter().enumerate() {
        canvas.put_right(18 + bar + columns(at) * 8, y, title, 7, Tone::Bold);
    }
    if messages.is_empty() {
        canvas.put(0, y + 1, "its messages have not come yet", width, Tone::Dim);
    }
    let mut sorted: Vec<&MessageRow> = messages.iter().collect();
    sorted.sort_by_key(|message| std::cmp::Reverse(message.counts.offered));
    let all = sorted.iter().map(|message| message.counts.offered).sum::<u64>().max(1);
    let shown = usize::from(rows - 1);
    for (at, message) in sorted.iter().take(shown).enumerate() {
        let (y, of) = (y + 1 + columns(at), &message.counts);
        let hidden = sorted.len() - shown.min(sorted.len());
        if at + 1 == shown && hidden > 0 {
            let told = format!("and {} more kinds of messages", hidden + 1);
            canvas.put(0, y, &told, width, Tone::Dim);
            return;
        }
        canvas.put(0, y, &message.message, 16, Tone::Plain);
        let share = of.offered as f64 / all as f64;
        let filled = canvas.look.bar(share, usize::from(bar));
        canvas.put(17, y, &filled, bar, Tone::Chart);
        let numbers = [of.offered, of.refused, of.dropped, of.expired, of.lost, of.depth];
        for (at, number) in numbers.into_iter().enumerate() {
            let tone = if (1..5).contains(&at) && number > 0 { Tone::Alarm } else { Tone::Plain };
            canvas.put_right(18 + bar + columns(at) * 8, y, &count(number as f64), 7, tone);
        }
    }
}

/// How durations are spread, a column for each power of two, and its percentiles.
fn histogram(
    name: &str,
    spread: &Spread,
    (x, y): (u16, u16),
    (width, rows): (u16, u16),
    canvas: &mut Canvas<'_>,
) {
    let title = format!(
        "{name} p50 {} p99 {} max {}",
        nanos(spread.p50_ns),
        nanos(spread.p99_ns),
        nanos(spread.max_ns)
    );
    canvas.put(x, y, &title, width, Tone::Bold);
    // Where there is no cell for each, neighbours share one.
    let per = columns(EXPONENTS.len()).div_ceil(width.max(1));
    let folded = folded(&spread.buckets);
    let folded: Vec<u64> = folded.chunks(usize::from(per)).map(|of| of.iter().sum()).collect();
    let most = folded.iter().copied().max().unwrap_or(0).max(1) as f64;
    let wide = (width / columns(folded.len())).max(1);
    let bars = rows.saturating_sub(HISTOGRAM_FRAME);
    for (at, &many) in folded.iter().enumerate() {
        let full = many as f64 / most * f64::from(bars) * 8.0;
        // Whatever happened at all is seen.
        let eighths = if many > 0 { whole(full).max(1) } else { 0 };
        for row in 0..bars {
            let filled = eighths.saturating_sub(usize::from(row) * 8).min(8);
            let block = canvas.look.column(filled).to_string().repeat(usize::from(wide));
            let y = y + bars - row;
            canvas.put(x + columns(at) * wide, y, &block, wide, Tone::Chart);
        }
    }
    let y = y + rows - 1;
    let ends = EXPONENTS.step_by(usize::from(per)).enumerate();
    for (at, exponent) in ends.step_by(usize::from(LABEL.div_ceil(wide))) {
        let from = columns(at) * wide;
        if from + LABEL - 1 <= width {
            canvas.put(x + from, y, &nanos(1 << exponent), LABEL - 1, Tone::Dim);
        }
    }
}

/// Buckets as powers of two; what is shorter or longer lies in the first or the last.
fn folded(buckets: &[(u64, u64)]) -> Vec<u64> {
    let mut columns = vec![0_u64; EXPONENTS.len()];
    for &(end, many) in buckets {
        let exponent = end.max(1).next_power_of_two().trailing_zeros();
        let at = exponent.clamp(EXPONENTS.start, EXPONENTS.end - 1) - EXPONENTS.start;
        columns[at as usize] = columns[at as usize].saturating_add(many);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_keeps_every_duration_however_short_or_long() {
        let columns = folded(&[(0, 1), (256, 2), (257, 3), (u64::MAX >> 1, 4), (1 << 40, 5)]);
        assert_eq!((columns[0], columns[1], columns[25]), (3, 3, 9));
        assert_eq!(columns.iter().sum::<u64>(), 15);
    }
}
