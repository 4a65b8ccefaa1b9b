//! What a download answers: chunks and refusals in, bytes to keep and an end out.

use dh_host::net::InMessage;
use dh_machine::{DiskError, DiskErrorKind, Machine, Micros, Outbox};
use dh_messages::{
    BlobChunk, BlobKind, BlobRefused, BlobRequest, Content, Hash128, Rest, Root, ToClient,
};
use dh_pallet::{Barcode, PalletError};
use dh_store::StoreError;

use super::state::PATIENCE;
use super::{DownloaderMsg, Downloading, Effect, Failure, Kept, Refusal};
use crate::content::Wanted;
use crate::ending::EndKind;
use crate::numbered::Numbered;

fn wanted(number: u8) -> Numbered<Wanted> {
    let map = Barcode { pallet: "p".to_owned(), path: "assets/a.dh-map".to_owned() };
    let content = Content { fingerprint: Hash128([number; 16]), root: Root([number; 32]) };
    Numbered::new(3, Wanted { map, content, generation: u32::from(number) })
}

fn tell_at(machine: &mut Downloading, now: Micros, msg: DownloaderMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    machine.handle(now, msg, &mut out);
    let is_aside = |effect: &Effect| matches!(effect, Effect::Tell(_) | Effect::Keep(_));
    out.drain().filter(|effect| !is_aside(effect)).collect()
}

fn tell(machine: &mut Downloading, msg: DownloaderMsg) -> Vec<Effect> {
    tell_at(machine, Micros(0), msg)
}

fn frame(mut message: ToClient) -> DownloaderMsg {
    let mut body = Vec::new();
    message.write_body(&mut body).unwrap();
    DownloaderMsg::Frame(Numbered::new(3, InMessage { id: message.id(), body: body.into() }))
}

/// Slice `index` of a blob of 2,500 bytes.
fn chunk(number: u8, index: u32) -> BlobChunk {
    let length = [1_024, 1_024, 452][index as usize];
    let slice = Rest(vec![u8::try_from(index).unwrap(); length]);
    let content = wanted(number).event.content;
    BlobChunk { kind: BlobKind::MapPallet, content, total: 2_500, index, count: 3, slice }
}

fn hear(machine: &mut Downloading, chunk: BlobChunk) -> Vec<Effect> {
    tell(machine, frame(ToClient::BlobChunk(chunk)))
}

fn write(number: u8, index: u32) -> Effect {
    let (it, bytes) = (wanted(number), chunk(number, index).slice.0);
    Effect::Write { it, chunk: index, offset: u64::from(index) * 1_024, bytes }
}

/// A download that waits for its first chunk.
fn asking(number: u8) -> Downloading {
    let mut machine = Downloading::default();
    tell(&mut machine, DownloaderMsg::Want(wanted(number)));
    tell(&mut machine, DownloaderMsg::Missing(wanted(number)));
    tell(&mut machine, DownloaderMsg::Begun(wanted(number)));
    machine
}

fn gives_up(effects: &[Effect], why: &str) -> bool {
    matches!(effects, [Effect::Close, Effect::GiveUp(it)] if it.event.reason.contains(why))
}

/// MR-01, MR-37 to MR-41: what is here moves no byte.
#[test]
fn what_is_found_here_is_delivered_and_nothing_is_asked_for() {
    let mut machine = Downloading::default();
    let finds = tell(&mut machine, DownloaderMsg::Want(wanted(1)));
    assert_eq!(finds, [Effect::Find(wanted(1))]);
    let here = tell(&mut machine, DownloaderMsg::Found(wanted(1)));
    assert_eq!(here, [Effect::Deliver(wanted(1))]);
}

/// MR-43, MR-44, MR-54, MR-111
#[test]
fn what_is_missing_is_asked_for_once_written_slice_by_slice_and_committed_at_the_last() {
    let mut machine = Downloading::default();
    tell(&mut machine, DownloaderMsg::Want(wanted(1)));
    let begins = tell(&mut machine, DownloaderMsg::Missing(wanted(1)));
    assert_eq!(begins, [Effect::Begin(wanted(1))]);
    let request = BlobRequest { kind: BlobKind::MapPallet, content: wanted(1).event.content };
    let asks = tell(&mut machine, DownloaderMsg::Begun(wanted(1)));
    assert_eq!(asks, [Effect::Ask(Numbered::new(3, request))]);
    assert_eq!(hear(&mut machine, chunk(1, 0)), [write(1, 0)]);
    assert_eq!(hear(&mut machine, chunk(1, 1)), [write(1, 1)]);
    assert_eq!(hear(&mut machine, chunk(1, 2)), [write(1, 2), Effect::Commit(wanted(1))]);
    let here = tell(&mut machine, DownloaderMsg::Found(wanted(1)));
    assert_eq!(here, [Effect::Deliver(wanted(1))]);
}

