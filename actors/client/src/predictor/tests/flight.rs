//! Flags that only the server sets.

use dh_messages::PawnFlags;

use super::*;

fn flown(rig: &Rig) -> bool {
    rig.far.state.flags.contains(PawnFlags::NOCLIP)
}

/// REC-11: replay starts from the acknowledged flags, so both ends change on the same tick; the
/// client has no say in it.
#[test]
fn noclip_that_the_server_turns_on_is_replayed_from_its_tick_on() {
    let mut rig = Rig::walking(5);
    rig.far.set_noclip(true);
    rig.want(Wish { move_y: 127, ..AHEAD });
    rig.run(20);
    assert!(flown(&rig));
    let first = rig.seen.corrections.first().unwrap();
    assert!(!first.placed);
    // Everything that was under way was run again with the flag on; no answer after that differs.
    let corrections = rig.seen.corrections.len();
    assert_eq!(corrections, 1, "{:?}", rig.seen.corrections);
    rig.run(60);
    assert_eq!(rig.seen.corrections.len(), corrections);
    assert!(rig.shown().newest.feet[1] > 1.0, "it has risen at this end too");
}

/// REC-12: what the client flew on while the flag travelled is one ordinary correction.
#[test]
fn leaving_fast_flight_is_one_eased_correction() {
    let mut rig = Rig::new(5);
    rig.far.settings.noclip_speed = 400.0;
    rig.far.set_noclip(true);
    rig.far.state.feet.y = 80.0;
    rig.run(30);
    rig.seen.corrections.clear();
    rig.far.set_noclip(false);
    while rig.seen.corrections.is_empty() {
        rig.tick();
    }
    let correction = rig.seen.corrections[0];
    assert!(correction.metres > 0.1 && !correction.placed, "{correction:?}");
    let left = apart(rig.shown().offset.feet(), [0.0; 3]);
    assert!((left - correction.metres).abs() < 0.05, "{left} of {correction:?}");
    rig.run(20);
    assert_eq!(rig.seen.corrections.len(), 1, "{:?}", rig.seen.corrections);
}
