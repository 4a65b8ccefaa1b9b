//! The console's grammar: one table of commands, one parser for both ends.
//!
//! Used by the consoles of server and client, by arguments and by scenarios. It runs nothing.

use std::fmt;

use crate::nearest::nearest;
use crate::{Access, Address, Preference, TABLE, Target, find};

/// What a line at the console asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// List everybody.
    Players,
    /// Say a line to everybody, as the server.
    Say(String),
    /// End a player's session.
    Kick {
        /// Whose.
        target: Target,
        /// What the player is told.
        reason: Option<String>,
    },
    /// Place a player elsewhere.
    Teleport {
        /// Whom.
        target: Target,
        /// Where to.
        to: Destination,
    },
    /// Let a player pass through everything, or no longer.
    Noclip {
        /// Whom.
        target: Target,
        /// On or off; `None` switches over.
        on: Option<bool>,
    },
    /// Place a player at a spawn point.
    Respawn(Target),
    /// Change to the map of this barcode.
    Map(String),
    /// Give a player every right there is.
    Op(Target),
    /// Take them from a player again.
    Deop(Target),
    /// List who has them.
    Ops,
    /// Stop the server in order.
    Stop,
    /// Join a server; `None` for the last one.
    Connect(Option<Address>),
    /// Leave the server.
    Disconnect,
    /// End the client.
    Quit,
    /// Say a line to everybody, as the player.
    Chat(String),
    /// Explain a command or a preference; `None` lists them all.
    Help(Option<String>),
    /// Show a preference.
    Show(&'static Preference),
    /// Set a preference.
    Set {
        /// Which.
        preference: &'static Preference,
        /// To what, as it was typed.
        text: String,
    },
}

/// Where a teleport leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Destination {
    /// To another player.
    Player(Target),
    /// To a point, in metres.
    Point([f32; 3]),
}

/// Whose console a command belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The server's.
    Server,
    /// A client's.
    Client,
}

impl Side {
    const fn whose(self) -> &'static str {
        match self {
            Self::Server => "the server's",
            Self::Client => "a client's",
        }
    }
}

/// One row of the table of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandRow {
    /// Its word.
    pub name: &'static str,
    /// The consoles that know it.
    pub sides: &'static [Side],
    /// What follows the word.
    pub arguments: &'static str,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// Who may use it.
    pub access: Access,
}

