//! Keys and snapshots in, what is shown out.

use dh_host::inspect::{ActorRow, LaneRow};

use super::super::lines::Line as _;
use super::super::listing::fitting;
use super::super::sample::{actor, begin, begin_of, change, three};
use super::*;

/// A screen that has heard of three actors.
fn screen() -> State {
    let mut state = State::new(vec!["127.0.0.1:1".to_owned()], (80, 24));
    assert_eq!(state.heard(0, Ok(begin(1_000_000, three()))), None);
    state
}

fn press(state: &mut State, keys: &str) -> Option<Effect> {
    keys.chars().fold(None, |_, key| {
        state.pressed(match key {
            '^' => Key::Up,
            'v' => Key::Down,
            '\n' => Key::Enter,
            '\u{1b}' => Key::Esc,
            key => Key::Char(key),
        })
    })
}

/// The last parts of the paths that are shown, in their order.
fn shown(state: &State) -> Vec<String> {
    let lines = state.actors.arranged(lines::actors(state.sources()));
    let name = |line: &ActorLine<'_>| line.path.rsplit('/').next().unwrap().to_owned();
    lines.iter().map(name).collect()
}

fn chosen(state: &State) -> Option<u64> {
    state.actors.chosen.map(|id| id.number)
}

#[test]
fn rows_are_ordered_by_any_column_and_its_letter_again_turns_them_round() {
    let mut state = screen();
    assert_eq!(shown(&state), ["roster", "ada", "tick"]);
    press(&mut state, "D");
    assert_eq!(shown(&state), ["tick", "ada", "roster"]);
    press(&mut state, "D");
    assert_eq!(shown(&state), ["roster", "ada", "tick"]);
    press(&mut state, "C");
    assert_eq!(shown(&state)[0], "ada");
    for (at, column) in ActorLine::COLUMNS.iter().enumerate() {
        let letter = column.title.chars().find(char::is_ascii_uppercase).unwrap();
        state.actors.sort = usize::MAX;
        press(&mut state, &letter.to_string());
        assert_eq!(state.actors.sort, at);
    }
}

#[test]
fn the_arrows_walk_through_the_columns_and_stop_at_both_ends() {
    let mut state = screen();
    state.pressed(Key::Left);
    assert_eq!((state.actors.sort, state.actors.descending), (0, false));
    (0..100).for_each(|_| drop(state.pressed(Key::Right)));
    assert_eq!(state.actors.sort, ActorLine::COLUMNS.len() - 1);
}

