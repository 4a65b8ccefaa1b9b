//! Ticks: the strips of tick loops, as rows of a snapshot.

use std::collections::BTreeMap;

use dh_machine::Micros;

use super::snapshot::{Spread, TickRow, TickStrip};
use crate::registry::{Entry, TickRecord};

/// The kind of actor whose deadlines are the ticks of a world.
pub(super) const TICK: &str = "tick";
/// What the stages of a tick are called.
const STAGES: [&str; 3] = ["messages", "simulate", "publish"];

/// Over how long the pace of a loop is told, so that it is the one it has now.
const LATELY: Micros = Micros::from_secs(1);

/// The strip of each tick loop among these; of those whose actor has a number in `after`, only what
/// came after.
pub(super) fn strips<'a>(
    all: impl Iterator<Item = &'a Entry>,
    after: &BTreeMap<u64, u64>,
    now: Micros,
) -> Vec<TickStrip> {
    let strip = |entry: &Entry| {
        let ticks = entry.ticks.as_ref()?;
        // First what is counted of all: the newest may then be one more, never one less.
        let overruns = ticks.overruns();
        let after = after.get(&entry.id.0).copied();
        Some(strip(entry.id.0, overruns, &ticks.read(0).0, after, now))
    };
    all.filter(|entry| is_loop(entry)).filter_map(strip).collect()
}

/// Whether it is a tick loop.
pub(super) fn is_loop(entry: &Entry) -> bool {
    entry.spec.kind == TICK
}

/// The newest ticks of one loop; of those that are listed only those after a number.
fn strip(
    actor: u64,
    overruns: u64,
    records: &[TickRecord],
    after: Option<u64>,
    now: Micros,
) -> TickStrip {
    let rows = records.iter().map(row);
    let recent = rows.filter(|row| after.is_none_or(|after| after < row.tick)).collect();
    TickStrip {
        actor,
        period_ns: period_ns(records),
        mean_ns: mean_ns(records, now),
        longest_ns: longest_ns(records, now),
        stages: STAGES.map(Into::into).to_vec(),
        late: spread(records.iter().map(|it| it.late.0 * 1_000)),
        work: spread(records.iter().map(|it| row(it).work_ns)),
        overruns,
        recent,
    }
}

/// What most ticks were due after the one before, of the last second in which any began: where the
/// loop starts anew after a stall, one of them says nothing.
fn period_ns(records: &[TickRecord]) -> u64 {
    let Some(last) = records.last() else { return 0 };
    let lately = &records[since(records, last.start).min(records.len().saturating_sub(2))..];
    let due = |it: &TickRecord| it.start.since(it.late);
    let pairs = lately.windows(2);
    let mut periods: Vec<u64> =
        pairs.map(|pair| due(&pair[1]).since(due(&pair[0])).0 * 1_000 / ticks(&pair[0])).collect();
    periods.sort_unstable();
    periods.get(periods.len() / 2).copied().unwrap_or(0)
}

fn mean_ns(records: &[TickRecord], now: Micros) -> Option<u64> {
    let lately = &records[since(records, now)..];
    let [first, .., last] = lately else { return None };
    let many: u64 = lately[..lately.len() - 1].iter().map(ticks).sum();
    Some(last.start.since(first.start).0 * 1_000 / many)
}

fn longest_ns(records: &[TickRecord], now: Micros) -> u64 {
    let gaps = records.windows(2).map(|pair| pair[1].start.since(pair[0].start));
    let open = records.last().map(|last| now.since(last.start));
    gaps.chain(open).max().map_or(0, |gap| gap.0 * 1_000)
}

/// Where the records of the last second before a moment begin.
fn since(records: &[TickRecord], moment: Micros) -> usize {
    records.partition_point(|it| moment.since(it.start) > LATELY)
}

/// A turn that says of none ran one.
fn ticks(it: &TickRecord) -> u64 {
    u64::from(it.ticks.max(1))
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
    use dh_machine::Tick;

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
        let now = Micros(4 * 16_667);
        let whole = strip(7, 1, &records, None, now);
        assert_eq!((whole.overruns, whole.recent.len()), (1, 4));
        assert_eq!((whole.period_ns, whole.mean_ns), (16_666_000, Some(16_667_000)));
        assert_eq!(whole.longest_ns, 16_667_000);
        assert_eq!(whole.late.max_ns, 4_000);
        assert_eq!((whole.work.p50_ns, whole.work.sum_ns), (35_000, 140_000));
        assert_eq!(whole.recent[0].stages_ns, [10_000, 20_000, 5_000]);
        let new = strip(7, 1, &records, Some(2), now);
        assert_eq!(new.recent.iter().map(|row| row.tick).collect::<Vec<_>>(), [3, 4]);
        let none = strip(7, 0, &[], None, now);
        assert_eq!((none.period_ns, none.mean_ns, none.longest_ns), (0, None, 0));
    }

    /// So many ticks, so far apart in milliseconds, from a moment on.
    fn run(records: &mut Vec<TickRecord>, from: u64, apart: u64, many: u64) {
        let at = |number| Micros::from_millis(from + apart * number);
        records.extend((0..many).map(|number| TickRecord {
            ticks: 1,
            start: at(number),
            ..TickRecord::default()
        }));
    }

    #[test]
    fn after_a_stall_or_at_another_rate_the_pace_is_the_new_one_within_a_second() {
        let mut records = Vec::new();
        run(&mut records, 0, 16, 1_000);
        let told = |records: &[TickRecord], ms: u64| {
            let it = strip(7, 0, records, None, Micros::from_millis(ms));
            (
                it.period_ns / 1_000_000,
                it.mean_ns.map(|ns| ns / 1_000_000),
                it.longest_ns / 1_000_000,
            )
        };
        assert_eq!(told(&records, 15_990), (16, Some(16), 16));
        assert_eq!(told(&records, 17_984), (16, None, 2_000), "it stands still");
        // It catches up: one turn runs five, two seconds late, and the next is due as planned.
        let due = Micros::from_millis(16_000);
        let start = due + Micros::from_secs(2);
        records.push(TickRecord { ticks: 5, start, late: start.since(due), ..records[0] });
        let late = Micros::from_millis(1_936);
        records.push(TickRecord { start: start + Micros::from_millis(16), late, ..records[0] });
        assert_eq!(told(&records, 18_020), (16, Some(3), 2_016));
        let mut slow = records.clone();
        run(&mut slow, 18_100, 33, 40);
        assert_eq!(told(&slow, 19_400), (33, Some(33), 2_016), "another rate");
        let mut anew = records;
        run(&mut anew, 30_000, 16, 62);
        assert_eq!(told(&anew, 30_980), (16, Some(16), 11_984), "it started anew");
    }
}
