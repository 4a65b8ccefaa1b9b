//! What the chat decides: how each kind of line is told. Pure.

use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_messages::{ChatKind, ServerChat, Str8, Str16};

use super::{ChatMsg, Spoken};

/// What there is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Somebody who plays has said something.
    Player(Speaker, Spoken),
    /// The server has.
    Server(Spoken),
    /// Somebody has entered play.
    Join(Speaker),
    /// Somebody who played has left.
    Leave(Speaker),
}

/// A player, as the roster knows it and not as it may call itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// Its slot.
    pub slot: u8,
    /// Its name.
    pub name: String,
}

/// What the chat wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this to everybody who has said who it is.
    Broadcast(ServerChat),
    /// A line for the transcript.
    Transcript(String),
}

/// The lines of a server.
#[derive(Debug, Default)]
pub struct Chat {
    lines: u64,
}

impl Line {
    /// The one message that all kinds ride in.
    #[must_use]
    pub fn compose(&self) -> ServerChat {
        let (kind, who, text) = match self {
            Self::Player(who, spoken) => (ChatKind::Player, Some(who), spoken.text()),
            Self::Server(spoken) => (ChatKind::Server, None, spoken.text()),
            Self::Join(who) => (ChatKind::Join, Some(who), ""),
            Self::Leave(who) => (ChatKind::Leave, Some(who), ""),
        };
        ServerChat {
            kind,
            slot: who.map_or(ServerChat::NO_SLOT, |who| who.slot),
            name: Str8::clipped(who.map_or("", |who| &who.name)),
            text: Str16::clipped(text),
        }
    }
}

impl Machine for Chat {
    type Msg = ChatMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: ChatMsg, out: &mut Outbox<Effect>) {
        let ChatMsg::Line(line) = msg;
        self.lines += 1;
        let line = line.compose();
        out.push(Effect::Transcript(line.to_log_line()));
        out.push(Effect::Broadcast(line));
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.lines);
    }
}
