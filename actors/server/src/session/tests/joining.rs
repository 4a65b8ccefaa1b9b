//! The join: its order, who is refused, and what is known when.

use dh_messages::{CloseCode, MapAdvert, SchemaHash, ServerChat, ServerInfo, SpawnAck};

use super::*;

/// JOIN-01, JOIN-07, JOIN-22
#[test]
fn a_join_is_answered_step_by_step_until_the_peer_plays() {
    let mut talk = Talk::new(opening());
    talk.tell(SessionMsg::Opened);
    let greeted = talk.hear(request(PROTOCOL_VERSION, schema_hash()));
    assert!(matches!(sent(&greeted)[..], [ToClient::SchemaHash(_), ToClient::ServerInfo(_)]));
    assert_eq!(presented(&greeted).unwrap().standing.name(), "handshaking");

    let identified = talk.hear(info("ada"));
    assert!(sent(&identified).is_empty());
    assert_eq!(presented(&identified).unwrap().standing.name(), "loading");

    let ready = talk.hear(ClientReady { map_generation: 1 });
    assert!(sent(&ready).is_empty(), "no pawn without a slot");
    let seated = talk.tell(SessionMsg::Seated(4));
    assert!(seated.contains(&Effect::Join { slot: 4 }), "{seated:?}");

    let spawned = talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) }));
    let ack = SpawnAck { slot: 4, pawn: PAWN, tick: 9, map_generation: 1 };
    assert_eq!(sent(&spawned), [&ToClient::SpawnAck(ack)]);
    let presence = presented(&spawned).unwrap();
    assert_eq!((presence.standing.name(), presence.pawn), ("playing", Some(PAWN)));
}

/// JOIN-01, JOIN-19
#[test]
fn each_message_out_of_its_order_ends_the_session_and_does_nothing_else() {
    let phases = [
        Phase::Greeting { until: Micros(0) },
        Phase::Identifying,
        Phase::Loading,
        Phase::Seating,
        Phase::Spawning { slot: 4 },
        Phase::Playing { slot: 4, pawn: PAWN },
    ];
    let says: [fn(&mut Talk) -> Vec<Effect>; 3] = [
        |talk| talk.hear(request(PROTOCOL_VERSION, schema_hash())),
        |talk| talk.hear(info("eve")),
        |talk| talk.hear(ClientReady { map_generation: 1 }),
    ];
    for (stands, phase) in phases.iter().enumerate() {
        for (message, say) in says.iter().enumerate() {
            let mut talk = Talk::at(phase);
            let effects = say(&mut talk);
            let in_order = stands == message;
            assert_eq!(talk.has_ended(), !in_order, "message {message} at {phase:?}");
            if !in_order {
                assert_eq!(ending(&effects).unwrap().code, CloseCode::Unreadable);
                assert!(presented(&effects).is_none() && sent(&effects).is_empty());
            }
        }
    }
}

#[test]
fn a_message_nobody_knows_ends_the_session_wherever_it_stands() {
    for phase in [Phase::Identifying, Phase::Loading, Phase::Playing { slot: 4, pawn: PAWN }] {
        for id in [0, 2, 3, 54, 56, 255] {
            let mut talk = Talk::at(&phase);
            let effects = talk.hear_raw(id, b"anything");
            let ending = ending(&effects).unwrap();
            assert_eq!(ending.code, CloseCode::Unreadable, "{id} at {phase:?}");
            assert!(ending.reason.starts_with(&format!("unreadable message {id}")));
            assert!(presented(&effects).is_none());
        }
    }
}

/// JOIN-02, JOIN-03
#[test]
fn an_opening_too_short_for_a_version_is_unreadable() {
    for bytes in 0..4 {
        let mut talk = Talk::new(opening());
        let effects = talk.hear_raw(1, &[0xff; 4][..bytes]);
        assert_eq!(ending(&effects).unwrap().code, CloseCode::Unreadable, "{bytes} bytes");
    }
}

/// JOIN-04, JOIN-05
#[test]
fn another_version_is_refused_with_both_numbers_before_any_name_is_told() {
    for theirs in [0, 1, PROTOCOL_VERSION + 1, 80, u32::MAX] {
        let mut talk = Talk::new(opening());
        let effects = talk.hear(request(theirs, schema_hash()));
        let ending = ending(&effects).unwrap();
        assert_eq!((ending.code, ending.client_version), (CloseCode::ProtocolMismatch, theirs));
        assert!(ending.reason.contains(&format!("protocol {PROTOCOL_VERSION};")));
        assert!(ending.reason.ends_with(&format!("speaks {theirs}")), "{}", ending.reason);
        assert!(sent(&effects).is_empty() && presented(&effects).is_none());
        assert!(!ending.reason.contains("Yard"));
    }
}

