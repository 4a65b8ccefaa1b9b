//! What another build's word may cost: memory for each of its bytes and a constant, and a time that
//! its bytes alone decide.
//!
//! Every allocation counts, those that were freed again included. Never: a bound of memory of its
//! own; they stand in `dh_wire::limit`.

use std::time::Instant;

use dh_messages::{SCHEMA_WORDS, schema_text};
use dh_tests::fuzz::{SCHEMAS, another_build, own_build};
use dh_tests::shapes;
use dh_wire::Plan;
use dh_wire::limit::{
    PLAN_MEMORY_BASE_BYTES, READ_MEMORY_BASE_BYTES, READ_MEMORY_RATIO_MAX,
    REWRITE_MEMORY_BASE_BYTES, UNPACK_MEMORY_BASE_BYTES,
};
use dh_wire::plan::{Planned, Scratch};
use dh_wire::schema::{Schema, pack, unpack};

use crate::fixture::packet_of;
use crate::hostile::{MUTATIONS, Random, kept, mutate};
use crate::memory::measured;
use crate::samples::samples;

/// Two inputs that XXH128 does not tell apart.
const ALIKE: [[u64; 4]; 2] = [
    [0xf951_1541_566a_41c7, 0x06ae_eabe_a995_be38, 0, 0],
    [0x06ae_eabe_a995_be38, 0xf951_1541_566a_41c7, 0, 0],
];

/// What the work gives, if it allocates no more than the share of so many bytes and this beside it.
fn within<T>(what: &str, bytes: usize, base: usize, work: impl FnOnce() -> T) -> T {
    let (done, asked) = measured(work);
    let allowed = bytes * READ_MEMORY_RATIO_MAX + base;
    assert!(asked <= allowed, "{what} {bytes} bytes asks for {asked}, at most {allowed}");
    done
}

#[test]
fn reading_and_unpacking_a_schema_allocates_no_more_than_its_share() {
    let own = schema_text().into_bytes();
    let packed = pack(&schema_text(), SCHEMA_WORDS);
    let bomb = pack(&"a".repeat(32 << 20), SCHEMA_WORDS);
    let mut inputs: Vec<Vec<u8>> = SCHEMAS.iter().flat_map(|(name, _)| kept(name)).collect();
    inputs.extend(ALIKE.map(|words| words.iter().flat_map(|it| it.to_le_bytes()).collect()));
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for seed in [&own, &packed] {
        inputs.extend((0..MUTATIONS / 20).map(|_| {
            let mut bytes = seed.clone();
            mutate(&mut bytes, &mut random);
            bytes
        }));
    }
    inputs.extend(costly().map(String::into_bytes));
    inputs.extend([own, packed, bomb]);
    for bytes in inputs {
        let _ = within("reading", bytes.len(), READ_MEMORY_BASE_BYTES, || Schema::read(&bytes));
        let unpacked = within("unpacking", bytes.len(), UNPACK_MEMORY_BASE_BYTES, || {
            unpack(&bytes, SCHEMA_WORDS)
        });
        if let Ok(text) = unpacked {
            let read = || Schema::read(text.as_bytes());
            let _ = within("reading", text.len(), READ_MEMORY_BASE_BYTES, read);
        }
    }
}

#[test]
fn making_and_carrying_out_a_plan_allocates_no_more_than_its_share() {
    let texts = costly().chain([own_build().text()]);
    let texts = texts.map(|text| Schema::read(text.as_bytes()).unwrap());
    let inputs = SCHEMAS.iter().flat_map(|(name, _)| kept(name));
    let chosen = inputs.filter_map(|bytes| another_build(&bytes).map(|(peer, _)| peer));
    let mut bodies: Vec<Vec<u8>> = samples().iter().map(packet_of).collect();
    bodies.extend([shapes::packet(), vec![0; 64], vec![1; 64], vec![0xff; 64]]);
    for peer in texts.chain(chosen) {
        let text = peer.text().len();
        for direction in ["toServer", "toClient"] {
            let theirs = peer.clone();
            let plan = || Plan::new(own_build(), theirs, direction);
            let Ok(plan) = within("planning", text, PLAN_MEMORY_BASE_BYTES, plan) else { continue };
            for message in peer.messages.iter().filter(|it| it.direction == direction) {
                for body in &bodies {
                    within("rewriting", body.len(), REWRITE_MEMORY_BASE_BYTES, || {
                        plan.rewrite(message.id, body, &mut Scratch::default()).is_ok()
                    });
                }
            }
        }
    }
}

