//! A map that takes the place of another while a peer joins or plays.

use dh_messages::{BlobKind, BlobRequest, ClientReady, MapAdvert, MapLoad, SpawnAck, ToClient};

use super::*;

fn advert(generation: u32) -> Arc<MapAdvert> {
    let name = "p:assets/b.dh-map".into();
    Arc::new(MapAdvert { name, generation, ..MapAdvert::default() })
}

fn load(generation: u32) -> ToClient {
    ToClient::MapLoad(MapLoad { map: MapAdvert::clone(&advert(generation)) })
}

fn said(effects: &[Effect]) -> Vec<ToClient> {
    sent(effects).into_iter().cloned().collect()
}

fn switch(talk: &mut Talk, generation: u32) -> Vec<ToClient> {
    said(&talk.tell(SessionMsg::MapLoad(advert(generation))))
}

fn ready(talk: &mut Talk, map_generation: u32) -> Vec<ToClient> {
    said(&talk.hear(ClientReady { map_generation }))
}

fn is_spawned(said: &[ToClient], generation: u32) -> bool {
    matches!(said, [ToClient::SpawnAck(SpawnAck { map_generation, pawn, .. })]
        if (*map_generation, *pawn) == (generation, PAWN))
}

/// MR-12, MR-153
#[test]
fn a_peer_that_plays_is_told_of_the_next_map_and_plays_on_once_it_has_loaded_it() {
    let mut talk = Talk::playing();
    assert_eq!(switch(&mut talk, 2), [load(2)]);
    assert_eq!(talk.session.phase(), &Phase::Playing { slot: 4, pawn: PAWN });
    let effects = talk.hear(ClientReady { map_generation: 2 });
    assert!(is_spawned(&said(&effects), 2), "{effects:?}");
    assert!(effects.contains(&Effect::Arrived(2)), "its pawn waits for it no longer");
    assert_eq!(switch(&mut talk, 2), [], "told once");
}

/// MR-Q05
#[test]
fn a_ready_for_a_map_that_stands_no_longer_is_passed_over() {
    let mut talk = Talk::at(&Phase::Loading);
    assert_eq!(switch(&mut talk, 2), [load(2)]);
    assert!(ready(&mut talk, 1).is_empty());
    assert_eq!(talk.session.phase(), &Phase::Loading);
    ready(&mut talk, 2);
    assert_eq!(talk.session.phase(), &Phase::Seating);
}

/// MR-Q05
#[test]
fn a_session_that_is_remade_after_a_switch_knows_the_map_that_stands() {
    let mut talk = Talk::playing();
    let kept = |effects: Vec<Effect>| {
        let mut kept = effects.into_iter().filter_map(|effect| match effect {
            Effect::Keep(kept) => Some(*kept),
            _ => None,
        });
        kept.next_back().unwrap()
    };
    let remade =
        |kept| Talk { session: Session::resume(opening(), kept, Micros(0)), now: Micros(0) };
    let mut talk = remade(kept(talk.tell(SessionMsg::MapLoad(advert(2)))));
    assert!(ready(&mut talk, 1).is_empty(), "that map stands no longer");
    let effects = talk.hear(ClientReady { map_generation: 2 });
    assert!(is_spawned(&said(&effects), 2), "{effects:?}");
    let mut talk = remade(kept(effects));
    ready(&mut talk, 2);
    assert!(talk.has_ended(), "it has said so already");
}

/// MR-152, MR-162, MR-Q04: no pawn is acknowledged in a map its player has not loaded.
#[test]
fn a_switch_while_the_pawn_is_made_holds_the_acknowledgement_until_the_next_map_is_loaded() {
    let mut talk = Talk::at(&Phase::Spawning { slot: 4 });
    assert_eq!(switch(&mut talk, 2), [load(2)]);
    let effects = talk.tell(SessionMsg::Spawned(Spawned { pawn: PAWN, tick: Tick(9) }));
    assert!(sent(&effects).is_empty() && !effects.contains(&Effect::Arrived(1)));
    let effects = talk.hear(ClientReady { map_generation: 2 });
    assert!(is_spawned(&said(&effects), 2) && effects.contains(&Effect::Arrived(2)));
}

/// MR-11: whoever has not been told of any map yet is told of the newest in `serverInfo`.
#[test]
fn a_switch_before_the_greeting_is_told_in_the_server_info_alone() {
    let mut talk = Talk::new(opening());
    assert_eq!(switch(&mut talk, 2), []);
    let said = said(&talk.hear(request(PROTOCOL_VERSION, schema_hash())));
    assert!(matches!(&said[..], [_, ToClient::ServerInfo(info)] if info.map == *advert(2)));
    assert_eq!(switch(&mut talk, 2), [], "as the listener repeats it");
}

/// MR-161: what was published before the switch belongs to no map that the peer knows.
#[test]
fn frames_of_the_former_map_are_not_sent_after_the_switch() {
    let mut talk = Talk::playing();
    let frame = frames(1, 1).remove(0);
    let sends =
        |effects: Vec<Effect>| effects.iter().any(|effect| matches!(effect, Effect::Datagrams(_)));
    assert!(sends(talk.tell(SessionMsg::Published(Arc::clone(&frame)))));
    switch(&mut talk, 2);
    assert!(!sends(talk.tell(SessionMsg::Published(frame))));
}

/// MR-43, MR-Q27
#[test]
fn a_blob_is_sent_to_whoever_has_said_who_it_is_and_asked_too_early_means_nothing() {
    let request = BlobRequest { kind: BlobKind::MapPallet, ..BlobRequest::default() };
    let wanted = opening().advert.pallet;
    for phase in [Phase::Loading, Phase::Playing { slot: 4, pawn: PAWN }] {
        let effects = Talk::at(&phase).hear(request);
        assert_eq!(effects, [Effect::Transfer(request, wanted)]);
    }
    let mut early = Talk::at(&Phase::Identifying);
    let effects = early.hear(request);
    assert!(matches!(&effects[..], [Effect::Detail(_)]), "{effects:?}");
    assert!(!early.has_ended());
}
