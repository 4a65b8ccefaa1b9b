//! Lines: actors, connections and waits as rows of cells, each cell a value that can be sorted by.

use std::borrow::Cow;
use std::cmp::Ordering;

use dh_host::inspect::{ActorRow, EdgeRow, LinkRow, State};

use super::source::{LinkRates, Rates, Source};
use super::text::{count, nanos};

/// A connection is silent for too long after this: signs of life come once a second.
const SILENT_US: u64 = 3_000_000;

/// A column of a page. The capital letter of its title sorts by it.
#[derive(Debug)]
pub(crate) struct Column {
    /// What stands above it.
    pub(crate) title: &'static str,
    /// Cells it takes; the first column of a page takes what is left.
    width: usize,
    /// Narrow screens show those with small numbers.
    pub(crate) rank: u8,
    /// Text stands left, numbers right.
    pub(crate) is_text: bool,
}

impl Column {
    /// Cells that it takes; room for its title and the mark of the order.
    pub(crate) fn cells(&self) -> usize {
        self.width.max(self.title.len() + 1)
    }
}

/// Which line, whatever page it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    /// The process.
    pub(crate) source: usize,
    /// The actor or the connection.
    pub(crate) number: u64,
    /// Whom the actor waits for, on that page.
    pub(crate) other: u64,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Text(Cow<'a, str>),
    Count(u64),
    /// A second.
    Rate(f64),
    /// Nanoseconds.
    Time(u64),
    /// A share of one.
    Share(f64),
    /// What is not known, or not yet.
    Unknown,
}

/// A row of a page.
pub(crate) trait Line {
    const COLUMNS: &'static [Column];
    fn id(&self) -> Id;
    /// What stands in a column.
    fn value(&self, column: usize) -> Value<'_>;
    /// Whether something is wrong there.
    fn is_alarming(&self, column: usize) -> bool;
    /// Whether its process is not heard any more.
    fn is_stale(&self) -> bool;
    /// What it stands with where rows are ordered by their first column.
    fn group(&self) -> (u8, usize) {
        (0, 0)
    }
}

pub(crate) const fn number(title: &'static str, width: usize, rank: u8) -> Column {
    Column { title, width, rank, is_text: false }
}

pub(crate) const fn text(title: &'static str, width: usize, rank: u8) -> Column {
    Column { title, width, rank, is_text: true }
}

/// An actor.
#[derive(Debug)]
pub(crate) struct ActorLine<'a> {
    pub(crate) id: Id,
    pub(crate) path: Cow<'a, str>,
    pub(crate) row: &'a ActorRow,
    rates: Option<Rates>,
    source: &'a Source,
}

/// A connection.
#[derive(Debug)]
pub(crate) struct LinkLine<'a> {
    id: Id,
    row: &'a LinkRow,
    rates: Option<LinkRates>,
    source: &'a Source,
}

/// One who waits for another.
#[derive(Debug)]
pub(crate) struct WaitLine<'a> {
    id: Id,
    edge: &'a EdgeRow,
    from: Cow<'a, str>,
    to: Cow<'a, str>,
    /// Whether they wait for each other in a ring.
    pub(crate) is_cycle: bool,
    now_us: u64,
    is_stale: bool,
}

/// Where an actor stands, behind the number of its process where there are several.
fn path_of<'a>(source: &'a Source, row: &'a ActorRow, several: bool) -> Cow<'a, str> {
    let pid = source.snapshot.process.pid;
    if several { format!("{pid}/{}", row.path).into() } else { row.path.as_str().into() }
}

/// Whether more than one process is shown.
fn are_several(sources: &[Source]) -> bool {
    sources.iter().filter(|source| !source.snapshot.actors.is_empty()).count() > 1
}

/// All actors of all processes.
pub(crate) fn actors(sources: &[Source]) -> Vec<ActorLine<'_>> {
    let several = are_several(sources);
    let of = |(at, source): (usize, _)| actors_of(at, source, several);
    sources.iter().enumerate().flat_map(of).collect()
}

fn actors_of(at: usize, source: &Source, several: bool) -> impl Iterator<Item = ActorLine<'_>> {
    source.snapshot.actors.iter().map(move |row| ActorLine {
        id: Id { source: at, number: row.id, other: 0 },
        path: path_of(source, row, several),
        row,
        rates: source.rates(row),
        source,
    })
}

/// All connections of all processes.
pub(crate) fn links(sources: &[Source]) -> Vec<LinkLine<'_>> {
    sources.iter().enumerate().flat_map(|(at, source)| links_of(at, source)).collect()
}

fn links_of(at: usize, source: &Source) -> impl Iterator<Item = LinkLine<'_>> {
    source.snapshot.links.iter().map(move |row| LinkLine {
        id: Id { source: at, number: row.id, other: 0 },
        row,
        rates: source.link_rates(row.id),
        source,
    })
}

