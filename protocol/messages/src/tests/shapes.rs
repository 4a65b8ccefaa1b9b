//! Sizes, caps and meanings of single messages.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use dh_wire::Fields;
use proptest::prelude::*;

use crate::limit::{
    CHANNELS_MAX, INPUTS_MAX, PACKET_BYTES_MAX, SNAPSHOT_BYTES_MAX, SNAPSHOT_FRAGMENTS_MAX,
};
use crate::{
    BlobChunk, Buttons, ClientInfo, CloseCode, ConnectRequest, Content, Count16, EntityId,
    EntityRecord, EntityState, Fault, Few8, Form, Hash128, Input, KindPayload, MapAdvert, NetKind,
    Opening, OwnerDetail, PROTOCOL_VERSION, PlayerInput, RecordFlags, Rest, Root, ServerInfo,
    SessionEnd, Snapshot, SnapshotAck, SnapshotFragment, SnapshotHead, WireError, decode, encode,
    opening,
};

fn bytes<F: Fields>(mut value: F) -> Vec<u8> {
    let mut out = vec![];
    encode(&mut value, &mut out).unwrap();
    out
}

fn pawn() -> EntityState {
    EntityState { kind: NetKind::PlayerPawn, ..EntityState::default() }
}

fn payload(channels: usize) -> KindPayload {
    KindPayload { channels: Few8::try_from(&[0.5; 4][..channels]).unwrap(), bits: 3 }
}

/// JOIN-02, JOIN-04
#[test]
fn an_opening_is_the_version_then_the_hash_and_nothing_else() {
    let request = ConnectRequest { version: 2, schema_hash: Hash128([7; 16]) };
    let mut body = bytes(request);
    assert_eq!(body.len(), 4 + 16);
    assert_eq!(body[..4], 2_u32.to_le_bytes());
    body.push(0);
    let refused = WireError::new("", Fault::Trailing(1));
    assert_eq!(decode::<ConnectRequest>(&body), Err(refused));
}

/// JOIN-04, JOIN-38, JOIN-40
#[test]
fn an_opening_without_a_hash_is_legacy_and_yields_its_number() {
    let request = ConnectRequest { version: 2, schema_hash: Hash128([7; 16]) };
    let body = bytes(request);
    assert_eq!(opening(&body), Ok(Opening::Current(request)));
    for cut in 4..body.len() {
        assert_eq!(opening(&body[..cut]), Ok(Opening::Legacy { version: 2 }));
    }
    for cut in 0..4 {
        assert_eq!(opening(&body[..cut]).map_err(|e| e.fault), Err(Fault::Truncated));
    }
    // With something else after the version than a hash, such as a name.
    let named = [&80_u32.to_le_bytes()[..], b"\x05alice and more that is no hash"].concat();
    assert_eq!(opening(&named), Ok(Opening::Legacy { version: 80 }));
}

/// JOIN-38
#[test]
fn a_number_alone_never_makes_an_opening_legacy() {
    for version in [0, 1, PROTOCOL_VERSION, 80, u32::MAX] {
        let request = ConnectRequest { version, schema_hash: Hash128::default() };
        assert_eq!(opening(&bytes(request)), Ok(Opening::Current(request)));
    }
}

/// JOIN-15, MR-11
#[test]
fn server_info_carries_all_it_is_said_to() {
    let map = MapAdvert {
        name: "dev.pitr:maps/yard.dh-map".into(),
        pallet: Content { fingerprint: Hash128([1; 16]), root: Root([2; 32]) },
        closure_hash: Hash128([3; 16]),
        generation: 5,
    };
    let info = ServerInfo {
        version: 2,
        tick_rate: 60,
        world_id: [4; 16].into(),
        world_name: "yard".into(),
        map,
    };
    let body = bytes(info.clone());
    assert_eq!(body.len(), 4 + 2 + 16 + 1 + 4 + 2 + 25 + 16 + 32 + 16 + 4);
    assert_eq!(decode(&body), Ok(info));
}

/// MR-17
#[test]
fn the_advert_of_the_gray_box_names_nothing() {
    let advert = MapAdvert::default();
    assert!(advert.name.is_empty() && advert.pallet.is_none());
    assert_eq!(advert.closure_hash, Hash128::default());
}

/// JOIN-16
#[test]
fn client_info_carries_a_name_a_colour_and_perhaps_an_avatar() {
    let info = ClientInfo {
        name: "alice".into(),
        seed_colour: 0x00ff_8800,
        avatar: "core:avatars/box".into(),
    };
    assert_eq!(decode(&bytes(info.clone())), Ok(info.clone()));
    let bare = ClientInfo { avatar: "".into(), ..info };
    assert_eq!(bytes(bare.clone()), [&b"\x05alice\x00\x88\xff\x00"[..], &[0, 0]].concat());
    assert_eq!(decode(&bytes(bare.clone())), Ok(bare));
}

