//! One packet as a tree, explained by a schema alone.

use std::path::Path;

use dh_wire::envelope::HEADER_BYTES;
use dh_wire::limit::ENVELOPE_BODY_MAX;
use dh_wire::schema::{CountAt, MessageEntry, Shape, Type};
use dh_wire::stride::{Step, StrideError, stride};
use dh_wire::{Fault, Guid, Hash128, Kind, Root, Schema};
use serde_json::{Value, json};

use crate::command::{Receiver, Shared};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::near::near;
use crate::output;

/// Bytes of a rest that are shown.
const REST_SHOWN: usize = 16;
/// A file in hex takes so many times the packet's bytes, comments included.
const HEX_RATIO: usize = 8;

/// What was said of the packet.
pub(super) struct Told<'a> {
    /// The message, if its body alone is there.
    pub(super) message: Option<&'a str>,
    pub(super) to: Option<Receiver>,
}

/// One field of the tree.
struct Line {
    start: usize,
    end: usize,
    depth: usize,
    name: String,
    kind: String,
    value: Option<String>,
}

/// Prints the packet.
pub(super) fn run(
    packet: &str,
    told: &Told<'_>,
    schema: &Schema,
    shared: &Shared,
) -> Result<(), Failure> {
    let bytes = bytes(packet)?;
    let (message, body) = find(told, schema, &bytes)?;
    let mut lines = Vec::new();
    let before = bytes.len() - body.len();
    let walked = stride(schema, &message.shape, body, &mut |step| {
        lines.push(line(schema, step, body, before));
    });
    // Fields inside a group have come before the group.
    lines.sort_by_key(|line| (line.start, line.depth));
    if shared.json {
        let fields: Vec<Value> = lines.iter().map(data).collect();
        output::json(&json!({
            "direction": message.direction, "id": message.id, "name": message.name,
            "bytes": bytes.len(), "fields": fields,
        }))?;
        return walked.map_err(|error| misread(message, error, bytes.len(), before));
    }
    let MessageEntry { direction, id, name, .. } = message;
    output::line(&format!("{direction} {id} {name}, {} bytes", bytes.len()))?;
    lines.iter().try_for_each(|line| output::line(&shown(line)))?;
    walked.map_err(|error| misread(message, error, bytes.len(), before))
}

/// Where a packet of so many bytes, those before its body among them, is not what it should be.
fn misread(
    MessageEntry { direction, name, .. }: &MessageEntry,
    error: StrideError,
    len: usize,
    before: usize,
) -> Failure {
    let error = StrideError { at: error.at + before, ..error };
    let left = len.saturating_sub(error.at);
    let left = match error.fault {
        Fault::Truncated => format!(", {left} left"),
        _ => String::new(),
    };
    Failure::new(Exit::Damaged, format!("{direction}.{name}: {error}{left}"))
        .remedy("--as or --to names another message, --schema the build that wrote it")
}

/// The packet: of a file, as it is or in hex, or of the words themselves.
fn bytes(packet: &str) -> Result<Vec<u8>, Failure> {
    let path = Path::new(packet);
    let max = (HEX_RATIO * ENVELOPE_BODY_MAX) as u64;
    let bytes = if packet == "-" {
        input::stdin(max, "a packet")?
    } else if path.exists() {
        input::bytes(path, max, "a packet")?
    } else {
        return hex(packet).map_err(|why| {
            let cause = format!("{packet}: no such file, and not bytes in hex: {why}");
            Failure::new(Exit::Missing, cause)
        });
    };
    let text = std::str::from_utf8(&bytes).ok();
    Ok(text.and_then(|text| hex(text).ok()).unwrap_or(bytes))
}

/// Bytes in hex, with whatever space or colons between them, and perhaps `0x` before; lines that
/// start with `#` are left out. Else why it is none.
fn hex(text: &str) -> Result<Vec<u8>, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(|line| line.split([' ', '\t', ':']));
    let bare = words.map(|word| word.strip_prefix("0x").unwrap_or(word));
    let mut digits = Vec::new();
    for it in bare.flat_map(str::chars) {
        let digit = it.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        digits.push(digit.ok_or_else(|| format!("expected a digit of hex, found {it:?}"))?);
    }
    if digits.len() % 2 != 0 {
        return Err(format!("expected two digits for each byte, found {} in all", digits.len()));
    }
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The message, and its body.
fn find<'s, 'b>(
    told: &Told<'_>,
    schema: &'s Schema,
    bytes: &'b [u8],
) -> Result<(&'s MessageEntry, &'b [u8]), Failure> {
    if let Some(told) = told.message {
        let is_it = |it: &&MessageEntry| {
            told.split_once('.') == Some((it.direction.as_str(), it.name.as_str()))
        };
        let found = schema.messages.iter().find(is_it).ok_or_else(|| misnamed(told, schema));
        return Ok((found?, bytes));
    }
    let (id, body) = split(bytes).ok_or_else(|| Failure::new(Exit::Damaged, "an empty packet"))?;
    let direction = told.to.map(|to| match to {
        Receiver::Server => "toServer",
        Receiver::Client => "toClient",
    });
    let is_it =
        |it: &&MessageEntry| it.id == id && direction.is_none_or(|told| it.direction == told);
    let mut found = schema.messages.iter().filter(is_it);
    match (found.next(), found.next()) {
        (Some(message), None) => Ok((message, body)),
        (Some(_), Some(_)) => {
            Err(Failure::new(Exit::Usage, format!("both ends read a message of the number {id}"))
                .remedy("--to server or --to client"))
        }
        (None, _) => Err(Failure::new(
            Exit::Damaged,
            format!("the schema has no message of the number {id}"),
        )
        .remedy("--as DIRECTION.NAME, where the bytes are a body alone")),
    }
}

