//! How attempts and sessions end, and that what comes after is swallowed.

use std::io::ErrorKind;
use std::path::PathBuf;

use dh_host::net::{DialError, KnownHostsError, code};
use proptest::prelude::*;

use super::*;
use crate::connection::kind_of;
use crate::ending::EndKind;

/// SES-01: whatever comes in whatever order, once the wait for a goodbye, the attempt's clock and
/// the transport's silence have run out, the client plays or is nowhere.
#[test]
fn every_order_of_events_leads_to_playing_or_disconnected() {
    let event = prop_oneof![
        Just(0_u8),
        Just(1),
        Just(2),
        Just(3),
        Just(4),
        Just(5),
        Just(6),
        Just(7),
        Just(8),
        Just(9),
    ];
    proptest!(|(events in proptest::collection::vec((event, 0_u64..4_000_000), 0..40))| {
        let mut rig = Rig::new();
        for (event, later) in events {
            rig.pass(rig.now + Micros(later));
            rig.tell(event_of(&rig, event));
        }
        rig.pass(rig.now + Micros::from_secs(11));
        if rig.stands() == "loading" {
            rig.tell(rig.closed(By::Timeout, 0, ""));
        }
        prop_assert!(["playing", "disconnected"].contains(&rig.stands()), "{}", rig.stands());
        prop_assert_eq!(rig.stands() == "disconnected", rig.machine.next_deadline().is_none());
        let attempts = rig.told().filter(|it| matches!(it, ClientEvent::Stands("connecting")));
        let over = attempts.count() - usize::from(rig.stands() == "playing");
        prop_assert_eq!(rig.ends().len(), over, "each attempt ends once");
    });
}

fn event_of(rig: &Rig, number: u8) -> ConnectionMsg {
    let message = |it| ConnectionMsg::Message(rig.of_now(in_message(it)));
    match number {
        0 => connect("10.0.0.1:27015"),
        1 => ConnectionMsg::Disconnect,
        2 => rig.dialed(),
        3 => dial_failed(rig, "nobody listens"),
        4 => message(schema()),
        5 => message(server_info()),
        6 => message(spawn_ack()),
        7 => message(session_end(CloseCode::Leave, (2, 2), "bye")),
        8 => rig.closed(By::Peer, 0, ""),
        _ => ConnectionMsg::Datagram(rig.of_now(Bytes::from_static(&[1, 2, 3]))),
    }
}

fn dial_failed(rig: &Rig, reason: &str) -> ConnectionMsg {
    let failure = DialFailure { reason: reason.to_owned(), kind: EndKind::CouldNotReach };
    ConnectionMsg::DialFailed(rig.of_now(failure))
}

/// SES-02, SES-05: nothing that a transport tells after it was given up has any effect.
#[test]
fn what_comes_late_is_swallowed() {
    let ends: [fn(&mut Rig); 3] = [
        |rig| {
            rig.tell(ConnectionMsg::Disconnect);
        },
        |rig| rig.moves_to("10.0.0.2:27015"),
        |rig| {
            rig.hear(session_end(CloseCode::Leave, (2, 2), "bye"));
        },
    ];
    for end in ends {
        for mut rig in [Rig::playing(), Rig::loading(), Rig::attempting()] {
            let late: Vec<ConnectionMsg> = (2..10).map(|number| event_of(&rig, number)).collect();
            end(&mut rig);
            for msg in late {
                let text = format!("{msg:?}");
                assert!(rig.tell(msg).is_empty(), "{text}");
            }
        }
    }
}

/// SES-08, SES-09, SES-16, SES-22, SES-37: refused, unreachable and timed out take one way.
#[test]
fn a_failed_dial_prints_one_line_and_rests_disconnected() {
    let reasons = ["nobody listens at 10.0.0.1:27015", "there is no way to 10.0.0.1:27015"];
    for reason in reasons {
        let mut rig = Rig::new();
        rig.tell(connect("10.0.0.1:27015"));
        rig.tell(dial_failed(&rig, reason));
        assert_eq!(rig.lines(), [format!("connect: could not reach 10.0.0.1:27015 ({reason})")]);
        assert_eq!((rig.stands(), rig.ends()[0].kind), ("disconnected", EndKind::CouldNotReach));
    }
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    rig.pass(Micros::from_secs(20));
    assert_eq!(rig.lines(), ["connect: could not reach 10.0.0.1:27015 (timed out)"]);
    assert_eq!((rig.stands(), rig.ends()[0].kind), ("disconnected", EndKind::TimedOut));
}

