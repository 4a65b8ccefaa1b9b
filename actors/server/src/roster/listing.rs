//! The text of `players`: a header, then one line for each session.

use std::fmt::Write as _;

use dh_prefs::Operators;

use super::Presence;

/// Print the room. `cap` is the number of players allowed, `None` where nothing caps the server.
///
/// Sorted by slot; those without one come last, in the order they arrived.
pub(super) fn listing<'a>(
    room: impl Iterator<Item = &'a Presence>,
    cap: Option<usize>,
    operators: &Operators,
) -> String {
    let mut room: Vec<&Presence> = room.collect();
    room.sort_by_key(|presence| (presence.slot.is_none(), presence.slot, presence.peer));
    let mut text = match cap {
        Some(cap) => format!("players: {}/{cap} connected", room.len()),
        None => format!("players: {} connected (no player cap)", room.len()),
    };
    for presence in room {
        text.push('\n');
        line(&mut text, presence, operators);
    }
    text
}

/// A column with nothing behind it prints `-`, never a zero.
fn line(text: &mut String, presence: &Presence, operators: &Operators) {
    let playing = presence.pawn.is_some();
    let slot = presence.slot.map_or_else(|| "#-".to_owned(), |slot| format!("#{slot}"));
    let name = presence.name.as_deref().unwrap_or("-");
    let identity = or_dash(presence.identity.as_ref());
    let state = presence.standing.name();
    let pawn = or_dash(presence.pawn.as_ref());
    let ping = presence.ping_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms}ms"));
    let overrides = if playing { "0" } else { "-" };
    let op = if presence.is_operator(operators) { "  op" } else { "" };
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "  {slot:<4} {name:<11} identity={identity}  addr={}  state={state}  pawn={pawn}  \
         ping={ping}  overrides={overrides}{op}",
        presence.endpoint
    );
}

fn or_dash(value: Option<&impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), ToString::to_string)
}
