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
                "{}: cannot write a flight record: {error}; {}",
                path.display(),
                remedy(error.kind())
            ),
        }
    }
}

/// What can be done about it.
fn remedy(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as Kind;
    match kind {
        Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => "make room there",
        Kind::AlreadyExists | Kind::NotADirectory => {
            "move away what stands there and is no folder, or name another folder"
        }
        Kind::PermissionDenied => "let this user write there, or name another folder",
        _ => "name another folder, where files can be written",
    }
}

impl std::error::Error for FlightError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_is_that_of_what_went_wrong() {
        for (kind, part) in [
            (io::ErrorKind::StorageFull, "make room"),
            (io::ErrorKind::AlreadyExists, "move away"),
            (io::ErrorKind::PermissionDenied, "let this user write"),
            (io::ErrorKind::NotFound, "name another folder"),
        ] {
            let told = FlightError::Io { path: "/x".into(), error: kind.into() }.to_string();
            assert!(told.starts_with("/x: ") && told.contains(part), "{told}");
        }
    }
}
