//! The values behind the golden packets: one for each message and each branch worth pinning.

use dh_messages::{
    BlobChunk, BlobKind, BlobRefused, BlobRequest, Buttons, ChatKind, ClientChat, ClientInfo,
    ClientNotice, ClientReady, CloseCode, ConnectRequest, ConsoleAnswer, ConsoleLine, Content,
    Direction, EntityId, EntityRecord, EntityState, Few8, Guid, Hash128, Input, KindPayload,
    MapAdvert, MapLoad, Message, NetKind, OwnerDetail, PROTOCOL_VERSION, PawnFlags, PlayerEntry,
    PlayerInput, PlayerList, RecordFlags, Rest, Root, SchemaAnswer, SchemaHash, SchemaText,
    ServerChat, ServerInfo, SessionEnd, Severity, Snapshot, SnapshotAck, SnapshotFragment,
    SnapshotHead, SpawnAck, WorldSettings, decode, encode,
};

/// One message with one value.
pub(crate) struct Sample {
    /// The name of the message.
    pub(crate) message: &'static str,
    /// Who receives it.
    pub(crate) direction: Direction,
    /// Which branch of it, empty where there is one.
    pub(crate) branch: &'static str,
    /// The body that the value gives.
    pub(crate) body: Vec<u8>,
    /// Whether a body reads as the value.
    pub(crate) reads: Reads,
}

/// A question to a body.
pub(crate) type Reads = Box<dyn Fn(&[u8]) -> bool>;

fn sample<M: Message + PartialEq + Clone + 'static>(branch: &'static str, value: M) -> Sample {
    let mut body = Vec::new();
    encode(&mut value.clone(), &mut body).unwrap();
    let reads = Box::new(move |body: &[u8]| decode::<M>(body).as_ref() == Ok(&value));
    Sample { message: M::NAME, direction: M::DIRECTION, branch, body, reads }
}

/// Every sample.
pub(crate) fn samples() -> Vec<Sample> {
    [joining(), playing(), telling(), content()].into_iter().flatten().collect()
}

fn hash(first: u8) -> [u8; 16] {
    std::array::from_fn(|at| first.wrapping_add(u8::try_from(at).unwrap()))
}

fn root(first: u8) -> Root {
    Root(std::array::from_fn(|at| first.wrapping_sub(u8::try_from(at).unwrap())))
}

fn server_info(map: MapAdvert) -> ServerInfo {
    ServerInfo {
        version: PROTOCOL_VERSION,
        tick_rate: 60,
        world_id: Guid(hash(0x10)),
        world_name: "yard".into(),
        map,
    }
}

fn yard() -> MapAdvert {
    MapAdvert {
        name: "dev.pitr:assets/yard.dh-map".into(),
        pallet: Content { fingerprint: Hash128(hash(0x20)), root: root(0xff) },
        closure_hash: Hash128(hash(0x40)),
        generation: 3,
    }
}

fn content() -> Vec<Sample> {
    let (kind, content) = (BlobKind::MapPallet, yard().pallet);
    let slice = Rest((0..=255).cycle().take(952).collect());
    let chunk = BlobChunk { kind, content, total: 3_000, index: 2, count: 3, slice };
    let empty = BlobChunk { total: 0, index: 0, count: 1, slice: Rest::default(), ..chunk.clone() };
    let huge = BlobChunk { total: 5_500_000_000, count: 5_371_094, ..empty.clone() };
    vec![
        sample("", MapLoad { map: yard() }),
        sample("", BlobRequest { kind, content }),
        sample("unknown", BlobRequest { kind: BlobKind::Unknown(200), content }),
        sample("last", chunk),
        sample("empty", empty),
        sample("huge", huge),
        sample("", BlobRefused { kind, content, reason: "it is being written".into() }),
    ]
}

fn joining() -> Vec<Sample> {
    let gray_box = MapAdvert { generation: 1, ..MapAdvert::default() };
    let (version, schema_hash) = (PROTOCOL_VERSION, Hash128(hash(0x80)));
    let alice = ClientInfo {
        name: "alice".into(),
        seed_colour: 0x00ff_8800,
        avatar: "dev.pitr:worn/fox".into(),
    };
    let bare = ClientInfo { avatar: "".into(), ..alice.clone() };
    let pawn = EntityId::new(1, 2);
    // What it unpacks to is nobody's affair here.
    let packed = Rest((0..=255).cycle().step_by(7).take(40).collect());
    vec![
        sample("", ConnectRequest { version, schema_hash }),
        sample("known", SchemaHash { hash: schema_hash, wants_text: false }),
        sample("wanted", SchemaHash { hash: schema_hash, wants_text: true }),
        sample("known", SchemaText { wants_text: false, packed: Rest::default() }),
        sample("wanted", SchemaText { wants_text: true, packed: packed.clone() }),
        sample("", SchemaAnswer { packed }),
        sample("grayBox", server_info(gray_box)),
        sample("map", server_info(yard())),
        sample("avatar", alice),
        sample("bare", bare),
        sample("", ClientReady { map_generation: 3 }),
        sample("", SpawnAck { slot: 4, pawn, tick: 1_000, map_generation: 3 }),
    ]
}