/// All who wait, in all processes.
pub(crate) fn waits(sources: &[Source]) -> Vec<WaitLine<'_>> {
    let several = are_several(sources);
    let mut lines = Vec::new();
    for (at, source) in sources.iter().enumerate() {
        let snapshot = &source.snapshot;
        let path = |id: u64| match snapshot.actor(id) {
            Some(row) => path_of(source, row, several),
            None => format!("actor {id}").into(),
        };
        lines.extend(snapshot.edges.iter().map(|edge| WaitLine {
            id: Id { source: at, number: edge.from, other: edge.to },
            edge,
            from: path(edge.from),
            to: path(edge.to),
            is_cycle: is_cycle(&snapshot.cycles, edge),
            now_us: snapshot.now_us,
            is_stale: source.is_stale(),
        }));
    }
    lines
}

/// Whether both ends of an edge are in one ring.
fn is_cycle(cycles: &[Vec<u64>], edge: &EdgeRow) -> bool {
    cycles.iter().any(|ring| ring.contains(&edge.from) && ring.contains(&edge.to))
}

impl ActorLine<'_> {
    /// What it is doing, with how long or on whom.
    pub(crate) fn state(&self) -> String {
        let snapshot = &self.source.snapshot;
        match &self.row.state {
            State::Idle => "idle".to_owned(),
            State::Running { message, since_us } => {
                let age = snapshot.now_us.saturating_sub(*since_us);
                format!("{message} {}", nanos(age.saturating_mul(1_000)))
            }
            State::Waiting { on, effects } => match on.and_then(|id| snapshot.actor(id)) {
                Some(row) => format!("waits on {}", row.path),
                None => format!("waits, {effects} effects"),
            },
            State::Broken => "BROKEN".to_owned(),
            State::Ending => "ending".to_owned(),
        }
    }

    /// Its rates, where they are known.
    pub(crate) fn rates(&self) -> Option<Rates> {
        self.rates
    }
}

impl Line for ActorLine<'_> {
    const COLUMNS: &'static [Column] = &[
        text("Path", 22, 0),
        text("State", 18, 1),
        number("Depth", 6, 0),
        number("bOund", 6, 4),
        number("peaK", 6, 5),
        number("In/s", 6, 0),
        number("Refu/s", 7, 3),
        number("Wait50", 7, 8),
        number("waiT99", 7, 1),
        number("waitMax", 8, 7),
        number("Handl50", 8, 8),
        number("haNdl99", 8, 1),
        number("hAndmax", 8, 7),
        number("Busy%", 6, 2),
        number("rEstart", 8, 6),
        number("paniCs", 7, 6),
        text("pLace", 10, 9),
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
        let row = self.row;
        match column {
            0 => Value::Text(self.path.as_ref().into()),
            1 => Value::Text(self.state().into()),
            2 => Value::Count(row.control.depth + row.data.depth),
            3 => Value::Count(row.control.max + row.data.max),
            4 => Value::Count(row.control.peak.max(row.data.peak)),
            5 => Value::known(self.rates.map(|rates| rates.offered), Value::Rate),
            6 => Value::known(self.rates.map(|rates| rates.refused), Value::Rate),
            7 => Value::Time(row.wait.p50_ns),
            8 => Value::Time(row.wait.p99_ns),
            9 => Value::Time(row.wait.max_ns),
            10 => Value::Time(row.handle.p50_ns),
            11 => Value::Time(row.handle.p99_ns),
            12 => Value::Time(row.handle.max_ns),
            13 => Value::known(self.rates.map(|rates| rates.busy), Value::Share),
            14 => Value::Count(row.restarts),
            15 => Value::Count(row.panics),
            _ => Value::Text(row.place.as_ref().into()),
        }
    }

    fn is_alarming(&self, column: usize) -> bool {
        let row = self.row;
        match column {
            1 => matches!(row.state, State::Broken | State::Waiting { .. }),
            2 => [row.control, row.data].iter().any(|lane| lane.depth * 2 > lane.max),
            6 => self.rates.is_some_and(|rates| rates.refused > 0.0),
            13 => self.rates.is_some_and(|rates| rates.busy > 0.8),
            14 => row.restarts > 0,
            15 => row.panics > 0,
            _ => false,
        }
    }
}

