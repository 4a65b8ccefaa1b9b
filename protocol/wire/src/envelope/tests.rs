//! Frames, however a stream is cut.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Decoder, Frame, HEADER_BYTES, seal, seal_body};
use crate::limit::ENVELOPE_BODY_MAX;
use crate::{Fault, Str8, WireError, message};

message!(
    struct Line {
        text: Str8<8>,
    }
);

fn pulled(decoder: &mut Decoder) -> Vec<(u8, Vec<u8>)> {
    let mut frames = vec![];
    while let Some(Frame { id, body }) = decoder.pull().unwrap() {
        frames.push((id, body.to_vec()));
    }
    frames
}

#[test]
fn a_frame_is_the_length_of_the_body_the_id_and_the_body() {
    let mut out = vec![0xaa];
    seal(9, &mut Line { text: "hi".into() }, &mut out).unwrap();
    assert_eq!(out, [0xaa, 3, 0, 0, 0, 9, 2, b'h', b'i']);
    let mut same = vec![0xaa];
    seal_body(9, &[2, b'h', b'i'], &mut same).unwrap();
    assert_eq!(same, out);
}

#[test]
fn a_refused_value_leaves_no_frame_behind() {
    let mut out = vec![0xaa];
    assert!(seal(9, &mut Line { text: "too long a line".into() }, &mut out).is_err());
    assert!(seal_body(9, &vec![0; ENVELOPE_BODY_MAX + 1], &mut out).is_err());
    assert_eq!(out, [0xaa]);
}

#[test]
fn the_largest_body_passes_and_one_byte_more_is_refused_before_it_arrives() {
    let mut out = Vec::new();
    seal_body(1, &vec![7; ENVELOPE_BODY_MAX], &mut out).unwrap();
    let mut decoder = Decoder::new();
    decoder.push(&out);
    assert_eq!(decoder.pull().unwrap().unwrap().body.len(), ENVELOPE_BODY_MAX);

    let refused = Err(WireError::too_long("body", ENVELOPE_BODY_MAX + 1, ENVELOPE_BODY_MAX));
    decoder.push(&[1, 0, 16, 0]);
    assert_eq!(decoder.pull(), refused);
    // A stream that has lost its frames stays lost.
    decoder.push(&out);
    assert_eq!(decoder.pull(), refused);
    assert_eq!(decoder.unfinished(), 0);
}

#[test]
fn an_announced_length_takes_no_memory_before_its_bytes_arrive() {
    let mut decoder = Decoder::new();
    decoder.push(&[0, 0, 16, 0, 1, 2, 3]);
    assert_eq!(decoder.pull(), Ok(None));
    assert_eq!(decoder.unfinished(), 7);
    assert!(decoder.held.capacity() <= 64, "{}", decoder.held.capacity());
}

#[test]
fn a_decoder_that_is_pulled_empty_holds_one_frame_at_most() {
    let mut frame = Vec::new();
    seal_body(1, &[7; 100], &mut frame).unwrap();
    let mut decoder = Decoder::new();
    for _ in 0..1_000 {
        decoder.push(&frame);
        assert_eq!(pulled(&mut decoder).len(), 1);
    }
    assert!(decoder.held.capacity() <= 1024, "{}", decoder.held.capacity());
    assert_eq!(decoder.unfinished(), 0);
}

#[test]
fn a_frame_over_the_limit_is_too_long_by_its_body_alone() {
    let fault = seal_body(1, &vec![0; ENVELOPE_BODY_MAX + 1], &mut Vec::new()).unwrap_err().fault;
    assert_eq!(fault, Fault::TooLong { len: 1_048_577, cap: 1_048_576 });
    assert_eq!(HEADER_BYTES, 5);
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..50)
}

proptest! {
    #[test]
    fn frames_come_out_as_they_went_in_however_the_stream_is_cut(
        frames in prop::collection::vec((any::<u8>(), body()), 0..8),
        chunk in 1_usize..40,
    ) {
        let mut stream = Vec::new();
        for (id, body) in &frames {
            seal_body(*id, body, &mut stream).unwrap();
        }
        let mut decoder = Decoder::new();
        let mut out = Vec::new();
        for piece in stream.chunks(chunk) {
            decoder.push(piece);
            out.extend(pulled(&mut decoder));
        }
        prop_assert_eq!(out, frames);
        prop_assert_eq!(decoder.unfinished(), 0);
    }
}
