//! Turns: which ticks run when, whose input each uses, what a console does to pawns.
#![expect(clippy::float_cmp, reason = "what is compared exactly is exact")]

use super::*;

use dh_host::pacer::{DeadlineWait, Sleeper, Waited};

fn due(tick: u64) -> Micros {
    TickRate::DEFAULT.due(tick)
}

fn numbers(ticks: impl IntoIterator<Item = u32>) -> Vec<Tick> {
    ticks.into_iter().map(Tick).collect()
}

/// PACE-11, PACE-14, INQ-03
#[test]
fn a_turn_of_four_ticks_publishes_four_frames_and_uses_four_inputs() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    (1..=6).for_each(|sequence| it.walk(1, sequence));
    assert_eq!(it.turn(due(4)), numbers(1..=4));
    let acks: Vec<u32> = it
        .published
        .iter()
        .map(|(frame, peers)| {
            assert_eq!(peers, &[PeerId(1)]);
            frame.owner(pawn).unwrap().answer.input_ack
        })
        .collect();
    assert_eq!(acks, [1, 2, 3, 4]);
}

/// PACE-12, PACE-14
#[test]
fn a_backlog_of_ten_ticks_runs_as_four_four_and_two_and_drops_none() {
    let mut it = Loop::new();
    it.join(1, 0);
    let turns = [(); 4].map(|()| it.turn(due(10)));
    assert_eq!(turns, [numbers(1..=4), numbers(5..=8), numbers(9..=10), vec![]]);
    let mut it = Loop::with(&["server.tick.maxCatchUp=7"]);
    assert_eq!(it.turn(due(10)), numbers(1..=7));
}

/// A host whose clock a test holds.
struct Held {
    now: Micros,
    sleeps: u32,
}

impl Sleeper for Held {
    fn now(&mut self) -> Micros {
        self.now
    }

    fn sleep(&mut self, span: Micros) -> bool {
        self.sleeps += 1;
        self.now = self.now + span;
        false
    }

    fn relax(&mut self) {
        self.now = self.now + Micros(1);
    }
}

/// PACE-13
#[test]
fn while_it_is_behind_the_next_turn_comes_without_a_wait() {
    let (mut it, mut wait) = (Loop::new(), DeadlineWait::new(Micros(400)));
    let mut host = Held { now: due(10), sleeps: 0 };
    for ticks in [4, 4, 2] {
        let deadline = it.ticking.next_deadline().unwrap();
        assert_eq!(wait.wait(&mut host, deadline), Waited::Reached);
        assert_eq!((host.now, host.sleeps), (due(10), 0), "no sleep, no spin");
        assert_eq!(it.turn(host.now).len(), ticks);
    }
    wait.wait(&mut host, it.ticking.next_deadline().unwrap());
    assert_eq!(host.now, due(11));
}

#[test]
fn what_is_more_than_two_seconds_behind_is_given_up_and_told_now_and_then() {
    let mut it = Loop::new();
    let mut told = 0;
    for second in 1..=60 {
        // A host that gets a turn every second and never catches up.
        it.turn(Micros::from_secs(10 + second));
        told += it.other.drain(..).filter(|it| matches!(it, Effect::Warn(_))).count();
    }
    assert!((5..=7).contains(&told), "{told} lines in a minute");
    let tick = it.ticking.tick();
    while !it.turn(Micros::from_secs(70)).is_empty() {}
    assert!(it.ticking.tick().0 - tick.0 <= 121, "no more than two seconds are caught up with");
}

/// The lines of a minute in which ticks come every so many microseconds.
fn slow_lines(it: &mut Loop, every: u64) -> Vec<String> {
    for n in 1..=60_000_000 / every {
        it.turn(Micros(n * every));
    }
    let lines = it.other.drain(..).filter_map(|effect| match effect {
        Effect::Slow(slow) => Some(slow.line(1.5)),
        _ => None,
    });
    lines.collect()
}

/// PACE-07, PACE-08
#[test]
fn ticks_that_come_too_rarely_are_warned_of_as_often_as_the_preferences_say() {
    let one_tick = "server.tick.maxCatchUp=1";
    let lines = slow_lines(&mut Loop::with(&[one_tick]), 50_000);
    assert!((5..=7).contains(&lines.len()), "{lines:?}");
    assert!(lines[0].contains("20.0 Hz instead of 60") && lines[0].contains("1.50"), "{lines:?}");
    let often = "server.tick.rateWarnInterval=2";
    let lines = slow_lines(&mut Loop::with(&[one_tick, often]), 50_000);
    assert!((28..=31).contains(&lines.len()), "{}", lines.len());
    let lax = "server.tick.rateWarnFraction=0.3";
    assert!(slow_lines(&mut Loop::with(&[one_tick, lax]), 50_000).is_empty());
    assert!(slow_lines(&mut Loop::new(), 16_667).is_empty());
}

/// PACE-07
#[test]
fn a_slower_world_is_no_slow_host() {
    let mut it = Loop::with(&["world.timeScale=0.5"]);
    assert!(slow_lines(&mut it, 16_667).is_empty());
    assert!((1_795..=1_801).contains(&it.ticking.tick().0), "{:?}", it.ticking.tick());
    let lines = slow_lines(&mut Loop::with(&["world.timeScale=2"]), 33_333);
    assert!(lines.is_empty(), "{lines:?}");
}

