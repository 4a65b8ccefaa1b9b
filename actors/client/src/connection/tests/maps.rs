//! Maps that are named: at a join and at a switch, had and not had.

use dh_messages::{BlobRequest, ClientReady, Content, Hash128, MapLoad, Root, ToServer};
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
    failed_as(rig, generation, EndKind::MapTransferFailed);
}

fn failed_as(rig: &mut Rig, generation: u32, kind: EndKind) {
    let reason = "pallet 'p': it is gone".to_owned();
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
fn a_map_that_cannot_be_had_ends_a_join_with_its_reason_and_is_tried_again_by_one_who_plays() {
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
    assert_eq!(rig.lines(), ["map transfer failed: pallet 'p': it is gone; trying again"]);
    assert!(rig.ends().is_empty());
    assert_eq!(fetched(&mut rig, Micros::from_millis(150)), [9]);
    assert_eq!(loaded(&mut rig, 9), [9], "and is stood in as if nothing had been");
}

/// The generations that are fetched within this time.
fn fetched(rig: &mut Rig, within: Micros) -> Vec<u32> {
    let before = rig.effects.len();
    rig.pass(rig.now + within);
    let fetched = rig.effects[before..].iter().filter_map(|effect| match effect {
        Effect::Fetch(it) => Some(it.event.generation),
        _ => None,
    });
    fetched.collect()
}

#[test]
fn one_who_plays_tries_a_map_three_times_more_each_time_later_and_then_ends_with_its_reason() {
    let mut rig = Rig::playing();
    switch(&mut rig, 9);
    for after in [100, 400, 1_600] {
        failed_as(&mut rig, 9, EndKind::DiskFailed);
        assert!(fetched(&mut rig, Micros::from_millis(after - 1)).is_empty(), "{after}");
        rig.panics();
        assert_eq!(fetched(&mut rig, Micros::from_millis(1)), [9], "{after}");
    }
    failed_as(&mut rig, 9, EndKind::DiskFailed);
    let [end] = &rig.ends()[..] else { panic!("{:?}", rig.ends()) };
    assert_eq!(end.kind, EndKind::DiskFailed);
    assert!(end.detail().contains("pallet 'p': it is gone"), "{}", end.detail());
    assert!(fetched(&mut rig, Micros::from_secs(10)).is_empty());
}

#[test]
fn a_map_that_will_never_be_of_use_ends_the_session_at_once_and_a_newer_one_counts_anew() {
    for kind in [EndKind::MapUnusable, EndKind::ClientFailed, EndKind::ContentDiffers] {
        let mut rig = Rig::playing();
        switch(&mut rig, 9);
        failed_as(&mut rig, 9, kind);
        assert_eq!(rig.ends()[0].kind, kind);
    }
    let mut rig = Rig::playing();
    for generation in 9..20 {
        assert_eq!(switch(&mut rig, generation), [wanted(generation)]);
        failed(&mut rig, generation);
    }
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
    assert_eq!(awaited(&rig.effects[before..]), [Some(name.as_str())], "it is tried again");
    failed_as(&mut rig, 9, EndKind::MapUnusable);
    assert_eq!(awaited(&rig.effects[before..]), [Some(name.as_str()), None]);
    let mut rig = Rig::playing();
    switch(&mut rig, 9);
    assert_eq!(awaited(rig.tell(ConnectionMsg::Disconnect)), [None]);
}

#[test]
fn what_the_downloader_asks_for_the_server_before_is_not_asked_of_the_next() {
    let mut rig = joining();
    let ask = ConnectionMsg::AskBlob(rig.of_now(BlobRequest::default()));
    rig.moves_to("10.0.0.2:27015");
    rig.tell(rig.dialed());
    rig.hear(schema());
    rig.hear(server_info());
    assert!(rig.tell(ask).is_empty());
    let ask = ConnectionMsg::AskBlob(rig.of_now(BlobRequest::default()));
    assert_eq!(sent(rig.tell(ask)), [&ToServer::BlobRequest(BlobRequest::default())]);
}

/// JOIN-01
#[test]
fn a_second_acknowledgement_of_one_spawn_is_out_of_order() {
    let mut rig = Rig::playing();
    rig.hear(spawn_ack());
    assert_eq!(rig.ends()[0].kind, EndKind::Unreadable);
}
