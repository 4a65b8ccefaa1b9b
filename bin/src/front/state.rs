//! What the front decides: nothing. Everything goes on as it came, in order.

use dh_machine::{Machine, Micros, Outbox};

use super::FrontMsg;

/// Passes everything on.
#[derive(Debug)]
pub(crate) struct Passing;

impl Machine for Passing {
    type Msg = FrontMsg;
    type Effect = FrontMsg;

    fn handle(&mut self, _now: Micros, msg: FrontMsg, out: &mut Outbox<FrontMsg>) {
        out.push(msg);
    }
}
