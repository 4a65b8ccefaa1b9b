//! Where prediction begins and ends, and what outlives a restart.

use dh_messages::{Section, SnapshotHead};

use super::*;

fn sequences(rig: &Rig) -> Vec<Vec<u32>> {
    let inputs = |input: &Input| input.inputs.iter().map(|it| it.sequence).collect();
    rig.seen.sent.iter().map(|(_, input)| inputs(input)).collect()
}

#[test]
fn prediction_starts_with_the_first_snapshot_that_names_the_pawn_three_ticks_ahead() {
    let mut rig = Rig::new(0);
    rig.pass(Micros::from_secs(1));
    assert!(rig.seen.sent.is_empty(), "no pawn, no input");
    let nobody = Snapshot::new(SnapshotHead { tick: 1, ..SnapshotHead::default() }, Vec::new());
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::new(nobody))));
    assert!(rig.seen.sent.is_empty());

    rig.far.tick.0 = 59;
    rig.tick();
    assert_eq!(sequences(&rig), [vec![1], vec![2, 1], vec![3, 2, 1]]);
    assert_eq!(rig.shown().pawn, far::PAWN);
    assert!(apart(rig.shown().newest.feet, rig.far.state.feet.to_array()) > 0.0);
    rig.run(3);
    assert_eq!(sequences(&rig).last().unwrap(), &[6, 5, 4, 3]);
}

/// A prediction whose acknowledged state is bit-equal is never replayed. PLAT-12: ten thousand
/// steps of walking, turning, jumping and crouching at both ends, and not one bit differs.
#[test]
fn ten_thousand_steps_at_both_ends_are_bit_equal_and_none_is_run_twice() {
    let mut rig = Rig::new(6);
    let mut wish = AHEAD;
    for tick in 0..10_000_u32 {
        if tick % 37 == 0 {
            wish.yaw = (wish.yaw + 0.8) % 3.0;
            wish.buttons = [Buttons::NONE, Buttons::SPRINT, Buttons::CROUCH][(tick % 3) as usize];
        }
        wish.buttons = wish.buttons.with(Buttons::JUMP, tick % 50 == 0);
        rig.want(wish);
        rig.tick();
    }
    assert_eq!(rig.seen.corrections, []);
    let (sent, answered) = (rig.seen.sent.len(), rig.seen.confirmed);
    assert!(9_980 < answered && 9_980 < sent, "{answered} of {sent}");
}

#[test]
fn snapshots_out_of_order_are_acknowledged_and_change_nothing_else() {
    let mut rig = Rig::walking(3);
    let (older, newer) = (rig.far.step(), rig.far.step());
    let tick = newer.head.tick;
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, newer)));
    let answers = rig.seen.confirmed + rig.seen.corrections.len();
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, older)));
    assert_eq!(rig.seen.confirmed + rig.seen.corrections.len(), answers);
    rig.pass(rig.now + Micros(20_000));
    let ack = rig.seen.sent.last().unwrap().1.snapshot_ack;
    assert_eq!((ack.tick, ack.mask & 0b1), (tick, 0b1));
}

/// SES-02: the snapshot of a session that was left does not reach the next one.
#[test]
fn snapshots_of_another_attempt_are_swallowed() {
    let mut rig = Rig::walking(0);
    let late = rig.far.snapshot();
    rig.tell(PredictorMsg::Left);
    assert_eq!(rig.predictor.next_deadline(), None);
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::clone(&late))));
    rig.tell(PredictorMsg::Joined(Numbered::new(3, rig.rate)));
    let sent = rig.seen.sent.len();
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::clone(&late))));
    assert_eq!(rig.seen.sent.len(), sent);
    assert_eq!(rig.predictor.next_deadline(), None, "no pawn to predict yet");

    rig.tell(PredictorMsg::Snapshot(Numbered::new(3, late)));
    assert_eq!(sequences(&rig)[sent], [1], "sequences start over with the session");
}

#[test]
fn a_snapshot_that_does_not_list_the_own_pawn_is_no_answer() {
    let mut rig = Rig::walking(0);
    let answers = rig.seen.confirmed;
    let mut snapshot = Snapshot::clone(&rig.far.step());
    snapshot.records.0.clear();
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::new(snapshot))));
    assert_eq!((rig.seen.confirmed, rig.seen.corrections.len()), (answers, 0));
}

#[test]
fn another_pawn_starts_prediction_over_without_a_second_head_start() {
    let mut rig = Rig::walking(0);
    let sent = rig.seen.sent.len();
    let mut snapshot = Snapshot::clone(&rig.far.step());
    let Section(owner) = &mut snapshot.head.owner;
    owner.pawn.0 += 1;
    snapshot.records.0[0].id.0 += 1;
    let pawn = owner.pawn;
    rig.tell(PredictorMsg::Snapshot(Numbered::new(1, Arc::new(snapshot))));
    assert_eq!(rig.seen.sent.len(), sent);
    assert_eq!(rig.shown().pawn, pawn);
}

/// After a panic the machine is remade from what it kept; the answers heal what it has forgotten.
#[test]
fn a_restart_goes_on_with_its_sequences_and_is_right_again_within_a_round_trip() {
    let mut rig = Rig::walking(4);
    let newest = sequences(&rig).last().unwrap()[0];
    // What the performer keeps: the last standing, and the sequence of the last input.
    let standing = Standing { sequence: newest, ..rig.seen.standing.clone().unwrap() };
    rig.predictor = Predictor::new(GrayBox::new().solids(), standing, true, rig.now);
    rig.run(30);
    let first = sequences(&rig).iter().find(|it| newest < it[0]).unwrap().clone();
    assert_eq!(first, [newest + 1]);
    let corrected = rig.seen.corrections.len();
    rig.run(60);
    assert_eq!(rig.seen.corrections.len(), corrected);
    assert!(rig.far.queue.counts().late == 0);
}

#[test]
fn a_restart_before_the_first_snapshot_starts_ahead_all_the_same() {
    let (mut rig, mut twin) = (Rig::new(4), Rig::new(4));
    let standing = rig.seen.standing.clone().unwrap();
    rig.predictor = Predictor::new(GrayBox::new().solids(), standing, true, rig.now);
    rig.run(30);
    twin.run(30);
    assert!(!sequences(&twin).is_empty());
    assert_eq!(sequences(&rig), sequences(&twin));
}
