//! Limits as rows of cells.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dh_host::inspect::LimitRow;

use super::lines::{Column, Id, Line, Value, number, text};
use super::source::Source;

/// A limit.
#[derive(Debug)]
pub(crate) struct LimitLine<'a> {
    id: Id,
    row: &'a LimitRow,
    name: &'a str,
    is_stale: bool,
}

/// All limits of all processes.
pub(crate) fn limits(sources: &[Source]) -> Vec<LimitLine<'_>> {
    sources.iter().enumerate().flat_map(|(at, source)| limits_of(at, source)).collect()
}

fn limits_of(at: usize, source: &Source) -> impl Iterator<Item = LimitLine<'_>> {
    source.snapshot.limits.iter().map(move |row| LimitLine {
        // Of its name, as others may come before it.
        id: Id { source: at, number: hash(&row.limit), other: 0 },
        row,
        name: &source.name,
        is_stale: source.is_stale(),
    })
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

impl Line for LimitLine<'_> {
    const COLUMNS: &'static [Column] = &[
        text("Limit", 24, 0),
        number("Used", 7, 0),
        number("Peak", 7, 0),
        number("Bound", 8, 0),
        number("Hits", 7, 0),
        text("uNit", 13, 1),
        text("proceSs", 18, 2),
    ];

    fn is_stale(&self) -> bool {
        self.is_stale
    }

    fn id(&self) -> Id {
        self.id
    }

    fn value(&self, column: usize) -> Value<'_> {
        let row = self.row;
        match column {
            0 => Value::Text(row.limit.as_ref().into()),
            1 => Value::known(row.used, Value::Count),
            2 => Value::known(row.peak, Value::Count),
            3 => Value::Count(row.max),
            4 => Value::Count(row.hits),
            5 => Value::Text(row.unit.as_ref().into()),
            _ => Value::Text(self.name.into()),
        }
    }

    fn is_alarming(&self, column: usize) -> bool {
        let row = self.row;
        match column {
            1 => row.used.is_some_and(|used| used * 2 > row.max),
            4 => row.hits > 0,
            _ => false,
        }
    }
}