/// A line that asks for nothing there is.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandError {
    /// No command and no preference is called that.
    Unknown {
        /// What was typed.
        word: String,
        /// What was probably meant.
        nearest: Option<&'static str>,
    },
    /// Only the other end's console knows it.
    Elsewhere(&'static CommandRow),
    /// It is a preference of the other end.
    NotOurs(&'static Preference),
    /// Too much or too little follows the word.
    Usage(&'static CommandRow),
    /// Something that follows the word is not what it should be.
    Argument {
        /// The command.
        row: &'static CommandRow,
        /// What is wrong, and what was expected.
        why: String,
    },
}

const BOTH: &[Side] = &[Side::Server, Side::Client];
const SERVER: &[Side] = &[Side::Server];
const CLIENT: &[Side] = &[Side::Client];

const fn row(
    name: &'static str,
    sides: &'static [Side],
    arguments: &'static str,
    help: &'static str,
    access: Access,
) -> CommandRow {
    CommandRow { name, sides, arguments, help, access }
}

/// Every command, in the order of help.
pub const COMMANDS: &[CommandRow] = &[
    row("players", SERVER, "", "Lists every session.", Access::World),
    row("say", SERVER, "<message>", "Says a line to everybody.", Access::World),
    row("kick", SERVER, "<#slot or identity> [reason]", "Ends a session.", Access::World),
    row(
        "tp",
        SERVER,
        "<#slot or identity> <#slot or identity, or x y z>",
        "Places a player at another one or at a point.",
        Access::Cheat,
    ),
    row(
        "noclip",
        SERVER,
        "<#slot or identity> [on or off]",
        "Lets a player pass through everything.",
        Access::Cheat,
    ),
    row("respawn", SERVER, "<#slot or identity>", "Places a player at a spawn.", Access::Cheat),
    row("map", SERVER, "<palletId:assets/name.dh-map>", "Changes to another map.", Access::World),
    row("op", SERVER, "<#slot or identity>", "Makes a player an operator.", Access::World),
    row("deop", SERVER, "<#slot or identity>", "Makes an operator a player.", Access::World),
    row("ops", SERVER, "", "Lists the operators.", Access::World),
    row("stop", SERVER, "", "Stops the server.", Access::World),
    row("connect", CLIENT, "[host[:port]]", "Joins a server; alone, the last one.", Access::Anyone),
    row("chat", CLIENT, "<message>", "Says a line to everybody, as you.", Access::Anyone),
    row("disconnect", CLIENT, "", "Leaves the server.", Access::Anyone),
    row("quit", CLIENT, "", "Ends the client.", Access::Anyone),
    row("help", BOTH, "[command or preference]", "Explains.", Access::Anyone),
];

/// Reads one line of the console of `side`; `None` for a blank one.
///
/// # Errors
/// When there is no such command or preference, or something else should follow it.
pub fn parse(side: Side, line: &str) -> Result<Option<Command>, CommandError> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if word.is_empty() {
        return Ok(None);
    }
    if let Some(preference) = find(word) {
        if preference.side() != side {
            return Err(CommandError::NotOurs(preference));
        }
        let text = rest.to_owned();
        let shown = text.is_empty();
        return Ok(Some(if shown {
            Command::Show(preference)
        } else {
            Command::Set { preference, text }
        }));
    }
    let Some(row) = COMMANDS.iter().find(|row| row.name == word) else {
        return Err(unknown(side, word));
    };
    if !row.sides.contains(&side) {
        return Err(CommandError::Elsewhere(row));
    }
    command(row.name, rest).map(Some).map_err(|wrong| match wrong {
        Wrong::Usage => CommandError::Usage(row),
        Wrong::Argument(why) => CommandError::Argument { row, why },
    })
}

/// The text that explains `topic`, or lists everything the console of `side` knows.
#[must_use]
pub fn help(side: Side, topic: Option<&str>) -> String {
    let Some(topic) = topic else {
        let known = COMMANDS.iter().filter(|row| row.sides.contains(&side));
        let mut rows: Vec<_> = known.map(|row| (row.usage(), row.help)).collect();
        rows.push(("<preference> [value]".to_owned(), "Shows or sets a preference."));
        let width = rows.iter().map(|(usage, _)| usage.len()).max().unwrap_or_default();
        let lines = rows.iter().map(|(usage, help)| format!("{usage:<width$} {help}"));
        return lines.collect::<Vec<_>>().join("\n");
    };
    if let Some(row) = COMMANDS.iter().find(|row| row.name == topic) {
        return format!("{}: {}", row.usage(), row.help);
    }
    match find(topic) {
        Some(Preference { key, kind, standard, unit, help, applies }) => {
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            format!("{key}: {help} Expects {kind}; default {standard}{unit}; applies: {applies}.")
        }
        None => unknown(side, topic).to_string(),
    }
}

impl Command {
    /// The word that asks for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Players => "players",
            Self::Say(_) => "say",
            Self::Kick { .. } => "kick",
            Self::Teleport { .. } => "tp",
            Self::Noclip { .. } => "noclip",
            Self::Respawn(_) => "respawn",
            Self::Map(_) => "map",
            Self::Op(_) => "op",
            Self::Deop(_) => "deop",
            Self::Ops => "ops",
            Self::Stop => "stop",
            Self::Chat(_) => "chat",
            Self::Connect(_) => "connect",
            Self::Disconnect => "disconnect",
            Self::Quit => "quit",
            Self::Help(_) => "help",
            Self::Show(preference) | Self::Set { preference, .. } => preference.key,
        }
    }
}

