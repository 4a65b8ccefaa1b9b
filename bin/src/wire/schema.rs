//! The schema of a build, as its text or as data for programs.

use dh_wire::Schema;
use dh_wire::schema::{Case, Field, MessageEntry, Shape};
use serde_json::{Value, json};

use crate::command::Shared;
use crate::exit::Failure;
use crate::output;

/// Prints a schema.
pub(super) fn print(schema: &Schema, shared: &Shared) -> Result<(), Failure> {
    if shared.json { output::json(&data(schema)) } else { output::bytes(schema.text().as_bytes()) }
}

fn data(schema: &Schema) -> Value {
    let messages: Vec<Value> = schema.messages.iter().map(message).collect();
    let shapes = schema.shapes.iter().map(|(name, it)| (name.clone(), shape(it)));
    json!({
        "protocol": schema.protocol, "hash": schema.identity().to_string(), "messages": messages,
        "shapes": Value::Object(shapes.collect()),
    })
}

fn message(it: &MessageEntry) -> Value {
    json!({
        "direction": it.direction, "id": it.id, "name": it.name, "channel": it.channel,
        "frame": it.frame, "shape": it.shape,
    })
}

fn shape(shape: &Shape) -> Value {
    let fields = |fields: &[Field]| -> Vec<Value> {
        fields.iter().map(|it| json!({ "name": it.name, "type": it.kind.to_string() })).collect()
    };
    let numbers = |members: &[(String, u32)]| -> Vec<Value> {
        members.iter().map(|(name, number)| json!({ "name": name, "number": number })).collect()
    };
    match shape {
        Shape::Record(inside) => json!({ "kind": "record", "fields": fields(inside) }),
        Shape::Sparse(width, inside) => {
            json!({ "kind": "sparse", "width": width.word(), "fields": fields(inside) })
        }
        Shape::Union(width, cases) => {
            let cases: Vec<Value> = cases.iter().map(case).collect();
            json!({ "kind": "union", "width": width.word(), "cases": cases })
        }
        Shape::Enum { width, open, members } => json!({
            "kind": "enum", "width": width.word(), "open": open, "members": numbers(members),
        }),
        Shape::Flags(width, members) => {
            json!({ "kind": "flags", "width": width.word(), "members": numbers(members) })
        }
    }
}

fn case(it: &Case) -> Value {
    json!({ "name": it.name, "number": it.tag, "type": it.kind.to_string() })
}