/// There is no such message; the one that was meant, if it shows.
fn misnamed(told: &str, schema: &Schema) -> Failure {
    let name = |it: &MessageEntry| format!("{}.{}", it.direction, it.name);
    let names: Vec<String> = schema.messages.iter().map(name).collect();
    let failure = Failure::new(Exit::Usage, format!("--as {told}: the schema has no such message"));
    match near(told, '.', names.iter().map(String::as_str)) {
        Some(meant) => failure.remedy(format!("--as {meant}, which is nearest")),
        None => failure.remedy("dh wire schema lists them, as in toClient.snapshot"),
    }
}

/// The number and the body of a frame, or else of a datagram.
fn split(bytes: &[u8]) -> Option<(u8, &[u8])> {
    if let Some((head, body)) = bytes.split_first_chunk::<HEADER_BYTES>() {
        let [a, b, c, d, id] = *head;
        if u32::from_le_bytes([a, b, c, d]) as usize == body.len() {
            return Some((id, body));
        }
    }
    bytes.split_first().map(|(id, body)| (*id, body))
}

fn line(schema: &Schema, step: &Step<'_>, body: &[u8], before: usize) -> Line {
    let bytes = body.get(step.range.clone()).unwrap_or_default();
    Line {
        start: before + step.range.start,
        end: before + step.range.end,
        depth: step.depth,
        name: step.name.to_owned(),
        kind: step.kind.to_string(),
        value: value(schema, step.kind, bytes),
    }
}

fn shown(line: &Line) -> String {
    let Line { start, end, depth, name, kind, value } = line;
    let head = format!("{:indent$}{name}", "", indent = 2 * (depth + 1));
    let value = value.as_ref().map(|value| format!(" = {value}")).unwrap_or_default();
    format!("{start:5}..{end:<5}{head}{value}  ({kind})")
}

fn data(line: &Line) -> Value {
    json!({
        "start": line.start, "end": line.end, "depth": line.depth, "name": line.name,
        "type": line.kind, "value": line.value,
    })
}

/// What a field says, if it is no more than what is in it.
fn value(schema: &Schema, kind: &Type, bytes: &[u8]) -> Option<String> {
    match kind {
        Type::Leaf(kind) => Some(leaf(*kind, bytes)),
        Type::Str8(_) => Some(format!("{:?}", String::from_utf8_lossy(bytes.get(1..)?))),
        Type::Str16(_) => Some(format!("{:?}", String::from_utf8_lossy(bytes.get(2..)?))),
        Type::Optional(_) => (bytes == [0]).then(|| "none".to_owned()),
        Type::List { count: CountAt::One, .. } => entries(bytes.get(..1)?),
        Type::List { count: CountAt::Two, .. } => entries(bytes.get(..2)?),
        Type::List { .. } | Type::Section(_) | Type::Tail(_) => None,
        Type::Named(name) => match schema.shapes.get(name)? {
            Shape::Enum { members, .. } => {
                let number = unsigned(bytes);
                let found = members.iter().find(|(_, value)| u64::from(*value) == number);
                Some(found.map_or_else(|| number.to_string(), |(name, _)| name.clone()))
            }
            Shape::Flags(_, members) => {
                let bits = unsigned(bytes);
                let set = members.iter().filter(|(_, bit)| bits >> bit & 1 == 1);
                let set: Vec<&str> = set.map(|(name, _)| name.as_str()).collect();
                Some(if set.is_empty() { "-".to_owned() } else { set.join("|") })
            }
            Shape::Record(_) | Shape::Sparse(..) | Shape::Union(..) => None,
        },
    }
}

fn entries(count: &[u8]) -> Option<String> {
    Some(match unsigned(count) {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    })
}

fn leaf(kind: Kind, bytes: &[u8]) -> String {
    let floats = || {
        let floats = bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it).to_string());
        floats.collect::<Vec<String>>().join(" ")
    };
    match kind {
        Kind::U8 | Kind::U16 | Kind::U32 | Kind::U64 | Kind::Count16 => unsigned(bytes).to_string(),
        Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64 => signed(bytes).to_string(),
        Kind::Varu32 => {
            let bits = bytes.iter().rev().map(|byte| u64::from(byte & 0x7f));
            bits.fold(0, |value, byte| value << 7 | byte).to_string()
        }
        Kind::F32 => floats(),
        Kind::F32x3 | Kind::F32x4 => format!("({})", floats()),
        Kind::F64 => f64::from_bits(unsigned(bytes)).to_string(),
        Kind::Bool => (bytes == [1]).to_string(),
        Kind::Hash128 => {
            bytes.try_into().map(Hash128).map_or_else(|_| plain(bytes), |it| it.to_string())
        }
        Kind::Guid => bytes.try_into().map(Guid).map_or_else(|_| plain(bytes), |it| it.to_string()),
        Kind::Root => bytes.try_into().map(Root).map_or_else(|_| plain(bytes), |it| it.to_string()),
        Kind::Rest => {
            let more = if bytes.len() > REST_SHOWN { ".." } else { "" };
            let first = plain(&bytes[..bytes.len().min(REST_SHOWN)]);
            format!("{first}{more} ({} bytes)", bytes.len())
        }
    }
}

fn plain(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A number of at most eight bytes, little endian.
fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn signed(bytes: &[u8]) -> i64 {
    let shift = 64 - 8 * u32::try_from(bytes.len().clamp(1, 8)).unwrap_or(8);
    (unsigned(bytes) << shift).cast_signed() >> shift
}
