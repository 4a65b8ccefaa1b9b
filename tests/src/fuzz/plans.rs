//! Plans for other builds, made of their schemas and carried out on their packets.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use dh_messages::{MESSAGES, MessageRow, schema};
use dh_wire::plan::{Planned, Scratch};
use dh_wire::schema::{MessageEntry, Schema};
use dh_wire::stride::stride;
use dh_wire::{Fault, Plan, WireError};

use super::builds::another;
use crate::shapes;

/// Bytes for each message of a peer whose plan was made.
const NOTHING_SAID: [u8; 64] = [0; 64];

/// This build, with one message more that has every construct.
pub fn own_build() -> &'static Schema {
    static OWN: OnceLock<Schema> = OnceLock::new();
    OWN.get_or_init(|| {
        let mut own = schema();
        shapes::add_to(&mut own);
        own
    })
}

/// The build that the first of these bytes choose, and the others; nothing where they choose none.
pub fn another_build(bytes: &[u8]) -> Option<(Schema, &[u8])> {
    another(own_build(), bytes)
}

/// Makes the plans of a peer and of this build for each other: of the peer whose schema's text the
/// bytes are, or else of the one that they choose.
///
/// # Panics
///
/// If a plan rewrites a message that it does not know.
pub fn fuzz_plan(bytes: &[u8]) {
    let read = Schema::read(bytes).ok();
    let Some(peer) = read.or_else(|| Some(another_build(bytes)?.0)) else { return };
    let mut scratch = Scratch::default();
    for (reader, writer) in [(own_build(), &peer), (&peer, own_build())] {
        for direction in ["toServer", "toClient"] {
            let Ok(plan) = Plan::new(reader, writer.clone(), direction) else { continue };
            for id in 0..=u8::MAX {
                let planned = plan.rewrite(id, &NOTHING_SAID, &mut scratch);
                let is_known = plan.losses(id).is_some();
                assert!(
                    is_known || planned == Ok(Planned::Unknown),
                    "{direction} {id}: {planned:?}"
                );
            }
        }
    }
}

/// Reads bytes as a packet of another build, and as one of this build on its way to that and back.
/// The first byte chooses a message, the next ones the build, and the others are the packet.
///
/// # Panics
///
/// If what a build's own schema describes is refused or becomes what the reader's does not.
pub fn fuzz_planned(bytes: &[u8]) {
    let Some((choice, left)) = bytes.split_first() else { return };
    let messages = &own_build().messages;
    let message = &messages[usize::from(*choice) % messages.len()];
    let own = about(message);
    let Some((peer, body)) = another(&own, left) else { return };
    let plan =
        |reader: &Schema, writer: &Schema| Plan::new(reader, writer.clone(), &message.direction);
    let (Ok(to), Ok(from)) = (plan(&peer, &own), plan(&own, &peer)) else { return };
    let there = rewritten(&to, (&own, &peer), message, body);
    for body in there.into_iter().chain([body.to_vec()]) {
        if let Some(body) = rewritten(&from, (&peer, &own), message, &body) {
            let is_read = recode(message, &body).is_ok();
            let is_walked = walks(&own, message, &body);
            assert_eq!(is_read, is_walked, "reader and schema disagree on what was rewritten");
        }
    }
}

/// This build with one message alone, and the shapes that it has.
fn about(message: &MessageEntry) -> Schema {
    let mut schema = own_build().clone();
    let mut shapes = BTreeMap::new();
    shapes::below(&schema, &message.shape, &mut shapes);
    schema.messages.retain(|other| other == message);
    schema.shapes.retain(|name, _| shapes.contains_key(name));
    schema
}

/// What the reader has of what the writer says.
fn rewritten(
    plan: &Plan,
    (writer, reader): (&Schema, &Schema),
    message: &MessageEntry,
    body: &[u8],
) -> Option<Vec<u8>> {
    let is_described = walks(writer, message, body);
    let mut scratch = Scratch::default();
    let there = match plan.rewrite(message.id, body, &mut scratch) {
        Ok(Planned::Same(_)) => body.to_vec(),
        Ok(Planned::Rewritten(_)) => scratch.body().to_vec(),
        Ok(Planned::Unknown) | Err(WireError { fault: Fault::TooLong { .. }, .. }) => return None,
        Err(refused) => {
            assert!(!is_described, "{} is refused and well-formed: {refused}", message.name);
            return None;
        }
    };
    let is_well_formed = walks(reader, message, &there);
    assert!(is_well_formed || !is_described, "{} is rewritten as no packet", message.name);
    Some(there)
}

/// Whether a schema describes a body, from its first to its last byte.
fn walks(schema: &Schema, message: &MessageEntry, body: &[u8]) -> bool {
    stride(schema, &message.shape, body, &mut |_| {}).is_ok()
}

/// Reads a body as this build does and writes it again.
fn recode(message: &MessageEntry, body: &[u8]) -> Result<Vec<u8>, WireError> {
    let is_it =
        |row: &&MessageRow| (row.direction.word(), row.id) == (&message.direction, message.id);
    let row = MESSAGES.iter().find(is_it);
    row.map_or_else(|| shapes::recode(body), |row| row.recode(body))
}