impl CommandRow {
    /// The word and what follows it.
    #[must_use]
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { word, nearest: Some(nearest) } => {
                write!(f, "{word}: no such command or preference; did you mean {nearest}?")
            }
            Self::Unknown { word, nearest: None } => {
                write!(f, "{word}: no such command or preference; `help` lists them")
            }
            Self::Elsewhere(CommandRow { name, sides, .. }) => {
                let whose = if *sides == SERVER { Side::Server } else { Side::Client }.whose();
                write!(f, "{name}: only {whose} console knows that; `help` lists what is here")
            }
            Self::NotOurs(preference) => {
                let (key, whose) = (preference.key, preference.side().whose());
                write!(f, "{key}: that is {whose} preference; only {whose} console knows it")
            }
            Self::Usage(row) => write!(f, "usage: {}", row.usage()),
            Self::Argument { row, why } => write!(f, "{}: {why}", row.name),
        }
    }
}

impl std::error::Error for CommandError {}

fn unknown(side: Side, word: &str) -> CommandError {
    let commands = COMMANDS.iter().filter(|row| row.sides.contains(&side)).map(|row| row.name);
    let ours = TABLE.iter().filter(|row| row.side() == side).map(|row| row.key);
    CommandError::Unknown { word: shown(word), nearest: nearest(word, commands.chain(ours)) }
}

/// What was typed, on one line and no longer than a line.
fn shown(word: &str) -> String {
    const SHOWN_MAX: usize = 60;
    word.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect()
}

/// What is wrong with what follows a command's word.
enum Wrong {
    Usage,
    Argument(String),
}

/// What `name` asks for with `rest` behind it.
fn command(name: &str, rest: &str) -> Result<Command, Wrong> {
    let text = (!rest.is_empty()).then(|| rest.to_owned());
    let (first, tail) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let tail = tail.trim();
    Ok(match name {
        "players" => alone(rest, Command::Players)?,
        "say" => Command::Say(text.ok_or(Wrong::Usage)?),
        "kick" => {
            let reason = (!tail.is_empty()).then(|| tail.to_owned());
            Command::Kick { target: target(first)?, reason }
        }
        "tp" => Command::Teleport { target: target(first)?, to: destination(tail)? },
        "noclip" => {
            let on = match tail {
                "" => None,
                "on" => Some(true),
                "off" => Some(false),
                _ => return Err(Wrong::Usage),
            };
            Command::Noclip { target: target(first)?, on }
        }
        "respawn" => alone(tail, Command::Respawn(target(first)?))?,
        "map" => Command::Map(text.ok_or(Wrong::Usage)?),
        "op" => Command::Op(target(rest)?),
        "deop" => Command::Deop(target(rest)?),
        "ops" => alone(rest, Command::Ops)?,
        "chat" => Command::Chat(text.ok_or(Wrong::Usage)?),
        "stop" => alone(rest, Command::Stop)?,
        "connect" if rest.is_empty() => Command::Connect(None),
        "connect" => Command::Connect(Some(Address::read(rest).ok_or(Wrong::Usage)?)),
        "disconnect" => alone(rest, Command::Disconnect)?,
        "quit" => alone(rest, Command::Quit)?,
        "help" => Command::Help(text),
        _ => return Err(Wrong::Usage),
    })
}

fn alone(rest: &str, command: Command) -> Result<Command, Wrong> {
    if rest.is_empty() { Ok(command) } else { Err(Wrong::Usage) }
}

fn target(text: &str) -> Result<Target, Wrong> {
    if text.is_empty() {
        return Err(Wrong::Usage);
    }
    Target::read(text).map_err(|why| Wrong::Argument(format!("`{}`: {why}", shown(text))))
}

fn destination(text: &str) -> Result<Destination, Wrong> {
    match *text.split_whitespace().collect::<Vec<_>>() {
        [other] => target(other).map(Destination::Player),
        [x, y, z] => Ok(Destination::Point([metres(x)?, metres(y)?, metres(z)?])),
        _ => Err(Wrong::Usage),
    }
}

fn metres(text: &str) -> Result<f32, Wrong> {
    text.parse().ok().filter(|it: &f32| it.is_finite()).ok_or_else(|| {
        Wrong::Argument(format!("`{}`: expected a finite number, in metres", shown(text)))
    })
}

#[cfg(test)]
mod tests;
