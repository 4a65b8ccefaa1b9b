//! In flight: bits that go wrong above QUIC, wherever content passes on its way into a cache.

use std::fs;
use std::sync::Arc;

use dh_client::{EndKind, SessionEnd};
use dh_host::disk::{Faults, FaultyDisk, RealDisk};
use dh_machine::Micros;
use dh_messages::limit::BLOB_SLICE_BYTES;
use dh_messages::{
    BlobChunk, BlobKind, BlobRequest, MapAdvert, Message as _, PROTOCOL_VERSION, Rest, SchemaHash,
    ServerInfo, ToClient, schema_hash,
};
use dh_pallet::{GROUP_BYTES, Header};
use dh_prefs::Address;
use dh_scenario::{PeerId, PeerSetup, Transport, World};

use super::stage::{HIGH, LOW, Stage, plays, world};
use crate::raw::Raw;

/// Bits that go wrong in each place.
const FLIPS: usize = 1_000;

/// The pallet that is fetched, and where a flip of it lies.
struct Good {
    bytes: Vec<u8>,
    header: Header,
}

impl Good {
    fn of(stage: &Stage) -> Self {
        let bytes = fs::read(&stage.files[1]).unwrap();
        let header = Header::decode(&bytes).unwrap();
        Self { bytes, header }
    }

    /// Places all over the file, in no order.
    fn offsets(&self) -> impl Iterator<Item = usize> {
        let len = self.bytes.len();
        (1..=FLIPS).map(move |number| number * 104_729 % len)
    }

    /// Where the body begins.
    fn body(&self) -> usize {
        usize::try_from(self.header.body_at()).unwrap()
    }

    /// The group that a byte belongs to; none for header and table.
    fn group(&self, at: usize) -> Option<usize> {
        Some(at.checked_sub(self.body())? / GROUP_BYTES)
    }

    /// What a client with this cache may hold once a flip at `at` was found: a part of what is
    /// right, and nothing from the bad group on.
    fn assert_nothing_past(&self, stage: &Stage, at: usize) {
        let good = self.group(at).map_or(0, |group| self.body() + group * GROUP_BYTES);
        for name in stage.cached("ada") {
            let kept = fs::read(format!("{}/{name}", stage.cache("ada"))).unwrap();
            assert!(name.ends_with(".partial"), "byte {at}: {name} was committed");
            assert!(kept.len() <= good && self.bytes.starts_with(&kept), "byte {at}");
        }
    }

    /// That an ending names what went wrong at `at`.
    fn assert_named(&self, end: &SessionEnd, at: usize) {
        let told = end.detail();
        assert_eq!(end.kind, EndKind::MapTransferFailed, "byte {at}: {told}");
        match self.group(at) {
            Some(group) => {
                assert!(told.contains(&format!("group {group} of the body")), "byte {at}: {told}");
            }
            None => assert!(told.contains("pallet 'high': "), "byte {at}: {told}"),
        }
    }
}

/// Wait for the ending of a peer's newest attempt.
async fn end(world: &mut World, peer: PeerId, before: usize) -> SessionEnd {
    let ended = |world: &World| world.records().peer(peer).endings.len() > before;
    world.expect_within(Micros::from_secs(40), "the join ends", ended).await;
    let records = world.records();
    records.peer(peer).endings[before].clone()
}

/// A bit that is read wrongly in files whose path ends so.
fn flip(at: usize, suffix: &'static str) -> Faults {
    Faults { flip: Some((u64::try_from(at).unwrap(), suffix)), ..Faults::default() }
}

fn clear(stage: &Stage) {
    for name in stage.cached("ada") {
        fs::remove_file(format!("{}/{name}", stage.cache("ada"))).unwrap();
    }
}

/// MR-70, MR-72
#[test]
fn a_bit_that_the_server_reads_wrongly_ends_the_join_with_its_group_and_commits_nothing() {
    let stage = Stage::new();
    let good = Good::of(&stage);
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    let setup = stage.setup_on(Arc::new(disk.clone()), HIGH);
    world(Transport::Memory, setup, async |world, server| {
        let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
        for (number, at) in good.offsets().enumerate() {
            disk.set(flip(at, "high.pallet"));
            world.join(ada, server);
            let end = end(world, ada, number).await;
            good.assert_named(&end, at);
            good.assert_nothing_past(&stage, at);
            clear(&stage);
        }
        disk.set(Faults::default());
        world.join(ada, server);
        plays(world, ada).await;
    });
}

/// MR-70, MR-133
#[test]
fn a_bit_that_the_client_reads_wrongly_before_the_commit_is_found_and_its_partial_goes() {
    let stage = Stage::new();
    let good = Good::of(&stage);
    let disk = FaultyDisk::over(Arc::new(RealDisk));
    world(Transport::Memory, stage.setup(HIGH), async |world, server| {
        let kept = stage.kept_on(Arc::new(disk.clone()), "ada");
        let ada = world.peer(PeerSetup::new("ada").keeping(kept));
        for (number, at) in good.offsets().enumerate() {
            disk.set(flip(at, ".partial"));
            world.join(ada, server);
            let end = end(world, ada, number).await;
            good.assert_named(&end, at);
            assert!(stage.cached("ada").is_empty(), "byte {at}: {:?}", stage.cached("ada"));
        }
        disk.set(Faults::default());
        world.join(ada, server);
        plays(world, ada).await;
    });
}

