//! The golden packets cut, flipped, inflated and mutated, through every decoder.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use dh_messages::{
    Build, Channel, Direction, Fault, MESSAGES, MessageRow, Own, SCHEMA_WORDS, ToClient, ToServer,
    WireError, opening, schema, schema_text,
};
use dh_tests::fuzz::{BODIES, FRAMES, SCHEMAS, TEXTS};
use dh_wire::envelope::Decoder;
use dh_wire::limit::{READ_MEMORY_BASE_BYTES, READ_MEMORY_RATIO_MAX, SCHEMA_TEXT_MAX};
use dh_wire::schema::{Schema, Shape, Type, identity, pack};

use crate::fixture::{ENVELOPE, bytes_of, checked_in, file_of, packet_of, row_of};
use crate::memory::measured;
use crate::samples::samples;

pub(crate) const MUTATIONS: u64 = 10_000;
/// What all corpora may come to.
const CORPUS_FILES_MAX: usize = 64;
const CORPUS_BYTES_MAX: usize = 200 << 10;

/// WIRE-22
#[test]
fn every_message_has_an_entry_point_for_fuzzing() {
    let listed: BTreeSet<&str> = MESSAGES.iter().map(|row| row.name).collect();
    let targets: BTreeSet<&str> = BODIES.iter().map(|(name, _)| *name).collect();
    assert_eq!(targets, listed);
}

/// WIRE-22
#[test]
fn every_prefix_and_every_byte_more_is_refused() {
    for sample in samples() {
        let row = row_of(&sample);
        // What ends in a rest takes any length from there on.
        let open = ends_open(&schema(), row.shape);
        let mut packet = packet_of(&sample);
        let least = match row.shape {
            "SchemaAnswer" => 0,
            "SchemaText" => 1,
            _ if open => 6,
            _ => packet.len(),
        };
        for cut in 0..least {
            let refused = row.recode(&packet[..cut]).unwrap_err();
            assert_eq!(refused.fault, Fault::Truncated, "{} cut to {cut}", file_of(&sample));
        }
        packet.push(0);
        let more = row.recode(&packet).map_err(|e| e.fault);
        if open {
            assert_eq!(more, Ok(packet), "{}", file_of(&sample));
        } else {
            assert_eq!(more, Err(Fault::Trailing(1)), "{}", file_of(&sample));
        }
    }
}

/// Whether the last field of a message takes every byte to the end.
fn ends_open(schema: &Schema, shape: &str) -> bool {
    let Some(Shape::Record(fields)) = schema.shapes.get(shape) else { return false };
    fields.last().is_some_and(|last| last.kind == Type::Leaf(dh_wire::Kind::Rest))
}

/// WIRE-12, WIRE-22, JOIN-03
#[test]
fn no_decoder_panics_on_cuts_flips_and_huge_counts() {
    for packet in corpus() {
        for bytes in cuts(&packet).chain(flips(&packet)).chain(huge_counts(&packet)) {
            through_all(&bytes);
        }
    }
}

/// WIRE-22
#[test]
fn no_decoder_panics_on_ten_thousand_mutations() {
    let corpus = corpus();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..MUTATIONS {
        let mut bytes = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(8) {
            mutate(&mut bytes, &mut random);
        }
        through_all(&bytes);
    }
}

/// WIRE-12, JOIN-03
#[test]
fn reading_allocates_no_more_than_its_share_of_the_bytes() {
    for sample in samples() {
        let row = row_of(&sample);
        let packet = packet_of(&sample);
        for bytes in cuts(&packet).chain(flips(&packet)).chain(huge_counts(&packet)) {
            let datagram = [&[row.id][..], &bytes].concat();
            let asked = measured(|| read(row, &datagram)).1;
            let allowed = bytes.len() * READ_MEMORY_RATIO_MAX + READ_MEMORY_BASE_BYTES;
            assert!(asked <= allowed, "{}: {asked} bytes for {}", row.name, bytes.len());
        }
    }
}

