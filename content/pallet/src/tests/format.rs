//! What a pallet's bytes are, and that nothing else decides them.

use dh_wire::{Content, Hash128, Root};
use proptest::prelude::*;

use super::{Counted, Random, SMALL, WORDS, about, built, check, content, large, small};
use crate::fingerprint::Fingerprint;
use crate::{
    Encoding, Header, Manifest, Pallet, Source, Stored, Writer, closure_hash, pack, xxh128,
};

/// The small pallet, in lines of 32 bytes.
const GOLDEN: &str = include_str!("small.hex");

fn manifest(bytes: &[u8]) -> Manifest {
    Pallet::open(bytes, None).unwrap().manifest().clone()
}

/// MR-27, MR-28, MR-32, MR-Q07
#[test]
fn the_small_pallet_is_these_bytes() {
    let bytes = small();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, GOLDEN.split_whitespace().collect::<String>());
    assert_eq!(bytes[8..12], [2, 0, 0, 0]);
}

/// MR-28, MR-Q07
#[test]
fn the_canonical_text_is_these_lines() {
    let (a, b) = (blake3::hash(SMALL[0].1), blake3::hash(SMALL[1].1));
    let (empty, words) = (blake3::hash(b""), blake3::hash(&pack(WORDS).bytes));
    let text = format!(
        "pallet\tmuseum\nname\tThe Museum\nversion\t1.2\nauthor\tAda\nauthor\tGrace\n\
         licence\tCC0-1.0\ndependency\tstone\ndependency\twood\n\
         assets/a.dh-map\t2\t{a}\nassets/b.dh-map\t17\t{b}\nassets/empty\t0\t{empty}\n\
         notes/words.txt\t{}\t{words}\n",
        WORDS.len(),
    );
    assert_eq!(manifest(&small()).text(), text);
}

/// MR-24
#[test]
fn the_digest_is_xxh128_with_seed_0_in_any_pieces() {
    let vectors = [
        (0, "99aa06d3014798d86001c324468d497f"),
        (1, "a6cd5e9392000f6ac44bdff4074eecdb"),
        (16, "ddf6c1254d70f76794eaa17b20756f46"),
        (240, "89e3a0a2ee355d25d10beb4e0599e4b3"),
        (241, "75f4da43f23cce5a541b19226f0052e8"),
        (1 << 20, "6cf0e255c2b2d21e0897bfa3a6d80f14"),
    ];
    for (len, hash) in vectors {
        let bytes: Vec<u8> =
            (0..len).map(|i: u32| (i * 7 + (i >> 8) * 13).to_le_bytes()[0]).collect();
        assert_eq!(Hash128::of(&bytes).to_string(), hash);
        let mut digest = xxh128();
        bytes.chunks(997).for_each(|piece| digest.update(piece));
        assert_eq!(digest.finish().to_string(), hash);
    }
}

/// MR-27
#[test]
fn the_fingerprint_is_that_of_version_text_and_stored_bytes_put_together() {
    let bytes = small();
    let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
    let mut whole = 1_u32.to_le_bytes().to_vec();
    whole.extend(pallet.manifest().text().as_bytes());
    for (_, file) in SMALL {
        whole.extend(pack(file).bytes.iter());
    }
    assert_eq!(Hash128::of(&whole), pallet.content().fingerprint);
    whole[0] = 2;
    assert_ne!(Hash128::of(&whole), pallet.content().fingerprint);
}

/// MR-27
#[test]
fn the_walk_does_not_depend_on_its_pieces() {
    let walk = |pieces: &[&[u8]]| {
        let mut walk = Fingerprint::new(xxh128, "text");
        pieces.iter().for_each(|piece| walk.stored(piece));
        walk.finish()
    };
    assert_eq!(walk(&[b"ab", b"", b"c"]), walk(&[b"abc"]));
    assert_ne!(walk(&[b"ab"]), walk(&[b"abc"]));
}

/// MR-21, MR-30, MR-31
#[test]
fn two_builds_of_one_content_are_equal_in_whatever_order_it_is_put() {
    let turned: Vec<_> = SMALL.iter().rev().copied().collect();
    assert_eq!(built(&turned, xxh128), small());
}

/// MR-20, MR-23
#[test]
fn any_change_of_the_content_is_another_content() {
    let mut seen = vec![content(&small())];
    for (at, (path, file)) in SMALL.iter().enumerate() {
        let longer = [*file, b"!"].concat();
        let changed: [(&str, &[u8]); 2] = [(path, &longer), ("assets/other", file)];
        for file in changed {
            let mut files = SMALL.to_vec();
            files[at] = file;
            let other = content(&built(&files, xxh128));
            let names = |one: &Content| one.root == other.root;
            assert!(!seen.iter().any(names), "{file:?}");
            seen.push(other);
        }
    }
}

/// MR-29, MR-Q08
#[test]
fn entries_are_in_the_order_of_their_bytes() {
    let files: Vec<(&str, &[u8])> =
        ["b_c", "b/C", "b/d", "b\u{e9}", "B1"].iter().map(|path| (*path, WORDS)).collect();
    let manifest = manifest(&built(&files, xxh128));
    let paths: Vec<&str> = manifest.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(paths, ["B1", "b/C", "b/d", "b_c", "b\u{e9}"]);
}