impl Line for LinkLine<'_> {
    const COLUMNS: &'static [Column] = &[
        text("Peer", 17, 0),
        text("plAyer", 12, 0),
        text("proceSs", 14, 0),
        number("sileNt", 7, 0),
        number("Rtt", 6, 0),
        number("Vary", 6, 2),
        number("Loss%", 6, 0),
        number("Window", 7, 2),
        number("Out/s", 7, 0),
        number("In/s", 7, 1),
        number("Dgrams/s", 9, 2),
        number("droppEd", 8, 3),
        number("refUsed", 8, 4),
        number("Queued", 7, 3),
        text("Held by", 24, 3),
    ];

    fn is_stale(&self) -> bool {
        self.source.is_stale()
    }

    fn id(&self) -> Id {
        self.id
    }

    fn value(&self, column: usize) -> Value<'_> {
        let (row, traffic) = (self.row, &self.row.traffic);
        let time = |us: Option<u64>| Value::known(us, |us| Value::Time(us.saturating_mul(1_000)));
        match column {
            0 => Value::Text(row.peer.as_str().into()),
            1 => Value::known(row.player.as_deref(), |name| Value::Text(name.into())),
            2 => Value::Text(self.source.name.as_str().into()),
            3 => time(row.silent_us),
            4 => time(row.rtt_us),
            5 => time(row.rtt_var_us),
            6 => Value::Share(loss(row)),
            7 => Value::Count(row.window),
            8 => Value::known(self.rates.map(|rates| rates.sent), Value::Rate),
            9 => Value::known(self.rates.map(|rates| rates.received), Value::Rate),
            10 => Value::known(self.rates.map(|rates| rates.datagrams), Value::Rate),
            11 => Value::Count(traffic.datagrams_dropped),
            12 => Value::Count(traffic.datagrams_refused),
            13 => Value::Count(row.send_queue),
            _ => Value::known(self.holder(), |path| Value::Text(path.into())),
        }
    }

    fn is_alarming(&self, column: usize) -> bool {
        match column {
            3 => self.row.silent_us.is_some_and(|us| us > SILENT_US),
            6 => loss(self.row) > 0.02,
            11 => self.row.traffic.datagrams_dropped > 0,
            12 => self.row.traffic.datagrams_refused > 0,
            _ => false,
        }
    }
}

impl LinkLine<'_> {
    /// Where the actor that reads it stands.
    fn holder(&self) -> Option<&str> {
        let actor = self.source.snapshot.actor(self.row.actor?)?;
        Some(&actor.path)
    }
}

/// The share of its packets that a connection lost.
fn loss(row: &LinkRow) -> f64 {
    row.traffic.packets_lost as f64 / row.traffic.packets_sent.max(1) as f64
}

impl Line for WaitLine<'_> {
    const COLUMNS: &'static [Column] = &[
        text("From", 22, 0),
        text("To", 22, 0),
        text("Message", 14, 0),
        number("Age", 7, 0),
        text("Ring", 6, 0),
    ];

    fn is_stale(&self) -> bool {
        self.is_stale
    }

    fn id(&self) -> Id {
        self.id
    }

    fn value(&self, column: usize) -> Value<'_> {
        match column {
            0 => Value::Text(self.from.as_ref().into()),
            1 => Value::Text(self.to.as_ref().into()),
            2 => Value::Text(self.edge.message.as_ref().into()),
            3 => {
                let age = self.now_us.saturating_sub(self.edge.since_us);
                Value::Time(age.saturating_mul(1_000))
            }
            _ => Value::Text(if self.is_cycle { "CYCLE" } else { "" }.into()),
        }
    }

    fn is_alarming(&self, _column: usize) -> bool {
        self.is_cycle
    }
}

impl Value<'_> {
    /// What is shown like this where it is known.
    pub(crate) fn known<T>(value: Option<T>, shown: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Unknown, shown)
    }

    /// As few characters as say it.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => text.as_ref().into(),
            Self::Count(value) => count(*value as f64).into(),
            Self::Time(ns) => nanos(*ns).into(),
            Self::Unknown => "-".into(),
            Self::Rate(value) => count(*value).into(),
            Self::Share(share) => format!("{:.1}", share * 100.0).into(),
        }
    }

    /// Small before large; what is not known is the smallest.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (one, two) => one.number().total_cmp(&two.number()),
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Unknown => f64::NEG_INFINITY,
            Self::Text(_) => -1.0,
            Self::Count(value) | Self::Time(value) => *value as f64,
            Self::Rate(value) | Self::Share(value) => *value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::screen::limits::LimitLine;
    use crate::inspect::screen::processes::ProcessLine;

    fn letters<L: Line>() -> Vec<char> {
        let capital = |c: &char| c.is_ascii_uppercase();
        L::COLUMNS.iter().flat_map(|column| column.title.chars().filter(capital)).collect()
    }

    #[test]
    fn every_column_of_a_page_has_one_letter_of_its_own() {
        for (letters, columns) in [
            (letters::<ActorLine<'_>>(), ActorLine::COLUMNS),
            (letters::<LinkLine<'_>>(), LinkLine::COLUMNS),
            (letters::<WaitLine<'_>>(), WaitLine::COLUMNS),
            (letters::<LimitLine<'_>>(), LimitLine::COLUMNS),
            (letters::<ProcessLine<'_>>(), ProcessLine::COLUMNS),
        ] {
            let unique: std::collections::BTreeSet<char> = letters.iter().copied().collect();
            assert_eq!((letters.len(), unique.len()), (columns.len(), columns.len()));
        }
    }

    #[test]
    fn what_is_not_known_is_shown_as_such_and_stands_below_nothing() {
        let unknown = Value::known(None, Value::Rate);
        assert_eq!(unknown.text(), "-");
        for known in [Value::Rate(0.0), Value::Text("".into())] {
            assert_eq!(unknown.order(&known), Ordering::Less, "{known:?}");
        }
        assert_eq!(Value::known(Some(0.125), Value::Share).text(), "12.5");
    }
}