#[test]
fn no_reader_of_texts_panics_on_cuts_flips_and_nonsense() {
    let written = [
        &b"# mine\n[server]\nmaxPlayers = 4\nname = \"Yard\"\n[client]\nname = \"ada\"\n"[..],
        b"tp #3 1.5 -2 1e3",
        b"connect [::1]:27015",
        b"server.maxPlayers 65",
    ];
    for text in written {
        for bytes in cuts(text).chain(flips(text)) {
            TEXTS.iter().for_each(|(name, target)| through(name, *target, &bytes));
        }
    }
}

#[test]
fn no_reader_of_schemas_panics_on_cuts_flips_and_mutations() {
    let text = schema_text().into_bytes();
    let packed = pack(&schema_text(), SCHEMA_WORDS);
    let through_both =
        |bytes: &[u8]| SCHEMAS.iter().for_each(|(name, target)| through(name, *target, bytes));
    for bytes in cuts(&packed).chain(flips(&packed)) {
        through_both(&bytes);
    }
    let mut random = Random(0x51a9_77c1_0b3e_d2f4);
    for _ in 0..MUTATIONS / 10 {
        let mut bytes = text.clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        through_both(&bytes);
    }
}

#[test]
fn reading_a_schema_allocates_no_more_than_its_share_of_the_text() {
    let own = schema_text();
    let head: String = own.split_inclusive('\n').take(3).collect();
    let lines = |line: &dyn Fn(usize) -> String| (0..6_000).map(line).collect::<String>();
    let texts = [
        own.clone(),
        format!("{head}record A\n{}", lines(&|n| format!("  a{n:x} u8\n"))),
        format!("{head}enum A u32\n{}", lines(&|n| format!("  a{n:x} {n}\n"))),
        format!("{head}union A u32\n{}", lines(&|n| format!("  a{n:x} {n} u8\n"))),
        format!("{head}{}", lines(&|n| format!("record A{n:04x}\n"))),
        format!("{head}record A\n  a {}u8{}\n", "tail(".repeat(15), ")".repeat(15)),
        format!("{head}record A\n  a {}", "tail(".repeat(10_000)),
    ];
    for text in texts {
        let (read, asked) = measured(|| Schema::read(text.as_bytes()));
        let allowed = text.len() * READ_MEMORY_RATIO_MAX + READ_MEMORY_BASE_BYTES;
        let read = read.map(|it| it.shapes.len());
        assert!(asked <= allowed, "{asked} bytes for {}, {read:?}", text.len());
    }
}

/// WIRE-22
#[test]
fn whatever_a_fuzzer_kept_is_harmless() {
    let (mut inputs, mut bytes) = (0, 0);
    for (name, target) in SCHEMAS {
        let kept = kept(name);
        assert!(!kept.is_empty(), "{name} has no corpus");
        for input in &kept {
            through(name, *target, input);
        }
        inputs += kept.len();
        bytes += kept.iter().map(Vec::len).sum::<usize>();
    }
    assert!(
        inputs <= CORPUS_FILES_MAX && bytes <= CORPUS_BYTES_MAX,
        "{inputs} files, {bytes} bytes"
    );
}

#[test]
fn a_build_takes_no_more_than_its_share_of_the_longest_text_there_may_be() {
    let own = Own::this();
    let lines = |line: &dyn Fn(usize) -> String| (0..8_000).map(line).collect::<String>();
    let known = "record ClientInfo\n";
    for fields in [
        lines(&|n| format!("  a{n:x} u8\n")),
        lines(&|n| format!("  a{n:x} optional(str8(9))\n")),
        lines(&|n| format!("  a{n:x} list8(9, f32x3)\n")),
    ] {
        let text = schema_text().replace(known, &format!("{known}{fields}"));
        assert!(text.len() <= SCHEMA_TEXT_MAX, "{}", text.len());
        let (hash, packed) = (identity(text.as_bytes()), pack(&text, SCHEMA_WORDS));
        let build = || Build::read(&own, Direction::ToServer, hash, &packed);
        let (build, asked) = measured(build);
        assert_eq!(build.map(|it| it.hash()), Ok(hash));
        let allowed = SCHEMA_TEXT_MAX + (text.len() + packed.len()) * READ_MEMORY_RATIO_MAX;
        assert!(asked <= allowed, "{asked} bytes for {}", text.len());
    }
}

