//! Ending: how a session or an attempt ended, as an exit of the program.

use dh_client::{EndKind, SessionEnd};

use crate::data;
use crate::exit::{Exit, Failure};

/// What an ending means to the user; none where it is no failure.
pub(crate) fn failure_of(end: &SessionEnd) -> Option<Failure> {
    let exit = exit_of(end);
    if exit == Exit::Success {
        return None;
    }
    let cause = end.console_line().unwrap_or_else(|| end.detail());
    let failure = Failure::new(exit, cause);
    let remedy = match (exit, end.kind) {
        (Exit::Unavailable, _) if end.title() == Some("Disconnected") => {
            "connect again, once the server runs".to_owned()
        }
        (Exit::Unavailable, _) => "check the address, and that it runs".to_owned(),
        (Exit::CannotCreate, _) => data::REMEDY.to_owned(),
        (Exit::Io, _) => "dh --data DIR, on a disk with room".to_owned(),
        (Exit::TryAgain, _) => "join again later".to_owned(),
        (_, EndKind::MapTransferFailed) => "connect again".to_owned(),
        (_, EndKind::MapUnusable) => {
            "dh pallet verify FILE and dh build, where the server runs".to_owned()
        }
        (Exit::Mismatch, _) => "install the same build on both sides".to_owned(),
        (_, EndKind::ServerKeyChanged) => {
            format!("dh identity forget {}", end.address.as_deref().unwrap_or_default())
        }
        _ => return Some(failure),
    };
    Some(failure.remedy(remedy))
}

/// The exit code of an ending.
pub(super) fn exit_of(end: &SessionEnd) -> Exit {
    match end.exit_code() {
        0 => Exit::Success,
        65 => Exit::Damaged,
        69 => Exit::Unavailable,
        70 => Exit::Internal,
        74 => Exit::Io,
        75 => Exit::TryAgain,
        73 => Exit::CannotCreate,
        77 => Exit::Refused,
        _ => Exit::Mismatch,
    }
}
