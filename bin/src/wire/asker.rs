//! Asker actor: asks a running server which schema it writes, and leaves.
//!
//! Owned by: the verb that asks. Talks to: the server, and the main thread through one channel.
//! Never: joins, or believes a text that is not what was announced. After a panic: the answer never
//! comes, which whoever waits has a limit for.

mod state;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use dh_client::Dialer;
use dh_host::net::{Closed, Connection, Dialed, InMessage, NetEvent};
use dh_host::{Actor, Context, Performed, Place, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::CloseCode;
use dh_prefs::{Address, Prefs};
use dh_wire::Schema;

use self::state::{Asking, Effect};
use crate::command::Shared;
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::{identity, serve};

/// How long a server may take to say what it writes.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The promise of the asker.
pub(crate) const SPEC: Spec = Spec {
    kind: "asker",
    control_max: 8,
    data_max: 256,
    data_wakes: true,
    restart: Restart { count: 0, window: Micros(0) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything the asker can be told.
    pub(crate) enum AskerMsg {
        /// What came of the dial.
        Dialed(Dialed): Control Refuse,
        /// A whole reliable message came.
        Message(InMessage): Data Wait,
        /// A datagram came, which tells nothing of a schema.
        Datagram: Data DropOldest,
        /// The transport is gone.
        Closed(Closed): Data Wait,
    }
}

/// Performs what the asker decides.
struct AskerActor {
    connection: Option<Connection>,
    to: SyncSender<Result<Schema, Failure>>,
}

/// The schema that the server at this address writes. It is asked as this user.
pub(super) fn ask(address: &Address, shared: &Shared) -> Result<Schema, Failure> {
    let identity = identity::load(&DataFolder::open(shared.data.as_deref())?)?;
    let runtime = serve::start_runtime(&Prefs::default())?;
    let (to, answers) = sync_channel(1);
    let asker = AskerActor { connection: None, to };
    let port = runtime.root().child("wire").spawn(Place::Net, "asker", asker);
    let inlet = port.inlet(AskerMsg::Dialed);
    let _dialing = Dialer::new(identity).dial(runtime.net(), address, inlet);
    let answer = answers.recv_timeout(ANSWER_MAX);
    serve::stop(&runtime)?;
    let answer = answer.unwrap_or_else(|_| {
        let late = format!("no answer within {} s", ANSWER_MAX.as_secs());
        Err(Failure::new(Exit::Unavailable, late).remedy("check the address, and that it runs"))
    });
    answer.map_err(|failure| Failure { cause: format!("{address}: {}", failure.cause), ..failure })
}

impl Actor for AskerActor {
    type Machine = Asking;
    const SPEC: Spec = SPEC;

    fn make(&mut self, _start: Start<'_, AskerMsg>) -> Asking {
        Asking::default()
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, AskerMsg>) -> Performed<Effect> {
        match effect {
            Effect::Adopt(connection) => {
                connection.deliver(cx.port().inlet(|event| match event {
                    NetEvent::Message(message) => AskerMsg::Message(message),
                    NetEvent::Datagram(_) => AskerMsg::Datagram,
                    NetEvent::Closed(closed) => AskerMsg::Closed(closed),
                }));
                self.connection = Some(connection);
            }
            Effect::Send(mut message) => {
                let mut body = Vec::new();
                // A connection that is gone says so itself.
                if let (Some(connection), Ok(())) =
                    (&self.connection, message.write_body(&mut body))
                {
                    let _ = connection.send(message.id(), &body);
                }
            }
            Effect::Tell(answer) => {
                if let Some(connection) = self.connection.take() {
                    connection.close(u32::from(CloseCode::Leave.value()), b"asked for its schema");
                }
                // Whoever asked may have given up.
                drop(self.to.try_send(answer));
                return Performed::Stop;
            }
        }
        Performed::Done
    }
}
