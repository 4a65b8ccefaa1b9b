//! The table of actors of a snapshot, for people who do not watch.

use dh_host::inspect::{ActorRow, Figures, Snapshot, State};

use crate::output::one_line;

/// One actor a line, under a line about the process.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let process = &snapshot.process;
    let title = format!(
        "{} {}, process {}, snapshot {}: {} actors, {} connections{}",
        one_line(&process.role),
        one_line(&process.version),
        process.pid,
        snapshot.seq,
        snapshot.actors.len(),
        snapshot.link_totals.live,
        whole(&snapshot.figures),
    );
    let head = ["actor", "state", "depth", "peak", "handled", "refused", "lost", "wait p99"];
    let head = head.into_iter().chain(["handle p99", "busy", "restarts"]).map(str::to_owned);
    let mut rows = vec![head.collect::<Vec<_>>()];
    rows.extend(snapshot.actors.iter().map(|actor| row(snapshot, actor)));
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, &width))| match at {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    std::iter::once(title).chain(rows.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// What is known of the process as a whole.
fn whole(figures: &Figures) -> String {
    let Figures { players, usage, .. } = figures;
    let parts = [
        players.map(|it| format!("{} of {} playing", it.playing, it.max)),
        usage.resident_bytes.map(|it| format!("{} MB resident", it / 1_000_000)),
        usage.cpu_ns.map(|it| format!("{} ms of processors", it / 1_000_000)),
        usage.open_files.map(|it| format!("{it} open files")),
    ];
    parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
}

fn row(snapshot: &Snapshot, actor: &ActorRow) -> Vec<String> {
    let micros = |ns: u64| format!("{} us", ns.div_ceil(1_000));
    vec![
        one_line(&actor.path),
        state(snapshot, &actor.state),
        (actor.control.depth + actor.data.depth).to_string(),
        actor.control.peak.max(actor.data.peak).to_string(),
        actor.total.handled.to_string(),
        (actor.total.refused + actor.total.dropped + actor.total.expired).to_string(),
        actor.total.lost.to_string(),
        micros(actor.wait.p99_ns),
        micros(actor.handle.p99_ns),
        format!("{} ms", actor.busy_ns / 1_000_000),
        actor.restarts.to_string(),
    ]
}

fn state(snapshot: &Snapshot, state: &State) -> String {
    match state {
        State::Idle => "idle".to_owned(),
        State::Running { message, since_us } => {
            format!("{message} for {} us", snapshot.now_us.saturating_sub(*since_us))
        }
        State::Waiting { on, .. } => {
            let whom = on.and_then(|id| snapshot.actor(id)).map_or("a place", |row| &row.path);
            format!("waits for {whom}")
        }
        State::Broken => "broken".to_owned(),
        State::Ending => "ending".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use dh_host::inspect::{PlayersRow, Process, Usage};

    use super::*;

    #[test]
    fn the_first_line_tells_of_the_process_what_is_known_and_nothing_else() {
        let players = Some(PlayersRow { playing: 3, max: 16, ..PlayersRow::default() });
        let usage = Usage { resident_bytes: Some(45_000_000), ..Usage::default() };
        let figures = Figures { players, usage, ..Figures::default() };
        let told = text(&Snapshot { figures, ..Snapshot::default() });
        let first = told.lines().next().unwrap();
        assert!(first.ends_with("0 connections, 3 of 16 playing, 45 MB resident"), "{first}");
    }

    #[test]
    fn what_a_process_says_of_itself_steers_no_terminal_and_makes_no_line() {
        let evil = "\u{1b}]0;pwn\u{7}\n";
        let process = Process { role: evil.into(), version: evil.into(), ..Process::default() };
        let actor = ActorRow { path: evil.to_owned(), ..ActorRow::default() };
        let told = text(&Snapshot { process, actors: vec![actor], ..Snapshot::default() });
        assert_eq!(told.lines().count(), 3, "{told:?}");
        assert!(!told.replace('\n', "").chars().any(char::is_control), "{told:?}");
    }
}
