//! Maps that are named: at a join and at a switch, had and not had.

use dh_messages::{ClientReady, Content, Hash128, MapLoad, Root, ToServer};
use dh_sim::GrayBox;

use super::*;
use crate::content::{StandingMap, Wanted};
use crate::downloader::Failure;
use crate::ending::EndKind;

fn advert(generation: u32) -> MapAdvert {
    let pallet = Content { fingerprint: Hash128([1; 16]), root: Root([2; 32]) };
    MapAdvert { name: "p:assets/a.dh-map".into(), pallet, generation, ..MapAdvert::default() }
}

fn wanted(generation: u32) -> Wanted {
    Wanted::of(&advert(generation)).unwrap().unwrap()
}

/// A client that was told of a map with `serverInfo`.
fn joining() -> Rig {
    let mut rig = Rig::attempting();
    rig.hear(schema());
    let ToClient::ServerInfo(mut info) = server_info() else { panic!() };
    info.map = advert(3);
    rig.hear(ToClient::ServerInfo(info));
    rig
}

fn switch(rig: &mut Rig, generation: u32) -> Vec<Wanted> {
    let effects = rig.hear(ToClient::MapLoad(MapLoad { map: advert(generation) }));
    let fetches = effects.iter().filter_map(|effect| match effect {
        Effect::Fetch(it) => Some(it.event.clone()),
        _ => None,
    });
    fetches.collect()
}

/// The generations that the server was told are loaded, of these effects.
fn readies(effects: &[Effect]) -> Vec<u32> {
    let readies = effects.iter().filter_map(|effect| match effect {
        Effect::Send(ToServer::ClientReady(ClientReady { map_generation })) => {
            Some(*map_generation)
        }
        _ => None,
    });
    readies.collect()
}

fn loaded(rig: &mut Rig, generation: u32) -> Vec<u32> {
    let map = Arc::new(StandingMap::gray_box(&GrayBox::new(), generation));
    let loaded = ConnectionMsg::Loaded(rig.of_now(map));
    readies(rig.tell(loaded))
}

fn failed(rig: &mut Rig, generation: u32) {
    let (kind, reason) = (EndKind::MapTransferFailed, "pallet 'p': it is gone".to_owned());
    let failure = Failure { wanted: wanted(generation), kind, reason };
    let failed = ConnectionMsg::LoadFailed(rig.of_now(failure));
    rig.tell(failed);
}

/// MR-11, MR-151: ready is said when the map stands here, never before.
#[test]
fn a_join_fetches_the_map_it_is_told_of_and_is_ready_once_that_is_loaded() {
    let mut rig = joining();
    assert!(readies(&rig.effects).is_empty());
    assert_eq!(rig.stands(), "loading");
    assert_eq!(loaded(&mut rig, 3), [3]);
    assert!(loaded(&mut rig, 2).is_empty(), "of a map before");
}

/// MR-12, MR-35, MR-153
#[test]
fn a_switch_fetches_through_the_same_door_while_the_session_goes_on() {
    let mut rig = Rig::playing();
    assert_eq!(switch(&mut rig, 9), [wanted(9)]);
    assert_eq!(rig.hang_ups(), []);
    assert_eq!(loaded(&mut rig, 9), [9]);
}

/// MR-Q21
#[test]
fn a_newer_switch_takes_the_place_of_the_one_that_loads() {
    let mut rig = Rig::playing();
    switch(&mut rig, 9);
    assert_eq!(switch(&mut rig, 10), [wanted(10)]);
    assert!(loaded(&mut rig, 9).is_empty(), "that map stands no longer");
    assert_eq!(loaded(&mut rig, 10), [10]);
}

/// MR-63, MR-Q44
#[test]
fn a_map_that_cannot_be_had_ends_a_join_with_its_reason_and_only_tells_one_who_plays() {
    let mut rig = joining();
    failed(&mut rig, 3);
    let end = &rig.ends()[0];
    assert_eq!(end.kind, EndKind::MapTransferFailed);
    assert!(end.detail().contains("pallet 'p': it is gone"), "{}", end.detail());

    let mut rig = Rig::playing();
    switch(&mut rig, 9);
    failed(&mut rig, 8);
    assert!(rig.lines().is_empty(), "of a map that is wanted no longer");
    failed(&mut rig, 9);
    assert_eq!(rig.lines(), ["map transfer failed: pallet 'p': it is gone"]);
    assert!(rig.ends().is_empty());
}

