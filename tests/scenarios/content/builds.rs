//! Builds: content for peers whose builds count it in fewer bytes, or read no refusal.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use dh_client::EndKind;
use dh_machine::{DiskError, Micros};
use dh_pallet::{About, Output, Source, Stored, Writer, pack, xxh128};
use dh_scenario::{OtherBuild, PeerId, PeerSetup, ServerId, ServerSetup, Transport, World};
use dh_wire::Kind;
use dh_wire::schema::{Edit, Type};

use super::stage::{HIGH, Stage, map, plays, received, world};
use crate::log::lines_of;
use crate::stage::{BOTH, SECOND};

/// A build from before blobs of more than 2 GiB.
fn narrow() -> Vec<Edit> {
    let (shape, name) = ("BlobChunk".to_owned(), "total".to_owned());
    let kind = Type::Leaf(Kind::I32);
    vec![
        Edit::Remove { shape: shape.clone(), name: name.clone() },
        Edit::Add { shape, at: 2, name, kind },
    ]
}

fn without(message: &str) -> Vec<Edit> {
    vec![Edit::Drop { message: message.to_owned() }]
}

fn build(edits: Vec<Edit>) -> OtherBuild {
    OtherBuild { name: "older".to_owned(), edits }
}

/// MR-56, PLAN-17
#[test]
fn a_pallet_whose_size_one_end_counts_in_32_bits_arrives_whole_either_way() {
    for transport in BOTH {
        for (here, there) in [(vec![], narrow()), (narrow(), vec![])] {
            let stage = Stage::new();
            let setup = ServerSetup { build: Some(build(here)), ..stage.setup(HIGH) };
            world(transport, setup, async |world, server| {
                let ada = PeerSetup::new("ada").keeping(stage.kept("ada")).of(build(there));
                let ada = world.peer(ada);
                world.join(ada, server);
                plays(world, ada).await;
                assert!(received(world, ada) > 300_000);
            });
        }
    }
}

/// So many zeros.
#[derive(Debug)]
struct Zeros(u64);

impl Source for Zeros {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(self.0)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        let rest = usize::try_from(self.0.saturating_sub(offset)).unwrap();
        let read = buf.len().min(rest);
        buf[..read].fill(0);
        Ok(read)
    }
}

/// A file in which zeros take no place.
#[derive(Debug)]
struct Sparse(File);

impl Source for Sparse {
    fn len(&self) -> Result<u64, DiskError> {
        Ok(self.0.metadata().unwrap().len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
        Ok(self.0.read_at(buf, offset).unwrap())
    }
}

impl Output for Sparse {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), DiskError> {
        if bytes.iter().any(|byte| *byte != 0) {
            self.0.write_all_at(bytes, offset).unwrap();
        } else {
            let end = offset + u64::try_from(bytes.len()).unwrap();
            self.0.set_len(self.0.metadata().unwrap().len().max(end)).unwrap();
        }
        Ok(())
    }
}

const HUGE: &str = "huge:assets/main.dh-map";

/// A pallet of a little more than 2 GiB with one map.
fn huge(folder: &Path) -> String {
    let mut writer = Writer::new(About { id: "huge".to_owned(), ..About::default() }).unwrap();
    let map = map(0.0).into_bytes();
    writer.put("assets/main.dh-map", pack(&map).in_memory()).unwrap();
    let zeros = Stored::as_is(Box::new(Zeros(1 << 31))).unwrap();
    writer.put("files/zeros", zeros).unwrap();
    let path = folder.join("huge.pallet");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
    writer.write(&mut Sparse(file.unwrap()), xxh128, &mut |_, _| {}).unwrap();
    path.to_str().unwrap().to_owned()
}

/// How it ends for a peer that cannot have its map: the kind of ending, and the reason.
async fn ending(world: &mut World, server: ServerId, peer: PeerSetup) -> (EndKind, String) {
    let peer: PeerId = world.peer(peer);
    world.join(peer, server);
    let ended = |world: &World| !world.records().peer(peer).endings.is_empty();
    world.expect_within(Micros::from_secs(10), "it ends", ended).await;
    assert_eq!(received(world, peer), 0, "nothing was streamed");
    let records = world.records();
    let end = &records.peer(peer).endings[0];
    (end.kind, end.detail())
}

/// MR-57, PLAN-17
#[test]
fn a_pallet_over_2_gib_is_streamed_to_nobody_who_cannot_count_it_and_each_is_told_why() {
    let mut stage = Stage::new();
    stage.files.push(huge(stage.folder.path()));
    world(Transport::Memory, stage.setup(HUGE), async |world, server| {
        let why = |bytes| {
            format!(
                "pallet 'huge': its {bytes} bytes are more than your build can take; \
                 update it and join again"
            )
        };
        let bytes = std::fs::metadata(&stage.files[2]).unwrap().len();
        let told = format!("the server couldn't send {}", why(bytes));
        let mut narrow_and_deaf = narrow();
        narrow_and_deaf.extend(without("blobRefused"));
        let none = "the server couldn't send pallet 'huge': your build takes no content from \
                    servers; update it and join again";
        for (edits, kind, told) in [
            (without("blobChunk"), EndKind::MapTransferFailed, none.to_owned()),
            (narrow(), EndKind::MapTransferFailed, told),
            (without("blobRefused"), EndKind::Removed, why(bytes)),
            (narrow_and_deaf, EndKind::Removed, why(bytes)),
        ] {
            let peer = PeerSetup::new("ada").keeping(stage.kept("ada")).of(build(edits.clone()));
            assert_eq!(ending(world, server, peer).await, (kind, told), "{edits:?}");
        }
        let bob = world.peer(PeerSetup::new("bob").keeping(stage.kept("bob")));
        world.join(bob, server);
        world.run_for(SECOND).await;
        assert!(0 < received(world, bob), "this build counts it");
    });
}

/// MR-67, PLAN-28
#[test]
fn a_map_that_cannot_be_read_ends_a_session_that_reads_no_refusal_with_the_refusals_reason() {
    let logged = lines_of(|| {
        let stage = Stage::new();
        world(Transport::Quic, stage.setup(HIGH), async |world, server| {
            std::fs::remove_file(&stage.files[1]).unwrap();
            let peer = |name| PeerSetup::new(name).keeping(stage.kept(name));
            let (_, refused) = ending(world, server, peer("ada")).await;
            let reason = "pallet 'high': it is no longer there";
            assert_eq!(refused, format!("the server couldn't send {reason}"));
            let deaf = peer("bob").of(build(without("blobRefused")));
            let told = ending(world, server, deaf).await;
            assert_eq!(told, (EndKind::Removed, reason.to_owned()));
        });
    });
    let held: Vec<&String> = logged.iter().filter(|it| it.starts_with("not sending ")).collect();
    let [line] = &held[..] else { panic!("{held:?}") };
    assert!(line.starts_with("not sending blobRefused to bob ("), "{line}");
}
