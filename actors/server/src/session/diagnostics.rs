//! The figures of one peer's snapshots over an interval, for the log.

use std::fmt;

use dh_machine::Micros;
use dh_netcode::{AckWindow, Composition, Fit};

/// Time between two lines of figures about one peer.
pub(super) const DIAGNOSTICS_INTERVAL: Micros = Micros::from_secs(10);

/// What was sent to one peer since the last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SnapshotDiagnostics {
    /// When counting began.
    since: Micros,
    sent: u32,
    unsent: u32,
    records_min: u32,
    records_max: u32,
    bytes: u64,
    bytes_max: usize,
    datagrams: u64,
}

impl SnapshotDiagnostics {
    /// Count from `now` on.
    pub(super) fn new(now: Micros) -> Self {
        Self { since: now, ..Self::default() }
    }

    /// One more snapshot.
    pub(super) fn count(&mut self, snapshot: &Composition) {
        let Composition { records, bytes, fragments, .. } = *snapshot;
        let is_first = self.sent + self.unsent == 0;
        self.records_min = if is_first { records } else { self.records_min.min(records) };
        self.records_max = self.records_max.max(records);
        self.bytes_max = self.bytes_max.max(bytes);
        if snapshot.fit() == Fit::Unsendable {
            self.unsent += 1;
            return;
        }
        self.sent += 1;
        self.bytes += bytes as u64;
        self.datagrams += fragments as u64;
    }

    /// The figures once the interval is over; counting begins anew.
    pub(super) fn poll(&mut self, now: Micros) -> Option<Self> {
        let over = DIAGNOSTICS_INTERVAL <= now.since(self.since);
        over.then(|| std::mem::replace(self, Self::new(now)))
    }

    /// The line, with what the peer says it has applied.
    pub(super) fn line(&self, who: &impl fmt::Display, acks: AckWindow) -> String {
        let Self { sent, unsent, records_min, records_max, bytes, bytes_max, datagrams, .. } = self;
        let (newest, applied) = (acks.newest().0, acks.mask().count_ones());
        format!(
            "SnapshotDiagnostics for {who}: {sent} snapshots of {records_min} to {records_max} \
             records, {bytes} bytes in {datagrams} datagrams, the largest of {bytes_max} bytes, \
             {unsent} not sent; the peer has tick {newest} and {applied} of the {} before it",
            AckWindow::SPAN
        )
    }
}
