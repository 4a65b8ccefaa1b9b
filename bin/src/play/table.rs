//! The table of actors: what runs in this process, for people and for programs.

use dh_host::{ActorReport, Runtime};
use serde_json::{Value, json};

/// The table as text, one actor a line.
pub(crate) fn text(runtime: &Runtime) -> String {
    let head = [
        "actor",
        "thread",
        "handled",
        "refused",
        "dropped",
        "lost",
        "depth",
        "peak",
        "wait p99",
        "handle p99",
        "busy",
        "restarts",
    ];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(runtime.registry().reports().iter().map(row));
    let mut widths = [0; 12];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(widths).enumerate().map(|(at, (cell, width))| match at {
            0 | 1 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The same as data.
pub(crate) fn json(runtime: &Runtime) -> Value {
    let actor = |report: &ActorReport| {
        let total = report.port.total();
        json!({
            "path": report.path, "kind": report.kind, "thread": report.place,
            "offered": total.offered, "handled": total.handled, "refused": total.refused,
            "coalesced": total.coalesced, "dropped": total.dropped, "expired": total.expired,
            "lost": total.lost, "depth": total.depth, "peak": peak(report),
            "waitP99Us": micros(report.wait.p99_ns), "handleP99Us": micros(report.handle.p99_ns),
            "busyUs": report.busy.0, "panics": report.panics, "restarts": report.restarts,
        })
    };
    runtime.registry().reports().iter().map(actor).collect()
}

fn row(report: &ActorReport) -> [String; 12] {
    let total = report.port.total();
    [
        report.path.clone(),
        report.place.to_owned(),
        total.handled.to_string(),
        total.refused.to_string(),
        (total.dropped + total.expired).to_string(),
        total.lost.to_string(),
        total.depth.to_string(),
        peak(report).to_string(),
        format!("{} us", micros(report.wait.p99_ns)),
        format!("{} us", micros(report.handle.p99_ns)),
        format!("{} ms", report.busy.0 / 1_000),
        report.restarts.to_string(),
    ]
}

fn peak(report: &ActorReport) -> usize {
    report.port.control.peak.max(report.port.data.peak)
}

fn micros(ns: u64) -> u64 {
    ns.div_ceil(1_000)
}
