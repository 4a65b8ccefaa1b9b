//! One step of the character mover among the boxes of the gray box, beside the same step by
//! rapier's casts.

use std::hint::black_box;

use dh_client::{Manner, Pilot};
use dh_host::bench::cpu_of_this_thread;
use dh_machine::TickRate;
use dh_messages::{PlayerInput, WorldSettings};
use dh_sim::{BoxCasts, Casts, GrayBox, MoverSettings, MoverState, RapierCasts, RapierScene, step};

use super::measure::medians;
use super::progress;
use super::report::{Budget, Figure, Report};

/// Players whose walks are stepped, and ticks of each.
const WALKS: usize = 16;
const TICKS: u32 = 600;
const ROUNDS: usize = 9;
const STEP_US_MAX: f64 = 5.0;

/// One step to be taken: where from, and what is wanted.
type Due = (MoverState, PlayerInput);

/// Lets pilots jump about, then takes each of their steps again with both casts.
pub(super) fn run() -> Report {
    progress("the mover: a few seconds");
    let gray_box = GrayBox::new();
    let solids = gray_box.solids();
    let settings = MoverSettings::new(TickRate::DEFAULT, WorldSettings::default().noclip_speed);
    let due = walks(&gray_box, &settings);
    let scene = RapierScene::new(&solids);
    let (mut boxes, mut rapier) = (BoxCasts::new(&solids), RapierCasts::new(&scene));
    let [ours, theirs] = medians(
        ROUNDS,
        [&mut || micros_each(&due, &settings, &mut boxes), &mut || {
            micros_each(&due, &settings, &mut rapier)
        }],
    );
    let mut report = Report::new("mover");
    let figure = Figure::new("one step among boxes", ours, "us");
    report.push(figure.beside("rapier's casts", theirs).within(Budget::AtMost(STEP_US_MAX)));
    report
}

/// Every step of players that walk, turn, sprint, crouch and jump from the spawn points on.
fn walks(gray_box: &GrayBox, settings: &MoverSettings) -> Vec<Due> {
    let solids = gray_box.solids();
    let mut casts = BoxCasts::new(&solids);
    let mut due = Vec::new();
    for (spawn, seed) in gray_box.spawns().iter().cycle().take(WALKS).zip(0..) {
        let mut pilot = Pilot::new(Manner::Jumper, seed);
        let mut state = MoverState::standing(spawn.feet, spawn.yaw);
        for sequence in 1..=TICKS {
            let input = pilot.next_wish().input(sequence);
            due.push((state, input));
            state = step(&state, &input, settings, &mut casts);
        }
    }
    due
}

/// Microseconds of CPU time that one step takes.
fn micros_each(due: &[Due], settings: &MoverSettings, casts: &mut impl Casts) -> f64 {
    let start = cpu_of_this_thread();
    for (state, input) in due {
        black_box(step(black_box(state), input, settings, casts));
    }
    let spent = cpu_of_this_thread() - start;
    let count = u32::try_from(due.len()).unwrap_or(u32::MAX);
    spent.as_secs_f64() * 1e6 / f64::from(count)
}
