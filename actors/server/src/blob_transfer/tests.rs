//! What a transfer answers: requests and room in, chunks and refusals out.

use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{BlobKind, BlobRequest, Content, Hash128, Root};

use super::{BlobTransferMsg, Broken, Effect, Transferring};

fn pallet(number: u8) -> BlobRequest {
    let content = Content { fingerprint: Hash128([number; 16]), root: Root([number; 32]) };
    BlobRequest { kind: BlobKind::MapPallet, content }
}

fn tell(machine: &mut Transferring, msg: BlobTransferMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    machine.handle(Micros(0), msg, &mut out);
    out.drain().filter(|effect| !matches!(effect, Effect::Keep(_))).collect()
}

fn ask(machine: &mut Transferring, request: BlobRequest) -> Vec<Effect> {
    tell(machine, BlobTransferMsg::Ask(request))
}

fn opened(machine: &mut Transferring, request: BlobRequest) {
    assert_eq!(tell(machine, BlobTransferMsg::Opened(request)), [Effect::Fill]);
}

/// MR-50, MR-51
#[test]
fn a_blob_is_opened_then_filled_whenever_there_is_room() {
    let mut machine = Transferring::default();
    assert_eq!(tell(&mut machine, BlobTransferMsg::Room), []);
    assert_eq!(ask(&mut machine, pallet(1)), [Effect::Open(pallet(1))]);
    assert_eq!(tell(&mut machine, BlobTransferMsg::Room), [], "it is not open yet");
    opened(&mut machine, pallet(1));
    assert_eq!(tell(&mut machine, BlobTransferMsg::Room), [Effect::Fill]);
    assert_eq!(tell(&mut machine, BlobTransferMsg::Moved(pallet(1))), []);
    assert_eq!(tell(&mut machine, BlobTransferMsg::Room), [], "it has gone");
}

/// MR-52, MR-53, MR-Q22, MR-Q23
#[test]
fn a_newer_map_pallet_takes_the_place_of_one_that_waits_and_of_a_moving_one_nobody_wants() {
    let mut machine = Transferring::default();
    tell(&mut machine, BlobTransferMsg::Wanted(pallet(1).content));
    ask(&mut machine, pallet(1));
    opened(&mut machine, pallet(1));
    assert_eq!(ask(&mut machine, pallet(2)), [], "the one that moves is of the newest advert");
    assert_eq!(ask(&mut machine, pallet(3)), []);
    let next = tell(&mut machine, BlobTransferMsg::Moved(pallet(1)));
    assert_eq!(next, [Effect::Open(pallet(3))], "2 was never sent");
    opened(&mut machine, pallet(3));
    ask(&mut machine, pallet(4));
    let turned = tell(&mut machine, BlobTransferMsg::Wanted(pallet(5).content));
    assert_eq!(turned, [Effect::Close], "3 moves for nobody, and nobody waits for 4");
    assert_eq!(ask(&mut machine, pallet(4)), [Effect::Open(pallet(4))], "late, but asked for");
    let turned = ask(&mut machine, pallet(5));
    assert_eq!(turned, [Effect::Close, Effect::Open(pallet(5))], "4 moves for nobody");
    assert_eq!(tell(&mut machine, BlobTransferMsg::Moved(pallet(3))), [], "old news");
}

/// MR-Q24
#[test]
fn a_blob_that_is_asked_for_again_while_it_moves_starts_anew() {
    let mut machine = Transferring::default();
    ask(&mut machine, pallet(1));
    opened(&mut machine, pallet(1));
    assert_eq!(ask(&mut machine, pallet(1)), [Effect::Close, Effect::Open(pallet(1))]);
}

/// MR-60, MR-61, MR-66, MR-Q26
#[test]
fn what_cannot_be_read_is_refused_with_its_reason_and_the_next_one_moves() {
    let mut machine = Transferring::default();
    tell(&mut machine, BlobTransferMsg::Wanted(pallet(1).content));
    ask(&mut machine, pallet(1));
    ask(&mut machine, pallet(2));
    let broken = Broken { request: pallet(1), reason: "it is gone".to_owned() };
    let effects = tell(&mut machine, BlobTransferMsg::Broken(broken.clone()));
    assert_eq!(
        effects,
        [Effect::Refuse(pallet(1), "it is gone".to_owned()), Effect::Open(pallet(2))]
    );
    assert_eq!(tell(&mut machine, BlobTransferMsg::Broken(broken)), [], "refused once");
}

/// MR-238, MR-Q26, MR-Q29
#[test]
fn other_kinds_are_refused_and_a_guests_question_for_the_catalog_gets_no_answer() {
    let mut machine = Transferring::default();
    for (kind, answered) in [
        (BlobKind::MapCatalog, false),
        (BlobKind::MapThumbnail, false),
        (BlobKind::AvatarCatalog, true),
        (BlobKind::AvatarThumbnail, true),
        (BlobKind::AvatarPallet, true),
        (BlobKind::Unknown(77), true),
    ] {
        let request = BlobRequest { kind, ..pallet(1) };
        let effects = ask(&mut machine, request);
        let refused = Effect::Refuse(request, "not held by this server".to_owned());
        assert_eq!(effects == [refused], answered, "{kind:?}: {effects:?}");
        assert_eq!(matches!(effects[..], [Effect::Detail(_)]), !answered, "{kind:?}");
    }
}

/// MR-Q22, MR-Q23
#[test]
fn after_a_panic_it_is_still_known_which_map_the_peer_is_to_load() {
    let mut machine = Transferring::default();
    let mut out = Outbox::default();
    machine.handle(Micros(0), BlobTransferMsg::Ask(pallet(1)), &mut out);
    machine.handle(Micros(0), BlobTransferMsg::Opened(pallet(1)), &mut out);
    machine.handle(Micros(0), BlobTransferMsg::Wanted(pallet(1).content), &mut out);
    let mut kept = out.drain().filter_map(|effect| match effect {
        Effect::Keep(kept) => Some(kept),
        _ => None,
    });
    let mut again = Transferring::resume(kept.next_back().unwrap(), true);
    assert_eq!(ask(&mut again, pallet(2)), [], "the one that moves is of the newest advert");
}

#[test]
fn after_a_panic_the_blob_goes_on_where_the_link_took_it_and_the_others_still_wait() {
    let mut machine = Transferring::default();
    tell(&mut machine, BlobTransferMsg::Wanted(pallet(1).content));
    ask(&mut machine, pallet(1));
    opened(&mut machine, pallet(1));
    let mut out = Outbox::default();
    machine.handle(Micros(0), BlobTransferMsg::Ask(pallet(2)), &mut out);
    let kept = out.drain().find_map(|effect| match effect {
        Effect::Keep(kept) => Some(kept),
        _ => None,
    });
    let mut again = Transferring::resume(kept.unwrap(), true);
    assert_eq!(tell(&mut again, BlobTransferMsg::Room), [Effect::Fill]);
    let next = tell(&mut again, BlobTransferMsg::Moved(pallet(1)));
    assert_eq!(next, [Effect::Open(pallet(2))]);
}
