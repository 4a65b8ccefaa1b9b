//! The texts of every ending.

use super::*;

fn end(kind: EndKind) -> SessionEnd {
    SessionEnd::new(kind, Some("example.org:27015".to_owned()))
}

fn dialog(end: &SessionEnd) -> (Option<&'static str>, &'static str, String) {
    (end.title(), end.message(), end.detail())
}

/// SES-22, SES-23, SES-27, SES-28
#[test]
fn each_ending_has_its_words() {
    let words = [
        (
            EndKind::CouldNotReach,
            ("Could not connect", "The server did not answer.", "Tried example.org:27015."),
        ),
        (
            EndKind::TimedOut,
            (
                "Could not connect",
                "The server took too long to answer.",
                "Tried example.org:27015.",
            ),
        ),
        (
            EndKind::MapTransferFailed,
            (
                "Disconnected",
                "The map did not arrive correctly.",
                "What arrived did not match what the server described. Connecting again usually \
                 fixes it.",
            ),
        ),
        (
            EndKind::Unreadable,
            (
                "Disconnected",
                "The server sent something this client could not read.",
                "The session was ended to keep this client in a known state.",
            ),
        ),
    ];
    for (kind, (title, message, detail)) in words {
        assert_eq!(dialog(&end(kind)), (Some(title), message, detail.to_owned()), "{kind:?}");
    }
}

/// SES-24
#[test]
fn a_mismatch_names_both_numbers_the_servers_first() {
    let told = SessionEnd { versions: Some((80, 1)), ..end(EndKind::ProtocolMismatch) };
    assert_eq!(told.message(), "This server runs a different version of the game.");
    assert_eq!(told.detail(), "This server speaks protocol 80; this client speaks 1.");
    let untold =
        SessionEnd { reason: Some("refused".to_owned()), ..end(EndKind::ProtocolMismatch) };
    assert_eq!(untold.detail(), "refused");
}

/// SES-25, SES-26
#[test]
fn a_closed_session_shows_the_servers_reason_verbatim_or_says_that_there_is_none() {
    for kind in [EndKind::ClosedByServer, EndKind::Lost, EndKind::ServerFull, EndKind::Removed] {
        let with =
            |reason: Option<&str>| SessionEnd { reason: reason.map(str::to_owned), ..end(kind) };
        let told = with(Some("  server restarting in 5\n"));
        assert_eq!(told.message(), "The server ended the session.");
        assert_eq!(told.detail(), "  server restarting in 5\n");
        assert_eq!(with(None).detail(), "The server closed the connection.");
        assert_eq!(with(Some("")).detail(), "The server closed the connection.");
    }
}

/// SES-29
#[test]
fn only_a_failed_dial_is_titled_could_not_connect() {
    use EndKind::*;
    let titled = |kinds: &[EndKind], title| {
        for kind in kinds {
            assert_eq!(end(*kind).title(), title, "{kind:?}");
        }
    };
    titled(
        &[CouldNotReach, TimedOut, ServerKeyChanged, KnownHostsUnusable, KnownHostsNotWritten],
        Some("Could not connect"),
    );
    titled(
        &[ProtocolMismatch, ContentDiffers, ServerFull, Removed, ClosedByServer, Lost],
        Some("Disconnected"),
    );
    titled(
        &[MapTransferFailed, MapUnusable, DiskFailed, Unreadable, ClientFailed],
        Some("Disconnected"),
    );
    titled(&[Quiet], None);
}

/// SES-08, SES-37
#[test]
fn the_console_has_one_line_for_what_was_not_asked_for() {
    let line = |kind, reason: &str| {
        SessionEnd { reason: Some(reason.to_owned()), ..end(kind) }.console_line()
    };
    let reached = |reason: &str| format!("connect: could not reach example.org:27015 ({reason})");
    assert_eq!(line(EndKind::CouldNotReach, "no route"), Some(reached("no route")));
    assert_eq!(line(EndKind::ServerKeyChanged, "other key"), Some(reached("other key")));
    assert_eq!(line(EndKind::TimedOut, ""), Some(reached("timed out")));
    let damaged = line(EndKind::KnownHostsUnusable, "line 3: damaged");
    assert_eq!(damaged, Some("connect: line 3: damaged".to_owned()));
    let full = line(EndKind::KnownHostsNotWritten, "cannot be written");
    assert_eq!(full, Some("connect: cannot be written".to_owned()));
    assert_eq!(line(EndKind::ServerFull, "full"), Some("disconnected: full".to_owned()));
    assert_eq!(line(EndKind::Quiet, ""), None);
}

#[test]
fn the_exit_code_follows_from_the_kind() {
    let codes = [
        (EndKind::Quiet, 0),
        (EndKind::ClosedByServer, 0),
        (EndKind::Lost, 69),
        (EndKind::KnownHostsUnusable, 65),
        (EndKind::KnownHostsNotWritten, 73),
        (EndKind::MapUnusable, 65),
        (EndKind::DiskFailed, 74),
        (EndKind::CouldNotReach, 69),
        (EndKind::TimedOut, 69),
        (EndKind::ClientFailed, 70),
        (EndKind::ServerFull, 75),
        (EndKind::ProtocolMismatch, 76),
        (EndKind::ContentDiffers, 76),
        (EndKind::MapTransferFailed, 76),
        (EndKind::Unreadable, 76),
        (EndKind::Removed, 77),
        (EndKind::ServerKeyChanged, 77),
    ];
    for (kind, code) in codes {
        assert_eq!(end(kind).exit_code(), code, "{kind:?}");
    }
}

#[test]
fn a_goodbye_is_a_success_and_a_link_that_dies_without_one_is_not() {
    for reason in ["", "server stopped"] {
        let reason = Some(reason.to_owned());
        let told = SessionEnd { reason, ..end(EndKind::ClosedByServer) };
        assert_eq!(told.exit_code(), 0, "{told:?}");
    }
    let lost = end(EndKind::Lost);
    assert_eq!(
        (lost.exit_code(), lost.detail().as_str()),
        (69, "The server closed the connection.")
    );
}