#[test]
fn preferences_hold_from_the_next_turn_on() {
    let mut it = Loop::new();
    it.run(60);
    it.prefs(&["world.timeScale=0.25", "server.tick.maxSpin=2", "world.noclipSpeed=3"]);
    let Some(Effect::Pace(pacing)) = it.other.pop() else { panic!() };
    assert_eq!(pacing.max_spin, Micros::from_millis(2));
    (61..=120).for_each(|tick| drop(it.turn(due(tick))));
    assert_eq!(it.ticking.tick(), Tick(75));
    assert!((it.frame().settings().noclip_speed - 3.0).abs() < f32::EPSILON);
}

/// GEN-01
#[test]
fn a_peer_moves_by_its_inputs_and_by_nothing_else_it_says() {
    let mut it = Loop::new();
    let (mine, other) = (it.join(1, 0), it.join(2, 1));
    it.run(60);
    let (start, still) = (it.feet(mine), it.feet(other));
    // Whatever the numbers, one input is one tick of walking.
    for sequence in 1..=30 {
        let input = PlayerInput { sequence, move_z: 127, yaw: 1e30, ..PlayerInput::default() };
        it.tell(TickMsg::Inputs(PeerInputs { peer: PeerId(1), inputs: vec![input; 4] }));
        it.run(1);
    }
    it.run(3);
    let far: f32 = start.iter().zip(it.feet(mine)).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(far.sqrt() < 34.0 / 60.0 * 4.6, "{}", far.sqrt());
    assert_eq!(it.feet(other), still);
    it.walk(7, 1);
    assert_eq!(it.ticking.tick(), Tick(93), "a peer without a pawn is nobody");
}

#[test]
fn inputs_of_one_peer_are_used_one_a_tick_and_starved_ticks_acknowledge_nothing() {
    let mut it = Loop::new();
    let pawn = it.join(1, 0);
    [3, 1, 2].into_iter().for_each(|sequence| it.walk(1, sequence));
    it.run(6);
    let answers: Vec<_> =
        it.published.iter().map(|(frame, _)| frame.owner(pawn).unwrap().answer).collect();
    let acks: Vec<u32> = answers.iter().map(|answer| answer.input_ack).collect();
    assert_eq!(acks, [1, 2, 3, 3, 3, 3]);
    assert_eq!(answers.last().unwrap().depth, -3);
}

#[test]
fn a_watcher_hears_what_each_tick_used_and_a_digest_of_each_world() {
    use crate::event::ServerEvent as Event;
    let mut it = Loop::new();
    it.ticking = it.ticking.watched(true, true);
    it.join(1, 0);
    (1..=3).for_each(|sequence| it.walk(1, sequence));
    it.run(4);
    let mut told = Vec::new();
    let mut traced = 0;
    for effect in it.other.drain(..) {
        match effect {
            Effect::Tell(events) => told.extend(events),
            Effect::Digest(..) => traced += 1,
            _ => (),
        }
    }
    let peer = PeerId(1);
    let used = |tick, sequence| Event::Applied { peer, tick: Tick(tick), sequence };
    assert!([used(1, 1), used(2, 2), used(3, 3)].iter().all(|it| told.contains(it)), "{told:?}");
    assert!(told.contains(&Event::Starved { peer, tick: Tick(4) }));
    let worlds = told
        .iter()
        .filter(|it| matches!(it, Event::Ticked { frame, .. } if frame.len() == 1))
        .count();
    assert_eq!((worlds, traced), (4, 4));
}

#[test]
fn a_watched_turn_of_sixty_ticks_with_a_full_room_stays_within_its_bounds() {
    let mut it = Loop::with(&["server.tick.maxCatchUp=60"]);
    it.ticking = it.ticking.watched(true, true);
    for slot in 0..64 {
        it.join(u32::from(slot), slot);
        it.walk(u32::from(slot), 1);
    }
    assert_eq!(it.turn(due(60)).len(), 60);
}

#[test]
fn the_console_places_pawns_lets_them_fly_and_says_so() {
    let mut it = Loop::new();
    let (ada, bob) = (it.join(1, 0), it.join(2, 1));
    it.run(1);
    let there = [1.5, 3.0, -2.0];
    let answer = it.command(0, Deed::Teleport(Place::Point(there)));
    assert_eq!(answer, "tp: #0 is at 1.50 3.00 -2.00");
    it.run(1);
    assert_eq!(it.feet(ada), there);
    it.command(1, Deed::Teleport(Place::Beside(0)));
    it.run(1);
    assert_eq!(it.feet(bob), there);
    assert_eq!(
        it.command(0, Deed::Teleport(Place::Point([0.0, -16_384.5, 0.0]))),
        "tp: 0 -16384.5 0 is outside the world, which reaches from -16384 to 16384 metres on each \
         axis"
    );
    assert_eq!(it.command(0, Deed::Teleport(Place::Beside(9))), "tp: #9 has no pawn");
    assert_eq!(it.command(9, Deed::Respawn), "#9 has no pawn");
    let noclip = |it: &mut Loop, on| it.command(0, Deed::Noclip(on));
    assert_eq!(noclip(&mut it, None), "noclip: #0 is on");
    assert_eq!(noclip(&mut it, None), "noclip: #0 is off");
    assert_eq!(noclip(&mut it, Some(false)), "noclip: #0 is off");
    assert_eq!(it.command(0, Deed::Respawn), "respawn: #0 is at a spawn point");
    it.run(1);
    assert_eq!(it.frame().owner(ada).unwrap().epoch, 2);
}
