//! What does not fit is lost, and is told to be.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::plan::{Lost, Plan, Scratch};
use crate::schema::Schema;

/// A build whose only message holds a value of this type, with shapes that it may name.
fn build(kind: &str, shapes: &str) -> Schema {
    let head = "protocol 2\nenvelope length u32 id u8 body(1048576)\ndatagram id u8 body\n";
    let message = "message toServer 7 it stream It\n";
    let text = format!("{head}{message}record It\n  value {kind}\n{shapes}");
    Schema::read(text.as_bytes()).unwrap()
}

/// What is lost of the value from one type to another, and what comes of these bytes.
fn plan(from: &str, to: &str, packet: &[u8]) -> (Vec<Lost>, Vec<u8>) {
    read((from, ""), (to, ""), packet)
}

fn read(from: (&str, &str), to: (&str, &str), packet: &[u8]) -> (Vec<Lost>, Vec<u8>) {
    let plan = Plan::new(&build(to.0, to.1), build(from.0, from.1), "toServer").unwrap();
    let mut scratch = Scratch::default();
    let planned = plan.rewrite(7, packet, &mut scratch).unwrap();
    let made = planned.message(packet, &scratch).unwrap().1.to_vec();
    let told = plan.losses(7).unwrap().iter();
    (told.inspect(|it| assert_eq!(it.path, "value")).map(|it| it.lost).collect(), made)
}

#[test]
fn a_number_that_may_not_fit_is_told_and_one_that_always_does_is_not() {
    let none = [0; 8];
    assert_eq!(plan("u64", "u32", &u64::MAX.to_le_bytes()), (vec![Lost::Range], vec![0; 4]));
    assert_eq!(plan("i8", "u16", &[0xff]), (vec![Lost::Range], vec![0; 2]));
    assert_eq!(plan("varu32", "u16", &[0x80, 0x80, 4]), (vec![Lost::Range], vec![0; 2]));
    assert_eq!(plan("f64", "f32", &f64::MAX.to_le_bytes()), (vec![Lost::Rounded], vec![0; 4]));
    for (from, to) in [("u32", "u64"), ("u8", "i16"), ("u32", "varu32"), ("u16", "u16")] {
        let packet = &none[..from[1..].parse::<usize>().unwrap() / 8];
        assert_eq!(plan(from, to, packet).0, [], "{from} {to}");
    }
    assert_eq!(plan("f32", "f64", &none[..4]).0, []);
}

#[test]
fn a_text_or_a_list_that_may_be_too_long_is_told_with_the_readers_cap() {
    let text = |len: u16| {
        let mut packet = len.to_le_bytes().to_vec();
        packet.resize(2 + usize::from(len), b'a');
        packet
    };
    assert_eq!(plan("str16(1024)", "str16(512)", &text(513)), (vec![Lost::Text(512)], vec![0; 2]));
    assert_eq!(plan("str16(1024)", "str8(9)", &text(10)), (vec![Lost::Text(9)], vec![0]));
    assert_eq!(plan("str16(512)", "str16(1024)", &text(512)), (vec![], text(512)));
    assert_eq!(
        plan("list8(3, u8)", "list16(2, u8)", &[3, 1, 2, 3]),
        (vec![Lost::Entries(2)], vec![0; 2])
    );
    assert_eq!(plan("list8(2, u8)", "list16(3, u8)", &[1, 5]), (vec![], vec![1, 0, 5]));
}

#[test]
fn a_value_without_a_name_is_told_where_a_plan_reads_an_open_enum() {
    let shape = |open: &str| -> String { format!("{open}enum Mood u8\n  Calm 0\n") };
    let (open, closed) = (shape("open "), shape(""));
    assert_eq!(read(("Mood", &open), ("Mood", &closed), &[9]), (vec![Lost::Unnamed], vec![0]));
    assert_eq!(read(("Mood", &closed), ("Mood", &open), &[0]), (vec![], vec![0]));
}
