//! Opening and reading: how little is read, and that all of it is proved.

use super::{Counted, GROUP_BYTES, SMALL, WORDS, content, large, noise, small};
use crate::source::count;
use crate::{Barcode, Header, Pallet, PalletError, peek_id, verify, xxh128};

/// MR-19, MR-26
#[test]
fn the_identity_of_a_pallet_costs_one_header() {
    let bytes = large();
    let source = Counted::new(&bytes);
    assert_eq!(Header::read(&source).map(|header| header.content), Ok(content(&bytes)));
    assert_eq!(source.read.get(), 128);
}

/// MR-26
#[test]
fn the_id_of_a_pallet_costs_a_header_and_a_line() {
    let bytes = large();
    let source = Counted::new(&bytes);
    assert_eq!(peek_id(&source).as_deref(), Ok("museum"));
    assert!(source.read.get() < 256);
}

/// MR-33, MR-34
#[test]
fn a_pallet_of_version_1_is_refused_from_its_header_with_this_text() {
    let mut bytes = large();
    bytes[8] = 1;
    let text = "Pallet format v1 cannot be read by this build (expected v2) - recompile the \
                pallet with 'dh build'";
    let source = Counted::new(&bytes);
    let error = Pallet::open(&source, None).unwrap_err();
    assert_eq!((error.to_string().as_str(), error), (text, PalletError::Version(1)));
    assert_eq!(source.read.get(), 128);
    // The header of version 1 was shorter.
    assert_eq!(Header::decode(&bytes[..12]), Err(PalletError::Version(1)));
}

/// MR-18
#[test]
fn only_the_pallet_that_was_asked_for_is_opened() {
    let (bytes, wanted) = (small(), content(&large()));
    assert!(Pallet::open(bytes.as_slice(), Some(&content(&bytes))).is_ok());
    let refused = Pallet::open(bytes.as_slice(), Some(&wanted)).unwrap_err();
    assert!(matches!(refused, PalletError::OtherFingerprint { .. }), "{refused}");
    let mut other = content(&bytes);
    other.root.0[31] ^= 1;
    let source = Counted::new(&bytes);
    let refused = Pallet::open(&source, Some(&other)).unwrap_err();
    assert!(refused.to_string().starts_with("fingerprint equal, content differs"), "{refused}");
    assert_eq!(source.read.get(), 128, "its body is left unread");
}

#[test]
fn files_are_read_as_they_were_put() {
    let bytes = small();
    let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
    for (path, file) in SMALL {
        assert_eq!(pallet.read(path, 1000).as_deref(), Ok(*file), "{path}");
    }
    assert_eq!(pallet.read("assets", 1000), Err(PalletError::NoEntry("assets".to_owned())));
}

#[test]
fn a_file_over_the_readers_bound_is_refused_before_it_is_unpacked() {
    let bytes = small();
    let source = Counted::new(&bytes);
    let pallet = Pallet::open(&source, None).unwrap();
    let before = source.read.get();
    let refused = pallet.read("notes/words.txt", count(WORDS.len()) - 1).unwrap_err();
    assert!(matches!(refused, PalletError::TooLarge { .. }), "{refused}");
    assert_eq!(source.read.get(), before);
}

#[test]
fn a_byte_that_changes_after_opening_is_found_when_it_is_read() {
    let bytes = large();
    let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
    let mut changed = bytes.clone();
    changed[bytes.len() - 200] ^= 1;
    let held = Pallet::open(Changing { before: bytes.clone(), after: changed }, None);
    assert_eq!(held.unwrap().read("noise", 1 << 20), Err(PalletError::BadGroup { group: 4 }));
    assert_eq!(pallet.read("noise", 1 << 20), Ok(noise(4 * GROUP_BYTES + 100, 7)));
}

/// MR-16
#[test]
fn a_pallet_tells_all_its_maps_by_barcode() {
    let bytes = small();
    let pallet = Pallet::open(bytes.as_slice(), None).unwrap();
    let maps: Vec<String> = pallet.manifest().maps().map(|map| map.to_string()).collect();
    assert_eq!(maps, ["museum:assets/a.dh-map", "museum:assets/b.dh-map"]);
}

/// MR-14, MR-15
#[test]
fn a_barcode_is_divided_at_its_first_colon_and_reads_as_it_is_shown() {
    let barcode = Barcode::parse("museum:assets/halls/a.dh-map").unwrap();
    assert_eq!(
        (barcode.pallet.as_str(), barcode.path.as_str()),
        ("museum", "assets/halls/a.dh-map")
    );
    assert!(barcode.is_map());
    assert_eq!(Barcode::parse(&barcode.to_string()), Ok(barcode));
    assert!(!Barcode::parse("museum:notes/a.dh-map").unwrap().is_map());
    assert!(!Barcode::parse("museum:assets/.dh-map").unwrap().is_map());
    assert!(!Barcode::parse("museum:assets/halls/.dh-map").unwrap().is_map());
    for text in ["museum", "", ":assets/a.dh-map", "museum:", "Museum:a", "m:../a", "m:a:b"] {
        assert!(Barcode::parse(text).is_err(), "{text}");
    }
}

/// MR-130
#[test]
fn verifying_reads_all_in_small_pieces_and_tells_how_far_it_is() {
    let bytes = large();
    let source = Counted::new(&bytes);
    let mut told = Vec::new();
    let wanted = content(&bytes);
    let done = verify(&source, Some(&wanted), xxh128, &mut |done, all| told.push((done, all)));
    assert_eq!(done, Ok(wanted));
    assert!(source.largest.get() <= count(GROUP_BYTES));
    // The manifest's group is read twice: once as the manifest, once for what follows it.
    assert!(source.read.get() <= count(bytes.len() + GROUP_BYTES));
    assert!(told.is_sorted());
    assert_eq!(told.last(), Some(&(count(bytes.len()), count(bytes.len()))));
}

/// A source whose body changes once its header, table and manifest were read.
#[derive(Debug)]
struct Changing {
    before: Vec<u8>,
    after: Vec<u8>,
}

impl crate::Source for Changing {
    fn len(&self) -> Result<u64, dh_machine::DiskError> {
        Ok(count(self.before.len()))
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, dh_machine::DiskError> {
        let opened = offset > count(GROUP_BYTES);
        if opened { &self.after } else { &self.before }.as_slice().read_at(offset, buf)
    }
}