/// JOIN-04, JOIN-38, JOIN-39, JOIN-40
#[test]
fn a_build_from_before_the_schema_exchange_is_known_by_its_shape_and_told_both_numbers() {
    let named = [&80_u32.to_le_bytes()[..], b"\x05alice and an old build's words"].concat();
    for body in [&80_u32.to_le_bytes()[..], &named] {
        let mut talk = Talk::new(opening());
        let effects = talk.hear_raw(1, body);
        let ours = PROTOCOL_VERSION;
        let line = format!(
            "refused {ENDPOINT}: it speaks protocol 80, a build from before the schema exchange; \
             this server speaks {ours}, and that client has to be updated to join"
        );
        assert_eq!(logged(&effects)[0], line);
        let ending = ending(&effects).unwrap();
        assert_eq!((ending.code, ending.client_version), (CloseCode::ProtocolMismatch, 80));
        let reason = format!("This server speaks protocol {ours}; this client speaks 80");
        assert_eq!(ending.reason, reason);
    }
}

/// JOIN-06
#[test]
fn the_schema_hash_is_the_servers_and_no_text_is_wanted_of_a_peer_of_its_build() {
    let mut talk = Talk::new(opening());
    let effects = talk.hear(request(PROTOCOL_VERSION, schema_hash()));
    let told = SchemaHash { hash: schema_hash(), wants_text: false };
    assert_eq!(sent(&effects)[0], &ToClient::SchemaHash(told));
}

/// JOIN-15, MR-10, MR-11, MR-17
#[test]
fn server_info_tells_the_world_and_an_advert_that_names_no_asset() {
    let mut talk = Talk::new(opening());
    let effects = talk.hear(request(PROTOCOL_VERSION, schema_hash()));
    let advert = MapAdvert { generation: 1, ..MapAdvert::default() };
    assert!(advert.name.is_empty() && advert.pallet.is_none());
    let info = ServerInfo {
        version: PROTOCOL_VERSION,
        tick_rate: 60,
        world_id: Guid::from([7; 16]),
        world_name: "Yard".into(),
        map: advert,
    };
    assert_eq!(sent(&effects)[1], &ToClient::ServerInfo(info));
}

/// JOIN-12, JOIN-16, JOIN-18
#[test]
fn client_info_is_what_admits_a_peer_by_name_colour_and_identity() {
    let mut talk = Talk::at(&Phase::Identifying);
    let effects = talk.hear(info("  ada\u{7}lovelace "));
    let presence = presented(&effects).unwrap();
    assert_eq!(presence.name.as_deref(), Some("adalovelace"));
    assert_eq!(presence.identity, Some(Identity::Key("key:00ff".to_owned())));
    assert_eq!(presence.colour, 0x0012_3456);
    let short = schema_hash().short();
    let line = format!(
        "schema: adalovelace ({ENDPOINT}) writes this server's schema {short} \
         (hash only, 16 bytes each way)"
    );
    assert_eq!(logged(&effects), [line]);
}

/// JOIN-20
#[test]
fn what_is_said_to_everybody_reaches_a_peer_only_after_it_has_said_who_it_is() {
    let say = || SessionMsg::Say(Say { id: ServerChat::ID, body: Bytes::from_static(b"hello") });
    for (phase, hears) in [
        (Phase::Greeting { until: Micros(0) }, false),
        (Phase::Identifying, false),
        (Phase::Loading, true),
        (Phase::Seating, true),
        (Phase::Playing { slot: 4, pawn: PAWN }, true),
    ] {
        let effects = Talk::at(&phase).tell(say());
        assert_eq!(matches!(effects[..], [Effect::Pass(_)]), hears, "{phase:?}");
    }
}

/// JOIN-21
#[test]
fn what_follows_client_info_in_one_breath_finds_the_peer_identified() {
    let mut talk = Talk::at(&Phase::Identifying);
    talk.hear(info("ada"));
    let ready = talk.hear(ClientReady { map_generation: 1 });
    let presence = presented(&ready).unwrap();
    assert_eq!(presence.name.as_deref(), Some("ada"));
    assert!(presence.identity.is_some());
}

#[test]
fn a_ready_for_another_map_is_passed_over() {
    let mut talk = Talk::at(&Phase::Loading);
    assert!(talk.hear(ClientReady { map_generation: 2 }).is_empty());
    assert_eq!(*talk.session.phase(), Phase::Loading);
    talk.hear(ClientReady { map_generation: 1 });
    assert_eq!(*talk.session.phase(), Phase::Seating);
}

#[test]
fn a_slot_or_a_pawn_nobody_asked_for_changes_nothing() {
    let mut talk = Talk::at(&Phase::Loading);
    assert!(talk.tell(SessionMsg::Seated(4)).is_empty());
    assert!(talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) })).is_empty());
    let mut talk = Talk::playing();
    assert!(talk.tell(SessionMsg::Seated(5)).is_empty());
    let other = Spawned { pawn: EntityId::new(2, 0), tick: Tick(9) };
    assert!(talk.tell(SessionMsg::Spawned(other)).is_empty());
}