/// MR-63: who played at the server before has not played at this one.
#[test]
fn a_map_that_cannot_be_had_ends_a_join_of_one_who_played_elsewhere_before() {
    let mut rig = Rig::playing();
    rig.moves_to("10.0.0.2:27015");
    rig.tell(rig.dialed());
    rig.hear(schema());
    let ToClient::ServerInfo(mut info) = server_info() else { panic!() };
    info.map = advert(3);
    rig.hear(ToClient::ServerInfo(info));
    failed(&mut rig, 3);
    let kinds: Vec<EndKind> = rig.ends().iter().map(|end| end.kind).collect();
    assert_eq!(kinds, [EndKind::Quiet, EndKind::MapTransferFailed]);
    assert_eq!(rig.stands(), "disconnected");
}

/// MR-Q21: generations of two servers are equal by chance.
#[test]
fn what_comes_of_a_map_for_the_server_before_means_nothing_to_the_next() {
    let mut rig = joining();
    let map = Arc::new(StandingMap::gray_box(&GrayBox::new(), 3));
    let (kind, reason) = (EndKind::MapTransferFailed, "gone".to_owned());
    let failure = Failure { wanted: wanted(3), kind, reason };
    let loaded = ConnectionMsg::Loaded(rig.of_now(map));
    let failed = ConnectionMsg::LoadFailed(rig.of_now(failure));
    rig.moves_to("10.0.0.2:27015");
    rig.tell(rig.dialed());
    rig.hear(schema());
    let ToClient::ServerInfo(mut info) = server_info() else { panic!() };
    info.map = advert(3);
    rig.hear(ToClient::ServerInfo(info));
    assert!(rig.tell(loaded).is_empty());
    assert!(rig.tell(failed).is_empty());
    assert_eq!(rig.stands(), "loading");
}

#[test]
fn a_load_that_failed_says_nothing_once_its_player_is_in_the_world() {
    let mut rig = Rig::playing();
    let before = rig.lines().len();
    failed(&mut rig, 3);
    assert_eq!((rig.lines().len(), rig.stands()), (before, "playing"));
}

/// MR-17
#[test]
fn the_gray_box_is_code_and_is_ready_at_once() {
    let mut rig = Rig::playing();
    let gray = MapAdvert { generation: 4, ..MapAdvert::default() };
    let effects = rig.hear(ToClient::MapLoad(MapLoad { map: gray }));
    assert!(effects.iter().any(|effect| matches!(effect, Effect::StandOnGrayBox(4))));
    assert_eq!(readies(effects), [4]);
}

fn awaited(effects: &[Effect]) -> Vec<Option<&str>> {
    let awaited = effects.iter().filter_map(|effect| match effect {
        Effect::Await(map) => Some(map.as_deref()),
        _ => None,
    });
    awaited.collect()
}

#[test]
fn a_map_is_waited_for_from_the_dial_on_and_at_a_switch_until_it_cannot_be_had() {
    let rig = joining();
    let name = wanted(3).map.to_string();
    assert_eq!(awaited(&rig.effects), [Some(""), Some(name.as_str())]);
    let mut rig = Rig::playing();
    let before = rig.effects.len();
    switch(&mut rig, 9);
    failed(&mut rig, 9);
    assert_eq!(awaited(&rig.effects[before..]), [Some(name.as_str()), None]);
    assert_eq!(awaited(rig.tell(ConnectionMsg::Disconnect)), [None]);
}

#[test]
fn whoever_has_forgotten_what_to_fetch_is_told_again_until_it_stands() {
    let mut rig = joining();
    let again = |rig: &mut Rig| {
        let effects = rig.tell(ConnectionMsg::FetchAgain);
        effects.iter().filter(|effect| matches!(effect, Effect::Fetch(_))).count()
    };
    assert_eq!(again(&mut rig), 1);
    loaded(&mut rig, 3);
    assert_eq!(again(&mut rig), 0, "it stands");
    let mut rig = Rig::playing();
    switch(&mut rig, 9);
    failed(&mut rig, 9);
    assert_eq!(again(&mut rig), 0, "it cannot be had");
}
