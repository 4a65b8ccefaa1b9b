//! The field walk beside the same message written and read by hand, and by postcard.

use std::hint::black_box;

use dh_wire::{Fault, WireError, decode, encode, message};
use serde::{Deserialize, Serialize};

use super::measure::{medians, nanos_each};
use super::progress;
use super::report::{Budget, Figure, Report};

/// Messages of one course in one round.
const MESSAGES: u32 = 400_000;
const ROUNDS: usize = 15;
/// The walk may take this many times as long as code by hand.
const TIMES_HAND: f64 = 1.1;
/// Bytes of the message on our wire.
const BYTES: usize = 52;

message!(
    /// A message of every-day fields: 13 of them.
    #[derive(Copy, Serialize, Deserialize)]
    pub(super) struct Sample {
        pub(super) tick: u32,
        pub(super) sequence: u32,
        pub(super) slot: u8,
        pub(super) buttons: u16,
        pub(super) move_x: i8,
        pub(super) move_z: i8,
        pub(super) yaw: f32,
        pub(super) pitch: f32,
        pub(super) position: [f32; 3],
        pub(super) velocity: [f32; 3],
        pub(super) health: u16,
        pub(super) grounded: bool,
        pub(super) ground: u32,
    }
);

/// Writes and reads one message each way, in turn.
pub(super) fn run() -> Report {
    progress("the field walk: a few seconds");
    let sample = sample();
    let mut report = Report::new("wire");
    let [walk, hand, postcard] = writing(sample);
    let write = Figure::new("write a message of 13 fields", walk, "ns");
    report.push(write.clone().beside("by hand", hand).within(Budget::TimesControl(TIMES_HAND)));
    report.push(write.beside("postcard", postcard));
    let [walk, hand, postcard] = reading(sample);
    let read = Figure::new("read a message of 13 fields", walk, "ns");
    report.push(read.clone().beside("by hand", hand).within(Budget::TimesControl(TIMES_HAND)));
    report.push(read.beside("postcard", postcard));
    report
}

fn writing(sample: Sample) -> [f64; 3] {
    let (mut walked, mut handed) = (Vec::with_capacity(BYTES), Vec::with_capacity(BYTES));
    let mut posted = [0; 2 * BYTES];
    let (mut for_walk, for_hand, for_postcard) = (sample, sample, sample);
    medians(
        ROUNDS,
        [
            &mut || {
                nanos_each(MESSAGES, || {
                    walked.clear();
                    let done = encode(black_box(&mut for_walk), &mut walked);
                    black_box((done.is_ok(), &walked));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    handed.clear();
                    let done = write(black_box(&for_hand), &mut handed);
                    black_box((done.is_ok(), &handed));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    let done = postcard::to_slice(black_box(&for_postcard), &mut posted);
                    black_box(done.is_ok());
                })
            },
        ],
    )
}

fn reading(mut sample: Sample) -> [f64; 3] {
    let (mut bytes, mut posted) = (Vec::new(), [0; 2 * BYTES]);
    // The sample holds finite numbers only.
    let _ = encode(&mut sample, &mut bytes);
    let posted: &[u8] = postcard::to_slice(&sample, &mut posted).map_or(&[], |bytes| bytes);
    medians(
        ROUNDS,
        [
            &mut || {
                nanos_each(MESSAGES, || {
                    let _ = black_box(decode::<Sample>(black_box(&bytes)));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    let _ = black_box(read(black_box(&bytes)));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    let _ = black_box(postcard::from_bytes::<Sample>(black_box(posted)));
                })
            },
        ],
    )
}

/// One such message.
pub(super) fn sample() -> Sample {
    Sample {
        tick: 123_456,
        sequence: 123_460,
        slot: 7,
        buttons: 0b101,
        move_x: -90,
        move_z: 127,
        yaw: 1.25,
        pitch: -0.5,
        position: [12.5, 0.01, -7.25],
        velocity: [0.5, -2.0, 4.0],
        health: 100,
        grounded: true,
        ground: 0x0200_0005,
    }
}

