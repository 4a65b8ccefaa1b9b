//! What each of two builds loses of what the other sends.

use std::collections::BTreeSet;
use std::path::Path;

use dh_wire::Schema;
use dh_wire::plan::{Loss, Lost, Plan};
use dh_wire::schema::MessageEntry;
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
    outcome: Outcome,
}

/// What becomes of a message.
enum Outcome {
    /// It is not read at all, and why.
    Dropped(String),
    /// It is read without these.
    Read(Vec<Loss>),
}

/// Prints what keeps them apart, and what is lost message by message; nothing where the builds are
/// one.
pub(super) fn run(one: &Path, other: &Path, shared: &Shared) -> Result<(), Failure> {
    let builds = [(one, super::of(one, shared)?), (other, super::of(other, shared)?)];
    let mut apart = apart(&builds[0].1, &builds[1].1);
    let mut rows = Vec::new();
    for [(path, writer), (_, reader)] in [[&builds[0], &builds[1]], [&builds[1], &builds[0]]] {
        rows.extend(read_by(&path.display().to_string(), writer, reader, &mut apart)?);
    }
    let hashes = builds.each_ref().map(|(_, schema)| schema.identity());
    let is_same = hashes[0] == hashes[1];
    if shared.json {
        output::json(&json!({
            "same": is_same,
            "plays": apart.is_empty(),
            "apart": apart,
            "hashes": hashes.map(|it| it.to_string()),
            "messages": rows.iter().map(data).collect::<Vec<Value>>(),
        }))?;
    } else {
        for why in &apart {
            output::line(&format!("these do not play together ({why})"))?;
        }
        for ((path, _), hash) in builds.iter().zip(hashes) {
            output::line(&format!("{}  {}", hash.short(), path.display()))?;
        }
        rows.iter().try_for_each(|row| output::line(&told(row)))?;
        if apart.is_empty() && rows.is_empty() {
            let differ = if is_same { "" } else { "the schemas differ, and " };
            output::line(&format!("{differ}nothing is lost either way"))?;
        }
    }
    match apart.first() {
        None => Ok(()),
        Some(why) => {
            Err(Failure::new(Exit::Mismatch, format!("these builds do not play together: {why}"))
                .remedy("dh of one version at both ends"))
        }
    }
}

/// Why two builds do not get as far as reading each other's schemas: the frame is read as each has
/// it, by no plan.
fn apart(one: &Schema, other: &Schema) -> Vec<String> {
    let mut why = Vec::new();
    if one.protocol != other.protocol {
        why.push(format!("protocol {} and {}", one.protocol, other.protocol));
    }
    for message in one.messages.iter().filter(|it| it.frame) {
        let MessageEntry { direction, name, id, channel, .. } = message;
        let head = format!("{direction} {name}");
        match twin(other, message) {
            None => why.push(format!("{head} is in the frame of one alone")),
            Some(twin) if !twin.frame => why.push(format!("{head} is in the frame of one alone")),
            Some(twin) if twin.id != *id => {
                why.push(format!("{head} has the numbers {id} and {}", twin.id));
            }
            Some(twin) if twin.channel != *channel => {
                why.push(format!("{head} travels by {channel} and {}", twin.channel));
            }
            Some(_) => (),
        }
    }
    for message in other.messages.iter().filter(|it| it.frame) {
        if twin(one, message).is_none_or(|twin| !twin.frame) {
            let MessageEntry { direction, name, .. } = message;
            why.push(format!("{direction} {name} is in the frame of one alone"));
        }
    }
    why
}

/// The message of the same name.
fn twin<'s>(schema: &'s Schema, of: &MessageEntry) -> Option<&'s MessageEntry> {
    schema.messages.iter().find(|it| (&it.direction, &it.name) == (&of.direction, &of.name))
}

/// What one build loses of what another writes; what keeps them apart goes to `apart`.
fn read_by(
    path: &str,
    writer: &Schema,
    reader: &Schema,
    apart: &mut Vec<String>,
) -> Result<Vec<Row>, Failure> {
    let directions: BTreeSet<&str> =
        writer.messages.iter().map(|message| message.direction.as_str()).collect();
    let mut rows = Vec::new();
    for direction in directions {
        let plan = Plan::new(reader, writer.clone(), direction)
            .map_err(|error| Failure::new(Exit::Damaged, format!("{path}: {error}")))?;
        for message in writer.messages.iter().filter(|it| it.direction == direction) {
            let twin = twin(reader, message);
            if message.frame && twin.is_some_and(|it| it.frame) {
                let why = format!("{direction} {} has two shapes", message.name);
                if !plan.reads_as_is(message.id) && !apart.contains(&why) {
                    apart.push(why);
                }
                continue;
            }
            let outcome = match (twin, plan.losses(message.id)) {
                (Some(twin), _) if twin.channel != message.channel => Outcome::Dropped(format!(
                    "it travels by {}, and the reader takes it by {} alone",
                    message.channel, twin.channel
                )),
                (Some(_), Some([])) => continue,
                (Some(_), Some(losses)) => Outcome::Read(losses.to_vec()),
                _ => Outcome::Dropped("only the writer has it".to_owned()),
            };
            let (writer, name) = (path.to_owned(), message.name.clone());
            rows.push(Row { writer, direction: direction.to_owned(), name, outcome });
        }
    }
    Ok(rows)
}

fn told(row: &Row) -> String {
    let head = format!("{} {} of {}", row.direction, row.name, row.writer);
    match &row.outcome {
        Outcome::Dropped(why) => format!("{head}: is dropped: {why}"),
        Outcome::Read(losses) => {
            let lines = losses.iter().map(|loss| format!("  {} {}", loss.path, loss.lost));
            [head].into_iter().chain(lines).collect::<Vec<String>>().join("\n")
        }
    }
}

fn data(row: &Row) -> Value {
    let (why, losses) = match &row.outcome {
        Outcome::Dropped(why) => (Some(why), &[][..]),
        Outcome::Read(losses) => (None, losses.as_slice()),
    };
    let loss = |it: &Loss| match it.lost {
        Lost::Text(most) | Lost::Entries(most) => {
            json!({ "path": it.path, "lost": it.lost.word(), "most": most })
        }
        lost => json!({ "path": it.path, "lost": lost.word() }),
    };
    json!({
        "writer": row.writer, "direction": row.direction, "name": row.name,
        "dropped": why.is_some(), "why": why,
        "losses": losses.iter().map(loss).collect::<Vec<Value>>(),
    })
}
