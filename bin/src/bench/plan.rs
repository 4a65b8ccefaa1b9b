//! Another build's message read through a plan, beside the same one read as it is.

use std::hint::black_box;

use dh_wire::plan::{Plan, Planned, Scratch};
use dh_wire::schema::{Edit, MessageEntry, Type};
use dh_wire::{Fields as _, Kind, Schema, WireError, decode, encode};

use super::measure::{medians, nanos_each};
use super::progress;
use super::report::{Budget, Figure, Report};
use super::wire::{Sample, read, sample};
use crate::exit::{Exit, Failure};

/// Messages of one course in one round.
const MESSAGES: u32 = 400_000;
const ROUNDS: usize = 15;
/// What a message of equal shape may take, times what it takes without a plan.
const TIMES_SAME: f64 = 1.05;
/// What a message whose shape differs may take.
const TIMES_CHANGED: f64 = 3.0;
/// The message, and where it goes.
const ID: u8 = 7;
const DIRECTION: &str = "toServer";

/// A peer's build: how it differs, the plan for it, and one of its messages.
struct Peer {
    what: &'static str,
    plan: Plan,
    packet: Vec<u8>,
}

/// Reads one message of each build, in turn.
pub(super) fn run() -> Result<Report, Failure> {
    progress("plans for other builds: a few seconds");
    let wrong =
        |what: String| Failure::new(Exit::Internal, format!("the bench's own builds: {what}"));
    let own = own().map_err(|error| wrong(error.to_string()))?;
    let mut own_packet = Vec::new();
    encode(&mut sample(), &mut own_packet).map_err(|error| wrong(error.to_string()))?;
    let mut report = Report::new("plan");
    for (what, edits) in builds() {
        let peer = peer(what, &own, &edits, &own_packet).map_err(wrong)?;
        let [planned, direct, hand] = reading(&peer, &own_packet);
        let times = if edits.is_empty() { TIMES_SAME } else { TIMES_CHANGED };
        let figure = Figure::new(peer.what, planned, "ns");
        report.push(
            figure.clone().beside("without a plan", direct).within(Budget::TimesControl(times)),
        );
        report.push(figure.beside("by hand", hand));
    }
    Ok(report)
}

/// How the peers differ.
fn builds() -> [(&'static str, Vec<Edit>); 4] {
    let shape = || Sample::SHAPE.to_owned();
    let add = |name: &str, at, kind| Edit::Add { shape: shape(), at, name: name.to_owned(), kind };
    let to = |name: &str, to| Edit::Move { shape: shape(), name: name.to_owned(), to };
    let wider = |name: &str| Edit::Widen { shape: shape(), name: Some(name.to_owned()) };
    [
        ("read a message of equal shape", Vec::new()),
        ("read one with two fields more", {
            [add("more", 3, Type::Str8(20)), add("most", 9, Type::Leaf(Kind::U64))].into()
        }),
        ("read one with two fields moved", [to("yaw", 11), to("slot", 0)].into()),
        (
            "read one with three fields wider",
            [wider("slot"), wider("buttons"), wider("yaw")].into(),
        ),
    ]
}

fn own() -> Result<Schema, WireError> {
    let mut schema = Schema::new(2);
    let shape = schema.shape::<Sample>()?;
    let (direction, name, channel) = (DIRECTION.into(), "sample".into(), "stream".into());
    schema.messages.push(MessageEntry { direction, id: ID, name, channel, frame: false, shape });
    Ok(schema)
}

fn peer(what: &'static str, own: &Schema, edits: &[Edit], packet: &[u8]) -> Result<Peer, String> {
    let mut theirs = own.clone();
    for edit in edits {
        theirs.edit(edit).map_err(|error| error.to_string())?;
    }
    let said = |error: WireError| error.to_string();
    let to = Plan::new(&theirs, own.clone(), DIRECTION).map_err(said)?;
    let mut scratch = Scratch::default();
    let packet = match to.rewrite(ID, packet, &mut scratch).map_err(said)? {
        Planned::Rewritten(_) => scratch.body().to_vec(),
        Planned::Same(_) | Planned::Unknown => packet.to_vec(),
    };
    Ok(Peer { what, plan: Plan::new(own, theirs, DIRECTION).map_err(said)?, packet })
}

/// The ordinary reader, which is the same code with a plan before it and without one.
#[inline(never)]
fn read_static(body: &[u8]) -> Result<Sample, WireError> {
    decode(body)
}

fn reading(peer: &Peer, own_packet: &[u8]) -> [f64; 3] {
    let mut scratch = Scratch::default();
    medians(
        ROUNDS,
        [
            &mut || {
                nanos_each(MESSAGES, || {
                    let packet = black_box(&peer.packet[..]);
                    let body = match peer.plan.rewrite(ID, packet, &mut scratch) {
                        Ok(Planned::Same(_)) => packet,
                        _ => scratch.body(),
                    };
                    let _ = black_box(read_static(body));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    let _ = black_box(read_static(black_box(own_packet)));
                })
            },
            &mut || {
                nanos_each(MESSAGES, || {
                    let _ = black_box(read(black_box(own_packet)));
                })
            },
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_of_the_bench_is_read_as_the_same_message_but_for_what_it_lacks() {
        let own = own().unwrap();
        let mut packet = Vec::new();
        encode(&mut sample(), &mut packet).unwrap();
        for (what, edits) in builds() {
            let peer = peer(what, &own, &edits, &packet).unwrap();
            let mut scratch = Scratch::default();
            let planned = peer.plan.rewrite(ID, &peer.packet, &mut scratch).unwrap();
            assert_eq!(planned == Planned::Same(ID), edits.is_empty(), "{what}");
            let body = if edits.is_empty() { &peer.packet[..] } else { scratch.body() };
            assert_eq!(decode(body), Ok(sample()), "{what}");
        }
    }
}