/// What the walk does, by hand: the same bytes and the same checks.
fn write(sample: &Sample, out: &mut Vec<u8>) -> Result<(), WireError> {
    out.extend_from_slice(&sample.tick.to_le_bytes());
    out.extend_from_slice(&sample.sequence.to_le_bytes());
    out.push(sample.slot);
    out.extend_from_slice(&sample.buttons.to_le_bytes());
    out.extend_from_slice(&sample.move_x.to_le_bytes());
    out.extend_from_slice(&sample.move_z.to_le_bytes());
    write_floats("yaw", &[sample.yaw], out)?;
    write_floats("pitch", &[sample.pitch], out)?;
    write_floats("position", &sample.position, out)?;
    write_floats("velocity", &sample.velocity, out)?;
    out.extend_from_slice(&sample.health.to_le_bytes());
    out.push(u8::from(sample.grounded));
    out.extend_from_slice(&sample.ground.to_le_bytes());
    Ok(())
}

fn write_floats(name: &'static str, floats: &[f32], out: &mut Vec<u8>) -> Result<(), WireError> {
    for float in floats {
        if !float.is_finite() {
            return Err(WireError::new(name, Fault::NotFinite));
        }
        out.extend_from_slice(&float.to_le_bytes());
    }
    Ok(())
}

/// The way back, by hand.
pub(super) fn read(mut bytes: &[u8]) -> Result<Sample, WireError> {
    let from = &mut bytes;
    let sample = Sample {
        tick: u32::from_le_bytes(take("tick", from)?),
        sequence: u32::from_le_bytes(take("sequence", from)?),
        slot: u8::from_le_bytes(take("slot", from)?),
        buttons: u16::from_le_bytes(take("buttons", from)?),
        move_x: i8::from_le_bytes(take("move_x", from)?),
        move_z: i8::from_le_bytes(take("move_z", from)?),
        yaw: read_float("yaw", from)?,
        pitch: read_float("pitch", from)?,
        position: read_point("position", from)?,
        velocity: read_point("velocity", from)?,
        health: u16::from_le_bytes(take("health", from)?),
        grounded: match take("grounded", from)? {
            [0] => false,
            [1] => true,
            [byte] => return Err(WireError::new("grounded", Fault::NotBool(byte))),
        },
        ground: u32::from_le_bytes(take("ground", from)?),
    };
    match u32::try_from(bytes.len()) {
        Ok(0) => Ok(sample),
        left => Err(WireError::new("", Fault::Trailing(left.unwrap_or(u32::MAX)))),
    }
}

fn read_point(name: &'static str, from: &mut &[u8]) -> Result<[f32; 3], WireError> {
    Ok([read_float(name, from)?, read_float(name, from)?, read_float(name, from)?])
}

fn read_float(name: &'static str, from: &mut &[u8]) -> Result<f32, WireError> {
    let float = f32::from_le_bytes(take(name, from)?);
    if float.is_finite() { Ok(float) } else { Err(WireError::new(name, Fault::NotFinite)) }
}

fn take<const N: usize>(name: &'static str, from: &mut &[u8]) -> Result<[u8; N], WireError> {
    let (head, rest) =
        from.split_first_chunk().ok_or_else(|| WireError::new(name, Fault::Truncated))?;
    *from = rest;
    Ok(*head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_writes_and_reads_the_same_bytes() {
        let (mut walked, mut handed) = (Vec::new(), Vec::new());
        encode(&mut sample(), &mut walked).unwrap();
        write(&sample(), &mut handed).unwrap();
        assert_eq!(walked, handed);
        assert_eq!(walked.len(), BYTES);
        assert_eq!(read(&walked), decode(&walked));
        assert_eq!(read(&walked), Ok(sample()));
    }

    #[test]
    fn the_control_refuses_what_the_walk_refuses() {
        let mut bytes = Vec::new();
        encode(&mut sample(), &mut bytes).unwrap();
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), decode(&bytes[..length]));
        }
        bytes.push(0);
        assert_eq!(read(&bytes), decode(&bytes));
        let broken = Sample { yaw: f32::NAN, ..sample() };
        assert_eq!(write(&broken, &mut Vec::new()), encode(&mut { broken }, &mut Vec::new()));
    }
}
