//! Corrections: adopted at once, drawn softly, and jumped only where the server says so.

use dh_messages::{PawnFlags, SnapshotHead};
use glam::Vec3;

use super::*;

/// 0.3 m to the right, as if the server had seen something else.
fn nudge(rig: &mut Rig) {
    rig.far.state.feet.x += 0.3;
}

fn crouch(rig: &mut Rig) {
    (rig.far.state.stance_height, rig.far.state.eye_height) = (1.1, 0.94);
    rig.far.state.flags = rig.far.state.flags.with(PawnFlags::CROUCHING, true);
}

/// GEN-01: a client that believes something false is back at the server's after one answer, and
/// nothing it did moved the server's pawn.
#[test]
fn a_false_belief_lasts_until_the_next_answer() {
    let mut rig = Rig::walking(0);
    let truth = rig.far.state;
    let mut forged = Snapshot::clone(&rig.far.step());
    let SnapshotHead { owner, tick, .. } = &mut forged.head;
    owner.0.position[0] += 5.0;
    *tick += 1;
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::new(forged))));
    assert!(rig.shown().newest.feet[0] > truth.feet.x + 4.9);

    rig.far.tick.0 += 1;
    rig.tick();
    assert_eq!(rig.seen.corrections.len(), 2);
    assert_eq!(rig.far.state.feet.x.to_bits(), truth.feet.x.to_bits());
    rig.run(30);
    assert_eq!(rig.seen.corrections.len(), 2);
    assert_eq!(rig.shown().newest.feet[0].to_bits(), truth.feet.x.to_bits());
}

/// REC-01: simulated at once, drawn within about 100 ms, and in no frame by a leap.
#[test]
fn a_correction_is_adopted_at_once_and_drawn_over_a_tenth_of_a_second() {
    let mut rig = Rig::walking(3);
    let before = rig.frames(48);
    nudge(&mut rig);
    while rig.seen.corrections.is_empty() {
        rig.tick();
    }
    let correction = rig.seen.corrections[0];
    assert!((correction.metres - 0.3).abs() < 1e-3 && !correction.placed);
    let x = rig.shown().newest.feet[0];
    let drawn = rig.drawn().feet[0];
    assert!((x - 0.3 - drawn).abs() < 0.01, "drawn where it was: {drawn} of {x}");

    let frames = rig.frames(24);
    // At most a share of the offset that 4 ms take, beside the walk itself.
    let walk = longest_step(&before);
    let most = walk + 0.3 * (4.2_f32 / 35.0);
    assert!(longest_step(&frames) < most + 0.005, "{} of {most}", longest_step(&frames));
    let left = (x - frames.last().unwrap().feet[0]).abs();
    assert!(left < 0.02, "6 % of 0.3 m are left after 0.1 s, not {left}");
    rig.frames(60);
    assert!(!rig.is_eased());
}

/// REC-02: the eyes have an offset of their own.
#[test]
fn a_crouch_the_client_did_not_predict_lowers_the_eyes_in_no_single_step() {
    let mut rig = Rig::walking(0);
    crouch(&mut rig);
    let eyes: Vec<f32> = rig.frames(48).iter().map(|it| it.feet[1] + it.eye_height).collect();
    assert!(!rig.seen.corrections.is_empty());
    let steps = eyes.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let most = steps.fold(0.0, f32::max);
    assert!(most < 0.1, "{most}");
}

/// REC-03: a real jump is never smoothed.
#[test]
fn a_teleport_drops_both_offsets_in_the_same_frame() {
    let mut rig = Rig::walking(0);
    nudge(&mut rig);
    crouch(&mut rig);
    while rig.seen.corrections.is_empty() {
        rig.tick();
    }
    assert!(apart(rig.shown().offset.feet(), [0.0; 3]) > 0.1);
    assert!(rig.shown().offset.eye_height().abs() > 0.1);

    let there = rig.far.state.feet + Vec3::new(0.0, 30.0, -40.0);
    rig.far.teleport(there);
    while !rig.seen.corrections.last().unwrap().placed {
        rig.tick();
    }
    assert!(!rig.is_eased());
    assert!(apart(rig.drawn().feet, there.to_array()) < 1.0);
}

/// REC-03, REC-08: a ring of pending inputs that overflows ends the easing. On a 240 Hz server
/// that runs ten times as fast it does so before the offset has faded by itself.
#[test]
fn an_overflow_of_pending_inputs_drops_both_offsets() {
    let mut rig = Rig::at_rate(TickRate::new(240).unwrap(), 0);
    rig.far.settings.time_scale = 10.0;
    rig.run(24);
    nudge(&mut rig);
    let corrected = rig.seen.corrections.len();
    while rig.seen.corrections.len() == corrected {
        rig.tick();
    }
    rig.cut = true;
    let mut faded = rig.shown().offset.feet()[0].abs();
    assert!(faded > 0.1, "{faded}");
    let end = rig.now + Micros::from_millis(90);
    while rig.now < end {
        rig.pass(rig.now + Micros(500));
        let left = rig.shown().offset.feet()[0].abs();
        if left == 0.0 {
            assert!(faded > 0.01, "it was dropped, not faded: {faded} m");
            return;
        }
        faded = left;
    }
    panic!("still {faded} m");
}

/// REC-05: a server that starves every second tick moves the pawn twice for each answer. What is
/// drawn goes on smoothly and never alternates between two places.
#[test]
fn corrections_on_every_second_tick_are_drawn_as_one_smooth_walk() {
    let mut rig = Rig::walking(3);
    let mut frames = Vec::new();
    for _ in 0..20 {
        frames.extend(rig.frames(8));
        let again = *rig.far.taken.last().unwrap();
        rig.far.repeat(&again);
    }
    assert!(rig.seen.corrections.len() > 15, "{}", rig.seen.corrections.len());
    let ahead: Vec<f32> = frames.windows(2).map(|pair| pair[0].feet[2] - pair[1].feet[2]).collect();
    let (least, most) =
        ahead.iter().fold((f32::MAX, f32::MIN), |(a, b), it| (a.min(*it), b.max(*it)));
    // A walk is 19 mm a frame; a correction adds 75 mm, of which 11 % fade in the first.
    assert!(least > -0.001 && most < 0.045, "{least} to {most}");
}

/// REC-09: the size of a correction never decides. One tick at 400 m/s is nearly 7 m.
#[test]
fn a_correction_of_many_metres_is_eased_all_the_same() {
    let mut rig = Rig::new(3);
    rig.far.settings.noclip_speed = 400.0;
    rig.far.set_noclip(true);
    rig.far.state.feet.y = 50.0;
    rig.run(60);
    rig.seen.corrections.clear();
    let again = *rig.far.taken.last().unwrap();
    rig.far.repeat(&again);
    while rig.seen.corrections.is_empty() {
        rig.tick();
    }
    let correction = rig.seen.corrections[0];
    assert!(correction.metres > 6.0 && !correction.placed, "{correction:?}");
    let left = apart(rig.shown().offset.feet(), [0.0; 3]);
    assert!((left - correction.metres).abs() < 0.1, "{left}");
}
