//! When ticks are made: the head start, the hold, the knobs.

use super::*;

/// CLK-01, CLK-05: as the netcode's own tests, with the predictor around it.
#[test]
fn the_servers_queue_is_two_deep_whatever_the_round_trip() {
    for delay in [0, 2, 3, 6, 9] {
        let mut rig = Rig::new(delay);
        rig.run(300);
        let starved = rig.far.queue.counts().starved;
        rig.run(600);
        assert_eq!(rig.far.queue.counts().starved, starved, "{delay}");
        let reading = rig.seen.readings.last().unwrap();
        assert!((1.5..2.5).contains(&reading.smoothed), "{delay}: {reading:?}");
        assert!(rig.seen.readings[300..].iter().all(|it| (1..=3).contains(&it.depth)), "{delay}");
    }
}

/// CLK-09: a dead link stops new inputs at 60; the newest four go out again at tick pace, and
/// the answer to them ends the hold.
#[test]
fn a_hold_repeats_its_newest_inputs_until_they_are_answered() {
    let mut rig = Rig::walking(3);
    rig.cut = true;
    rig.run(120);
    let (_, last) = *rig.seen.sent.last().unwrap();
    let newest = last.inputs.iter().next().unwrap().sequence;
    assert_eq!(newest - rig.acked, 60);

    let before = rig.seen.sent.len();
    rig.run(60);
    let repeats = &rig.seen.sent[before..];
    assert!((55..=65).contains(&repeats.len()), "{} in a second", repeats.len());
    assert!(repeats.iter().all(|(_, input)| *input == last), "the same four, and the same ack");

    rig.cut = false;
    rig.run(30);
    assert!(!rig.seen.readings.last().unwrap().holding, "{:?}", rig.seen.readings.last());
    rig.run(60);
    let newest_now = rig.seen.sent.last().unwrap().1.inputs.iter().next().unwrap().sequence;
    assert!(newest + 60 < newest_now, "{newest} {newest_now}");
    let counts = rig.far.queue.counts();
    assert_eq!(counts.late, 0, "{counts:?}");
}

/// CLK-09
#[test]
fn three_hundred_milliseconds_never_hold() {
    let mut rig = Rig::new(9);
    rig.run(1_200);
    assert!(rig.seen.readings.iter().all(|reading| !reading.holding));
}

/// CLK-10
#[test]
fn a_knob_turned_while_playing_counts_from_the_next_tick_on() {
    let mut rig = Rig::walking(3);
    let mut prefs = Prefs::default();
    prefs.set_argument("client.net.holdBacklog=8").unwrap();
    rig.tell(PredictorMsg::Prefs(Arc::new(prefs)));
    rig.cut = true;
    rig.run(30);
    let sent = rig.seen.sent.len();
    assert_eq!(rig.seen.sent[sent - 1].1.inputs, rig.seen.sent[sent - 2].1.inputs, "it holds");
}

/// CLK-11: a jittery server leaves nothing behind for the next.
#[test]
fn a_new_session_has_a_clock_that_knows_nothing() {
    let mut rig = Rig::walking(3);
    rig.cut = true;
    rig.run(20);
    rig.cut = false;
    rig.run(60);
    let jittery = *rig.seen.readings.last().unwrap();
    assert!(jittery.target > 2.0, "{jittery:?}");

    rig.tell(PredictorMsg::Left);
    rig.tell(PredictorMsg::Joined(Numbered::new(2, rig.rate)));
    rig.seen.shown = None;
    let mut first = Snapshot::clone(&rig.far.snapshot());
    first.head.owner.0.depth = 2;
    rig.tell(PredictorMsg::Snapshot(Numbered::new(2, Arc::new(first))));
    let reading = rig.seen.readings.last().unwrap();
    assert_eq!(
        (reading.target.to_bits(), reading.rate.to_bits()),
        (2_f32.to_bits(), 1_f32.to_bits())
    );
    assert_eq!(rig.shown().overlay, "buf 2/2.0 rate x1.000");
}

#[test]
fn a_thread_that_slept_fills_the_queue_at_the_server_and_goes_on() {
    let mut rig = Rig::walking(0);
    let sent = rig.seen.sent.len();
    let mut out = Outbox::default();
    rig.now = rig.now + Micros::from_secs(3);
    rig.predictor.wake(rig.now, &mut out);
    rig.note(out);
    assert_eq!(rig.seen.sent.len() - sent, 2);
    let next = rig.predictor.next_deadline().unwrap();
    assert!(rig.now < next && next <= rig.now + Micros(17_100), "{next:?}");
}

/// What is drawn is between the two newest ticks whatever the time scale.
#[test]
fn half_the_time_scale_makes_half_the_ticks_and_draws_them_evenly() {
    let mut rig = Rig::new(0);
    rig.run(40);
    rig.far.settings.time_scale = 0.5;
    rig.run(1);
    // The tick under way was drawn at the pace before.
    rig.pass(rig.now + Micros(40_000));
    let (from, sent) = (rig.now, rig.seen.sent.len());
    let mut drawn = Vec::new();
    while rig.now < from + Micros::from_secs(1) {
        rig.pass(rig.now + Micros(4_166));
        drawn.push(rig.drawn());
    }
    let made = rig.seen.sent.len() - sent;
    assert!((29..=31).contains(&made), "{made}");
    let steps: Vec<f32> = drawn.windows(2).map(|pair| apart(pair[0].feet, pair[1].feet)).collect();
    let walk = 4.5 * 0.5 * 0.004_166;
    assert!(steps.iter().all(|step| (step - walk).abs() < walk * 0.2), "{steps:?}");
}

/// A thread that woke late owes most of a tick when the hold begins; the repeats go at tick pace
/// all the same.
#[test]
fn a_hold_that_began_between_two_ticks_repeats_no_faster() {
    let mut rig = Rig::walking(3);
    let mut prefs = Prefs::default();
    prefs.set_argument("client.net.holdBacklog=40").unwrap();
    rig.tell(PredictorMsg::Prefs(Arc::new(prefs)));
    rig.cut = true;
    for _ in 0..60 {
        let mut out = Outbox::default();
        rig.now = rig.predictor.next_deadline().unwrap() + Micros(15_000);
        rig.predictor.wake(rig.now, &mut out);
        rig.note(out);
    }
    let sent = rig.seen.sent.len();
    rig.pass(rig.now + Micros::from_secs(1));
    let repeats = rig.seen.sent.len() - sent;
    assert!((55..=65).contains(&repeats), "{repeats} in a second");
}
