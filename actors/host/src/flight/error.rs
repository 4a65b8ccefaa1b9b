//! Why a record is not written.

use std::path::PathBuf;
use std::{fmt, io};

/// Why a record is not written.
#[derive(Debug)]
pub enum FlightError {
    /// Nothing is recorded.
    Off,
    /// Nobody has said where to.
    NoFolder,
    /// The system failed.
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
}

impl fmt::Display for FlightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("the flight recorder is off; start without switching it off"),
            Self::NoFolder => {
                f.write_str("the flight recorder has no folder; start with a data folder")
            }
            Self::Io { path, error } => write!(
                f,
                "{}: cannot write a flight record: {error}; make room there",
                path.display()
            ),
        }
    }
}

impl std::error::Error for FlightError {}
