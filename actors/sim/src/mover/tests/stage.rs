//! Stage: one pawn, a few boxes and the loop around them.

use dh_machine::TickRate;
use dh_messages::PlayerInput;
use glam::Vec3;

use crate::mover::{MoverSettings, MoverState, step};
use crate::physics::{BodyId, BoxCasts, Casts, RapierCasts, RapierScene, Solid, Solids};

/// One pawn among a few boxes.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) state: MoverState,
    pub(super) settings: MoverSettings,
    pub(super) boxes: Vec<Solid>,
}

/// Full speed ahead.
pub(super) fn ahead() -> PlayerInput {
    PlayerInput { move_z: 127, ..PlayerInput::default() }
}

impl Stage {
    /// A pawn at rest in the middle of a large floor whose top is at height 0.
    pub(super) fn flat() -> Self {
        let mut stage = Self::in_the_air(Vec3::new(0.0, MoverSettings::SKIN, 0.0));
        stage.wall(Vec3::new(0.0, -0.5, 0.0), Vec3::new(40.0, 0.5, 40.0));
        stage.run(1, PlayerInput::default());
        stage
    }

    /// A pawn with nothing around it.
    pub(super) fn in_the_air(feet: Vec3) -> Self {
        let settings = MoverSettings::new(TickRate::DEFAULT, 8.0);
        Self { state: MoverState::standing(feet, 0.0), settings, boxes: Vec::new() }
    }

    /// Adds a box along the axes; its id.
    pub(super) fn wall(&mut self, centre: Vec3, half: Vec3) -> BodyId {
        let id = BodyId::of_map(self.boxes.len());
        self.boxes.push(Solid::fixed(id, centre, half));
        id
    }

    /// Adds a plane through `through` that rises by `degrees` toward -z.
    pub(super) fn slope(&mut self, through: Vec3, degrees: f32) {
        let rotation = Solid::turned(Vec3::X, degrees.to_radians());
        let centre = through - rotation * Vec3::Y;
        let solid =
            Solid::fixed(BodyId::of_map(self.boxes.len()), centre, Vec3::new(8.0, 1.0, 8.0));
        self.boxes.push(Solid { rotation, ..solid });
    }

    pub(super) fn solids(&self) -> Solids {
        Solids::new(self.boxes.clone())
    }

    /// So many steps with the same input.
    pub(super) fn run(&mut self, steps: u32, input: PlayerInput) {
        let solids = self.solids();
        let mut casts = BoxCasts::new(&solids);
        self.run_with(steps, input, &mut casts);
    }

    /// The same with rapier's casts.
    pub(super) fn run_with_rapier(&mut self, steps: u32, input: PlayerInput) {
        let scene = RapierScene::new(&self.solids());
        self.run_with(steps, input, &mut RapierCasts::new(&scene));
    }

    fn run_with(&mut self, steps: u32, input: PlayerInput, casts: &mut impl Casts) {
        for _ in 0..steps {
            self.state = step(&self.state, &input, &self.settings, casts);
        }
    }

    /// One step of several pawns among the boxes of the first.
    pub(super) fn run_together(stages: &mut [&mut Self], input: PlayerInput) {
        let solids = stages[0].solids();
        let mut casts = BoxCasts::new(&solids);
        for stage in stages {
            stage.run_with(1, input, &mut casts);
        }
    }

    /// So many steps, with every box moved by its velocity after each.
    pub(super) fn ride(&mut self, steps: u32, input: PlayerInput) {
        for _ in 0..steps {
            self.run(1, input);
            for solid in &mut self.boxes {
                solid.centre += solid.velocity * self.settings.dt;
                let angle = solid.spin.y * self.settings.dt;
                solid.rotation = Solid::turned(Vec3::Y, angle) * solid.rotation;
            }
        }
    }
}