/// How many times longer than any other a packet may take to be stepped over that has as many
/// bytes. A search among the names would take hundreds of times as long.
const LONGER_MAX: f64 = 30.0;

#[test]
fn what_only_a_peer_has_is_stepped_over_as_fast_whatever_its_schema_says_of_it() {
    let lines = |line: &dyn Fn(usize) -> String| (0..8_000).map(line).collect::<String>();
    let shapes: String = (0..8_000).map(|n| format!("record Za{n:04}\n  a u8\n")).collect();
    let chain: String = (0..9).map(|n| format!("record Zz{n}\n  a Zz{}\n", n + 1)).collect();
    let few = took("union Zz u16\n  a 7999 u8\n", "Zz", &[0x3f, 0x1f, 0]);
    for (shapes, kind, entry) in [
        (
            format!("enum Zz u16\n{}", lines(&|n| format!("  a{n:x} {n}\n"))),
            "Zz",
            &[0x3f, 0x1f][..],
        ),
        (
            format!("union Zz u16\n{}", lines(&|n| format!("  a{n:x} {n} u8\n"))),
            "Zz",
            &[0x3f, 0x1f, 0],
        ),
        (shapes + &chain + "record Zz9\n  a varu32\n", "Zz0", &[7]),
    ] {
        let many = took(&shapes, kind, entry);
        let what = shapes.lines().next();
        assert!(many < few * LONGER_MAX, "{many} s a byte, and {few} s usually: {what:?}");
    }
}

/// How many seconds it takes at best for each byte to step over lists of entries of a kind that
/// only the peer has.
fn took(shapes: &str, kind: &str, entry: &[u8]) -> f64 {
    let (own, shape) = (schema_text(), "record ClientReady\n");
    let field = format!("{shape}  a list8(1, list16(60000, {kind}))\n");
    let text = own.replace(shape, &field) + shapes;
    let peer = Schema::read(text.as_bytes()).unwrap();
    let id = peer.messages.iter().find(|it| it.name == "clientReady").unwrap().id;
    let plan = Plan::new(own_build(), peer, "toServer").unwrap();
    let body = [&[1, 0x60, 0xea], &*entry.repeat(60_000), &[0; 4]].concat();
    let mut scratch = Scratch::default();
    let mut once = || {
        let began = Instant::now();
        assert_eq!(plan.rewrite(id, &body, &mut scratch), Ok(Planned::Rewritten(id)));
        began.elapsed().as_secs_f64() / body.len() as f64
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Schemas that cost much for their length: shapes that are used in many places have many fields
/// more, in front of all others or with the others in another order.
fn costly() -> impl Iterator<Item = String> {
    let shapes = ["Content", "MapAdvert", "EntityState", "OwnerDetail", "PlayerInput", "Pair"];
    // As many as no schema may have more of, where a shape is used in five places.
    let kinds = [
        ("u8", 3_000),
        ("str8(1)", 3_000),
        ("list8(1, u16)", 1_500),
        ("optional(section(str16(9)))", 800),
    ];
    shapes.into_iter().flat_map(move |shape| {
        kinds.into_iter().map(move |(kind, count)| {
            let more: String = (0..count).map(|n| format!("  a{n:x} {kind}\n")).collect();
            let text = own_build().text();
            let start = format!("record {shape}\n");
            let (before, after) = text.split_once(&start).expect("the shape is there");
            let (first, after) = after.split_once('\n').expect("it has a field");
            format!("{before}{start}{more}{}", swapped(first, after))
        })
    })
}

/// A field behind the one after it.
fn swapped(first: &str, after: &str) -> String {
    match after.split_once('\n') {
        Some((second, rest)) if second.starts_with("  ") => format!("{second}\n{first}\n{rest}"),
        _ => format!("{first}\n{after}"),
    }
}
