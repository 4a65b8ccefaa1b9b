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
use super::page::Page;
use super::source::{Heard, Source};
use super::state::{Mode, State};
use super::text::{Look, cells_of, columns, nanos};
use super::{limits, lines, processes};

/// The smallest terminal that anything is drawn in.
const SMALLEST: (u16, u16) = (40, 10);
/// Screens narrower than this name the most needed keys only.
const NARROW: u16 = 74;
/// Data that is older than this is told loudly.
const OLD_US: u64 = 2_000_000;

/// Draw everything.
pub(crate) fn draw(state: &State, look: Look, buffer: &mut Buffer) {
    let mut canvas = Canvas::new(buffer, look);
    if canvas.width < SMALLEST.0 || canvas.height < SMALLEST.1 {
        let (columns, rows) = SMALLEST;
        let told = format!("too small: {columns}x{rows} needed");
        canvas.put(0, 0, &told, canvas.width, Tone::Plain);
        return;
    }
    tabs(state, &mut canvas);
    if state.has_help {
        help::draw(state.help_top, &mut canvas);
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
            Page::Processes => {
                let lines = processes::processes(sources);
                listing::draw(&state.processes, lines, false, &mut canvas);
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
    let heard = || sources.iter().filter(|source| !source.is_stale());
    let sum = |of: fn(&Source) -> usize| heard().map(of).sum::<usize>();
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
        format!("6 process {}", heard().count()),
    ];
    let right = if state.is_paused() { "PAUSED, p goes on" } else { "dh inspect" };
    let wide = columns(cells_of(right));
    let all: u16 = names.iter().map(|name| columns(cells_of(name)) + 2).sum();
    let is_narrow = canvas.width < NARROW || state.is_paused() && all + wide >= canvas.width;
    let mut x = 0;
    for (page, name) in Page::ALL.into_iter().zip(names) {
        let is_shown = page == state.page;
        let text = match name.split_once(' ') {
            _ if is_shown => format!("[{name}]"),
            Some((digit, rest)) if is_narrow => match rest.find("CYCLES") {
                Some(at) => format!(" {digit} {} ", &rest[at..]),
                None => format!(" {digit} "),
            },
            _ => format!(" {name} "),
        };
        let tone = match page {
            _ if is_shown => Tone::Title,
            Page::Waits if cycles > 0 => Tone::Alarm,
            _ => Tone::Dim,
        };
        let left = canvas.width.saturating_sub(x);
        x += canvas.put(x, 0, &text, left, tone);
    }
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
        Page::Processes => Some(&state.processes),
        Page::Ticks => None,
    };
    let filter = listing.map(|listing| listing.filter.as_str()).filter(|_| state.opened.is_none());
    let y = canvas.height - 2;
    if let Mode::Sure(order) = &state.mode {
        let x = canvas.put(0, y, "y or n: ", canvas.width, Tone::Alarm);
        canvas.put_end(x, y, &order.question, canvas.width, Tone::Alarm);
        return;
    }
    let typed = match &state.mode {
        Mode::Bound(bounding) => Some(bounding.prompt()),
        Mode::Words(wording) => Some(wording.prompt()),
        _ => None,
    };
    if let Some(typed) = typed {
        // What is typed stands at its end.
        canvas.put_end(0, y, &typed, canvas.width, Tone::Bold);
        return;
    }
    let (text, tone) = match (&state.mode, &state.told, filter) {
        (Mode::Filter, _, filter) => (
            format!("filter: {}_  (Enter keeps it, Esc drops it)", filter.unwrap_or("")),
            Tone::Bold,
        ),
        (Mode::Keys, Some(told), _) => return answer(told, y, canvas),
        (Mode::Keys, None, Some(filter)) if !filter.is_empty() => {
            (format!("filter: {filter}  (Esc shows all)"), Tone::Bold)
        }
        _ => (keys(state, canvas.width).to_owned(), Tone::Dim),
    };
    canvas.put(0, y, &text, canvas.width, tone);
}

/// What came of an order, over as many lines up from this one as it takes.
fn answer(told: &str, bottom: u16, canvas: &mut Canvas<'_>) {
    let mut lines = vec![String::new()];
    for letter in told.chars() {
        let last = lines.last().map_or(0, |line| cells_of(line));
        if last + cells_of(letter.encode_utf8(&mut [0; 4])) > usize::from(canvas.width) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push(letter);
        }
    }
    // The tabs stay.
    for (y, line) in (1..=bottom).rev().zip(lines.iter().take(usize::from(bottom)).rev()) {
        let blank = usize::from(canvas.width).saturating_sub(cells_of(line));
        canvas.put(0, y, &format!("{line}{:blank$}", ""), canvas.width, Tone::Bold);
    }
}

fn keys(state: &State, width: u16) -> &'static str {
    match state.page {
        _ if state.has_help => "arrows read on, any other key goes back",
        _ if width < NARROW && state.opened.is_some() => "Esc back  r restart  ? help  q quit",
        _ if width < NARROW => "arrows choose  ? help  q quit",
        _ if state.opened.is_some() => {
            "Esc back  r restart  b bound  d dump  p pause  ? help  q quit"
        }
        Page::Actors => "arrows choose and sort  Enter open  / filter  p pause  ? help  q quit",
        Page::Ticks => "arrows choose a loop  d dump the flight recorder  p pause  ? help  q quit",
        Page::Links | Page::Limits | Page::Processes => {
            "arrows choose and sort  / filter  p pause  ? help  q quit"
        }
        Page::Waits => "arrows choose and sort  Enter opens who waits  / filter  ? help  q quit",
    }
}

/// What the data is of and how old it is; loud where it does not come any more.
fn status(state: &State, canvas: &mut Canvas<'_>) {
    let (y, width) = (canvas.height - 1, canvas.width);
    let live = state.heard_now();
    let lost = |source: &&Source| source.is_stale();
    if let Some(source) = live.iter().find(lost) {
        let age = state.now_us.saturating_sub(source.came_us).saturating_mul(1_000);
        let why = match &source.state {
            Heard::Lost(why) => why.as_str(),
            Heard::Never | Heard::Now | Heard::Gone => "",
        };
        let name = and_more(&source.name, live.iter().filter(lost).count());
        let text = format!("CONNECTION LOST: {name} silent for {}: {why}", nanos(age));
        canvas.fill(y, Tone::Loud);
        canvas.put(0, y, &text, width, Tone::Loud);
        return;
    }
    let shown: Vec<&Source> =
        state.sources().iter().filter(|source| source.state != Heard::Gone).collect();
    let Some(source) = shown.first() else {
        canvas.fill(y, Tone::Title);
        canvas.put(
            0,
            y,
            "no process of this user runs; one that starts is shown",
            width,
            Tone::Title,
        );
        return;
    };
    let age = shown.iter().map(|source| state.now_us.saturating_sub(source.came_us)).max();
    let age = age.unwrap_or_default();
    let text = format!(
        "{}  change {} of snapshot {}  {} old  version {}",
        and_more(&source.name, shown.len()),
        source.step,
        source.snapshot.seq,
        tenths(age),
        source.snapshot.process.version,
    );
    let tone = if age > OLD_US { Tone::Loud } else { Tone::Title };
    canvas.fill(y, tone);
    canvas.put(0, y, &text, width, tone);
}

/// The name of one of several.
fn and_more(name: &str, of: usize) -> String {
    if of > 1 { format!("{name} and {} more", of - 1) } else { name.to_owned() }
}

fn tenths(us: u64) -> String {
    format!("{:.1} s", us as f64 / 1e6)
}
