//! Processes as rows of cells: who plays there, and what each takes of its machine.

use dh_host::inspect::{Figures, PlayersRow, TickTotals};

use super::lines::{Column, Id, Line, Value, number, text};
use super::source::Source;

/// A process.
#[derive(Debug)]
pub(crate) struct ProcessLine<'a> {
    id: Id,
    source: &'a Source,
}

/// All processes that have told anything.
pub(crate) fn processes(sources: &[Source]) -> Vec<ProcessLine<'_>> {
    let told = |(_, source): &(usize, &Source)| source.snapshot.process.pid != 0;
    let line = |(at, source)| ProcessLine { id: Id { source: at, number: 0, other: 0 }, source };
    sources.iter().enumerate().filter(told).map(line).collect()
}

impl ProcessLine<'_> {
    fn figures(&self) -> &Figures {
        &self.source.snapshot.figures
    }
}

impl Line for ProcessLine<'_> {
    const COLUMNS: &'static [Column] = &[
        text("Process", 18, 0),
        number("plAying", 7, 0),
        number("Loading", 7, 0),
        number("Connect", 7, 1),
        number("Max", 4, 0),
        number("memoRy", 6, 0),
        number("cpU%", 5, 0),
        number("Files", 5, 0),
        number("Overrun", 7, 0),
        number("Work99", 6, 0),
        number("laTe99", 6, 2),
        number("uptimE", 6, 3),
    ];

    fn is_stale(&self) -> bool {
        self.source.is_stale()
    }

    fn group(&self) -> (u8, usize) {
        (self.source.rank(), self.id.source)
    }

    fn id(&self) -> Id {
        self.id
    }

    fn value(&self, column: usize) -> Value<'_> {
        let Figures { players, ticks, usage } = self.figures();
        let known = |count: Option<u64>| Value::known(count, Value::Count);
        let of = |part: fn(&PlayersRow) -> u64| known(players.as_ref().map(part));
        let time = |part: fn(&TickTotals) -> u64| {
            Value::known(ticks.as_ref(), |ticks| Value::Time(part(ticks)))
        };
        match column {
            0 => Value::Text(self.source.name.as_str().into()),
            1 => of(|players| players.playing),
            2 => of(|players| players.loading),
            3 => of(|players| players.connecting),
            4 => of(|players| players.max),
            5 => known(usage.resident_bytes),
            6 => Value::known(self.source.cpu(), Value::Share),
            7 => known(usage.open_files),
            8 => known(ticks.as_ref().map(|ticks| ticks.overruns)),
            9 => time(|ticks| ticks.work.p99_ns),
            10 => time(|ticks| ticks.late.p99_ns),
            _ => Value::Time(self.source.snapshot.now_us.saturating_mul(1_000)),
        }
    }

    fn is_alarming(&self, column: usize) -> bool {
        match column {
            1 => self.figures().players.is_some_and(|it| it.playing >= it.max),
            8 => self.figures().ticks.as_ref().is_some_and(|it| it.overruns > 0),
            _ => false,
        }
    }
}
