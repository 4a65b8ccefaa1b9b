//! Listing: one page's rows, filtered and in order, and which of them is chosen.
//!
//! The choice is of a row, not of a place: it moves with its row and ends with it.

use std::cmp::Ordering::Equal;

use super::lines::{Id, Line};

/// Characters of a filter.
pub(crate) const FILTER_MAX: usize = 64;

/// How the rows of a page are shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// The column they are ordered by.
    pub(crate) sort: usize,
    /// Whether the largest stands first.
    pub(crate) descending: bool,
    /// What a row must hold, in small letters.
    pub(crate) filter: String,
    /// The chosen row.
    pub(crate) chosen: Option<Id>,
    /// Where that was, for whoever goes on after it has ended.
    at: usize,
    /// The first row that is shown.
    pub(crate) top: usize,
}

/// Where to go from the chosen row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Rows(isize),
    First,
    Last,
}

impl Listing {
    /// The rows that are shown, in their order.
    pub(crate) fn arranged<L: Line>(&self, mut lines: Vec<L>) -> Vec<L> {
        if !self.filter.is_empty() {
            lines.retain(|line| self.passes(line));
        }
        // Equal ones keep the order of their paths, so that rows do not dance.
        lines.sort_by(|one, two| {
            let group = if self.sort == 0 { one.group().cmp(&two.group()) } else { Equal };
            let order = group.then_with(|| one.value(self.sort).order(&two.value(self.sort)));
            if self.descending { order.reverse() } else { order }
        });
        lines
    }

    fn passes(&self, line: &impl Line) -> bool {
        let holds = |column: usize| {
            let text = line.value(column);
            text.text().to_lowercase().contains(&self.filter)
        };
        holds(0) || holds(1)
    }

    /// Order by a column; by the same one again turns the order round. Numbers start with the
    /// largest, texts with the first.
    pub(crate) fn sort_by<L: Line>(&mut self, column: usize) {
        if self.sort == column {
            self.descending = !self.descending;
        } else if let Some(chosen) = L::COLUMNS.get(column) {
            (self.sort, self.descending) = (column, !chosen.is_text);
        }
    }

    /// Order by the column whose letter this is; false if there is none.
    pub(crate) fn sort_by_letter<L: Line>(&mut self, letter: char) -> bool {
        let column = L::COLUMNS.iter().position(|column| column.title.contains(letter));
        column.map(|column| self.sort_by::<L>(column)).is_some()
    }

    /// Order by the column beside this one.
    pub(crate) fn sort_beside<L: Line>(&mut self, step: isize) {
        let columns = L::COLUMNS.len();
        let next = self.sort.saturating_add_signed(step).min(columns - 1);
        if next != self.sort {
            self.sort_by::<L>(next);
        }
    }

    /// Choose another row.
    pub(crate) fn step(&mut self, ids: &[Id], step: Step) {
        let Some(last) = ids.len().checked_sub(1) else { return };
        let here = self.chosen.and_then(|id| ids.iter().position(|&other| other == id));
        let next = match (step, here) {
            (Step::First, _) => 0,
            (Step::Last, _) => last,
            (Step::Rows(rows), Some(here)) => here.saturating_add_signed(rows),
            (Step::Rows(_), None) => self.at,
        };
        self.at = next.min(last);
        self.chosen = Some(ids[self.at]);
    }

    /// Follow the chosen row to where it is now, or let go of it; then show it among `rows`.
    pub(crate) fn settle(&mut self, ids: &[Id], rows: usize) {
        let here = self.chosen.and_then(|id| ids.iter().position(|&other| other == id));
        match here {
            Some(here) => {
                self.at = here;
                self.top = self.top.clamp((here + 1).saturating_sub(rows.max(1)), here);
            }
            None => self.chosen = None,
        }
        self.top = self.top.min(ids.len().saturating_sub(rows));
    }
}

/// The columns that fit into so many cells, and the cells of the first; the one that is ordered by
/// is always among them.
pub(crate) fn fitting<L: Line>(cells: usize, sort: usize) -> (Vec<usize>, usize) {
    let columns = L::COLUMNS;
    let mut by_rank: Vec<usize> = (0..columns.len()).collect();
    by_rank.sort_by_key(|&at| (at != 0, at != sort, columns[at].rank));
    let (mut kept, mut left) = (Vec::new(), cells);
    for at in by_rank {
        let width = columns[at].cells() + 1;
        if kept.is_empty() || width <= left {
            left = left.saturating_sub(width);
            kept.push(at);
        }
    }
    kept.sort_unstable();
    (kept, columns[0].cells() + left)
}
