//! Nothing is kept back and nothing changes its place.

use dh_machine::{Machine, Micros, Outbox};
use dh_server::{ConsoleLine, ServerEvent};

use super::{FrontMsg, Passing};

#[test]
fn events_reach_the_main_thread_as_they_came_and_in_their_order() {
    let mut out = Outbox::default();
    let line = ConsoleLine { id: 3, text: "answer".to_owned() };
    Passing.handle(Micros(0), FrontMsg::Answer(line.clone()), &mut out);
    Passing.handle(Micros(0), FrontMsg::Server(ServerEvent::StopAsked), &mut out);
    let events: Vec<FrontMsg> = out.drain().collect();
    assert!(matches!(&events[0], FrontMsg::Answer(answer) if *answer == line));
    assert!(matches!(&events[1], FrontMsg::Server(ServerEvent::StopAsked)));
}
