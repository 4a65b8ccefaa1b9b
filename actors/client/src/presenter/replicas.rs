//! From the records of a snapshot to replicas, the one place where the two meet.

use dh_messages::{EntityRecord, Form, Snapshot};
use dh_netcode::{Payload, Replica};

/// Every entity of a snapshot.
pub(super) fn replicas_of(snapshot: &Snapshot) -> impl Iterator<Item = Replica> {
    snapshot.records.iter().map(replica_of)
}

fn replica_of(record: &EntityRecord) -> Replica {
    let Form::Entity(state) = &record.form;
    let mut payload = Payload { bits: state.payload.bits, ..Payload::default() };
    for (channel, value) in payload.channels.iter_mut().zip(&state.payload.channels) {
        *channel = *value;
    }
    Replica {
        id: record.id.0,
        kind: state.kind.value(),
        position: state.position,
        yaw: state.yaw,
        pitch: state.pitch,
        eye_height: state.eye_height,
        flags: state.flags.bits(),
        rotation: state.rotation,
        scale: state.scale,
        payload,
    }
}