#[test]
fn the_column_of_the_order_is_shown_however_narrow_the_screen() {
    for sort in 0..ActorLine::COLUMNS.len() {
        let (columns, first) = fitting::<ActorLine<'_>>(80, sort);
        assert!(columns.contains(&0) && columns.contains(&sort));
        let others =
            columns.iter().filter(|&&at| at != 0).map(|&at| ActorLine::COLUMNS[at].cells() + 1);
        assert_eq!(first + 1 + others.sum::<usize>(), 80);
    }
    assert_eq!(fitting::<ActorLine<'_>>(200, 0).0.len(), ActorLine::COLUMNS.len());
}

#[test]
fn a_filter_keeps_what_holds_it_and_escape_shows_all() {
    let mut state = screen();
    press(&mut state, "/SESS");
    assert_eq!(state.mode, Mode::Filter);
    assert_eq!(shown(&state), ["ada", "tick"]);
    press(&mut state, "q\n");
    assert_eq!((shown(&state).len(), &state.mode), (0, &Mode::Keys));
    press(&mut state, "\u{1b}");
    assert_eq!(shown(&state).len(), 3);
    press(&mut state, "/frame\n");
    assert_eq!(shown(&state), ["ada"], "what an actor handles is looked at too");
}

#[test]
fn a_choice_stays_on_its_actor_when_rows_move_and_ends_with_it() {
    let mut state = screen();
    press(&mut state, "Dv");
    assert_eq!(chosen(&state), Some(3));
    let idle = actor(3, "server/session/tick", 600);
    let idle = ActorRow { data: LaneRow::default(), ..idle };
    state.heard(0, Ok(change(1_100_000, vec![idle], vec![])));
    assert_eq!(shown(&state), ["ada", "roster", "tick"]);
    assert_eq!(chosen(&state), Some(3));
    state.heard(0, Ok(change(1_200_000, vec![], vec![3])));
    assert_eq!((shown(&state).len(), chosen(&state)), (2, None));
    press(&mut state, "v");
    assert_eq!(chosen(&state), Some(1), "it goes on where it was");
}

#[test]
fn the_chosen_row_is_always_among_those_on_the_screen() {
    let many = (1..=100).map(|id| actor(id, &format!("server/{id:03}"), 0)).collect();
    let mut state = screen();
    state.heard(0, Ok(begin(1_000_000, many)));
    for key in [Key::End, Key::PageUp, Key::Up, Key::Home, Key::PageDown, Key::Down] {
        state.pressed(key);
        let at = usize::try_from(chosen(&state).unwrap()).unwrap() - 1;
        let seen = state.actors.top..state.actors.top + state.rows();
        assert!(seen.contains(&at), "{key:?}: {at} in {seen:?}");
    }
    state.pressed(Key::End);
    state.resized((80, 12));
    assert_eq!(state.actors.top, 100 - state.rows());
}

#[test]
fn rates_are_what_sums_grew_by_over_half_a_second_to_a_whole_one() {
    let mut state = screen();
    let rate = |state: &State| {
        let lines = lines::actors(state.sources());
        lines[0].rates().map(|rates| (rates.offered.round(), rates.busy))
    };
    assert_eq!(rate(&state), None, "nothing has passed yet");
    let at = |state: &mut State, ms: u64, offered: u64| {
        let row = ActorRow { busy_ns: offered * 1_000_000, ..actor(1, "server/roster", offered) };
        state.heard(0, Ok(change(1_000_000 + ms * 1_000, vec![row], vec![])));
    };
    at(&mut state, 500, 350);
    assert_eq!(rate(&state), Some((100.0, 0.7)));
    at(&mut state, 1_000, 350);
    assert_eq!(rate(&state).unwrap(), (0.0, 0.0), "what is long ago does not count");
    at(&mut state, 1_100, 360);
    assert_eq!(rate(&state).unwrap(), (17.0, 1.0 / 60.0));
}

#[test]
fn an_actors_page_asks_for_all_of_it_and_closes_with_it() {
    let mut state = screen();
    let path = "server/session/ada".to_owned();
    assert_eq!(
        press(&mut state, "vv\n"),
        Some(Effect::Follow { source: 0, actor: Some(path.clone()) })
    );
    assert_eq!(state.opened().unwrap().path, path);
    assert_eq!(press(&mut state, "\u{1b}"), Some(Effect::Follow { source: 0, actor: None }));
    press(&mut state, "\n");
    state.heard(0, Ok(change(1_100_000, vec![], vec![2])));
    assert!(state.opened().is_none() && state.told.is_some());
}

#[test]
fn a_path_that_is_too_long_to_be_asked_for_is_not_asked_for() {
    let mut state = screen();
    state.heard(0, Ok(begin(1, vec![actor(9, &"x/".repeat(5_000), 0)])));
    assert_eq!(press(&mut state, "v\n"), Some(Effect::Follow { source: 0, actor: None }));
    assert!(state.opened().is_some());
}

#[test]
fn a_stopped_screen_shows_what_was_and_goes_on_with_what_is() {
    let mut state = screen();
    press(&mut state, "p");
    state.heard(0, Ok(change(1_100_000, vec![], vec![1])));
    assert_eq!(shown(&state).len(), 3);
    press(&mut state, "p");
    assert_eq!(shown(&state).len(), 2);
}

#[test]
fn processes_come_are_lost_and_leave_their_place_to_another() {
    let mut state = screen();
    let name = |state: &State, at: usize| state.heard_now()[at].name.clone();
    assert_eq!(state.found("127.0.0.1:2".to_owned()), 1);
    state.heard(1, Ok(begin_of("client", 43, three())));
    assert_eq!(state.found("127.0.0.1:3".to_owned()), 2);
    state.heard(2, Ok(begin_of("server", 44, three())));
    let paths: Vec<String> = state
        .actors
        .arranged(lines::actors(state.sources()))
        .iter()
        .map(|line| line.path.to_string())
        .collect();
    assert_eq!((paths[0].as_str(), paths[3].as_str()), ("42/server/roster", "44/server/roster"));
    assert_eq!(paths[6], "43/server/roster", "servers stand first");
    press(&mut state, "v");
    state.heard(0, Err("it has ended".to_owned()));
    assert!(state.leave_lost().is_empty() && chosen(&state).is_some());
    state.now_us += LOST_US + 1;
    assert_eq!((state.leave_lost(), state.leave_lost()), (vec![0], vec![]));
    assert_eq!((shown(&state).len(), chosen(&state)), (6, None));
    assert_eq!(state.heard(0, Ok(begin(1, three()))), None, "it is late");
    assert_eq!(shown(&state).len(), 6);
    assert_eq!(state.found("127.0.0.1:4".to_owned()), 0);
    assert_eq!(name(&state, 0), "127.0.0.1:4");
}

#[test]
fn whatever_acts_asks_back_once() {
    let mut state = screen();
    assert_eq!(press(&mut state, "r"), None);
    assert_eq!(state.mode, Mode::Keys, "nobody is chosen");
    press(&mut state, "vr");
    assert_eq!(press(&mut state, "n"), None);
    assert_eq!(state.mode, Mode::Keys);
    let orders = [
        ("ry", r#"{"do":"restart","path":"server/roster"}"#),
        ("b20\ny", r#"{"do":"bound","lane":"data","max":20,"path":"server/roster"}"#),
        ("dy", r#"{"do":"dumpFlight"}"#),
        ("sclient.interp 0.2\ny", r#"{"do":"set","key":"client.interp","value":"0.2"}"#),
        ("ldh_host  debug \ny", r#"{"do":"logLevel","path":"dh_host","level":"debug"}"#),
    ];
    for (keys, body) in orders {
        let Some(Effect::Order(order)) = press(&mut state, keys) else { panic!("{keys}") };
        assert_eq!(order.body, serde_json::from_str(body).unwrap(), "{body}");
    }
    press(&mut state, "b");
    state.pressed(Key::Tab);
    press(&mut state, "7\n");
    let Mode::Sure(order) = &state.mode else { panic!("{:?}", state.mode) };
    assert_eq!(order.question, "bound the control lane of server/roster to 7 instead of 64?");
    state.pressed(Key::Esc);
    state.answered(Err("there is no such actor".to_owned()));
    assert_eq!(state.told.as_deref(), Some("NOT DONE: there is no such actor"));
}

#[test]
fn a_process_that_is_lost_stays_on_the_screen_and_another_one_takes_its_place() {
    let mut state = screen();
    press(&mut state, "v");
    state.heard(0, Err("it has ended".to_owned()));
    assert_eq!(state.heard_now()[0].state, Heard::Lost("it has ended".to_owned()));
    assert_eq!((shown(&state).len(), chosen(&state)), (3, Some(1)));
    let Told::Snapshot(mut other) = begin(5, three()) else { panic!() };
    other.process.pid = 43;
    state.heard(0, Ok(Told::Snapshot(other)));
    assert_eq!((chosen(&state), &state.heard_now()[0].state), (None, &Heard::Now));
}

#[test]
fn a_change_of_another_stream_has_the_process_asked_anew() {
    let mut state = screen();
    let Told::Change(mut odd) = change(2, vec![], vec![]) else { panic!() };
    odd.seq = 8;
    let effect = state.heard(0, Ok(Told::Change(odd)));
    assert_eq!(effect, Some(Effect::Follow { source: 0, actor: None }));
}

#[test]
fn several_processes_stand_in_one_tree() {
    let mut state = State::new(vec!["a".to_owned(), "b".to_owned()], (80, 24));
    for (source, pid) in [(0, 42), (1, 43)] {
        let Told::Snapshot(mut snapshot) = begin(1, three()) else { panic!() };
        snapshot.process.pid = pid;
        state.heard(source, Ok(Told::Snapshot(snapshot)));
    }
    let paths: Vec<String> =
        lines::actors(state.sources()).iter().map(|line| line.path.to_string()).collect();
    assert_eq!((paths.len(), paths[0].as_str()), (6, "42/server/roster"));
    assert_eq!(paths[3], "43/server/roster");
    press(&mut state, "vvvv");
    assert_eq!(state.actors.chosen, Some(Id { source: 1, number: 1, other: 0 }));
}

#[test]
fn keys_that_come_in_any_order_break_nothing_and_quit_is_heard() {
    let keys = "vvD/x\n\u{1b}r\n1234p?qb9\u{1b}d1v\nb\u{1b}\u{1b}4v\n2v^3S";
    let mut state = screen();
    for size in [(80, 24), (1, 1), (0, 0)] {
        state.resized(size);
        press(&mut state, keys);
    }
    assert_eq!(state.pressed(Key::Interrupt), Some(Effect::Quit));
    assert_eq!(press(&mut screen(), "q"), Some(Effect::Quit));
}
