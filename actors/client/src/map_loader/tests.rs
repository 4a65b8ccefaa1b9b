//! What the map loader answers: the newest load runs, and its end is told once.

use dh_machine::{DiskError, DiskErrorKind, Machine, Micros, Outbox};
use dh_messages::Content;
use dh_pallet::{Barcode, PalletError};
use dh_store::load::LoadError;

use super::{Effect, Load, MapLoaderMsg, MapLoading, Source, kind_of};
use crate::content::Wanted;
use crate::ending::EndKind;
use crate::numbered::Numbered;

fn load(attempt: u64, generation: u32) -> Numbered<Load> {
    let map = Barcode { pallet: "p".to_owned(), path: "assets/a.dh-map".to_owned() };
    let wanted = Wanted { map, content: Content::default(), generation };
    Numbered::new(attempt, Load { wanted, source: Source::Core })
}

fn tell(machine: &mut MapLoading, msg: MapLoaderMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    machine.handle(Micros(0), msg, &mut out);
    out.drain().collect()
}

#[test]
fn a_load_is_stepped_until_it_is_whole_and_handed_over_once() {
    let mut machine = MapLoading::default();
    let begun = tell(&mut machine, MapLoaderMsg::Load(load(1, 7)));
    assert_eq!(begun, [Effect::Begin(load(1, 7))]);
    for _ in 0..3 {
        assert_eq!(tell(&mut machine, MapLoaderMsg::More), [Effect::Step]);
    }
    let whole = MapLoaderMsg::Loaded(Numbered::new(1, 7));
    assert_eq!(tell(&mut machine, whole), [Effect::Deliver(1)]);
    assert!(tell(&mut machine, MapLoaderMsg::Loaded(Numbered::new(1, 7))).is_empty());
    assert!(tell(&mut machine, MapLoaderMsg::More).is_empty(), "nothing runs");
}

/// MR-Q21: client jobs: the newest wins.
#[test]
fn a_newer_load_takes_the_place_of_the_one_that_runs_whose_end_means_nothing_then() {
    let mut machine = MapLoading::default();
    tell(&mut machine, MapLoaderMsg::Load(load(1, 7)));
    let newer = tell(&mut machine, MapLoaderMsg::Load(load(1, 8)));
    assert_eq!(newer, [Effect::Drop, Effect::Begin(load(1, 8))]);
    assert!(tell(&mut machine, MapLoaderMsg::Loaded(Numbered::new(1, 7))).is_empty());
    assert!(tell(&mut machine, MapLoaderMsg::Failed(Numbered::new(1, 7))).is_empty());
    let failed = tell(&mut machine, MapLoaderMsg::Failed(Numbered::new(1, 8)));
    assert_eq!(failed, [Effect::GiveUp(1)]);
    let once_more = tell(&mut machine, MapLoaderMsg::Failed(Numbered::new(1, 8)));
    assert!(once_more.is_empty(), "told once");
}

#[test]
fn a_load_that_nobody_wants_any_more_is_let_go_of() {
    let mut machine = MapLoading::default();
    assert!(tell(&mut machine, MapLoaderMsg::Forget).is_empty());
    tell(&mut machine, MapLoaderMsg::Load(load(1, 7)));
    assert_eq!(tell(&mut machine, MapLoaderMsg::Forget), [Effect::Drop]);
    assert!(tell(&mut machine, MapLoaderMsg::More).is_empty());
}

/// MR-Q44
#[test]
fn a_disk_that_fails_under_a_map_is_told_apart_from_a_map_that_is_of_no_use() {
    let disk = PalletError::Disk(DiskError::new(DiskErrorKind::Denied, "cache"));
    assert_eq!(kind_of(&LoadError::Pallet(disk)), EndKind::DiskFailed);
    let damaged = PalletError::BadGroup { group: 1 };
    assert_eq!(kind_of(&LoadError::Pallet(damaged)), EndKind::MapUnusable);
    assert_eq!(kind_of(&LoadError::NoPallet("p".to_owned())), EndKind::MapUnusable);
}

#[test]
fn a_load_goes_on_after_a_panic_where_it_stood() {
    let mut machine = MapLoading::resume(Some(Numbered::new(1, 7)));
    assert_eq!(tell(&mut machine, MapLoaderMsg::More), [Effect::Step]);
    assert!(tell(&mut machine, MapLoaderMsg::Loaded(Numbered::new(1, 6))).is_empty());
    let whole = MapLoaderMsg::Loaded(Numbered::new(1, 7));
    assert_eq!(tell(&mut machine, whole), [Effect::Deliver(1)]);
    let mut idle = MapLoading::resume(None);
    assert!(tell(&mut idle, MapLoaderMsg::More).is_empty());
}
