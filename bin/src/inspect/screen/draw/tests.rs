//! What stands where, for a made-up process.

use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::*;
use crate::inspect::screen::keys::Key;
use crate::inspect::screen::sample::{self, actor, begin, three};
use crate::inspect::target::Told;

const PLAIN: Look = Look { unicode: false, colours: false };
const FULL: Look = Look { unicode: true, colours: true };

fn screen(size: (u16, u16)) -> State {
    let mut state = State::new(vec!["127.0.0.1:1".to_owned()], size);
    state.heard(0, Ok(begin(1_000_000, three())));
    state
}

fn buffer(state: &State, look: Look) -> Buffer {
    let (width, height) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, look, frame.buffer_mut())).unwrap();
    terminal.backend().buffer().clone()
}

/// The lines of the screen, without blanks at their ends.
fn drawn(state: &State) -> Vec<String> {
    let buffer = buffer(state, PLAIN);
    let width = usize::from(buffer.area.width);
    let lines = buffer.content.chunks(width);
    let line = |cells: &[ratatui::buffer::Cell]| {
        cells.iter().map(ratatui::buffer::Cell::symbol).collect::<String>().trim_end().to_owned()
    };
    lines.map(line).collect()
}

#[test]
fn the_actors_stand_in_a_tree_at_80_by_24() {
    let lines = drawn(&screen((80, 24)));
    assert_eq!(lines[..5].join("\n"), GOLDEN_ACTORS);
    assert_eq!(lines[23], "server 42  change 0 of snapshot 7  0.0 s old  version 0.1.0");
}

#[test]
fn a_long_answer_is_wrapped_over_lines_at_the_bottom() {
    let mut state = screen((40, 12));
    let long: String = ('a'..='z').cycle().take(100).collect();
    state.answered(Ok(long.clone()));
    let lines = drawn(&state);
    assert_eq!(lines[8..11].concat(), format!("done: {long}"));
    assert!(lines[0].starts_with('['), "{lines:?}");
    state.answered(Ok(long.repeat(20)));
    assert!(drawn(&state)[0].starts_with('['), "the tabs stay");
}

const GOLDEN_ACTORS: &str = "\
[1 actors 3] 2 ticks 1  3 links 1  4 waits 2 CYCLES 1  5 limits 2  6 process 1
Path^                  State               Depth   In/s  waiT99  haNdl99  Busy%
server/roster          idle                    1      -   1.0us        0      -
  session/ada          Frame 1.0s              2      -   2.0us        0      -
    tick               idle                    3      -   3.0us        0      -";

#[test]
fn an_actors_page_shows_its_messages_lanes_times_and_last_panic() {
    let mut state = screen((80, 24));
    for key in [Key::Down, Key::Down, Key::Enter] {
        state.pressed(key);
    }
    let lines = drawn(&state);
    assert_eq!(lines[1..11].join("\n"), GOLDEN_ACTOR);
    let scale = lines.iter().position(|line| line.starts_with("256ns")).unwrap();
    assert_eq!(lines[scale - 1].trim_start(), "#", "{lines:#?}");
}

