//! One step of the character mover in the gray box, as it is made of boxes and as if it were made
//! of triangles a metre long, each beside the same step by rapier's casts.

mod mesh;

use std::hint::black_box;
use std::sync::Arc;

use dh_client::{Manner, Pilot};
use dh_host::bench::cpu_of_this_thread;
use dh_machine::TickRate;
use dh_messages::{PlayerInput, WorldSettings};
use dh_sim::{
    Casts, GrayBox, MoverSettings, MoverState, RapierCasts, RapierScene, SolidCasts, Solids, step,
};

use super::measure::medians;
use super::progress;
use super::report::{Budget, Figure, Report};

/// Players whose walks are stepped, and ticks of each.
const WALKS: usize = 16;
const TICKS: u32 = 600;
const ROUNDS: usize = 9;
const BOX_STEP_US_MAX: f64 = 5.0;
const TRIANGLE_STEP_US_MAX: f64 = 10.0;

/// One step to be taken: where from, and what is wanted.
type Due = (MoverState, PlayerInput);

/// Lets pilots jump about, then takes each of their steps again with both casts.
pub(super) fn run() -> Report {
    progress("the mover: ten seconds");
    let gray_box = GrayBox::new();
    let settings = MoverSettings::new(TickRate::DEFAULT, WorldSettings::default().noclip_speed);
    let boxes = gray_box.solids();
    let triangles = mesh::of_boxes(boxes.all());
    let count = triangles.triangles().len();
    let triangles = Solids::new(Vec::new()).with_triangles(Arc::new(triangles));
    let mut report = Report::new("mover");
    for (what, solids, budget) in [
        ("one step among boxes".to_owned(), &*boxes, BOX_STEP_US_MAX),
        (format!("one step among {count} triangles"), &triangles, TRIANGLE_STEP_US_MAX),
    ] {
        let [ours, theirs] = compared(&gray_box, solids, &settings);
        let figure = Figure::new(what, ours, "us");
        report.push(figure.beside("rapier's casts", theirs).within(Budget::AtMost(budget)));
    }
    report
}

/// Microseconds of a step with our casts and with rapier's.
fn compared(gray_box: &GrayBox, solids: &Solids, settings: &MoverSettings) -> [f64; 2] {
    let due = walks(gray_box, solids, settings);
    let scene = RapierScene::new(solids);
    let (mut ours, mut rapier) = (SolidCasts::new(solids), RapierCasts::new(&scene));
    medians(
        ROUNDS,
        [&mut || micros_each(&due, settings, &mut ours), &mut || {
            micros_each(&due, settings, &mut rapier)
        }],
    )
}

/// Every step of players that walk, turn, sprint, crouch and jump from the spawn points on.
fn walks(gray_box: &GrayBox, solids: &Solids, settings: &MoverSettings) -> Vec<Due> {
    let mut casts = SolidCasts::new(solids);
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
