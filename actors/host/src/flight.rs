//! Flight recorder: what happened in the last thirty seconds, kept in memory and written when
//! something goes wrong.
//!
//! Shells note messages, sockets note packets; ticks come from the strips of the actors. All of it
//! lies in rings of fixed size, without locks, and the oldest is overwritten. A file is written by
//! the watchdog's thread or by whoever asks, never by an actor.
//!
//! A record is two files of one name in the folder given at the start: `flight-N-CAUSE.json`, a
//! Chrome trace that opens in Perfetto, and for each actor that keeps a journal of its inputs
//! `flight-N-CAUSE.NAME.journal`, which can be replayed. Each is whole or not there, and only the
//! newest [`Flight::FILES_MAX`] records are kept.

mod error;
mod file;
mod flows;
mod json;
mod messages;
mod names;
mod packets;
mod pool;
mod sender;
mod socket;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use dh_machine::Micros;

pub use self::error::FlightError;
pub use self::packets::Way;

pub(crate) use self::messages::{Message, Notes};
pub(crate) use self::sender::{Sending, sender};
pub(crate) use self::socket::NotedSocket;

use self::names::Names;
use self::packets::Packets;
use self::pool::Pool;
use crate::clock::Clock;
use crate::registry::{Entry, Registry};

/// The recorder of one runtime.
pub struct Flight {
    on: bool,
    clock: Clock,
    messages: Arc<Pool>,
    packets: Packets,
    names: Names,
    journals: Mutex<Vec<(String, Weak<dyn Journal>)>>,
    folder: OnceLock<PathBuf>,
    /// Held while a record is written, so that there is one at a time.
    writing: Mutex<()>,
}

/// What an actor keeps of its inputs, so that a piece of its life can be played again.
pub trait Journal: Send + Sync {
    /// The bytes of a file; `None` while there is nothing to tell.
    fn to_file(&self) -> Option<Vec<u8>>;
}

impl Flight {
    /// What is kept at least, where the rings are large enough.
    pub const SPAN: Micros = Micros::from_secs(30);
    /// Memory that all rings together may take.
    pub const BYTES_MAX: usize = 32 << 20;
    /// The share of all messages.
    pub const MESSAGE_BYTES: usize = 14 << 20;
    /// The share of all packets.
    pub const PACKET_BYTES: usize = 8 << 20;
    /// The share of all journals.
    pub const JOURNAL_BYTES: usize = 8 << 20;
    /// Records that are kept in the folder.
    pub const FILES_MAX: usize = 4;

    pub(crate) fn new(clock: Clock, on: bool) -> Self {
        Self {
            on,
            clock,
            messages: Arc::new(Pool::new(if on { Self::MESSAGE_BYTES } else { 0 })),
            packets: Packets::new(if on { Self::PACKET_BYTES } else { 0 }),
            names: Names::default(),
            journals: Mutex::default(),
            folder: OnceLock::new(),
            writing: Mutex::default(),
        }
    }

    /// Whether anything is recorded.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.on
    }

    /// Write records into `folder` from now on; it is made when the first one is. Only the first
    /// call counts.
    pub fn keep_in(&self, folder: impl Into<PathBuf>) {
        let _ = self.folder.set(folder.into());
    }

    /// Where records are written, once that was said.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.get().map(PathBuf::as_path)
    }

    /// Write this journal beside every record while its owner keeps it.
    pub fn attach<J: Journal + 'static>(&self, name: &str, journal: &Arc<J>) {
        let weak = Arc::downgrade(journal);
        let journal: Weak<dyn Journal> = weak;
        let mut journals = self.journals.lock().unwrap_or_else(PoisonError::into_inner);
        journals.retain(|(_, journal)| journal.strong_count() > 0);
        journals.push((name.to_owned(), journal));
    }

    /// A packet has passed a socket bound to `local`; costs nothing where nothing is recorded.
    pub fn packet(&self, way: Way, local: u16, remote: std::net::SocketAddr, bytes: &[u8]) {
        if self.on {
            self.packets.note(self.clock.now(), way, local, remote, bytes);
        }
    }

    /// The packets that are kept, by way, port here and length.
    #[cfg(test)]
    pub(crate) fn packets(&self) -> Vec<(Way, u16, u16)> {
        self.packets.read().iter().map(|it| (it.way, it.local, it.bytes)).collect()
    }

    /// Where the shell of this actor notes its messages.
    pub(crate) fn notes(&self, entry: &Entry) -> Option<Notes> {
        self.on.then(|| Notes::new(&self.messages, entry.id))
    }

    /// An actor has started; its name outlives it in the record.
    pub(crate) fn enter(&self, entry: &Entry, kinds: &'static [&'static str]) {
        if self.on {
            self.names.enter(entry, kinds);
        }
    }

    /// Write a record, on the calling thread.
    pub(crate) fn write(&self, registry: &Registry, cause: &str) -> Result<PathBuf, FlightError> {
        if !self.on {
            return Err(FlightError::Off);
        }
        let Some(folder) = self.folder() else { return Err(FlightError::NoFolder) };
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        file::write(folder, cause, &self.journals(), |out| {
            let now = self.clock.now();
            let record = json::Record {
                cause,
                now,
                from: Micros(now.0.saturating_sub(Self::SPAN.0)),
                names: &self.names.all(),
                messages: messages::read(&self.messages),
                ticks: registry.all_ticks(),
                packets: self.packets.read(),
            };
            record.write(out)
        })
    }

    /// The files of the journals that lie beside a trace: those of its record, by their names.
    #[must_use]
    pub fn journals_beside(trace: &Path) -> Vec<PathBuf> {
        file::journals_of(trace)
    }

    /// The files of all journals as they would be written now, by name.
    #[must_use]
    pub fn journals(&self) -> Vec<(String, Vec<u8>)> {
        let journals = self.journals.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let live = journals.into_iter().filter_map(|(name, weak)| Some((name, weak.upgrade()?)));
        live.filter_map(|(name, journal)| Some((name, journal.to_file()?))).collect()
    }
}

const _: () = assert!(
    Flight::MESSAGE_BYTES + Flight::PACKET_BYTES + Flight::JOURNAL_BYTES + (1 << 20)
        <= Flight::BYTES_MAX,
    "all rings and some strips of ticks fit"
);

impl fmt::Debug for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flight").field("on", &self.on).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
