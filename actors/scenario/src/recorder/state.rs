//! What the recorder decides: which record an event belongs to, and how a trace names it. Pure.

use dh_client::ClientEvent;
use dh_machine::{Machine, Micros, Outbox};
use dh_server::{ConsoleLine, ServerEvent};

use super::{Heard, RecorderMsg};
use crate::peer::PeerId;
use crate::records::Records;
use crate::server::ServerId;

/// One event to be written down.
#[derive(Debug)]
pub enum Effect {
    /// Of a server.
    Server(Heard<ServerId, ServerEvent>),
    /// Of a client.
    Client(Heard<PeerId, ClientEvent>),
    /// An answer of a server's console.
    Answer(Heard<ServerId, ConsoleLine>),
}

/// Writes everything down.
#[derive(Debug)]
pub struct Recording;

impl Machine for Recording {
    type Msg = RecorderMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: RecorderMsg, out: &mut Outbox<Effect>) {
        out.push(match msg {
            RecorderMsg::Server(heard) => Effect::Server(heard),
            RecorderMsg::Client(heard) => Effect::Client(heard),
            RecorderMsg::Answer(heard) => Effect::Answer(heard),
        });
    }
}

impl Effect {
    /// The event as text for the trace's hash; `None` where the trace hears it elsewhere.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            // The world's own hash says more.
            Self::Server(Heard { event: ServerEvent::Ticked { .. }, .. })
            | Self::Client(Heard { event: ClientEvent::View(_), .. }) => None,
            Self::Client(Heard { whose, event: ClientEvent::Applied(snapshot) }) => {
                Some(format!("{whose:?} Applied(Tick({}))", snapshot.head.tick))
            }
            Self::Server(Heard { whose, event }) => Some(format!("{whose:?} {event:?}")),
            Self::Client(Heard { whose, event }) => Some(format!("{whose:?} {event:?}")),
            Self::Answer(Heard { whose, event }) => Some(format!("{whose:?} {}", event.text)),
        }
    }

    /// Whether it is something that happens every tick.
    pub(super) fn is_routine(&self) -> bool {
        use ClientEvent::{Applied, Clock, Confirmed, InputSent};
        use ServerEvent::{Applied as Used, InputCame, Starved};
        match self {
            Self::Server(it) => {
                matches!(it.event, Used { .. } | InputCame { .. } | Starved { .. })
            }
            Self::Client(it) => {
                matches!(it.event, Applied(_) | Clock(_) | Confirmed | InputSent(_))
            }
            Self::Answer(_) => false,
        }
    }

    /// Write it down.
    pub(super) fn write(self, now: Micros, records: &mut Records) {
        match self {
            Self::Server(Heard { whose, event }) => records.note_server(whose, now, event),
            Self::Client(Heard { whose, event }) => records.note_peer(whose, now, event),
            Self::Answer(Heard { whose, event }) => {
                records.note_answer(whose, event.id, event.text);
            }
        }
    }
}
