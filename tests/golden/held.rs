//! Every codec against the files, in both directions, and the schema alone over every file.

use std::collections::BTreeSet;
use std::path::Path;

use dh_messages::{MESSAGES, ToServer, schema, schema_hash};
use dh_wire::envelope::Decoder;
use dh_wire::schema::{Schema, Shape, identity};
use dh_wire::stride::stride;

use crate::fixture::{
    ENVELOPE, SCHEMA, built, bytes_of, checked_in, differences, file_of, packet_of, row_of, write,
};
use crate::samples::samples;

/// FIX-01
#[test]
fn every_message_has_a_packet_and_every_packet_a_sample() {
    let sampled: BTreeSet<_> = samples().iter().map(|it| (it.direction, it.message)).collect();
    let listed: BTreeSet<_> = MESSAGES.iter().map(|row| (row.direction, row.name)).collect();
    assert_eq!(sampled, listed);
    for sample in samples() {
        assert!(checked_in().contains_key(&file_of(&sample)), "{}", file_of(&sample));
    }
    let packets = samples().len() + [ENVELOPE, SCHEMA].len();
    assert_eq!(checked_in().len(), packets, "a file belongs to no sample");
}

/// FIX-01, FIX-04, WIRE-19
#[test]
fn the_files_are_what_the_samples_and_the_schema_give() {
    let found = differences(checked_in(), &built());
    assert!(found.is_empty(), "DH_WIRE_FIXTURES=write rewrites the files: {found:#?}");
}

/// FIX-02, WIRE-03
#[test]
fn every_packet_reads_as_its_value_and_the_value_gives_the_packet() {
    for sample in samples() {
        let (name, packet) = (file_of(&sample), packet_of(&sample));
        assert!((sample.reads)(&packet), "{name} reads as another value");
        assert_eq!(packet, sample.body, "{name}: value to bytes");
        let row = row_of(&sample);
        assert_eq!(row.recode(&packet).as_ref(), Ok(&packet), "{name}: bytes to value to bytes");
    }
}

/// FIX-03, PLAN-08, WIRE-01, WIRE-03
#[test]
fn the_schema_alone_walks_every_packet_to_its_last_byte() {
    let schema = Schema::read(checked_in()[SCHEMA].as_bytes()).unwrap();
    for sample in samples() {
        let (name, packet) = (file_of(&sample), packet_of(&sample));
        let mut reached = 0;
        let mut visit = |step: &dh_wire::stride::Step<'_>| reached = step.range.end;
        stride(&schema, row_of(&sample).shape, &packet, &mut visit)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(reached, packet.len(), "{name}");
    }
}

/// FIX-04
#[test]
fn rewriting_changes_nothing_unless_a_field_table_changed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden-rewritten");
    write(&folder, &built());
    assert_eq!(differences(checked_in(), &crate::fixture::load(&folder)), [""; 0]);

    // Another byte, another name in the schema, a file less and a file more are each noticed.
    let name = "toServer.clientReady.hex".to_owned();
    let mut changed = built();
    *changed.get_mut(&name).unwrap() = "# map_generation=3\n04 00 00 00\n".to_owned();
    assert_eq!(differences(checked_in(), &changed), [format!("{name} differs")]);
    let mut renamed = built();
    let text = renamed.get_mut(SCHEMA).unwrap();
    *text = text.replace("map_generation", "generation");
    assert_eq!(differences(checked_in(), &renamed), [format!("{SCHEMA} differs")]);
    let mut fewer = built();
    fewer.remove(&name);
    assert_eq!(differences(checked_in(), &fewer), [format!("{name} belongs to no sample")]);
    assert_eq!(differences(&fewer, &built()), [format!("{name} is missing")]);

    // Writing removes what no sample gives any more.
    write(&folder, &fewer);
    assert!(!folder.join(&name).exists());
}

/// WIRE-20
#[test]
fn the_hash_of_the_checked_in_text_is_the_one_this_build_reports() {
    assert_eq!(identity(checked_in()[SCHEMA].as_bytes()), schema_hash());
}

/// WIRE-18
#[test]
fn the_checked_in_frame_comes_out_of_a_stream() {
    let packet = bytes_of(&checked_in()[ENVELOPE]);
    let mut decoder = Decoder::new();
    for byte in packet {
        decoder.push(&[byte]);
    }
    let frame = decoder.pull().unwrap().unwrap();
    let message = ToServer::from_stream(frame.id, frame.body).unwrap();
    assert_eq!(message.name(), "clientReady");
}

/// WIRE-21
#[test]
fn no_packet_carries_a_name_of_the_schema() {
    let names = names(&schema());
    for sample in samples() {
        let packet = packet_of(&sample);
        let text = String::from_utf8_lossy(&packet).to_ascii_lowercase();
        for name in names.iter().filter(|name| name.len() > 3) {
            let found = text.contains(&name.to_ascii_lowercase());
            assert!(!found, "{} carries {name}", file_of(&sample));
        }
    }
}

/// The names of all fields and cases.
fn names(schema: &Schema) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for shape in schema.shapes.values() {
        match shape {
            Shape::Record(fields) | Shape::Sparse(_, fields) => {
                names.extend(fields.iter().map(|field| field.name.clone()));
            }
            Shape::Union(_, cases) => names.extend(cases.iter().map(|case| case.name.clone())),
            // Their names are words that a line of text may well hold.
            Shape::Enum { .. } | Shape::Flags(..) => {}
        }
    }
    names
}