/// SES-10
#[test]
fn a_failed_dial_is_not_dialled_again() {
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    rig.tell(dial_failed(&rig, "refused"));
    rig.pass(Micros::from_secs(300));
    assert_eq!(rig.dials().len(), 1);
}

/// SES-36: whether or not the dial came through, until the server says what it is.
#[test]
fn the_connect_timeout_bounds_an_attempt_to_the_microsecond() {
    for (timeout, connected) in [(10, false), (10, true), (2, false), (2, true)] {
        let mut rig = Rig::new();
        let connect_timeout = Micros::from_secs(timeout);
        rig.tell(ConnectionMsg::Profile(Arc::new(Profile { connect_timeout, ..profile() })));
        rig.tell(connect("10.0.0.1:27015"));
        if connected {
            rig.tell(rig.dialed());
            rig.hear(schema());
        }
        rig.pass(connect_timeout - Micros(1));
        assert_eq!(rig.stands(), "connecting");
        rig.pass(connect_timeout);
        assert_eq!(rig.ends()[0].kind, EndKind::TimedOut);
    }
    let mut rig = Rig::loading();
    rig.pass(Micros::from_secs(600));
    assert_eq!(rig.stands(), "loading", "from here on silence is the transport's to notice");
}

/// SES-13, SES-14, SES-15: told once, at the moment it is decided.
#[test]
fn disconnect_tells_the_server_once_and_rests_at_the_menu() {
    for mut rig in [Rig::playing(), Rig::loading(), Rig::attempting()] {
        let lines = rig.lines().len();
        let effects = rig.tell(ConnectionMsg::Disconnect);
        assert!(matches!(effects[0], Effect::HangUp { code: CloseCode::Leave, .. }));
        assert_eq!(rig.hang_ups().len(), 1);
        assert_eq!((rig.stands(), rig.ends()[0].kind), ("disconnected", EndKind::Quiet));
        assert_eq!(rig.lines().len(), lines, "no line, no dialog");
        assert_eq!(rig.ends()[0].title(), None);
    }
}

/// SES-38
#[test]
fn disconnect_while_disconnected_does_nothing() {
    let mut rig = Rig::playing();
    rig.tell(ConnectionMsg::Disconnect);
    assert!(rig.tell(ConnectionMsg::Disconnect).is_empty());
    assert!(Rig::new().tell(ConnectionMsg::Disconnect).is_empty());
}

/// SES-16, SES-17, SES-18, SES-19: the record comes with the transition, once, and is all that is
/// needed to say what happened.
#[test]
fn the_transition_to_disconnected_carries_one_record_of_the_ending() {
    let mut rig = Rig::playing();
    rig.hear(session_end(CloseCode::Leave, (2, 2), "server restarting in 5"));
    let last = &rig.effects[rig.effects.len() - 3..];
    let [
        Effect::Tell(ClientEvent::Stands(state)),
        Effect::Tell(ClientEvent::Ended(end)),
        Effect::Tell(ClientEvent::Line(_)),
    ] = last
    else {
        panic!("{last:?}");
    };
    assert_eq!((*state, rig.ends().len()), ("disconnected", 1));
    assert_eq!(
        *end,
        SessionEnd {
            kind: EndKind::ClosedByServer,
            address: Some("10.0.0.1:27015".to_owned()),
            versions: Some((2, 2)),
            reason: Some("server restarting in 5".to_owned()),
        }
    );
    assert!(rig.effects.iter().any(|effect| matches!(effect, Effect::Left)));
}

/// SES-24
#[test]
fn a_protocol_mismatch_is_told_with_both_numbers() {
    let mut rig = Rig::attempting();
    rig.hear(session_end(CloseCode::ProtocolMismatch, (80, 1), "refused"));
    assert_eq!(rig.ends()[0].kind, EndKind::ProtocolMismatch);
    let detail = "This server speaks protocol 80; this client speaks 1.";
    assert_eq!(rig.ends()[0].detail(), detail);
}

/// SES-25, SES-26: the last words count, or else the close frame, whichever came first.
#[test]
fn a_reason_survives_the_close_byte_for_byte() {
    let reason = "server restarting in 5 \u{1f44b}";
    let mut rig = Rig::playing();
    rig.hear(session_end(CloseCode::Leave, (2, 2), reason));
    rig.tell(rig.closed(By::Peer, 0, "something else"));
    assert_eq!(rig.ends().iter().map(|end| end.detail()).collect::<Vec<_>>(), [reason]);

    let mut rig = Rig::playing();
    rig.tell(rig.closed(By::Peer, 0, reason));
    assert_eq!(rig.ends()[0].detail(), reason);
    let mut rig = Rig::playing();
    rig.tell(rig.closed(By::Peer, 0, ""));
    assert_eq!(rig.ends()[0].detail(), "The server closed the connection.");
}

