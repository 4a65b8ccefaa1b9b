//! The authority gate: who may use which command, decided in one place.
//!
//! Used wherever a command comes from a player. It knows facts, not sessions.

use std::fmt;

use crate::command::{COMMANDS, Command};

/// Who may use a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody; it concerns only who types it.
    Anyone,
    /// Those with authority over the world.
    World,
    /// They, and everybody while cheats are on.
    Cheat,
}

/// What opens cheats is none itself.
const CHEATS: &str = "world.cheats";

/// What is known about whoever asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The server runs inside the asker's process, or the command came from its own console.
    pub host: bool,
    /// The asker is an operator.
    pub operator: bool,
    /// `world.cheats` is on.
    pub cheats: bool,
}

/// A command that was not allowed: `kick: only an operator can do that on this server`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its word.
    pub word: &'static str,
}

/// Whether somebody of whom `facts` hold may use `command`.
///
/// # Errors
/// The refusal to tell, when not.
pub fn gate(command: &Command, facts: Facts) -> Result<(), Refusal> {
    let authority = facts.host || facts.operator;
    let allowed = match command.access() {
        Access::Anyone => true,
        Access::World => authority,
        Access::Cheat => authority || facts.cheats,
    };
    if allowed { Ok(()) } else { Err(Refusal { word: command.word() }) }
}

impl Command {
    /// Who may use it. A client's own preferences are everybody's, those of the world can be read
    /// by everybody and set like a cheat, those of the server and the key to cheats need authority.
    #[must_use]
    pub fn access(&self) -> Access {
        match self {
            Self::Show(preference) | Self::Set { preference, .. } => {
                match (preference.key.split('.').next(), self) {
                    (Some("client"), _) | (Some("world"), Self::Show(_)) => Access::Anyone,
                    _ if preference.key == CHEATS => Access::World,
                    (Some("world"), _) => Access::Cheat,
                    _ => Access::World,
                }
            }
            _ => {
                let row = COMMANDS.iter().find(|row| row.name == self.word());
                row.map_or(Access::World, |row| row.access)
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: only an operator can do that on this server", self.word)
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Side, parse};

    const NOBODY: Facts = Facts { host: false, operator: false, cheats: false };

    fn allowed(line: &str, facts: Facts) -> bool {
        let is_clients = ["connect", "client.", "chat"].iter().any(|it| line.starts_with(it));
        let side = if is_clients { Side::Client } else { Side::Server };
        gate(&parse(side, line).unwrap().unwrap(), facts).is_ok()
    }

    /// Sessions OQ-11.
    #[test]
    fn authority_opens_everything_cheats_open_cheats_and_nothing_opens_to_nobody() {
        let cheats = Facts { cheats: true, ..NOBODY };
        for line in [
            "players",
            "say hi",
            "kick #0",
            "stop",
            "server.maxPlayers 4",
            "server.name",
            "op #0",
            "ops",
            "world.cheats on",
        ] {
            assert!(!allowed(line, NOBODY) && !allowed(line, cheats), "{line}");
        }
        for line in ["noclip #0", "tp #0 #1", "respawn #0", "world.timeScale 2"] {
            assert!(!allowed(line, NOBODY) && allowed(line, cheats), "{line}");
        }
        for line in
            ["help", "connect", "client.name a", "world.timeScale", "world.cheats", "chat hi"]
        {
            assert!(allowed(line, NOBODY), "{line}");
        }
        for facts in [Facts { host: true, ..NOBODY }, Facts { operator: true, ..NOBODY }] {
            assert!(["stop", "kick #0", "tp #0 #1", "help"].iter().all(|it| allowed(it, facts)));
        }
    }

    /// Sessions OQ-41.
    #[test]
    fn a_refusal_names_the_command_in_the_one_shared_sentence() {
        let said = |line| {
            let command = parse(Side::Server, line).unwrap().unwrap();
            gate(&command, NOBODY).unwrap_err().to_string()
        };
        assert_eq!(said("kick #1"), "kick: only an operator can do that on this server");
        assert_eq!(
            said("server.maxPlayers 4"),
            "server.maxPlayers: only an operator can do that on this server"
        );
    }
}