/// MR-25
#[test]
fn stored_bytes_are_read_once_while_a_pallet_is_written() {
    let file = super::noise(200_000, 3);
    let packed = pack(&file);
    assert_eq!(packed.encoding, Encoding::AsIs);
    let source = Counted::new(&file);
    let mut writer = Writer::new(about()).unwrap();
    writer.put("noise", packed.stored_at(Box::new(&source))).unwrap();
    let mut out = Vec::new();
    let written = writer.write(&mut out, xxh128, &mut |_, _| {}).unwrap();
    assert_eq!(source.read.get(), Source::len(&source).unwrap());
    assert_eq!(check(&out), Ok(written));
}

#[test]
fn a_source_that_changes_while_it_is_written_is_found() {
    let mut writer = Writer::new(about()).unwrap();
    let other: Box<dyn Source> = Box::new(&b"abd"[..]);
    writer.put("a", pack(b"abc").stored_at(other)).unwrap();
    let error = writer.write(&mut Vec::new(), xxh128, &mut |_, _| {}).unwrap_err();
    assert!(error.to_string().contains("changed while"), "{error}");
}

#[test]
fn compression_is_used_where_it_saves_a_twentieth() {
    assert_eq!(pack(WORDS).encoding, Encoding::Zstd);
    assert_eq!(pack(&super::noise(1000, 1)).encoding, Encoding::AsIs);
    assert_eq!(pack(b"").encoding, Encoding::AsIs);
    let mixed = [super::noise(970, 1), vec![0; 30]].concat();
    assert_eq!(pack(&mixed).encoding, Encoding::AsIs);
    let mixed = [super::noise(800, 1), vec![0; 200]].concat();
    assert_eq!(pack(&mixed).encoding, Encoding::Zstd);
}

/// MR-22, MR-Q06
#[test]
fn a_closure_is_its_name_its_map_and_its_dependencies_in_any_order() {
    let named = |byte: u8| Content { fingerprint: Hash128([byte; 16]), root: Root([byte; 32]) };
    let pairs = |ids: &[(&str, u8)]| -> Vec<(String, Content)> {
        ids.iter().map(|(id, byte)| ((*id).to_owned(), named(*byte))).collect()
    };
    let hash = closure_hash("m:assets/a.dh-map", &named(1), &pairs(&[("b", 2), ("c", 3)]));
    assert_eq!(hash.to_string(), "3ec767719f78aa5966e5fc84fe42ce9b");
    assert_eq!(hash, closure_hash("m:assets/a.dh-map", &named(1), &pairs(&[("c", 3), ("b", 2)])));
    let root_only = Content { fingerprint: Hash128([1; 16]), root: Root([9; 32]) };
    let others = [
        closure_hash("m:assets/b.dh-map", &named(1), &pairs(&[("b", 2), ("c", 3)])),
        closure_hash("m:assets/a.dh-map", &root_only, &pairs(&[("b", 2), ("c", 3)])),
        closure_hash("m:assets/a.dh-map", &named(1), &pairs(&[("b", 2), ("c", 4)])),
        closure_hash("m:assets/a.dh-map", &named(1), &pairs(&[("b", 2)])),
        closure_hash("m:assets/a.dh-map", &named(1), &pairs(&[("b", 2), ("d", 3)])),
    ];
    assert!(others.iter().all(|other| *other != hash));
}

/// MR-17, MR-Q10
#[test]
fn a_world_without_content_has_the_closure_zero() {
    assert_eq!(closure_hash("", &Content::default(), &[]), Hash128::default());
}

/// MR-13, MR-Q09
#[test]
fn a_fingerprint_has_128_bits_and_32_hex_digits() {
    let Content { fingerprint, .. } = content(&small());
    assert_eq!(size_of_val(&fingerprint), 16);
    assert_eq!(fingerprint.to_string().len(), 32);
    assert_eq!(small()[32..48], fingerprint.0);
}

#[test]
fn a_header_reads_as_it_was_written() {
    let bytes = large();
    let header = Header::decode(&bytes).unwrap();
    assert_eq!(header.encode(), bytes[..Header::BYTES]);
    assert_eq!(usize::try_from(header.file_bytes), Ok(bytes.len()));
    assert_eq!(header.table_bytes, 5 * 32);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_put_is_read(lens in prop::collection::vec(0_usize..150_000, 0..6), seed: u64) {
        let mut random = Random(seed);
        let files: Vec<(String, Vec<u8>)> = lens.iter().enumerate().map(|(at, len)| {
            let plain = random.below(2) == 0;
            let file = if plain { vec![b'x'; *len] } else { super::noise(*len, seed) };
            (format!("f{at}"), file)
        }).collect();
        let mut writer = Writer::new(about()).unwrap();
        for (path, file) in &files {
            let stored = match random.below(2) {
                0 => pack(file).in_memory(),
                _ => Stored::as_is(Box::new(file.as_slice())).unwrap(),
            };
            writer.put(path, stored).unwrap();
        }
        let mut out = Vec::new();
        let written = writer.write(&mut out, xxh128, &mut |_, _| {}).unwrap();
        prop_assert_eq!(check(&out), Ok(written));
        let pallet = Pallet::open(out.as_slice(), Some(&written)).unwrap();
        for (path, file) in &files {
            prop_assert_eq!(&pallet.read(path, 1 << 20).unwrap(), file);
        }
    }
}