/// SES-27, MR-89: no other map is opened in its place.
#[test]
fn a_map_whose_name_is_none_ends_the_join() {
    let mut rig = Rig::attempting();
    rig.hear(schema());
    let ToClient::ServerInfo(mut info) = server_info() else { panic!() };
    info.map.name = dh_messages::Str16::clipped("island:main.dh-map");
    rig.hear(ToClient::ServerInfo(info));
    assert_eq!(rig.ends()[0].kind, EndKind::MapTransferFailed);
    assert_eq!(rig.hang_ups().len(), 1);
}

/// SES-28
#[test]
fn a_message_that_cannot_be_read_ends_the_session() {
    let mut info = in_message(server_info());
    info.body = info.body.slice(..info.body.len() - 1);
    let mut rig = Rig::attempting();
    rig.hear(schema());
    rig.tell(ConnectionMsg::Message(rig.of_now(info)));
    assert_eq!(rig.ends()[0].kind, EndKind::Unreadable);

    // A snapshot belongs to datagrams.
    let snapshot = InMessage { id: 6, body: Bytes::from_static(&[0; 8]) };
    let mut rig = Rig::playing();
    rig.tell(ConnectionMsg::Message(rig.of_now(snapshot)));
    assert_eq!(rig.ends()[0].kind, EndKind::Unreadable);
    assert_eq!(rig.hang_ups(), [CloseCode::Unreadable]);
}

/// PLAT-17, SES-16, sessions OQ-24: a live session whose link dies has no reason to show.
#[test]
fn a_transport_that_ends_by_itself_says_what_that_was() {
    let cases = [
        (Rig::playing(), By::Timeout, 0, EndKind::Lost),
        (Rig::playing(), By::Lost, 0, EndKind::Lost),
        (Rig::playing(), By::Local, code::UNREADABLE, EndKind::Unreadable),
        (Rig::playing(), By::Peer, 2, EndKind::Removed),
        (Rig::attempting(), By::Peer, 4, EndKind::ServerFull),
        (Rig::attempting(), By::Timeout, 0, EndKind::TimedOut),
        (Rig::attempting(), By::Lost, 0, EndKind::CouldNotReach),
    ];
    for (mut rig, by, code, kind) in cases {
        rig.tell(rig.closed(by, code, "x"));
        assert_eq!(rig.ends()[0].kind, kind, "{by:?}");
        assert_eq!((rig.stands(), rig.hang_ups().len()), ("disconnected", 1), "{by:?}");
    }
    let mut rig = Rig::playing();
    rig.tell(rig.closed(By::Timeout, 0, "timed out"));
    assert_eq!(rig.ends()[0].detail(), "The server closed the connection.");
}

#[test]
fn a_changed_server_key_is_told_apart_from_an_unreachable_server() {
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    let failure =
        DialFailure { reason: "server key changed".to_owned(), kind: EndKind::ServerKeyChanged };
    rig.tell(ConnectionMsg::DialFailed(rig.of_now(failure)));
    let end = rig.ends()[0];
    assert_eq!((end.kind, end.exit_code()), (EndKind::ServerKeyChanged, 77));
}

#[test]
fn an_unusable_list_of_known_servers_is_told_apart_from_an_unreachable_server() {
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    let reason = "known-hosts line 3: expected NAME SHA256:..., found one word".to_owned();
    let failure = DialFailure { reason: reason.clone(), kind: EndKind::KnownHostsUnusable };
    rig.tell(ConnectionMsg::DialFailed(rig.of_now(failure)));
    let end = rig.ends()[0];
    assert_eq!((end.kind, end.exit_code()), (EndKind::KnownHostsUnusable, 65));
    assert_eq!(end.console_line(), Some(format!("connect: {reason}")));
}

#[test]
fn a_list_of_known_servers_that_cannot_be_written_is_told_apart_from_a_damaged_one() {
    let path = || PathBuf::from("known-hosts");
    let error = ErrorKind::ReadOnlyFilesystem.into();
    let damaged = KnownHostsError::Line { path: path(), line: 3, found: "one word" };
    for (error, kind) in [
        (KnownHostsError::NotWritten { path: path(), error }, EndKind::KnownHostsNotWritten),
        (KnownHostsError::Full(path()), EndKind::KnownHostsNotWritten),
        (damaged, EndKind::KnownHostsUnusable),
    ] {
        assert_eq!(kind_of(&DialError::KnownHosts(error)), kind);
    }
}
