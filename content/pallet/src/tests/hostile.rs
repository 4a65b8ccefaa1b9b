//! Pallets that lie: each lie is found, and by the check that is meant for it.

use dh_wire::Content;

use super::{GROUP_BYTES, SMALL, WORDS, about, check, claimed, content, find, large, seal, small};
use super::{noise, with_manifest};
use crate::groups::Groups;
use crate::header::HASH_BYTES;
use crate::source::size;
use crate::{
    Encoding, Header, PATH_BYTES_MAX, Pallet, PalletError, Stored, Writer, pack, verify, xxh128,
};

/// MR-70
#[test]
fn every_flipped_bit_of_a_small_pallet_is_found() {
    let mut bytes = small();
    let wanted = content(&bytes);
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        let found = verify(bytes.as_slice(), Some(&wanted), xxh128, &mut |_, _| {});
        assert!(found.is_err(), "bit {bit}");
        assert!(check(&bytes).is_err(), "bit {bit}, nothing advertised");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

#[test]
fn a_flipped_bit_names_its_group() {
    let mut bytes = large();
    let body = size(Header::decode(&bytes).unwrap().body_at());
    for group in 0..5 {
        let at = body + group * GROUP_BYTES + 77;
        bytes[at] ^= 4;
        assert_eq!(check(&bytes), Err(PalletError::BadGroup { group: group as u64 }));
        bytes[at] ^= 4;
    }
}

#[test]
fn a_pallet_cut_short_anywhere_or_continued_is_refused() {
    let bytes = small();
    for len in 0..bytes.len() {
        let error = check(&bytes[..len]).unwrap_err();
        assert!(matches!(error, PalletError::CutShort { .. }), "{len}: {error}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert_eq!(check(&longer), Err(PalletError::Trailing { bytes: 1 }));
    assert_eq!(check(b"DHPALLEX and more"), Err(PalletError::NotAPallet));
}

#[test]
fn a_reader_that_met_a_bad_group_proves_those_before_and_behind_it_anew() {
    let mut bytes = large();
    let header = Header::decode(&bytes).unwrap();
    bytes[size(header.body_at()) + GROUP_BYTES] ^= 1;
    let groups = Groups::read(bytes.as_slice(), header).unwrap();
    let mut reader = groups.reader(bytes.as_slice());
    let mut group = |number: u64| {
        let mut read = Vec::new();
        let offset = number * GROUP_BYTES as u64;
        let taken = reader.range(offset, GROUP_BYTES as u64, &mut |piece| {
            read.extend_from_slice(piece);
            Ok(())
        });
        taken.map(|()| read)
    };
    let at = size(header.body_at());
    let good = |number: usize| Ok(bytes[at + number * GROUP_BYTES..][..GROUP_BYTES].to_vec());
    assert_eq!(group(0), good(0));
    assert_eq!(group(1), Err(PalletError::BadGroup { group: 1 }));
    assert!(group(0) == good(0) && group(2) == good(2));
}

/// MR-70, MR-71, MR-72
#[test]
fn a_fingerprint_that_does_not_recompute_is_refused_however_well_it_is_sealed() {
    let mut bytes = small();
    bytes[40] ^= 1;
    seal(&mut bytes);
    assert!(Pallet::open(bytes.as_slice(), None).is_ok(), "only reading all of it tells");
    let error = check(&bytes).unwrap_err();
    assert!(matches!(error, PalletError::BadFingerprint { .. }), "{error}");
}

/// MR-71
#[test]
fn a_wrong_stored_hash_and_another_pallet_are_told_apart() {
    let (mut lying, other) = (small(), content(&large()));
    lying[32] ^= 1;
    seal(&mut lying);
    let refused = |bytes: &[u8], wanted: Content| {
        verify(bytes, Some(&wanted), xxh128, &mut |_, _| {}).unwrap_err().to_string()
    };
    let stored = refused(&lying, content(&lying));
    let advertised = refused(&small(), other);
    assert!(stored.contains("the header claims"), "{stored}");
    assert!(advertised.starts_with("another pallet"), "{advertised}");
}

#[test]
fn lengths_and_fields_of_a_header_that_lie_are_refused_before_anything_is_allocated() {
    let lies: [(usize, u64); 13] = [
        (16, 0),
        (16, claimed(&small()).body_bytes() + 1),
        (16, u64::MAX),
        (16, 1 << 40),
        (24, 0),
        (24, 127),
        (24, u64::MAX),
        (24, (32 << 30) + 1),
        (80, 0),
        (80, 31),
        (80, u64::MAX),
        (80, 1 << 40),
        (88, 1),
    ];
    for (at, lie) in lies {
        let mut bytes = small();
        bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
        let sum = xxhash_rust::xxh3::xxh3_64(&bytes[..120]);
        bytes[120..128].copy_from_slice(&sum.to_le_bytes());
        let error = check(&bytes).unwrap_err();
        assert!(matches!(error, PalletError::Header(_)), "{lie} at {at}: {error}");
    }
    let mut flags = small();
    flags[12] = 1;
    let sum = xxhash_rust::xxh3::xxh3_64(&flags[..120]);
    flags[120..128].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(check(&flags), Err(PalletError::Header("flags are not zero")));
}

#[test]
fn a_table_larger_than_the_file_is_not_read() {
    let mut bytes = small();
    let body: u64 = 30 << 30;
    let table = body.div_ceil(GROUP_BYTES as u64) * HASH_BYTES as u64;
    bytes[24..32].copy_from_slice(&(128 + table + body).to_le_bytes());
    bytes[80..88].copy_from_slice(&table.to_le_bytes());
    let header = claimed(&bytes).encode();
    bytes[..128].copy_from_slice(&header);
    assert!(matches!(check(&bytes), Err(PalletError::CutShort { .. })));
}

#[test]
fn bytes_between_entries_must_be_zero() {
    let mut bytes = small();
    let last = bytes.len() - 1;
    assert_eq!(bytes[last], 0, "the last entry is padded");
    bytes[last] = 1;
    seal(&mut bytes);
    assert_eq!(check(&bytes), Err(PalletError::Padding));
    let mut bytes = small();
    let between = find(&bytes, SMALL[1].1) + SMALL[1].1.len();
    bytes[between] = 1;
    seal(&mut bytes);
    assert_eq!(check(&bytes), Err(PalletError::Padding));
}

/// The offset of an entry's row in the manifest: behind its path.
fn row_of(manifest: &[u8], path: &str) -> usize {
    let len = u16::try_from(path.len()).unwrap().to_le_bytes();
    let row = [len.as_slice(), path.as_bytes()].concat();
    find(manifest, &row) + row.len()
}

#[test]
fn entries_that_overlap_leave_gaps_or_lie_elsewhere_are_refused() {
    for change in [16, 1, u64::MAX - 15, 1 << 40] {
        for field in [0, 8] {
            let bytes = with_manifest(|manifest| {
                let at = row_of(manifest, "assets/b.dh-map") + field;
                let told = u64::from_le_bytes(manifest[at..at + 8].try_into().unwrap());
                let told = told.wrapping_add(change);
                manifest[at..at + 8].copy_from_slice(&told.to_le_bytes());
            });
            assert!(Pallet::open(bytes.as_slice(), None).is_err(), "{change} in {field}");
        }
    }
}

#[test]
fn paths_out_of_order_doubled_or_forbidden_are_refused() {
    let renames: [(&str, &str); 4] = [
        ("assets/a.dh-map", "assets/c.dh-map"),
        ("assets/a.dh-map", "assets/b.dh-map"),
        ("assets/a.dh-map", "../ets/a.dh-map"),
        ("assets/a.dh-map", "/ssets/a.dh-map"),
    ];
    for (from, to) in renames {
        let bytes = with_manifest(|manifest| {
            while let Some(at) =
                manifest.windows(from.len()).position(|window| window == from.as_bytes())
            {
                manifest[at..at + to.len()].copy_from_slice(to.as_bytes());
            }
        });
        let error = Pallet::open(bytes.as_slice(), None).unwrap_err();
        let named = matches!(error, PalletError::Name { .. } | PalletError::Manifest(_));
        assert!(named, "{to}: {error}");
    }
}

#[test]
fn text_and_table_of_a_manifest_must_tell_the_same() {
    let changes: [fn(&mut [u8]); 6] = [
        |manifest| manifest[find(manifest, b"pallet\tm") + 6] = b' ',
        |manifest| manifest[find(manifest, b"\t17\t") + 1] = b'0',
        |manifest| manifest[find(manifest, b"\t17\t") + 1] = b'+',
        |manifest| manifest[find(manifest, b"assets/a.dh-map\t")] = b'b',
        |manifest| {
            let checksum = blake3::hash(b"{}").to_string();
            let at = find(manifest, checksum.as_bytes());
            manifest[at] = if manifest[at] == b'0' { b'1' } else { b'0' };
        },
        |manifest| {
            let at = row_of(manifest, "assets/a.dh-map") + 16;
            manifest[at] = 2;
        },
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let bytes = with_manifest(change);
        let error = Pallet::open(bytes.as_slice(), None).unwrap_err();
        let named = matches!(error, PalletError::Manifest(_) | PalletError::Entry { .. });
        assert!(named, "change {at}: {error}");
    }
}

#[test]
fn counts_in_a_manifest_are_not_believed() {
    for count in [0, 3, 5, 65_536, u32::MAX] {
        let bytes = with_manifest(|manifest| {
            let text = u32::from_le_bytes(manifest[..4].try_into().unwrap()) as usize;
            manifest[4 + text..8 + text].copy_from_slice(&count.to_le_bytes());
        });
        assert!(matches!(check(&bytes), Err(PalletError::Manifest(_))), "{count}");
        let bytes = with_manifest(|manifest| manifest[..4].copy_from_slice(&count.to_le_bytes()));
        assert!(matches!(check(&bytes), Err(PalletError::Manifest(_))), "{count} bytes of text");
    }
    let long = u16::try_from(PATH_BYTES_MAX + 1).unwrap().to_le_bytes();
    let bytes = with_manifest(|manifest| {
        let at = row_of(manifest, "assets/a.dh-map") - 17;
        manifest[at..at + 2].copy_from_slice(&long);
    });
    assert!(matches!(check(&bytes), Err(PalletError::Manifest(_))));
}

/// A sealed pallet with one entry that is stored and told as given.
fn told(raw_bytes: u64, encoding: Encoding, stored: Vec<u8>) -> Vec<u8> {
    let checksum = dh_wire::Root(*blake3::hash(&stored).as_bytes());
    let mut writer = Writer::new(about()).unwrap();
    let stored = Stored { encoding, raw_bytes, checksum, source: Box::new(stored) };
    writer.put("a", stored).unwrap();
    let mut out = Vec::new();
    writer.write(&mut out, xxh128, &mut |_, _| {}).unwrap();
    out
}

#[test]
fn compressed_entries_unpack_to_what_is_told_and_never_to_more() {
    let zeros = vec![0; 1 << 20];
    let packed = pack(&zeros).bytes.into_owned();
    let good = told(1 << 20, Encoding::Zstd, packed.clone());
    assert!(check(&good).is_ok());
    let torn = packed[..packed.len() - 1].to_vec();
    let followed = [packed.as_slice(), b"!"].concat();
    let twice = [packed.as_slice(), &packed].concat();
    let lies = [
        (1 << 19, packed.clone(), "unpacks to more"),
        (0, packed.clone(), "unpacks to more"),
        (1 << 21, packed, "unpacks to less"),
        (1 << 62, pack(WORDS).bytes.into_owned(), "unpacks to less"),
        (1 << 20, torn, "unpacks to less"),
        (1 << 20, followed, "bytes follow"),
        (2 << 20, twice, "bytes follow"),
        (100, noise(100, 2), "damaged"),
        (0, Vec::new(), "unpacks to less"),
    ];
    for (raw_bytes, stored, why) in lies {
        let bytes = told(raw_bytes, Encoding::Zstd, stored);
        let error = check(&bytes).unwrap_err().to_string();
        assert!(error.contains(why), "{error}, expected {why}");
        let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
        assert_eq!(pallet.read("a", u64::MAX).unwrap_err().to_string(), error);
    }
}

#[test]
fn an_entry_without_its_checksum_is_refused_when_it_is_read() {
    let mut bytes = small();
    let at = find(&bytes, b"{ \"objects\"");
    bytes[at] = b'[';
    seal(&mut bytes);
    let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
    let error = pallet.read("assets/b.dh-map", 1000).unwrap_err();
    assert!(matches!(error, PalletError::Entry { .. }), "{error}");
    assert_eq!(check(&bytes), Err(error));
    assert!(pallet.read("assets/a.dh-map", 1000).is_ok(), "the others are what they were");
}
