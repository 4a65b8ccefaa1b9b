//! What the asker decides: how to ask a server which schema it writes, and what it is told.

use std::sync::Arc;

use dh_host::net::{Closed, Connection, Dialed, InMessage};
use dh_machine::{Machine, Micros, Outbox};
use dh_messages::{
    Build, ConnectRequest, Direction, Hash128, Own, PROTOCOL_VERSION, SchemaText, ToClient,
    ToServer, row,
};
use dh_wire::Schema;

use super::AskerMsg;
use crate::exit::{Exit, Failure};

/// Asks one server.
#[derive(Debug)]
pub(crate) struct Asking {
    own: Arc<Own>,
    /// The hash of the text that was asked for.
    announced: Option<Hash128>,
}

/// What has to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Listen to this connection.
    Adopt(Connection),
    /// Send a reliable message.
    Send(ToServer),
    /// Hand the answer over; nothing more is asked.
    Tell(Result<Schema, Failure>),
}

impl Default for Asking {
    fn default() -> Self {
        Self { own: Arc::new(Own::this()), announced: None }
    }
}

impl Asking {
    /// Say which schema this build writes.
    pub(super) fn greet(&self, out: &mut Outbox<Effect>) {
        let (version, schema_hash) = (PROTOCOL_VERSION, self.own.hash());
        let request = ConnectRequest { version, schema_hash };
        out.push(Effect::Send(ToServer::ConnectRequest(request)));
    }

    fn heard(&mut self, message: &InMessage, out: &mut Outbox<Effect>) {
        let damaged = |why: String| Effect::Tell(Err(Failure::new(Exit::Damaged, why)));
        match ToClient::from_stream(message.id, &message.body) {
            Ok(ToClient::SchemaHash(_)) if self.announced.is_some() => {
                out.push(damaged("it says twice which schema it writes".to_owned()));
            }
            Ok(ToClient::SchemaHash(told)) if told.hash == self.own.hash() => {
                out.push(Effect::Tell(Ok(dh_messages::schema())));
            }
            Ok(ToClient::SchemaHash(told)) => {
                self.announced = Some(told.hash);
                let packed = if told.wants_text { self.own.packed() } else { &[] };
                let text = SchemaText { wants_text: true, packed: packed.into() };
                out.push(Effect::Send(ToServer::SchemaText(text)));
            }
            Ok(ToClient::SchemaAnswer(text)) => {
                let read = match self.announced {
                    Some(hash) => Build::read(&self.own, Direction::ToClient, hash, &text.packed)
                        .map(|build| build.schema().clone())
                        .map_err(|error| error.to_string()),
                    None => Err("a text came that was not asked for".to_owned()),
                };
                let failed = |why| Failure::new(Exit::Damaged, why);
                out.push(Effect::Tell(read.map_err(failed)));
            }
            Ok(ToClient::SessionEnd(end)) => {
                out.push(Effect::Tell(Err(Failure::new(Exit::Mismatch, end.reason.as_str()))));
            }
            Err(error) if row(Direction::ToClient, message.id).is_some_and(|it| it.frame) => {
                out.push(damaged(format!("unreadable message {}: {error}", message.id)));
            }
            // Who the server is comes behind its schema, and says nothing of it.
            Ok(_) | Err(_) => (),
        }
    }
}

impl Machine for Asking {
    type Msg = AskerMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: AskerMsg, out: &mut Outbox<Effect>) {
        match msg {
            AskerMsg::Dialed(Dialed::Connected(connection)) => {
                out.push(Effect::Adopt(connection));
                self.greet(out);
            }
            AskerMsg::Dialed(Dialed::Failed(why)) => {
                let failure = Failure::new(Exit::Unavailable, why);
                let failure = failure.remedy("check the address, and that it runs");
                out.push(Effect::Tell(Err(failure)));
            }
            AskerMsg::Dialed(Dialed::Trusting { .. }) | AskerMsg::Datagram => (),
            AskerMsg::Message(message) => self.heard(&message, out),
            AskerMsg::Closed(Closed { reason, .. }) => {
                let reason = String::from_utf8_lossy(&reason).into_owned();
                out.push(Effect::Tell(Err(Failure::new(Exit::Unavailable, reason))));
            }
        }
    }
}
