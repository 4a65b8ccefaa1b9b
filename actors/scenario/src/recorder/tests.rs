//! What the recorder keeps, and of whom.

use dh_client::ClientEvent;
use dh_machine::{Machine, Micros, Outbox};
use dh_server::{ConsoleLine, ServerEvent};

use super::{Heard, RecorderMsg, Recording};
use crate::peer::PeerId;
use crate::records::Records;
use crate::server::ServerId;

fn record(msgs: impl IntoIterator<Item = RecorderMsg>) -> Records {
    let (mut out, mut records) = (Outbox::default(), Records::default());
    for msg in msgs {
        Recording.handle(Micros(1), msg, &mut out);
        out.drain().for_each(|effect| effect.write(Micros(5), &mut records));
    }
    records
}

#[test]
fn an_event_is_written_to_the_record_of_whoever_it_happened_to() {
    let line = |text: &str| ClientEvent::Line(text.to_owned());
    let records = record([
        RecorderMsg::Client(Heard { whose: PeerId(1), event: line("to one") }),
        RecorderMsg::Client(Heard { whose: PeerId(0), event: line("to zero") }),
        RecorderMsg::Server(Heard { whose: ServerId(0), event: ServerEvent::Line("said".into()) }),
    ]);
    assert_eq!(records.peer(PeerId(0)).lines, ["to zero"]);
    assert_eq!(records.peer(PeerId(1)).lines, ["to one"]);
    assert_eq!(records.server(ServerId(0)).lines, ["said"]);
}

#[test]
fn an_answer_keeps_the_number_of_its_line() {
    let event = ConsoleLine { id: 7, text: "pong".to_owned() };
    let records = record([RecorderMsg::Answer(Heard { whose: ServerId(0), event })]);
    assert_eq!(records.server(ServerId(0)).answers, [(7, "pong".to_owned())]);
}