/// The inputs in a target's corpus.
pub(crate) fn kept(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let files = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

/// JOIN-03
#[test]
fn an_opening_of_any_length_takes_no_memory_at_all() {
    for len in 0..2_000 {
        let body = vec![0xff; len];
        assert_eq!(measured(|| opening(&body)).1, 0, "{len} bytes");
    }
}

/// WIRE-12
#[test]
fn a_stream_holds_no_more_than_what_has_arrived() {
    let mut decoder = Decoder::new();
    // A body of a mebibyte is announced, and ten bytes of it come.
    let announced = [&[0, 0, 16, 0, 1][..], &[7; 10]].concat();
    let asked = measured(|| decoder.push(&announced)).1;
    assert!(asked <= announced.len() * 4, "{asked} bytes");
    assert_eq!(measured(|| decoder.pull().map(|frame| frame.is_none())), (Ok(true), 0));
}

fn read(row: &MessageRow, datagram: &[u8]) -> Result<(), WireError> {
    let (direction, channel) = (row.direction, row.channel);
    match (direction, channel) {
        (Direction::ToServer, Channel::Stream) => {
            ToServer::from_stream(row.id, &datagram[1..]).map(drop)
        }
        (Direction::ToServer, Channel::Blob) => {
            ToServer::from_blob(row.id, &datagram[1..]).map(drop)
        }
        (Direction::ToServer, Channel::Datagram) => ToServer::from_datagram(datagram).map(drop),
        (Direction::ToClient, Channel::Stream) => {
            ToClient::from_stream(row.id, &datagram[1..]).map(drop)
        }
        (Direction::ToClient, Channel::Blob) => {
            ToClient::from_blob(row.id, &datagram[1..]).map(drop)
        }
        (Direction::ToClient, Channel::Datagram) => ToClient::from_datagram(datagram).map(drop),
    }
}

/// Every packet, also behind its number as a datagram; a frame; openings from before the exchange.
fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = Vec::new();
    for sample in samples() {
        let packet = packet_of(&sample);
        corpus.push([&[row_of(&sample).id][..], &packet].concat());
        corpus.push(packet);
    }
    corpus.push([&[3][..], &bytes_of(&checked_in()[ENVELOPE])].concat());
    corpus.push(80_u32.to_le_bytes().to_vec());
    corpus.push([&80_u32.to_le_bytes()[..], b"\x05alice"].concat());
    corpus
}

fn through_all(bytes: &[u8]) {
    for (name, target) in BODIES.iter().chain(FRAMES) {
        through(name, *target, bytes);
    }
}

fn through(name: &str, target: fn(&[u8]), bytes: &[u8]) {
    if catch_unwind(|| target(bytes)).is_err() {
        panic!("fuzz target {name} failed on {bytes:02x?}");
    }
}

fn cuts(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..=packet.len()).map(|cut| packet[..cut].to_vec())
}

fn flips(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..packet.len() * 8).map(|bit| {
        let mut flipped = packet.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

/// Each place overwritten by the largest numbers of one, two and four bytes.
fn huge_counts(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let widths = [1, 2, 4].into_iter();
    widths.flat_map(move |width| {
        (0..packet.len().saturating_sub(width)).map(move |at| {
            let mut huge = packet.to_vec();
            huge[at..at + width].fill(0xff);
            huge
        })
    })
}

pub(crate) fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(5) {
        0 => bytes.truncate(at),
        1 => bytes.insert(at, random.byte()),
        2 => bytes.extend((0..random.below(9)).map(|_| random.byte())),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.byte();
            }
        }
    }
}

/// The same numbers on every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
