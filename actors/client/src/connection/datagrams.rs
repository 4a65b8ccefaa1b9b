//! Datagrams of a server: snapshots, whole or in fragments; whatever cannot be read is counted.

use std::sync::Arc;

use dh_machine::planted::{self, Bug};
use dh_machine::{Micros, Outbox, Tick};
use dh_messages::{Channel, Dialect, Scratch, Snapshot, SnapshotFragment, ToClient};
use dh_netcode::{Assembler, Joined};

use super::state::Effect;

/// Time between two log lines about unreadable datagrams.
const UNREADABLE_LOG_INTERVAL: Micros = Micros::from_secs(60);

/// How a server is read, and the space for that.
pub(super) type Reading<'a> = (&'a Dialect, &'a mut Scratch);

/// Reads the datagrams of one session after another.
#[derive(Debug)]
pub(super) struct Datagrams {
    assembler: Assembler,
    unreadable: u64,
    logged: Option<Micros>,
}

impl Datagrams {
    pub(super) fn new() -> Self {
        Self { assembler: Assembler::new(), unreadable: 0, logged: None }
    }

    /// Forget the session; the counts go on.
    pub(super) fn reset(&mut self) {
        self.assembler.reset();
    }

    /// Datagrams that could not be read so far.
    pub(super) const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// One datagram. A snapshot of another map than the one that stands here is passed over.
    pub(super) fn read(
        &mut self,
        now: Micros,
        map_generation: u32,
        reading: Reading<'_>,
        bytes: &[u8],
        out: &mut Outbox<Effect>,
    ) {
        match self.snapshot(reading, bytes) {
            Ok(Some(snapshot))
                if snapshot.head.map_generation == map_generation || planted::is(Bug::TornMap) =>
            {
                out.push(Effect::Snapshot(Arc::new(snapshot)));
            }
            Ok(_) => (),
            Err(error) => self.count(now, &error, out),
        }
    }

    /// The snapshot that this datagram is or completes.
    fn snapshot(
        &mut self,
        (dialect, scratch): Reading<'_>,
        bytes: &[u8],
    ) -> Result<Option<Snapshot>, String> {
        match message(dialect, scratch, bytes)? {
            Some(ToClient::Snapshot(snapshot)) => Ok(Some(snapshot)),
            Some(ToClient::SnapshotFragment(fragment)) => self.join((dialect, scratch), &fragment),
            Some(other) => Err(format!("{} is no datagram", other.name())),
            None => Ok(None),
        }
    }

    /// Fragments hold pieces of a whole as the server writes it.
    fn join(
        &mut self,
        (dialect, scratch): Reading<'_>,
        fragment: &SnapshotFragment,
    ) -> Result<Option<Snapshot>, String> {
        let SnapshotFragment { tick, index, count, slice } = fragment;
        match self.assembler.accept(Tick(*tick), *index, *count, slice) {
            Ok(Joined::Whole(whole)) => match message(dialect, scratch, whole)? {
                Some(ToClient::Snapshot(snapshot)) => Ok(Some(snapshot)),
                Some(_) => Err("the joined fragments are no snapshot".to_owned()),
                None => Ok(None),
            },
            Ok(Joined::Waiting | Joined::Stale) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn count(&mut self, now: Micros, error: &str, out: &mut Outbox<Effect>) {
        self.unreadable += 1;
        if self.logged.is_none_or(|at| UNREADABLE_LOG_INTERVAL <= now.since(at)) {
            self.logged = Some(now);
            let line = format!("unreadable datagram {} from the server: {error}", self.unreadable);
            out.push(Effect::Log(line));
        }
    }
}

/// A number, then a body. Nothing where this build has no such message.
fn message(
    dialect: &Dialect,
    scratch: &mut Scratch,
    bytes: &[u8],
) -> Result<Option<ToClient>, String> {
    let (id, body) = bytes.split_first().ok_or("an empty datagram")?;
    dialect.read(Channel::Datagram, *id, body, scratch).map_err(|error| error.to_string())
}