/// KIND-01, KIND-02
#[test]
fn kinds_keep_their_numbers_and_unknown_ones_are_kept() {
    let kinds = [
        (NetKind::PlayerPawn, 1),
        (NetKind::Prop, 2),
        (NetKind::Button, 3),
        (NetKind::Door, 4),
        (NetKind::Light, 5),
        (NetKind::PressurePlate, 6),
    ];
    let text = crate::schema_text();
    for (kind, number) in kinds {
        assert_eq!((kind.value(), NetKind::of_value(number)), (number, kind));
        assert!(text.contains(&format!("  {kind:?} {number}\n")));
    }
    let unknown = EntityState { kind: NetKind::Unknown(200), ..EntityState::default() };
    let body = bytes(EntityRecord::entity(EntityId::new(1, 0), unknown));
    assert_eq!(body[5], 200);
    let read = decode::<EntityRecord>(&body).unwrap();
    assert_eq!(read.form, Form::Entity(unknown));
}

/// SNAP-02, SNAP-03, SNAP-04, SNAP-05
#[test]
fn an_entity_record_is_33_bytes_and_what_its_kind_adds() {
    let size = |state| bytes(EntityRecord::entity(EntityId::new(1, 0), state)).len();
    assert_eq!(size(pawn()), 33 + 2);
    assert_eq!(size(EntityState { rotation: Some([0.0, 0.0, 0.0, 1.0]), ..pawn() }), 33 + 2 + 16);
    assert_eq!(size(EntityState { scale: Some([1.0; 3]), ..pawn() }), 33 + 2 + 12);
    for channels in 0..=CHANNELS_MAX {
        let state = EntityState { payload: payload(channels), ..pawn() };
        assert_eq!(size(state), 33 + 2 + 4 * channels);
    }
}

/// KIND-07, KIND-09
#[test]
fn a_payload_is_a_count_that_many_channels_and_a_byte_of_bits() {
    for (channels, size) in [2, 6, 10, 14, 18].into_iter().enumerate() {
        let body = bytes(payload(channels));
        assert_eq!(body.len(), size);
        assert_eq!((usize::from(body[0]), body[size - 1]), (channels, 3));
        assert_eq!(decode(&body), Ok(payload(channels)));
    }
    assert!(size_of::<KindPayload>() <= 32, "a payload lives where its record does");
}

/// KIND-11
#[test]
fn a_payload_of_five_channels_is_refused() {
    let forged = [&[5][..], &[0; 21]].concat();
    let refused = WireError::new("channels", Fault::TooMany { count: 5, cap: 4 });
    assert_eq!(decode::<KindPayload>(&forged), Err(refused));
    // In a whole snapshot nothing of the packet is kept.
    let record = EntityRecord::entity(EntityId::new(1, 0), pawn());
    let mut packet = bytes(Snapshot::new(SnapshotHead::default(), vec![record, record]));
    let at = packet.len() - 2;
    packet[at] = 5;
    packet.extend_from_slice(&[0; 20]);
    assert_eq!(decode::<Snapshot>(&packet), Err(refused));
}

/// SNAP-07, SNAP-08
#[test]
fn a_fragment_names_its_tick_its_number_and_how_many_there_are() {
    let slice = vec![9; PACKET_BYTES_MAX - 7];
    let fragment = SnapshotFragment { tick: 10, index: 1, count: 3, slice: slice.into() };
    let mut packet = vec![];
    crate::datagram(&mut fragment.clone(), &mut packet).unwrap();
    assert_eq!(packet.len(), PACKET_BYTES_MAX);
    assert_eq!(packet[..8], [28, 10, 0, 0, 0, 1, 3, 9]);
    assert_eq!(decode(&packet[1..]), Ok(fragment));
    assert_eq!((SNAPSHOT_FRAGMENTS_MAX, SNAPSHOT_BYTES_MAX), (16, 19_200));
}

/// WIRE-13
#[test]
fn records_encoded_once_can_be_put_behind_any_head() {
    let record = EntityRecord::entity(EntityId::new(1, 0), pawn());
    let mut shared = bytes(record);
    shared.extend(bytes(record));
    let head = SnapshotHead { tick: 4, record_count: Count16(2), ..SnapshotHead::default() };
    let mut packet = bytes(head);
    packet.extend(shared);
    assert_eq!(packet, bytes(Snapshot::new(head, vec![record; 2])));
    assert_eq!(decode(&packet), Ok(Snapshot::new(head, vec![record; 2])));
}

/// WIRE-12
#[test]
fn an_input_packet_carries_at_most_four_inputs() {
    let input = PlayerInput { sequence: 9, buttons: Buttons::JUMP, ..PlayerInput::default() };
    let ack = SnapshotAck { tick: 3, mask: 0b11 };
    let full = Input { snapshot_ack: ack, inputs: Few8::of([input; INPUTS_MAX]) };
    let mut body = bytes(full);
    assert_eq!(body.len(), 8 + 1 + 4 * (4 + 3 + 2 + 8));
    assert_eq!(decode(&body), Ok(full));
    body[8] = 5;
    body.extend_from_slice(&[0; 17]);
    let refused = WireError::new("inputs", Fault::TooMany { count: 5, cap: 4 });
    assert_eq!(decode::<Input>(&body), Err(refused));
}

