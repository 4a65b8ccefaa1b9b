//! How a correction eases, and what ends it at once.

use super::*;

const FRAME: Micros = Micros(16_667);

fn at(x: f32, eye_height: f32) -> Stance {
    Stance { feet: [x, 0.0, 0.0], eye_height }
}

/// Whether the feet are drawn where they are.
fn still(offset: &ReconcileOffset) -> bool {
    offset.feet().iter().all(|it| it.abs() <= 0.0)
}

/// REC-01
#[test]
fn a_correction_leaves_the_drawn_pawn_in_place_and_eases_out_in_about_100_ms() {
    let mut offset = ReconcileOffset::default();
    let (before, after) = (at(0.0, 1.64), at(0.3, 1.64));
    offset.correct(before, after);
    let mut drawn = offset.drawn(after, after, 1.0).feet[0];
    assert!(drawn.abs() < 1e-6);
    for _ in 0..6 {
        offset.ease(FRAME);
        let next = offset.drawn(after, after, 1.0).feet[0];
        assert!((0.0..0.12).contains(&(next - drawn)), "{drawn} to {next}");
        drawn = next;
    }
    assert!((0.28..0.3).contains(&drawn), "after 100 ms 6 % is left: {drawn}");
}

/// REC-02
#[test]
fn the_eye_height_eases_on_its_own() {
    let mut offset = ReconcileOffset::default();
    offset.correct(at(5.0, 1.64), at(5.0, 0.94));
    assert!(still(&offset));
    assert!((offset.drawn(at(5.0, 0.94), at(5.0, 0.94), 1.0).eye_height - 1.64).abs() < 1e-6);
    offset.ease(FRAME);
    assert!((0.3..0.6).contains(&offset.eye_height()));
}

/// REC-03, REC-08
#[test]
fn only_a_changed_epoch_or_an_overflow_drops_both_offsets_and_at_once() {
    let mut offset = ReconcileOffset::default();
    assert!(!offset.observe_epoch(255), "the first epoch says nothing");
    offset.correct(at(0.0, 1.64), at(0.4, 1.0));
    assert!(!offset.observe_epoch(255));
    assert!(!still(&offset) && offset.eye_height() > 0.0);
    assert!(offset.observe_epoch(0), "the epoch wraps");
    assert_eq!((offset.feet(), offset.eye_height()), ([0.0; 3], 0.0));

    offset.correct(at(0.0, 1.64), at(0.4, 1.0));
    offset.clear();
    assert_eq!((offset.feet(), offset.eye_height()), ([0.0; 3], 0.0));
}

/// REC-03, REC-08
#[test]
fn any_change_of_the_epoch_is_a_jump_whichever_way_it_goes() {
    for (last, next) in [(0, 1), (1, 3), (7, 6), (255, 0)] {
        let mut offset = ReconcileOffset::default();
        offset.observe_epoch(last);
        offset.correct(at(0.0, 1.64), at(0.4, 1.0));
        assert!(offset.observe_epoch(next), "{last} to {next}");
        assert_eq!((offset.feet(), offset.eye_height()), ([0.0; 3], 0.0), "{last} to {next}");
    }
}

/// REC-04
#[test]
fn what_is_drawn_is_the_blend_of_two_ticks_and_the_offset() {
    let mut offset = ReconcileOffset::default();
    offset.correct(at(1.0, 0.5), at(0.0, 0.0));
    let drawn = offset.drawn(at(10.0, 1.0), at(14.0, 2.0), 0.25);
    assert_eq!(drawn, Stance { feet: [12.0, 0.0, 0.0], eye_height: 1.75 });
}

/// REC-07
#[test]
fn less_than_a_millimetre_is_dropped_and_two_are_eased() {
    let mut offset = ReconcileOffset::default();
    offset.correct(at(0.0, 0.0), at(0.0005, 0.0005));
    assert_eq!(offset, ReconcileOffset::default());
    offset.correct(at(0.0, 0.0), at(0.002, 0.0));
    assert!((offset.feet()[0] + 0.002).abs() < 1e-9);
    (0..30).for_each(|_| offset.ease(FRAME));
    assert_eq!(offset, ReconcileOffset::default(), "the last millimetre is dropped as well");
}

/// REC-09
#[test]
fn the_size_of_a_correction_decides_nothing() {
    for metres in [0.1_f32, 6.7, 5_000.0] {
        let mut offset = ReconcileOffset::default();
        offset.correct(at(0.0, 0.0), at(metres, 0.0));
        assert!((offset.feet()[0] + metres).abs() < 1e-3 * metres);
        offset.ease(Micros::from_millis(35));
        let left = -offset.feet()[0] / metres;
        assert!((left - 0.3679).abs() < 1e-3, "{left} of {metres} m");
    }
}

#[test]
fn a_correction_during_another_adds_to_what_is_left() {
    let mut offset = ReconcileOffset::default();
    offset.correct(at(0.0, 0.0), at(0.2, 0.0));
    offset.correct(at(0.2, 0.0), at(0.1, 0.0));
    assert!((offset.feet()[0] + 0.1).abs() < 1e-6);
}