fn head() -> SnapshotHead {
    let flags = PawnFlags::GROUNDED | PawnFlags::SPRINTING | PawnFlags::JUMP_HELD;
    let owner = OwnerDetail {
        pawn: EntityId::new(1, 2),
        depth: -3,
        spawn_epoch: 5,
        position: [1.5, 0.0, -2.25],
        velocity: [4.5, -0.125, 0.0],
        stance_height: 1.8,
        eye_height: 1.64,
        ground: EntityId::new(7, 0),
        ground_normal: [0.0, 1.0, 0.0],
        flags,
    };
    SnapshotHead {
        tick: 1_234,
        map_generation: 3,
        rest_revision: 0,
        input_ack: 1_200,
        world: WorldSettings { time_scale: 0.5, noclip_speed: 400.0 },
        owner: owner.into(),
        ..SnapshotHead::default()
    }
}

fn records() -> Vec<EntityRecord> {
    let pawn = EntityState {
        kind: NetKind::PlayerPawn,
        position: [1.5, 0.0, -2.25],
        yaw: 3.125,
        pitch: -0.5,
        eye_height: 1.64,
        flags: RecordFlags::PLACEMENT,
        ..EntityState::default()
    };
    let crate_state = EntityState {
        kind: NetKind::Prop,
        position: [0.0, 4.0, 0.0],
        rotation: Some([0.0, 0.0, 0.5, 0.75]),
        scale: Some([1.0, 2.0, 1.0]),
        ..EntityState::default()
    };
    let door = EntityState {
        kind: NetKind::Door,
        payload: KindPayload { channels: Few8::of([0.25, 1.0]), bits: 1 },
        ..EntityState::default()
    };
    let full = KindPayload { channels: Few8::of([0.0, 1.0, 2.0, 3.0]), bits: 0xff };
    let newer = EntityState { kind: NetKind::Unknown(200), payload: full, ..pawn };
    let crouched = EntityState { flags: RecordFlags::CROUCHING, eye_height: 0.94, ..pawn };
    [pawn, crouched, crate_state, door, newer]
        .into_iter()
        .zip(1..)
        .map(|(state, slot)| EntityRecord::entity(EntityId::new(slot, 2), state))
        .collect()
}

fn playing() -> Vec<Sample> {
    let newest = PlayerInput {
        sequence: 1_205,
        move_x: -127,
        move_y: 0,
        move_z: 127,
        buttons: Buttons::JUMP | Buttons::FAST,
        yaw: -3.0,
        pitch: 1.25,
    };
    let before = |back| PlayerInput { sequence: newest.sequence - back, ..newest };
    let ack = SnapshotAck { tick: 1_233, mask: 0b1011 };
    let inputs = Few8::of([newest, before(1), before(2), before(3)]);
    let slice = (0..40).collect::<Vec<u8>>();
    vec![
        sample("idle", Input { snapshot_ack: ack, inputs: Few8::default() }),
        sample("one", Input { snapshot_ack: SnapshotAck::default(), inputs: Few8::of([newest]) }),
        sample("four", Input { snapshot_ack: ack, inputs }),
        sample("empty", Snapshot::default()),
        sample("records", Snapshot::new(head(), records())),
        sample("", SnapshotFragment { tick: 1_234, index: 1, count: 3, slice: slice.into() }),
    ]
}

fn telling() -> Vec<Sample> {
    let notice = |severity| ClientNotice { severity, text: "the map is rebuilt".into() };
    let end = |code, reason: &str| SessionEnd {
        code,
        server_version: PROTOCOL_VERSION,
        client_version: 80,
        reason: reason.into(),
    };
    let chat = |kind, slot, name: &str, text: &str| ServerChat {
        kind,
        slot,
        name: name.into(),
        text: text.into(),
    };
    let entry = |slot, name: &str| PlayerEntry {
        slot,
        pawn: EntityId::new(u32::from(slot) + 1, 0),
        name: name.into(),
        colour: 0x0033_66cc,
    };
    let two = vec![entry(0, "alice"), entry(3, "b\u{f8}b")];
    let none = ServerChat::NO_SLOT;
    vec![
        sample("info", notice(Severity::Info)),
        sample("warning", notice(Severity::Warning)),
        sample("error", notice(Severity::Error)),
        sample("mismatch", end(CloseCode::ProtocolMismatch, "")),
        sample("closed", end(CloseCode::Closed, "the server stops")),
        sample("full", end(CloseCode::Full, "server is full (4 players)")),
        sample("newer", end(CloseCode::Unknown(9), "moved")),
        sample("players", PlayerList { upserts: two.into(), removed: vec![1, 2].into() }),
        sample("nothing", PlayerList::default()),
        sample("player", chat(ChatKind::Player, 3, "b\u{f8}b", "hello")),
        sample("server", chat(ChatKind::Server, none, "", "a line from the console")),
        sample("join", chat(ChatKind::Join, 0, "alice", "")),
        sample("leave", chat(ChatKind::Leave, 0, "alice", "")),
        sample("", ClientChat { text: "hello, b\u{f8}b".into() }),
        sample("", ConsoleLine { id: 7, text: "kick #3 enough".into() }),
        sample("", ConsoleAnswer { id: 7, text: "kick: #3 is gone (enough)".into() }),
    ]
}
