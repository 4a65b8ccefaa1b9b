//! From the dial to the pawn.

use dh_messages::{ClientReady, ConnectRequest, PROTOCOL_VERSION, PlayerList, ServerInfo};

use super::*;
use crate::ending::EndKind;

/// JOIN-16, JOIN-17, JOIN-19: who the player is goes out with the very next word after the server
/// has said what it is, before anything that speaks of a map.
#[test]
fn server_info_is_answered_at_once_by_client_info_and_then_ready() {
    let mut rig = Rig::attempting();
    let opening = sent(&rig.effects);
    let request = ConnectRequest { version: PROTOCOL_VERSION, schema_hash: schema_hash() };
    assert_eq!(opening, [&ToServer::ConnectRequest(request)], "nothing else goes first");

    assert!(sent(rig.hear(schema())).is_empty());
    let answer = rig.hear(server_info());
    let [ToServer::ClientInfo(info), ToServer::ClientReady(ready)] = sent(answer)[..] else {
        panic!("{answer:?}");
    };
    let who = (info.name.as_str(), info.seed_colour, info.avatar.as_str());
    assert_eq!(who, ("ada", 0x12_34_56, ""));
    assert_eq!(*ready, ClientReady { map_generation: 3 });
    assert_eq!(rig.stands(), "loading");

    let answer = rig.hear(spawn_ack());
    assert!(answer.iter().any(|effect| matches!(effect, Effect::Spawned(_))));
    assert_eq!(rig.stands(), "playing");
}

#[test]
fn a_spawn_for_another_map_generation_is_passed_over() {
    let mut rig = Rig::loading();
    rig.hear(ToClient::SpawnAck(SpawnAck { map_generation: 2, ..SpawnAck::default() }));
    assert_eq!(rig.stands(), "loading");
}

/// SES-03: the old transport is let go of and gone before the new dial, with no line about it.
#[test]
fn connect_dials_once_the_server_before_has_been_left() {
    for mut rig in [Rig::playing(), Rig::loading(), Rig::attempting()] {
        let lines = rig.lines().len();
        let gone = rig.closed(By::Local, 0, "left");
        let effects = rig.tell(connect("10.0.0.2:27015"));
        assert!(effects.iter().any(|it| matches!(it, Effect::HangUp { .. })), "{effects:?}");
        assert!(!effects.iter().any(|it| dial_of(it).is_some()), "{effects:?}");
        assert_eq!(rig.tell(gone).iter().filter_map(dial_of).count(), 1);
        assert_eq!(rig.dials().last().unwrap().1, "10.0.0.2:27015");
        assert_eq!(rig.lines().len(), lines);
        assert_eq!(rig.stands(), "connecting");
        assert_eq!(rig.ends().iter().map(|end| end.kind).collect::<Vec<_>>(), [EndKind::Quiet]);
        assert_eq!(rig.ends()[0].address.as_deref(), Some("10.0.0.1:27015"));
    }
}

/// SES-03: a transport that never ends keeps nobody.
#[test]
fn a_goodbye_is_waited_for_no_longer_than_a_second() {
    let mut rig = Rig::playing();
    let gone = rig.closed(By::Local, 0, "left");
    rig.tell(connect("10.0.0.2:27015"));
    rig.pass(Micros(500_000));
    rig.tell(connect("10.0.0.3:27015"));
    rig.pass(Micros(999_999));
    assert_eq!(rig.dials().len(), 1);
    rig.pass(Micros(1_000_000));
    assert_eq!(rig.dials().last().unwrap().1, "10.0.0.3:27015", "the last wish counts");
    assert!(rig.tell(gone).is_empty());
    assert_eq!((rig.dials().len(), rig.stands()), (2, "connecting"));
}

/// What a restart tells of, and dials when it is not told where to.
#[test]
fn where_to_go_next_is_kept_while_a_server_is_being_left() {
    let mut rig = Rig::playing();
    rig.tell(connect("10.0.0.2:27015"));
    assert_eq!(rig.kept.last_target.clone().unwrap().to_string(), "10.0.0.2:27015");
    rig.panics();
    rig.tell(rig.closed(By::Local, 0, "left"));
    assert_eq!(rig.dials().last().unwrap().1, "10.0.0.2:27015", "also by another machine");
}

