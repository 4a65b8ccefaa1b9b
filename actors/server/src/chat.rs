//! Chat actor: the one place where a line is composed that everybody reads.
//!
//! Owned by: the server's scope. Talks to: sessions. Never: decides who may speak, how often, or
//! under which name; that is settled before a line comes here. After a panic: goes on with the next
//! line; one that breaks it twice is lost.

mod spoken;
mod state;
#[cfg(test)]
mod tests;

use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::ToClient;

pub use self::spoken::{LINE_UNITS_MAX, Spoken};
pub use self::state::{Chat, Effect, Line, Speaker};
use crate::directory::Directory;
use crate::event::ServerEvent;

/// The promise of the chat.
pub const SPEC: Spec = Spec {
    kind: "chat",
    control_max: 2_048,
    data_max: 1,
    data_wakes: true,
    restart: Restart { count: 200, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the chat can be told. All of it waits in one lane, so that lines are read in the
    /// order in which the roster decided them.
    #[derive(Clone)]
    pub enum ChatMsg {
        /// Everybody is to read this.
        Line(Line): Control Refuse,
    }
}

/// Performs what the chat decides.
#[derive(Debug)]
pub struct ChatActor {
    pub(crate) directory: Directory,
}

impl Actor for ChatActor {
    type Machine = Chat;
    const SPEC: Spec = SPEC;

    /// Nothing is remembered from line to line.
    fn make(&mut self, _start: Start<'_, ChatMsg>) -> Chat {
        Chat::default()
    }

    fn spare(msg: &ChatMsg) -> Option<ChatMsg> {
        Some(msg.clone())
    }

    fn perform(&mut self, effect: Effect, _cx: &mut Context<'_, ChatMsg>) -> Performed<Effect> {
        match effect {
            // A session that has not been admitted, or has ended, passes nothing on.
            Effect::Broadcast(line) => {
                self.directory.say(&self.directory.peers(), ToClient::ServerChat(line));
            }
            Effect::Transcript(line) => {
                tracing::info!(target: "chat", "{line}");
                self.directory.tell(ServerEvent::Line(line));
            }
        }
        Performed::Done
    }
}
