//! Packets of older builds, read as a peer of theirs is: through a plan made from their schema.
//!
//! Each folder of `frozen` is one build, called by the first digits of its schema's hash; a folder
//! more is a build more. Never: a file rewritten, or a name of a message.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::OnceLock;

use dh_messages::{MESSAGES, schema};
use dh_tests::shapes::below;
use dh_wire::envelope::Decoder;
use dh_wire::plan::{Plan, Planned, Scratch};
use dh_wire::schema::{Edit, MessageEntry, Schema, Shape, Type};
use dh_wire::stride::stride;

use crate::fixture::{ENVELOPE, Files, SCHEMA, bytes_of, checked_in, mode};
use crate::sealed::{beside, freeze, seal, sealed};

const DIRECTIONS: [&str; 2] = ["toServer", "toClient"];

/// One build.
struct Build {
    files: Files,
    schema: Schema,
}

/// One packet of a build.
struct Packet<'a> {
    file: &'a str,
    direction: &'a str,
    /// The build's number for the message, and its shape.
    id: u8,
    shape: &'a str,
    body: Vec<u8>,
}

/// Every build that was frozen, by the name of its folder.
fn builds() -> &'static BTreeMap<String, Build> {
    static BUILDS: OnceLock<BTreeMap<String, Build>> = OnceLock::new();
    BUILDS.get_or_init(|| {
        // What is rewritten is rewritten first.
        let current = checked_in();
        if mode("freeze") {
            let name = schema().identity().short().to_string();
            freeze(&beside("frozen").join(name), current.clone());
        }
        let folders = fs::read_dir(beside("frozen")).unwrap().map(|entry| entry.unwrap().path());
        folders
            .map(|folder| {
                let files = sealed(&folder);
                let schema = Schema::read(files[SCHEMA].as_bytes()).unwrap();
                let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
                (name, Build { files, schema })
            })
            .collect()
    })
}

impl Build {
    /// Its packets, that in an envelope taken out of it.
    fn packets(&self) -> impl Iterator<Item = Packet<'_>> {
        self.files.iter().filter(|(file, _)| *file != SCHEMA).map(|(file, text)| {
            let bytes = bytes_of(text);
            if file == ENVELOPE {
                let mut decoder = Decoder::new();
                decoder.push(&bytes);
                let frame = decoder.pull().unwrap().unwrap();
                return self.packet(file, DIRECTIONS[0], |entry| entry.id == frame.id, frame.body);
            }
            let (direction, rest) = file.split_once('.').unwrap();
            let name = rest.split('.').next().unwrap();
            self.packet(file, direction, |entry| entry.name == name, &bytes)
        })
    }

    fn packet<'a>(
        &'a self,
        file: &'a str,
        direction: &'a str,
        is_it: impl Fn(&MessageEntry) -> bool,
        body: &[u8],
    ) -> Packet<'a> {
        let mut entries = self.schema.messages.iter();
        let entry = entries.find(|entry| entry.direction == direction && is_it(entry));
        let MessageEntry { id, shape, .. } =
            entry.unwrap_or_else(|| panic!("{file} is no message"));
        Packet { file, direction, id: *id, shape, body: body.to_vec() }
    }
}

/// How one build reads another, in both directions.
struct Plans([Plan; 2]);

impl Plans {
    fn new(own: &Schema, peer: &Schema) -> Self {
        Self(DIRECTIONS.map(|direction| Plan::new(own, peer.clone(), direction).unwrap()))
    }

    /// The reader's number and body of a packet, and whether it was rewritten; nothing where the
    /// reader has no such message.
    fn read(&self, direction: &str, id: u8, body: &[u8]) -> Option<(u8, Vec<u8>, bool)> {
        let plan = &self.0[DIRECTIONS.iter().position(|it| *it == direction).unwrap()];
        let mut scratch = Scratch::default();
        match plan.rewrite(id, body, &mut scratch).unwrap() {
            Planned::Same(id) => Some((id, body.to_vec(), false)),
            Planned::Rewritten(id) => Some((id, scratch.body().to_vec(), true)),
            Planned::Unknown => None,
        }
    }
}

/// What this build's reader makes of a body: what its writer gives for it.
fn own(direction: &str, id: u8, body: &[u8]) -> Vec<u8> {
    let mut rows = MESSAGES.iter();
    let row = rows.find(|row| (row.direction.word(), row.id) == (direction, id)).unwrap();
    row.recode(body).unwrap_or_else(|e| panic!("{direction} {id}: {e}"))
}

/// Builds after this one, each with one kind of change wherever there is a place for it. None
/// loses anything of a packet.
fn later(build: &Schema) -> Vec<(&'static str, Schema)> {
    let mut builds = Vec::new();
    for what in ["added", "moved", "widened", "renumbered"] {
        let mut later = build.clone();
        for (name, shape) in &build.shapes {
            for edit in edits(what, name, shape) {
                let mut edited = later.clone();
                let is_edited = edited.edit(&edit).is_ok();
                // Nothing may follow a rest.
                if is_edited && Schema::read(edited.text().as_bytes()).is_ok() {
                    later = edited;
                }
            }
        }
        builds.push((what, later));
    }
    builds
}

