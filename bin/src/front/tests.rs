//! Nothing is kept back and nothing changes its place.

use dh_machine::{Machine, Micros, Outbox};
use dh_server::{ConsoleLine, ServerEvent};

use super::{FrontMsg, Passing, TYPED_MAX, ignores, next_line};

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

#[test]
fn a_line_is_cut_to_its_limit_and_the_next_one_is_whole() {
    let endless = "x".repeat(100_000);
    let typed = format!("players\n{endless}\nsay \u{1f600}\n");
    let mut typed = typed.as_bytes();
    assert_eq!(next_line(&mut typed).as_deref(), Some("players"));
    assert_eq!(next_line(&mut typed).map(|line| line.len() as u64), Some(TYPED_MAX));
    assert_eq!(next_line(&mut typed).as_deref(), Some("say \u{1f600}"));
    assert_eq!(next_line(&mut typed), None);
}

#[test]
fn a_line_that_is_no_text_is_read_as_well_as_it_can_be_and_ends_nothing() {
    let mut typed = &b"say \xff\nplayers\n"[..];
    assert_eq!(next_line(&mut typed).as_deref(), Some("say \u{fffd}"));
    assert_eq!(next_line(&mut typed).as_deref(), Some("players"));
}

#[test]
fn a_signal_is_ignored_where_the_process_was_started_so() {
    let nohup = "Name:\tdh\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n";
    assert_eq!([1, 2, 13, 15].map(|signal| ignores(nohup, signal)), [true, false, true, false]);
    assert!(!ignores("", 1));
}