#[test]
fn an_angle_that_is_no_number_ends_an_input() {
    let bad = PlayerInput { pitch: f32::NAN, ..PlayerInput::default() };
    let mut out = vec![];
    let refused = WireError::new("pitch", Fault::NotFinite);
    assert_eq!(encode(&mut { bad }, &mut out), Err(refused));
}

/// WHO-16
#[test]
fn an_entity_is_shown_as_slot_and_generation() {
    let id = EntityId::new(1, 0);
    assert_eq!(format!("{id}"), "1:0");
    assert_eq!(format!("{}", EntityId::new(EntityId::SLOT_MAX, 255)), "16777215:255");
    assert_eq!((id.slot(), id.generation(), u32::from(id)), (1, 0, 1));
    assert_eq!(EntityId::from(0x0200_0001), EntityId::new(1, 2));
    assert!(EntityId::NONE.is_none() && !id.is_none());
}

/// Sessions OQ-24
#[test]
fn an_ending_of_a_newer_server_is_still_told() {
    let end = SessionEnd {
        code: CloseCode::Unknown(9),
        server_version: 3,
        client_version: 2,
        reason: "moved".into(),
    };
    assert_eq!(decode(&bytes(end.clone())), Ok(end));
    let codes = [0, 1, 2, 3, 4].map(CloseCode::of_value);
    let (leave, mismatch) = (CloseCode::Leave, CloseCode::ProtocolMismatch);
    let full = CloseCode::Full;
    assert_eq!(codes, [leave, mismatch, CloseCode::Closed, CloseCode::Unreadable, full]);
}

fn number() -> impl Strategy<Value = f32> {
    prop::num::f32::NORMAL | prop::num::f32::ZERO | prop::num::f32::SUBNORMAL
}

fn vector() -> impl Strategy<Value = [f32; 3]> {
    [number(), number(), number()]
}

fn record() -> impl Strategy<Value = EntityRecord> {
    let turn = prop::option::of([number(), number(), number(), number()]);
    let parts = (any::<u32>(), any::<u8>(), vector(), number(), 0..4_u8, turn);
    let more = (prop::option::of(vector()), prop::collection::vec(number(), 0..=4), any::<u8>());
    (parts, more).prop_map(|((id, kind, position, yaw, flags, rotation), (scale, few, bits))| {
        let state = EntityState {
            kind: NetKind::of_value(kind),
            position,
            yaw,
            pitch: -yaw,
            eye_height: yaw,
            flags: RecordFlags::of_bits(flags).unwrap(),
            rotation,
            scale,
            payload: KindPayload { channels: Few8::try_from(&few[..]).unwrap(), bits },
        };
        EntityRecord::entity(EntityId(id), state)
    })
}

proptest! {
    /// WIRE-03, WIRE-15
    #[test]
    fn every_snapshot_reads_back(
        records in prop::collection::vec(record(), 0..30),
        tick: u32,
        depth: i8,
        velocity in vector(),
    ) {
        let owner = OwnerDetail { depth, velocity, ..OwnerDetail::default() };
        let head = SnapshotHead { tick, owner: owner.into(), ..SnapshotHead::default() };
        let snapshot = Snapshot::new(head, records);
        prop_assert_eq!(decode::<Snapshot>(&bytes(snapshot.clone())), Ok(snapshot));
    }
}

/// MR-45, MR-46, MR-47, MR-55
#[test]
fn a_chunk_is_coherent_only_when_its_numbers_and_its_slice_fit_each_other() {
    let chunk = |total, index, count, length| BlobChunk {
        total,
        index,
        count,
        slice: Rest(vec![7; length]),
        ..BlobChunk::default()
    };
    for (total, lengths) in
        [(0, &[0][..]), (1, &[1]), (2_048, &[1_024, 1_024]), (3_000, &[1_024, 1_024, 952])]
    {
        let count = u32::try_from(lengths.len()).unwrap();
        assert_eq!(BlobChunk::count_of(total), Some(count));
        for (index, length) in (0..).zip(lengths) {
            assert!(chunk(total, index, count, *length).is_coherent());
            assert!(!chunk(total, index, count, length + 1).is_coherent());
            assert!(!chunk(total, index, count + 1, *length).is_coherent());
            assert!(!chunk(total, index + count, count, *length).is_coherent());
        }
    }
    assert!(!chunk(2_048, 0, 2, 1_023).is_coherent());
    assert_eq!(BlobChunk::count_of(5_500_000_000), Some(5_371_094));
    assert_eq!(BlobChunk::count_of(u64::MAX), None);
    let largest = BlobChunk { total: 5_500_000_000, ..chunk(0, 0, 5_371_094, 1_024) };
    let framed = dh_wire::envelope::HEADER_BYTES + bytes(largest).len();
    assert!(framed < 1_200, "{framed} bytes");
}
