//! Draw: the state of the screen as cells. Reads everything, changes nothing.

mod actor;
mod canvas;
mod help;
mod listing;
#[cfg(test)]
mod tests;
mod ticks;

use ratatui::buffer::Buffer;

use self::canvas::{Canvas, Tone};
use super::source::{Heard, Source};
use super::state::{Mode, Page, State};
use super::text::{Look, cells_of, columns, nanos};
use super::{limits, lines};

/// The smallest terminal that anything is drawn in.
const SMALLEST: (u16, u16) = (40, 10);
/// Data that is older than this is told loudly.
const OLD_US: u64 = 2_000_000;

/// Draw everything.
pub(crate) fn draw(state: &State, look: Look, buffer: &mut Buffer) {
    let mut canvas = Canvas::new(buffer, look);
    if canvas.width < SMALLEST.0 || canvas.height < SMALLEST.1 {
        canvas.put(0, 0, "the terminal is too small", canvas.width, Tone::Plain);
        return;
    }
    tabs(state, &mut canvas);
    if state.has_help {
        help::draw(&mut canvas);
    } else if let Some(line) = state.opened() {
        actor::draw(&line, &mut canvas);
    } else {
        let sources = state.sources();
        match state.page {
            Page::Actors => {
                listing::draw(&state.actors, lines::actors(sources), true, &mut canvas);
            }
            Page::Links => listing::draw(&state.links, lines::links(sources), false, &mut canvas),
            Page::Waits => listing::draw(&state.waits, lines::waits(sources), false, &mut canvas),
            Page::Limits => {
                listing::draw(&state.limits, limits::limits(sources), false, &mut canvas);
            }
            Page::Ticks => ticks::draw(state, &mut canvas),
        }
    }
    message(state, &mut canvas);
    status(state, &mut canvas);
}

/// The pages, the one that is shown between brackets.
fn tabs(state: &State, canvas: &mut Canvas<'_>) {
    let sources = state.sources();
    let sum = |of: fn(&Source) -> usize| sources.iter().map(of).sum::<usize>();
    let cycles = sum(|source| source.snapshot.cycles.len());
    let names = [
        format!("1 actors {}", sum(|source| source.snapshot.actors.len())),
        format!("2 ticks {}", sum(|source| source.snapshot.ticks.len())),
        format!("3 links {}", sum(|source| source.snapshot.links.len())),
        match (sum(|source| source.snapshot.edges.len()), cycles) {
            (edges, 0) => format!("4 waits {edges}"),
            (edges, cycles) => format!("4 waits {edges} CYCLES {cycles}"),
        },
        format!("5 limits {}", sum(|source| source.snapshot.limits.len())),
    ];
    let mut x = 0;
    for (page, name) in Page::ALL.into_iter().zip(names) {
        let is_shown = page == state.page;
        let text = if is_shown { format!("[{name}]") } else { format!(" {name} ") };
        let tone = match page {
            _ if is_shown => Tone::Title,
            Page::Waits if cycles > 0 => Tone::Alarm,
            _ => Tone::Dim,
        };
        let left = canvas.width.saturating_sub(x);
        x += canvas.put(x, 0, &text, left, tone);
    }
    let right = if state.is_paused() { "PAUSED, p goes on" } else { "dh inspect" };
    let wide = columns(cells_of(right));
    if x + wide < canvas.width {
        let tone = if state.is_paused() { Tone::Alarm } else { Tone::Dim };
        canvas.put(canvas.width - wide, 0, right, wide, tone);
    }
}

/// What is asked, told or filtered.
fn message(state: &State, canvas: &mut Canvas<'_>) {
    let listing = match state.page {
        Page::Actors => Some(&state.actors),
        Page::Links => Some(&state.links),
        Page::Waits => Some(&state.waits),
        Page::Limits => Some(&state.limits),
        Page::Ticks => None,
    };
    let filter = listing.map(|listing| listing.filter.as_str()).filter(|_| state.opened.is_none());
    let (text, tone) = match (&state.mode, &state.told, filter) {
        (Mode::Filter, _, filter) => (
            format!("filter: {}_  (Enter keeps it, Esc drops it)", filter.unwrap_or("")),
            Tone::Bold,
        ),
        (Mode::Bound(bounding), ..) => (bounding.prompt(), Tone::Bold),
        (Mode::Words(wording), ..) => (wording.prompt(), Tone::Bold),
        (Mode::Sure(order), ..) => (format!("y or n: {}", order.question), Tone::Alarm),
        (Mode::Keys, Some(told), _) => (told.clone(), Tone::Bold),
        (Mode::Keys, None, Some(filter)) if !filter.is_empty() => {
            (format!("filter: {filter}  (Esc shows all)"), Tone::Bold)
        }
        _ => (keys(state).to_owned(), Tone::Dim),
    };
    canvas.put(0, canvas.height - 2, &text, canvas.width, tone);
}

fn keys(state: &State) -> &'static str {
    match state.page {
        _ if state.has_help => "any key goes back",
        _ if state.opened.is_some() => {
            "Esc back  r restart  b bound  d dump  p pause  ? help  q quit"
        }
        Page::Actors => "arrows choose and sort  Enter open  / filter  p pause  ? help  q quit",
        Page::Ticks => "arrows choose a loop  d dump the flight recorder  p pause  ? help  q quit",
        Page::Links | Page::Limits => "arrows choose and sort  / filter  p pause  ? help  q quit",
        Page::Waits => "arrows choose and sort  Enter opens who waits  / filter  ? help  q quit",
    }
}

/// What the data is of and how old it is; loud where it does not come any more.
fn status(state: &State, canvas: &mut Canvas<'_>) {
    let (y, width) = (canvas.height - 1, canvas.width);
    let live = state.heard_now();
    let lost = live.iter().find_map(|source| match &source.state {
        Heard::Lost(why) => Some((source, why)),
        Heard::Never | Heard::Now => None,
    });
    if let Some((source, why)) = lost {
        let age = state.now_us.saturating_sub(source.came_us).saturating_mul(1_000);
        let text = format!(
            "CONNECTION LOST, trying again: {}, silent for {}: {why}",
            source.name,
            nanos(age)
        );
        canvas.fill(y, Tone::Loud);
        canvas.put(0, y, &text, width, Tone::Loud);
        return;
    }
    let shown = state.sources();
    let Some(source) = shown.first() else { return };
    let snapshot = &source.snapshot;
    let age = shown.iter().map(|source| state.now_us.saturating_sub(source.came_us)).max();
    let age = age.unwrap_or_default();
    let more = match shown.len() {
        1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    let text = format!(
        "seq {}  {} old  {}{more}  version {}",
        snapshot.seq,
        tenths(age),
        source.name,
        snapshot.process.version,
    );
    let tone = if age > OLD_US { Tone::Loud } else { Tone::Title };
    canvas.fill(y, tone);
    canvas.put(0, y, &text, width, tone);
}

fn tenths(us: u64) -> String {
    format!("{:.1} s", us as f64 / 1e6)
}