#[test]
fn disconnect_while_a_server_is_being_left_dials_nobody() {
    let mut rig = Rig::playing();
    let gone = rig.closed(By::Local, 0, "left");
    rig.tell(connect("10.0.0.2:27015"));
    rig.tell(ConnectionMsg::Disconnect);
    assert!(rig.tell(gone).is_empty());
    rig.pass(Micros::from_secs(60));
    assert_eq!((rig.dials().len(), rig.stands()), (1, "disconnected"));
    let addresses: Vec<_> = rig.ends().iter().map(|end| end.address.clone().unwrap()).collect();
    assert_eq!(addresses, ["10.0.0.1:27015", "10.0.0.2:27015"]);
}

/// SES-04: a dial that is still out is given up at once.
#[test]
fn connect_gives_up_a_dial_that_is_still_out_and_dials_at_once() {
    let mut rig = Rig::new();
    rig.tell(connect("10.0.0.1:27015"));
    let effects = rig.tell(connect("10.0.0.2:27015"));
    let hang_up = effects.iter().position(|it| matches!(it, Effect::HangUp { .. }));
    let dial = effects.iter().position(|it| dial_of(it).is_some());
    assert!(hang_up.unwrap() < dial.unwrap(), "{effects:?}");
}

/// SES-06
#[test]
fn connect_with_no_address_dials_the_server_that_was_lost() {
    let mut rig = Rig::playing();
    rig.tell(rig.closed(By::Timeout, 0, ""));
    assert_eq!(rig.stands(), "disconnected");
    rig.tell(ConnectionMsg::Connect(None));
    assert_eq!(rig.dials().last().unwrap().1, "10.0.0.1:27015");
    assert_eq!(rig.stands(), "connecting");
}

/// SES-07
#[test]
fn connect_with_no_address_before_any_dials_this_machine_on_the_default_port() {
    let mut rig = Rig::new();
    rig.tell(ConnectionMsg::Connect(None));
    assert_eq!(rig.dials().last().unwrap().1, "127.0.0.1:27015");
}

#[test]
fn a_message_out_of_order_ends_the_session() {
    let list = ToClient::PlayerList(PlayerList::default());
    let cases: [(Rig, ToClient); 5] = [
        (Rig::attempting(), server_info()),
        (Rig::attempting(), list),
        (Rig::attempting(), spawn_ack()),
        (Rig::loading(), server_info()),
        (Rig::playing(), schema()),
    ];
    for (mut rig, message) in cases {
        let name = message.name();
        rig.hear(message);
        assert_eq!(rig.ends().len(), 1, "{name}");
        assert_eq!(rig.ends()[0].kind, EndKind::Unreadable, "{name}");
        assert_eq!(rig.hang_ups(), [CloseCode::Unreadable], "{name}");
    }
}

#[test]
fn a_tick_rate_that_no_server_has_ends_the_join() {
    for hz in [0, 9, 241, u16::MAX] {
        let mut rig = Rig::attempting();
        rig.hear(schema());
        rig.hear(ToClient::ServerInfo(ServerInfo { tick_rate: hz, ..ServerInfo::default() }));
        assert_eq!(rig.ends()[0].kind, EndKind::Unreadable, "{hz}");
    }
}

#[test]
fn the_next_join_says_the_name_as_it_stands_then() {
    let mut rig = Rig::new();
    let renamed = Arc::new(Profile { name: "bob".to_owned(), ..profile() });
    rig.tell(ConnectionMsg::Profile(renamed));
    rig.tell(connect("10.0.0.1:27015"));
    rig.tell(rig.dialed());
    rig.hear(schema());
    let [ToServer::ClientInfo(info), _] = sent(rig.hear(server_info()))[..] else { panic!() };
    assert_eq!(info.name.as_str(), "bob");
}