const GOLDEN_ACTOR: &str = "\
server/session/ada
kind kind  place control  generation 1  turns 0
state Frame 1.0s  rates -  restarts 0  panics 1
last panic at a.rs:1:2: index out of bounds
control [..........................] 0 of 64 wait, at most 2 so far
data    [#####.....................] 2 of 10 wait, at most 9 so far
Message          share            offered refused dropped expired    lost  depth
Frame            ############....     900       0       0       0       0      0
Leave            ####............     300       0       0       0       0      0
";

#[test]
fn ticks_stand_as_columns_of_their_stages_and_overruns_are_marked() {
    let mut state = screen((80, 24));
    state.pressed(Key::Char('2'));
    let lines = drawn(&state);
    assert_eq!(lines[1..4].join("\n"), GOLDEN_TICKS);
    assert_eq!(lines[20..22].join("\n"), "       #####\n         !");
    assert!(lines.iter().any(|line| line.ends_with("=====")), "{lines:#?}");
}

const GOLDEN_TICKS: &str = "\
tick 5  every 17ms, lately 18ms, longest 33ms  overruns 1  server/session/tick
late p50 0 p99 0 max 0   work p50 0 p99 0 max 0
# input 4.0ms  = step 4.0ms";

#[test]
fn limits_are_listed_with_what_is_used_of_them_and_how_often_they_were_hit() {
    let mut state = screen((80, 24));
    state.pressed(Key::Char('5'));
    assert_eq!(drawn(&state)[1..4].join("\n"), GOLDEN_LIMITS);
    state.pressed(Key::Char('H'));
    assert!(drawn(&state)[2].starts_with("server.players"), "the largest first");
}

const GOLDEN_LIMITS: &str = "\
Limit^                              Used    Peak    Bound    Hits uNit
net.message                            -       -    1049k       0 bytes
server.players                        14      16       16       3 sessions";

#[test]
fn a_process_tells_who_plays_there_and_what_it_takes_of_its_machine() {
    let mut state = screen((80, 24));
    state.pressed(Key::Char('6'));
    assert_eq!(drawn(&state)[1..3].join("\n"), GOLDEN_PROCESSES);
    let mut later = sample::snapshot(2_000_000, three());
    later.figures.usage.cpu_ns = Some(3_250_000_000);
    later.figures.players = None;
    later.figures.ticks = None;
    state.heard(0, Ok(Told::Snapshot(Box::new(later))));
    let words = drawn(&state)[2].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let known = ["server", "42", "-", "-", "-", "45M", "25.0", "31", "-", "-"];
    assert_eq!(words, known, "neither players nor ticks were ever there");
}

const GOLDEN_PROCESSES: &str = "\
Process^            plAying  Loading  Max  memoRy  cpU%  Files  Overrun  Work99
server 42                14        2   16     45M     -     31        7   9.0ms";

#[test]
fn a_screen_that_was_stopped_says_so_however_many_pages_there_are() {
    for width in [60, 80, 90, 120] {
        let mut state = screen((width, 24));
        state.pressed(Key::Char('p'));
        assert!(drawn(&state)[0].ends_with("PAUSED, p goes on"), "{}", drawn(&state)[0]);
    }
}

#[test]
fn links_and_rings_of_waits_are_listed() {
    let mut state = screen((80, 24));
    state.pressed(Key::Char('3'));
    let lines = drawn(&state);
    assert_eq!(lines[1..3].join("\n"), GOLDEN_LINKS);
    state.pressed(Key::Char('4'));
    let lines = drawn(&state);
    assert!(lines[0].contains("[4 waits 2 CYCLES 1]"), "{}", lines[0]);
    assert_eq!(lines[1..4].join("\n"), GOLDEN_WAITS);
}

const GOLDEN_LINKS: &str = "\
Peer^                 plAyer       proceSs         sileNt    Rtt  Loss%   Out/s
127.0.0.1:4000        ada          server 42         16ms  1.5ms    5.0       -";
const GOLDEN_WAITS: &str = "\
From^                      To                     Message            Age Ring
server/roster              server/session/ada     Ask               1.0s CYCLE
server/session/ada         server/roster          Ask               1.0s CYCLE";

#[test]
fn a_lost_process_is_told_loudly_and_in_words() {
    let mut state = screen((80, 24));
    state.now_us = 3_000_000;
    state.heard(0, Err("it has ended".to_owned()));
    let told = "CONNECTION LOST: server 42 silent for 3.0s: it has ended";
    assert_eq!(drawn(&state)[23], told);
}

#[test]
fn what_is_shown_of_a_lost_process_is_dim_and_not_counted() {
    let mut state = screen((80, 24));
    state.heard(0, Err("it has ended".to_owned()));
    let buffer = buffer(&state, PLAIN);
    let line = |y: usize| &buffer.content[y * 80..(y + 1) * 80];
    let told = |y: usize| line(y).iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    assert!(told(0).starts_with("[1 actors 0]") && told(2).starts_with("server/roster"));
    let is_dim = |cell: &ratatui::buffer::Cell| {
        cell.symbol() == " " || cell.modifier.contains(ratatui::style::Modifier::DIM)
    };
    assert!(line(2).iter().chain(line(3)).all(is_dim));
}

#[test]
fn a_small_screen_cuts_nothing_that_is_needed() {
    let mut state = screen((40, 12));
    assert_eq!(drawn(&state)[10], "arrows choose  ? help  q quit");
    for key in [Key::Down, Key::Char('b'), Key::Char('7')] {
        state.pressed(key);
    }
    assert!(drawn(&state)[10].ends_with("now 10, bound: 7_"), "{}", drawn(&state)[10]);
    state.pressed(Key::Enter);
    let asked = &drawn(&state)[10];
    assert!(asked.starts_with("y or n: ") && asked.ends_with("to 7 instead of 10?"), "{asked}");
    for key in [Key::Char('n'), Key::Enter] {
        state.pressed(key);
    }
    let scale = drawn(&state)[9].clone();
    let words: Vec<&str> = scale.split_whitespace().collect();
    assert_eq!(words, ["256ns", "17ms", "256ns", "17ms"], "{scale}");
    state.pressed(Key::Char('?'));
    let mut seen = String::new();
    for _ in 0..20 {
        seen.push_str(&drawn(&state)[..10].join(" "));
        state.pressed(Key::PageDown);
    }
    assert!(state.has_help && !seen.contains("..."), "{seen}");
    assert!(
        seen.contains("Tab") && seen.contains("r b d s l") && seen.contains("anything is done")
    );
    state.resized((30, 8));
    assert_eq!(drawn(&state)[0], "too small: 40x10 needed");
}

#[test]
fn what_is_wrong_is_red_only_where_there_are_colours() {
    use ratatui::style::Color;
    let mut state = screen((80, 24));
    state.pressed(Key::Char('4'));
    let is_red = |buffer: &Buffer| buffer.content.iter().any(|cell| cell.fg == Color::Red);
    assert!(is_red(&buffer(&state, FULL)));
    let plain = buffer(&state, PLAIN);
    assert!(plain.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(plain.content.iter().all(|cell| cell.symbol().is_ascii()));
}

#[test]
fn hostile_names_stay_in_their_cells_on_every_page_and_at_every_size() {
    let hostile = "\u{1b}[2J\u{9b}31m\r\n\u{202e}\u{200b}\u{4e16}/".repeat(1_000);
    let mut row = actor(1, &hostile, 5);
    (row.kind, row.place) = (hostile.clone().into(), hostile.clone().into());
    row.messages[0].message = hostile.clone().into();
    for size in [(80, 24), (200, 60), (41, 10), (40, 9), (1, 1)] {
        let mut state = screen(size);
        state.heard(0, Ok(begin(1, vec![row.clone(), actor(2, &hostile, 1)])));
        state.heard(0, Err(hostile.clone()));
        for keys in [
            "", "v", "r", "n", "\n", "b", "\u{1b}", "\u{1b}", "2", "3", "4", "5", "6", "s", "x\n",
            "l", "?",
        ] {
            for key in keys.chars() {
                state.pressed(match key {
                    'v' => Key::Down,
                    '\n' => Key::Enter,
                    '\u{1b}' => Key::Esc,
                    key => Key::Char(key),
                });
            }
            for look in [PLAIN, FULL] {
                let buffer = buffer(&state, look);
                assert_eq!(buffer.area.as_size(), size.into());
                let hides = |c: char| c.is_control() || ['\u{200b}', '\u{202e}'].contains(&c);
                assert!(!buffer.content.iter().any(|cell| cell.symbol().contains(hides)));
            }
        }
    }
}
