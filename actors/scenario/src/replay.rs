//! Replay: the inputs that a flight record's journal holds are run again through the tick's own
//! core, and each tick's digest is compared.
//!
//! Used by `dh scenario replay`, which reads the file, and by tests. It opens no file itself.

use std::fmt;

use dh_machine::Tick;
use dh_messages::MapAdvert;
use dh_server::MapError;
use dh_server::tick::{JournalError, Recorded, Replay, ground_of};
use dh_sim::Ground;
use dh_store::Shelf;

/// What came of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Ticks that were run.
    pub ticks: u64,
    /// Pieces they came in; each begins with a recorded world.
    pub spans: usize,
    /// Of those, how many begin with what was restored after a fault.
    pub faults: usize,
    /// Where it first went another way.
    pub first_difference: Option<Difference>,
}

/// A tick that ended otherwise than it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub tick: Tick,
    /// The digest that was recorded.
    pub recorded: u64,
    /// The digest now.
    pub replayed: u64,
}

/// Why a file cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// It is no journal, or a damaged one.
    Journal(JournalError),
    /// A map that stood is not here.
    Map {
        /// Its barcode.
        map: String,
        /// Why it cannot be had.
        error: MapError,
    },
}

/// Run the journal in these bytes again. Maps are loaded from `shelf`; the gray box needs none.
/// Stops at the first difference.
///
/// # Errors
/// The bytes are no whole journal, or a map that stood in it is not on the shelf.
pub fn replay(bytes: &[u8], shelf: Option<&Shelf>) -> Result<Replayed, ReplayError> {
    let recorded = Recorded::parse(bytes)?;
    let ground = |advert: &MapAdvert| -> Result<Ground, ReplayError> {
        let missing = |error| ReplayError::Map { map: advert.name.as_str().to_owned(), error };
        ground_of(advert, shelf).map_err(missing)
    };
    let mut replayed = Replayed::default();
    for span in &recorded.spans {
        replayed.spans += 1;
        replayed.faults += usize::from(span.after_fault);
        let mut replay = Replay::new(&recorded, span, ground(&span.map)?)?;
        while let Some(compared) = replay.tick(ground)? {
            replayed.ticks += 1;
            if !compared.is_equal() {
                let (tick, recorded) = compared.recorded;
                let difference = Difference { tick, recorded, replayed: compared.digest };
                replayed.first_difference = Some(difference);
                return Ok(replayed);
            }
        }
    }
    Ok(replayed)
}

impl From<JournalError> for ReplayError {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal(error) => error.fmt(f),
            Self::Map { map, error } => {
                write!(f, "{map}: {error}")
            }
        }
    }
}

impl std::error::Error for ReplayError {}

impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticks, spans, faults, first_difference } = self;
        write!(f, "{ticks} ticks in {spans} spans, {faults} of them after a fault: ")?;
        match first_difference {
            None => f.write_str("every digest is equal"),
            Some(Difference { tick, recorded, replayed }) => write!(
                f,
                "tick {} is the first that differs: {recorded:016x} was recorded, \
                 {replayed:016x} came of it",
                tick.0
            ),
        }
    }
}

#[cfg(test)]
mod tests;