/// MR-72, MR-132, MR-Q24: the server sends all of it again, and what was proved is passed over.
#[test]
fn a_bit_of_a_partial_that_turned_bad_is_fetched_again_and_what_is_committed_is_right() {
    let stage = Stage::new();
    let good = Good::of(&stage);
    let root = good.header.content.root.to_string();
    let name = format!("{}-{}", good.header.content.fingerprint, &root[..16]);
    let [partial, whole] =
        ["partial", "pallet"].map(|suffix| format!("{}/{name}.{suffix}", stage.cache("ada")));
    // Header, table and all groups but the last, which is not there yet.
    let held = good.bytes.len() / GROUP_BYTES * GROUP_BYTES + good.body();
    world(Transport::Memory, stage.setup(HIGH), async |world, server| {
        let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
        for at in good.offsets().map(|at| at % held) {
            let mut bytes = good.bytes[..held].to_vec();
            bytes[at] ^= 0x40;
            fs::write(&partial, bytes).unwrap();
            world.join(ada, server);
            plays(world, ada).await;
            assert!(fs::read(&whole).unwrap() == good.bytes, "byte {at}");
            assert_eq!(stage.cached("ada").len(), 1);
            fs::remove_file(&whole).unwrap();
            world.disconnect(ada);
            world.run_for(Micros::from_millis(100)).await;
        }
    });
}

/// MR-47, MR-71, MR-72
#[test]
fn a_bit_of_a_chunk_that_a_lying_server_turned_commits_nothing_and_trusts_nothing_past_it() {
    let stage = Stage::new();
    let good = Good::of(&stage);
    let frames = frames(&good);
    let whole: usize = frames.iter().map(Vec::len).sum();
    world(Transport::Memory, stage.setup(LOW), async |world, _| {
        let ada = world.peer(PeerSetup::new("ada").keeping(stage.kept("ada")));
        for number in 0..FLIPS {
            let mut at = number * 104_729 % whole;
            let lie = frames.iter().position(|frame| {
                let is_here = at < frame.len();
                at -= if is_here { 0 } else { frame.len() };
                is_here
            });
            let lie = lie.unwrap();
            let mut frames = frames.clone();
            frames[lie][at] ^= 1 << (number % 8);
            let end = lied_to(world, ada, &good, number, &frames).await;
            let told = end.detail();
            assert_eq!(end.kind, EndKind::MapTransferFailed, "{number}: {told}");
            let slice = usize::from(BLOB_SLICE_BYTES);
            let offset = lie * slice + at.saturating_sub(CHUNK_HEAD);
            if at >= CHUNK_HEAD {
                good.assert_named(&end, offset);
            } else {
                assert!(told.contains("pallet 'high': "), "{number}: {told}");
            }
            good.assert_nothing_past(&stage, offset);
            clear(&stage);
        }
    });
}

/// Bytes of a chunk before its slice: kind, fingerprint, root, total, index, count.
const CHUNK_HEAD: usize = 1 + 16 + 32 + 8 + 4 + 4;

/// The bodies of all chunks of a pallet.
fn frames(good: &Good) -> Vec<Vec<u8>> {
    let (kind, content) = (BlobKind::MapPallet, good.header.content);
    let total = u64::try_from(good.bytes.len()).unwrap();
    let count = BlobChunk::count_of(total).unwrap();
    let slices = good.bytes.chunks(usize::from(BLOB_SLICE_BYTES));
    let bodies = (0..).zip(slices).map(|(index, slice)| {
        let slice = Rest(slice.to_vec());
        let chunk = BlobChunk { kind, content, total, index, count, slice };
        let mut body = Vec::new();
        ToClient::BlobChunk(chunk).write_body(&mut body).unwrap();
        body
    });
    bodies.collect()
}

/// How a join ends at a server that says of itself that it runs `good` and sends `frames` for it.
async fn lied_to(
    world: &mut World,
    peer: PeerId,
    good: &Good,
    number: usize,
    frames: &[Vec<u8>],
) -> SessionEnd {
    let host = format!("10.1.{}.{}", number / 250, 1 + number % 250);
    let liar = Raw::listen(world, format!("{host}:27015").parse().unwrap());
    world.client(peer).connect(Some(Address { host, port: 27_015 }));
    liar.connect(world).await;
    liar.send(SchemaHash { hash: schema_hash(), wants_text: false });
    let map = MapAdvert {
        name: HIGH.into(),
        pallet: good.header.content,
        generation: 1,
        ..MapAdvert::default()
    };
    let info =
        ServerInfo { version: PROTOCOL_VERSION, tick_rate: 60, map, ..ServerInfo::default() };
    liar.send(info);
    let asked = liar.clone();
    let asks = |_: &World| asked.has(BlobRequest::ID);
    world.expect_within(Micros::from_secs(5), "it asks for the pallet", asks).await;
    for frame in frames {
        liar.connection().send_blob(BlobChunk::ID, frame).unwrap();
    }
    end(world, peer, number).await
}