/// MR-47
#[test]
fn a_chunk_out_of_its_place_or_with_numbers_that_do_not_fit_ends_the_transfer() {
    let broken: [fn(BlobChunk) -> BlobChunk; 4] = [
        |it| BlobChunk { index: 2, ..it },
        |it| BlobChunk { count: 4, ..it },
        |it| BlobChunk { slice: Rest(vec![0; 1_023]), ..it },
        |it| BlobChunk { index: 3, count: 3, ..it },
    ];
    for break_it in broken {
        let mut machine = asking(1);
        hear(&mut machine, chunk(1, 0));
        assert!(gives_up(&hear(&mut machine, break_it(chunk(1, 1))), "does not follow"));
    }
    let mut machine = asking(1);
    let torn = BlobChunk { count: 4, ..chunk(1, 0) };
    assert!(gives_up(&hear(&mut machine, torn), "does not follow"), "the first");
    let mut machine = asking(1);
    (0..2).for_each(|index| drop(hear(&mut machine, chunk(1, index))));
    assert!(gives_up(&hear(&mut machine, chunk(1, 1)), "does not follow"), "the same again");
    let mut machine = asking(1);
    hear(&mut machine, chunk(1, 0));
    let other = BlobChunk { total: 2_501, ..chunk(1, 1) };
    assert!(gives_up(&hear(&mut machine, other), "does not follow"), "of another length");
    let mut machine = asking(1);
    let torn = DownloaderMsg::Frame(Numbered::new(3, InMessage { id: 14, body: vec![1].into() }));
    assert!(gives_up(&tell(&mut machine, torn), "unreadable"));
}

/// MR-Q22: chunks of what is wanted no longer were under way, and mean nothing.
#[test]
fn a_newer_want_takes_the_place_of_the_one_that_moves_and_its_chunks_are_passed_over() {
    let mut machine = asking(1);
    hear(&mut machine, chunk(1, 0));
    let turned = tell(&mut machine, DownloaderMsg::Want(wanted(2)));
    assert_eq!(turned, [Effect::Close, Effect::Find(wanted(2))]);
    tell(&mut machine, DownloaderMsg::Missing(wanted(2)));
    tell(&mut machine, DownloaderMsg::Begun(wanted(2)));
    assert!(matches!(hear(&mut machine, chunk(1, 1))[..], [Effect::Detail(_)]));
    assert_eq!(hear(&mut machine, chunk(2, 0)), [write(2, 0)]);
    assert!(tell(&mut machine, DownloaderMsg::Found(wanted(1))).is_empty(), "old news");
}

/// MR-Q22, MR-Q24: there and back again while a pallet moves.
#[test]
fn what_is_wanted_again_begins_at_its_first_chunk_whatever_of_the_time_before_still_comes() {
    let mut machine = asking(1);
    let is_stale = |effects: &[Effect]| matches!(effects, [Effect::Detail(_)]);
    assert!(is_stale(&hear(&mut machine, chunk(1, 1))), "the end of what was given up");
    assert!(is_stale(&hear(&mut machine, chunk(1, 2))));
    assert_eq!(hear(&mut machine, chunk(1, 0)), [write(1, 0)], "its beginning, maybe");
    assert_eq!(hear(&mut machine, chunk(1, 1)), [write(1, 1)]);
    assert_eq!(hear(&mut machine, chunk(1, 0)), [write(1, 0)], "what was asked for now");
    assert_eq!(hear(&mut machine, chunk(1, 1)), [write(1, 1)]);
    assert_eq!(hear(&mut machine, chunk(1, 2)), [write(1, 2), Effect::Commit(wanted(1))]);
}