fn edits(what: &str, name: &str, shape: &Shape) -> Vec<Edit> {
    let shape_name = || name.to_owned();
    match (what, shape) {
        ("added", Shape::Record(_) | Shape::Sparse(..)) => {
            let kind = Type::Optional(Type::Str8(9).into());
            vec![Edit::Add { shape: shape_name(), at: 0, name: "added".into(), kind }]
        }
        ("moved", Shape::Record(fields) | Shape::Sparse(_, fields)) => {
            // A list stands behind what counts it.
            let is_counted = |kind: &Type| kind.to_string().starts_with("counted");
            let is_fixed = fields.iter().any(|field| is_counted(&field.kind));
            let first = fields.first().filter(|_| !is_fixed);
            let moved =
                first.map(|it| Edit::Move { shape: shape_name(), name: it.name.clone(), to: 1 });
            moved.into_iter().collect()
        }
        ("widened", Shape::Record(fields) | Shape::Sparse(_, fields)) => {
            let names = fields.iter().map(|field| Some(field.name.clone()));
            names.map(|name| Edit::Widen { shape: shape_name(), name }).collect()
        }
        ("widened", Shape::Union(..) | Shape::Flags(..)) => {
            vec![Edit::Widen { shape: shape_name(), name: None }]
        }
        // Values without a name have no other number.
        ("renumbered", Shape::Enum { open: false, .. } | Shape::Flags(..) | Shape::Union(..)) => {
            vec![Edit::Renumber { shape: shape_name() }]
        }
        _ => Vec::new(),
    }
}

/// FIX-05
#[test]
fn what_is_frozen_stays_as_it_was() {
    assert!(!builds().is_empty());
    for (name, build) in builds() {
        assert_eq!(*name, build.schema.identity().short().to_string(), "named by its schema");
        // Reading has asked for its seal, which breaks at any change.
        for file in build.files.keys() {
            let mut changed = build.files.clone();
            changed.get_mut(file).unwrap().push('\n');
            assert_ne!(seal(&changed), seal(&build.files), "{name}/{file}");
            changed.remove(file);
            assert_ne!(seal(&changed), seal(&build.files), "{name}/{file}");
        }
    }
}

/// FIX-01
#[test]
fn every_message_of_a_frozen_build_has_a_packet() {
    for (name, build) in builds() {
        let packets: BTreeSet<_> =
            build.packets().map(|it| (it.direction.to_owned(), it.id)).collect();
        let messages = build.schema.messages.iter().map(|it| (it.direction.clone(), it.id));
        assert_eq!(packets, messages.collect(), "{name}");
    }
}

/// FIX-03, PLAN-08, WIRE-03
#[test]
fn a_frozen_schema_alone_walks_its_packets_to_their_last_byte() {
    for (name, build) in builds() {
        for Packet { file, shape, body, .. } in build.packets() {
            let mut reached = 0;
            stride(&build.schema, shape, &body, &mut |step| reached = step.range.end)
                .unwrap_or_else(|e| panic!("{name}/{file}: {e}"));
            assert_eq!(reached, body.len(), "{name}/{file}");
        }
    }
}

/// FIX-06
#[test]
fn every_frozen_packet_reads_through_a_plan_made_from_its_schema_alone() {
    for build in builds().values() {
        let plans = Plans::new(&schema(), &build.schema);
        for Packet { file, direction, id, body, .. } in build.packets() {
            let Some((id, body, _)) = plans.read(direction, id, &body) else {
                let gone = MESSAGES.iter().all(|row| {
                    !file.starts_with(&format!("{}.{}.", row.direction.word(), row.name))
                });
                assert!(gone, "{file} is not read, and its message is there");
                continue;
            };
            own(direction, id, &body);
        }
    }
}

/// FIX-07
#[test]
fn a_frozen_packet_of_unchanged_shapes_comes_back_byte_for_byte() {
    let today = schema();
    for (name, build) in builds() {
        let plans = Plans::new(&today, &build.schema);
        let mut unchanged = 0;
        for Packet { file, direction, id, shape, body } in build.packets() {
            let Some((id, read, is_rewritten)) = plans.read(direction, id, &body) else { continue };
            let (mut then, mut now) = (BTreeMap::new(), BTreeMap::new());
            below(&build.schema, shape, &mut then);
            let mut rows = MESSAGES.iter();
            let row = rows.find(|row| (row.direction.word(), row.id) == (direction, id)).unwrap();
            below(&today, row.shape, &mut now);
            if then == now {
                assert!(!is_rewritten, "{name}/{file}");
                assert_eq!(own(direction, id, &read), body, "{name}/{file}");
                unchanged += 1;
            }
        }
        assert!(unchanged > 0, "{name}: the shapes of the frame never change");
    }
}

/// FIX-06, FIX-07, PLAN-03, PLAN-05
#[test]
fn a_frozen_packet_means_the_same_by_way_of_later_builds() {
    for (name, build) in builds() {
        let straight = Plans::new(&schema(), &build.schema);
        for (what, later) in later(&build.schema) {
            let (to, from) = (Plans::new(&later, &build.schema), Plans::new(&schema(), &later));
            let mut rewritten = 0;
            for Packet { file, direction, id, body, .. } in build.packets() {
                let (id_there, there, is_rewritten) = to.read(direction, id, &body).unwrap();
                let entry = |it: &&MessageEntry| (&*it.direction, it.id) == (direction, id_there);
                let shape = &later.messages.iter().find(entry).unwrap().shape;
                let walked = stride(&later, shape, &there, &mut |_| {});
                assert_eq!(walked, Ok(()), "{name}/{file} {what}");
                let read = |read: Option<(u8, Vec<u8>, bool)>| {
                    read.map(|(id, body, _)| (id, own(direction, id, &body)))
                };
                let (expected, found) = (
                    read(straight.read(direction, id, &body)),
                    read(from.read(direction, id_there, &there)),
                );
                assert_eq!(found, expected, "{name}/{file} {what}");
                rewritten += usize::from(is_rewritten);
            }
            assert!(rewritten > 0, "{name}: nothing is {what}");
        }
    }
}
