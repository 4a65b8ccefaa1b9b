//! What each of two builds loses of what the other sends.

use std::collections::BTreeSet;
use std::path::Path;

use dh_wire::Schema;
use dh_wire::plan::{Loss, Plan};
use serde_json::{Value, json};

use crate::command::Shared;
use crate::exit::{Exit, Failure};
use crate::output;

/// One message as the other build reads it.
struct Row {
    /// The file of the build that writes it.
    writer: String,
    direction: String,
    name: String,
    /// Nothing where the reader has no such message.
    losses: Option<Vec<Loss>>,
}

/// Prints what is lost, message by message; nothing where the builds are one.
pub(super) fn run(one: &Path, other: &Path, shared: &Shared) -> Result<(), Failure> {
    let builds = [(one, super::of(one, shared)?), (other, super::of(other, shared)?)];
    let mut rows = Vec::new();
    for [(path, writer), (_, reader)] in [[&builds[0], &builds[1]], [&builds[1], &builds[0]]] {
        rows.extend(read_by(&path.display().to_string(), writer, reader)?);
    }
    let hashes = builds.each_ref().map(|(_, schema)| schema.identity());
    if shared.json {
        return output::json(&json!({
            "same": hashes[0] == hashes[1],
            "hashes": hashes.map(|it| it.to_string()),
            "messages": rows.iter().map(data).collect::<Vec<Value>>(),
        }));
    }
    for ((path, _), hash) in builds.iter().zip(hashes) {
        output::line(&format!("{}  {}", hash.short(), path.display()))?;
    }
    if rows.is_empty() {
        return output::line("nothing is lost either way");
    }
    rows.iter().try_for_each(|row| output::line(&told(row)))
}

/// What one build loses of what another writes.
fn read_by(path: &str, writer: &Schema, reader: &Schema) -> Result<Vec<Row>, Failure> {
    let directions: BTreeSet<&str> =
        writer.messages.iter().map(|message| message.direction.as_str()).collect();
    let mut rows = Vec::new();
    for direction in directions {
        let plan = Plan::new(reader, writer.clone(), direction)
            .map_err(|error| Failure::new(Exit::Damaged, format!("{path}: {error}")))?;
        for message in writer.messages.iter().filter(|it| it.direction == direction) {
            let losses = plan.losses(message.id).map(<[Loss]>::to_vec);
            if losses.as_ref().is_none_or(|losses| !losses.is_empty()) {
                let (writer, name) = (path.to_owned(), message.name.clone());
                rows.push(Row { writer, direction: direction.to_owned(), name, losses });
            }
        }
    }
    Ok(rows)
}

fn told(row: &Row) -> String {
    let head = format!("{} {} of {}", row.direction, row.name, row.writer);
    match &row.losses {
        None => format!("{head}: is dropped: only the writer has it"),
        Some(losses) => {
            let lines = losses.iter().map(|loss| format!("  {} {}", loss.path, loss.lost));
            [head].into_iter().chain(lines).collect::<Vec<String>>().join("\n")
        }
    }
}

fn data(row: &Row) -> Value {
    let losses = row.losses.as_ref().map(|losses| {
        let loss = |it: &Loss| json!({ "path": it.path, "lost": it.lost.word() });
        losses.iter().map(loss).collect::<Vec<Value>>()
    });
    json!({
        "writer": row.writer, "direction": row.direction, "name": row.name,
        "dropped": row.losses.is_none(), "losses": losses.unwrap_or_default(),
    })
}