/// MR-16, MR-Q21
#[test]
fn another_map_of_the_same_pallet_goes_on_with_the_transfer_that_runs() {
    let mut machine = asking(1);
    hear(&mut machine, chunk(1, 0));
    let mut other = wanted(1);
    other.event.map.path = "assets/b.dh-map".to_owned();
    other.event.generation = 7;
    assert_eq!(tell(&mut machine, DownloaderMsg::Want(other.clone())), []);
    hear(&mut machine, chunk(1, 1));
    let last = hear(&mut machine, chunk(1, 2));
    assert_eq!(last.last(), Some(&Effect::Commit(other.clone())));
    let here = tell(&mut machine, DownloaderMsg::Found(other.clone()));
    assert_eq!(here, [Effect::Deliver(other)]);
}

/// MR-Q21: what another session fetched ends with that session.
#[test]
fn the_same_pallet_wanted_in_another_session_is_asked_for_anew() {
    let mut machine = asking(1);
    hear(&mut machine, chunk(1, 0));
    let again = Numbered::new(4, wanted(1).event);
    let turned = tell(&mut machine, DownloaderMsg::Want(again.clone()));
    assert_eq!(turned, [Effect::Close, Effect::Find(again.clone())]);
    tell(&mut machine, DownloaderMsg::Missing(again.clone()));
    tell(&mut machine, DownloaderMsg::Begun(again));
    assert!(hear(&mut machine, chunk(1, 0)).is_empty(), "of the session before");
    let DownloaderMsg::Frame(it) = frame(ToClient::BlobChunk(chunk(1, 0))) else { panic!() };
    let ours = tell(&mut machine, DownloaderMsg::Frame(Numbered::new(4, it.event)));
    assert!(matches!(&ours[..], [Effect::Write { it, .. }] if it.attempt == 4), "{ours:?}");
}

/// MR-125, MR-Q21: its partial may be open already, and has one writer.
#[test]
fn what_is_wanted_no_longer_while_its_transfer_begins_is_let_go_of() {
    let beginning = || {
        let mut machine = Downloading::default();
        tell(&mut machine, DownloaderMsg::Want(wanted(1)));
        tell(&mut machine, DownloaderMsg::Missing(wanted(1)));
        machine
    };
    let turned = tell(&mut beginning(), DownloaderMsg::Want(wanted(2)));
    assert_eq!(turned, [Effect::Close, Effect::Find(wanted(2))]);
    assert_eq!(tell(&mut beginning(), DownloaderMsg::Forget), [Effect::Close]);
}

/// MR-Q51
#[test]
fn a_disk_that_fails_or_has_no_room_is_told_apart_from_bytes_that_are_not_what_they_claim() {
    let disk = DiskError::new(DiskErrorKind::Denied, "cache");
    let fault = |error: StoreError| Refusal::from(error).kind;
    assert_eq!(fault(StoreError::Disk(disk)), EndKind::DiskFailed);
    assert_eq!(fault(StoreError::NoRoom { needed: 2, free: 1 }), EndKind::DiskFailed);
    let bytes = StoreError::Pallet(PalletError::BadGroup { group: 1 });
    assert_eq!(fault(bytes), EndKind::MapTransferFailed);
}

/// MR-132
#[test]
fn a_partial_that_lacks_nothing_is_committed_and_nothing_is_asked_for() {
    let mut machine = Downloading::default();
    tell(&mut machine, DownloaderMsg::Want(wanted(1)));
    tell(&mut machine, DownloaderMsg::Missing(wanted(1)));
    let whole = tell(&mut machine, DownloaderMsg::Whole(wanted(1)));
    assert_eq!(whole, [Effect::Commit(wanted(1))]);
}

/// MR-Q33
#[test]
fn chunks_that_come_again_and_again_are_no_progress() {
    let mut machine = asking(1);
    for second in 1..=29 {
        let again = frame(ToClient::BlobChunk(chunk(1, second % 2)));
        tell_at(&mut machine, Micros::from_secs(u64::from(second)), again);
    }
    assert_eq!(machine.next_deadline(), Some(Micros::from_secs(3) + PATIENCE));
}

/// MR-63, MR-65
#[test]
fn a_refusal_ends_the_transfer_with_the_servers_reason_and_of_another_blob_means_nothing() {
    let refused = |number, why: &str| {
        let content = wanted(number).event.content;
        let reason = why.into();
        frame(ToClient::BlobRefused(BlobRefused { kind: BlobKind::MapPallet, content, reason }))
    };
    for why in ["it is gone", "pallet 'p': it is gone"] {
        let mut machine = asking(1);
        assert!(tell(&mut machine, refused(2, why)).is_empty());
        let reason = "the server couldn't send pallet 'p': it is gone".to_owned();
        let kind = EndKind::MapTransferFailed;
        let failure = Failure { wanted: wanted(1).event, kind, reason };
        let ended = tell(&mut machine, refused(1, why));
        assert_eq!(ended, [Effect::Close, Effect::GiveUp(Numbered::new(3, failure))]);
        assert_eq!(machine.next_deadline(), None, "nothing is waited for");
    }
}

