//! Ticks: the strips of tick loops, as rows of a snapshot.

use std::collections::BTreeMap;

use super::snapshot::{Spread, TickRow, TickStrip};
use crate::registry::{Entry, TickRecord};

/// The kind of actor whose deadlines are the ticks of a world.
pub(super) const TICK: &str = "tick";
/// What the stages of a tick are called.
const STAGES: [&str; 3] = ["messages", "simulate", "publish"];

/// The strip of each tick loop among these; of those whose actor has a number in `after`, only what
/// came after.
pub(super) fn strips<'a>(
    all: impl Iterator<Item = &'a Entry>,
    after: &BTreeMap<u64, u64>,
) -> Vec<TickStrip> {
    let strip = |entry: &Entry| {
        let ticks = entry.ticks.as_ref()?;
        // First what is counted of all: the newest may then be one more, never one less.
        let overruns = ticks.overruns();
        let after = after.get(&entry.id.0).copied();
        Some(strip(entry.id.0, overruns, &ticks.read(0).0, after))
    };
    all.filter(|entry| entry.spec.kind == TICK).filter_map(strip).collect()
}

/// The newest ticks of one loop; of those that are listed only those after a number.
fn strip(actor: u64, overruns: u64, records: &[TickRecord], after: Option<u64>) -> TickStrip {
    let ticks: u64 = records.iter().skip(1).map(|it| u64::from(it.ticks.max(1))).sum();
    let span = match (records.first(), records.last()) {
        (Some(first), Some(last)) => last.start.since(first.start).0 * 1_000,
        _ => 0,
    };
    let rows = records.iter().map(row);
    let recent = rows.filter(|row| after.is_none_or(|after| after < row.tick)).collect();
    TickStrip {
        actor,
        period_ns: span / ticks.max(1),
        stages: STAGES.map(Into::into).to_vec(),
        late: spread(records.iter().map(|it| it.late.0 * 1_000)),
        work: spread(records.iter().map(|it| row(it).work_ns)),
        overruns,
        recent,
    }
}

fn row(it: &TickRecord) -> TickRow {
    let stages_ns = [it.drain, it.wake, it.perform].map(|span| span.0 * 1_000).to_vec();
    TickRow {
        tick: u64::from(it.tick.0),
        late_ns: it.late.0 * 1_000,
        work_ns: stages_ns.iter().sum(),
        stages_ns,
        behind: u32::from(it.ticks.saturating_sub(1)),
    }
}

/// A summary of exact durations.
fn spread(durations: impl Iterator<Item = u64>) -> Spread {
    let mut sorted: Vec<u64> = durations.collect();
    sorted.sort_unstable();
    let quantile = |share: usize| {
        let rank = (sorted.len() * share).div_ceil(1_000).max(1);
        sorted.get(rank - 1).copied().unwrap_or(0)
    };
    Spread {
        count: sorted.len() as u64,
        p50_ns: quantile(500),
        p99_ns: quantile(990),
        p999_ns: quantile(999),
        max_ns: sorted.last().copied().unwrap_or(0),
        sum_ns: sorted.iter().sum(),
        buckets: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use dh_machine::{Micros, Tick};

    use super::*;

    fn record(tick: u32) -> TickRecord {
        TickRecord {
            tick: Tick(tick),
            ticks: 1,
            drained: 3,
            behind: tick == 3,
            start: Micros(u64::from(tick) * 16_667),
            late: Micros(u64::from(tick)),
            drain: Micros(10),
            wake: Micros(20),
            perform: Micros(5),
        }
    }

    #[test]
    fn a_strip_tells_the_pace_the_stages_and_only_what_is_new() {
        let records: Vec<TickRecord> = (1..=4).map(record).collect();
        let whole = strip(7, 1, &records, None);
        assert_eq!((whole.period_ns, whole.overruns, whole.recent.len()), (16_667_000, 1, 4));
        assert_eq!(whole.late.max_ns, 4_000);
        assert_eq!((whole.work.p50_ns, whole.work.sum_ns), (35_000, 140_000));
        assert_eq!(whole.recent[0].stages_ns, [10_000, 20_000, 5_000]);
        let new = strip(7, 1, &records, Some(2));
        assert_eq!(new.recent.iter().map(|row| row.tick).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(strip(7, 0, &[], None).period_ns, 0);
    }
}
