//! Limits: the bounds of lanes, of the runtime and of its network, as rows of a snapshot.

use super::snapshot::LimitRow;
use crate::limits::Standing;
use crate::port::LaneStats;
use crate::runtime::Runtime;

/// Every limit by name; those of lanes are given by kind of actor.
pub(super) fn rows<'a>(
    runtime: &Runtime,
    lanes: impl Iterator<Item = (&'a str, (LaneStats, LaneStats))>,
) -> Vec<LimitRow> {
    let named = runtime.limits().all().into_iter().chain(runtime.net().limits());
    let mut rows: Vec<LimitRow> = named.map(row).collect();
    for (kind, (control, data)) in lanes {
        rows.extend([("control", control), ("data", data)].map(|(name, of)| lane(kind, name, of)));
    }
    rows.sort_by(|a, b| a.limit.cmp(&b.limit));
    rows
}

fn row(limit: Standing) -> LimitRow {
    LimitRow {
        limit: limit.name.into(),
        unit: limit.unit.into(),
        max: limit.max,
        used: limit.held.map(|(used, _)| used),
        peak: limit.held.map(|(_, peak)| peak),
        hits: limit.hits,
    }
}

fn lane(kind: &str, name: &str, of: LaneStats) -> LimitRow {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    LimitRow {
        limit: format!("{kind}.{name}").into(),
        unit: LimitRow::OF_LANES.into(),
        max: number(of.max),
        used: Some(number(of.depth)),
        peak: Some(number(of.peak)),
        hits: of.hits,
    }
}