/// MR-Q33
#[test]
fn a_transfer_without_progress_for_30_seconds_has_failed_and_a_slow_one_has_not() {
    let mut machine = asking(1);
    let later = Micros::from_secs(29);
    tell_at(&mut machine, later, frame(ToClient::BlobChunk(chunk(1, 0))));
    assert_eq!(machine.next_deadline(), Some(later + PATIENCE));
    assert_eq!(PATIENCE, Micros::from_secs(30));
    let mut out = Outbox::default();
    machine.wake(Micros::from_secs(58), &mut out);
    assert!(out.is_empty());
    machine.wake(Micros::from_secs(59), &mut out);
    let ended = out.drain().filter(|effect| !matches!(effect, Effect::Keep(_)));
    assert!(gives_up(&ended.collect::<Vec<_>>(), "nothing came for 30 s"));
}

/// MR-Q44, MR-Q51
#[test]
fn bytes_that_cannot_be_kept_or_do_not_verify_end_the_transfer_with_the_reason() {
    let failed = |number| {
        let (kind, reason) = (EndKind::DiskFailed, "disk full".to_owned());
        let failure = Failure { wanted: wanted(number).event, kind, reason };
        DownloaderMsg::Failed(Numbered::new(3, failure))
    };
    let mut machine = asking(1);
    assert!(tell(&mut machine, failed(2)).is_empty(), "of what was wanted before");
    assert!(gives_up(&tell(&mut machine, failed(1)), "disk full"));
    let mut machine = asking(1);
    (0..3).for_each(|index| drop(hear(&mut machine, chunk(1, index))));
    assert!(gives_up(&tell(&mut machine, failed(1)), "disk full"), "while it is verified");
}

/// The machine that is made in the place of one that panicked after these messages.
fn remade(msgs: &[DownloaderMsg], next: u32) -> Downloading {
    let (mut machine, mut kept) = (Downloading::default(), Kept::default());
    for msg in msgs {
        let mut out = Outbox::default();
        machine.handle(Micros(0), msg.clone(), &mut out);
        for effect in out.drain() {
            if let Effect::Keep(it) = effect {
                kept = it;
            }
        }
    }
    Downloading::resume(kept, next, Micros(0))
}

#[test]
fn a_download_goes_on_after_a_panic_with_the_answer_or_the_chunk_that_comes_next() {
    let mut msgs = vec![DownloaderMsg::Want(wanted(1))];
    let mut machine = remade(&msgs, 0);
    assert_eq!(tell(&mut machine, DownloaderMsg::Missing(wanted(1))), [Effect::Begin(wanted(1))]);
    msgs.push(DownloaderMsg::Missing(wanted(1)));
    let mut machine = remade(&msgs, 0);
    assert!(matches!(tell(&mut machine, DownloaderMsg::Begun(wanted(1)))[..], [Effect::Ask(_)]));
    msgs.push(DownloaderMsg::Begun(wanted(1)));
    msgs.push(frame(ToClient::BlobChunk(chunk(1, 0))));
    let mut machine = remade(&msgs, 1);
    assert!(machine.next_deadline().is_some(), "silence still ends it");
    assert_eq!(hear(&mut machine, chunk(1, 1)), [write(1, 1)]);
    assert_eq!(hear(&mut machine, chunk(1, 2)), [write(1, 2), Effect::Commit(wanted(1))]);
    msgs.push(frame(ToClient::BlobChunk(chunk(1, 1))));
    msgs.push(frame(ToClient::BlobChunk(chunk(1, 2))));
    let mut machine = remade(&msgs, 3);
    assert_eq!(tell(&mut machine, DownloaderMsg::Found(wanted(1))), [Effect::Deliver(wanted(1))]);
    msgs.push(DownloaderMsg::Found(wanted(1)));
    let mut machine = remade(&msgs, 3);
    assert!(tell(&mut machine, DownloaderMsg::Found(wanted(1))).is_empty(), "nothing is wanted");
}
