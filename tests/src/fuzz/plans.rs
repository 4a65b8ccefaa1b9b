//! Plans for other builds, made of their schemas and carried out on their packets.

use std::sync::OnceLock;

use dh_messages::{MESSAGES, schema};
use dh_wire::plan::{Planned, Scratch};
use dh_wire::schema::{MessageEntry, Schema};
use dh_wire::stride::stride;
use dh_wire::{Fault, Plan, WireError};

use super::builds::another;
use crate::shapes;

/// Bytes for each message of a peer whose plan was made.
const NOTHING_SAID: [u8; 64] = [0; 64];

/// This build, with one message more that has every construct.
fn own() -> &'static Schema {
    static OWN: OnceLock<Schema> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut own = schema();
        shapes::add_to(&mut own);
        own
    })
}

/// Makes the plans of a peer and of this build for each other: of the peer whose schema's text the
/// bytes are, or else of the one that they choose.
///
/// # Panics
///
/// If a plan cannot be carried out on a body that says nothing.
pub fn fuzz_plan(bytes: &[u8]) {
    let read = Schema::read(bytes).ok();
    let Some(peer) = read.or_else(|| Some(another(own(), bytes)?.0)) else { return };
    for (reader, writer) in [(own(), &peer), (&peer, own())] {
        let Ok(plans) = plans(reader, writer) else { continue };
        let mut scratch = Scratch::default();
        for (direction, plan) in &plans {
            for id in 0..=u8::MAX {
                let losses = plan.losses(id).map(<[_]>::len);
                let is_known =
                    plan.rewrite(id, &NOTHING_SAID, &mut scratch) != Ok(Planned::Unknown);
                assert!(losses.is_some() || !is_known, "{direction} {id} is rewritten as nothing");
            }
        }
    }
}

/// Reads what is left of the bytes as a packet of the build that the first of them choose, and as
/// one of this build on its way to that and back. What is in front of a packet is its number.
///
/// # Panics
///
/// If what a build's own schema describes is refused or becomes what the reader's does not.
pub fn fuzz_planned(bytes: &[u8]) {
    let Some((peer, left)) = another(own(), bytes) else { return };
    let Some((id, body)) = left.split_first() else { return };
    let (Ok(to), Ok(from)) = (plans(&peer, own()), plans(own(), &peer)) else { return };
    for ((direction, to), (_, from)) in to.iter().zip(&from) {
        let there = planned(to, own(), &peer, direction, *id, body);
        for (id, body) in there.into_iter().chain([(*id, body.to_vec())]) {
            if let Some((id, body)) = planned(from, &peer, own(), direction, id, &body) {
                let is_read = recode(direction, id, &body).is_ok();
                let is_walked = walks(own(), direction, id, &body);
                assert_eq!(is_read, is_walked, "reader and schema disagree on what was rewritten");
            }
        }
    }
}

/// The plans by which one build reads another, in both directions.
fn plans(own: &Schema, peer: &Schema) -> Result<[(&'static str, Plan); 2], WireError> {
    let plan = |direction| Ok((direction, Plan::new(own, peer.clone(), direction)?));
    Ok([plan("toServer")?, plan("toClient")?])
}

/// The reader's number and body for what a writer says.
fn planned(
    plan: &Plan,
    writer: &Schema,
    reader: &Schema,
    direction: &str,
    id: u8,
    body: &[u8],
) -> Option<(u8, Vec<u8>)> {
    let is_described = walks(writer, direction, id, body);
    let mut scratch = Scratch::default();
    let (id, body) = match plan.rewrite(id, body, &mut scratch) {
        Ok(Planned::Same(id)) => (id, body.to_vec()),
        Ok(Planned::Rewritten(id)) => (id, scratch.body().to_vec()),
        Ok(Planned::Unknown) | Err(WireError { fault: Fault::TooLong { .. }, .. }) => return None,
        Err(refused) => {
            assert!(!is_described, "{direction} {id} is refused and well-formed: {refused}");
            return None;
        }
    };
    let is_well_formed = walks(reader, direction, id, &body);
    assert!(is_well_formed || !is_described, "{direction} {id} is rewritten as no packet");
    Some((id, body))
}

/// Whether a schema describes a body, from its first to its last byte.
fn walks(schema: &Schema, direction: &str, id: u8, body: &[u8]) -> bool {
    let is_it = |it: &&MessageEntry| it.direction == direction && it.id == id;
    let entry = schema.messages.iter().find(is_it);
    entry.is_some_and(|it| stride(schema, &it.shape, body, &mut |_| {}).is_ok())
}

/// Reads a body as this build does and writes it again.
fn recode(direction: &str, id: u8, body: &[u8]) -> Result<Vec<u8>, WireError> {
    let row = MESSAGES.iter().find(|row| row.direction.word() == direction && row.id == id);
    row.map_or_else(|| shapes::recode(body), |row| row.recode(body))
}
