//! Stage: one pawn, a few boxes and the loop around them.

use std::sync::Arc;

use dh_cook::{Cooked, Part, cook};
use dh_machine::TickRate;
use dh_messages::PlayerInput;
use glam::Vec3;

use crate::mover::{MoverSettings, MoverState, step};
use crate::physics::{BodyId, Casts, RapierCasts, RapierScene, Solid, SolidCasts, Solids};

/// One pawn among a few boxes.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    pub(super) state: MoverState,
    pub(super) settings: MoverSettings,
    pub(super) boxes: Vec<Solid>,
    /// Whether the boxes are made of triangles.
    pub(super) meshed: bool,
    pub(super) triangles: Option<Arc<Cooked>>,
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

    /// A pawn on the floor before ten steps of 30 cm that lead up to a landing.
    pub(super) fn before_stairs() -> Self {
        let mut stage = Self::flat();
        for number in 0..10_u8 {
            let number = f32::from(number);
            let high = 0.3 * (number + 1.0);
            let centre = Vec3::new(0.0, high * 0.5, -2.0 - 0.4 * number);
            stage.wall(centre, Vec3::new(2.0, high * 0.5, 0.2));
        }
        stage.wall(Vec3::new(0.0, 1.5, -8.0), Vec3::new(2.0, 1.5, 2.2));
        stage
    }

    /// A pawn with nothing around it.
    pub(super) fn in_the_air(feet: Vec3) -> Self {
        let settings = MoverSettings::new(TickRate::DEFAULT, 8.0);
        let state = MoverState::standing(feet, 0.0);
        Self { state, settings, boxes: Vec::new(), meshed: false, triangles: None }
    }

    /// A pawn at rest on triangles alone, at the height of 0 in the middle of them.
    pub(super) fn on(triangles: &Arc<Cooked>) -> Self {
        let mut stage = Self::in_the_air(Vec3::new(0.0, MoverSettings::SKIN, 0.0));
        stage.triangles = Some(Arc::clone(triangles));
        stage.run(1, PlayerInput::default());
        stage
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
        if self.meshed {
            return Solids::new(Vec::new()).with_triangles(Arc::new(mesh_of(&self.boxes)));
        }
        let solids = Solids::new(self.boxes.clone());
        match &self.triangles {
            Some(triangles) => solids.with_triangles(Arc::clone(triangles)),
            None => solids,
        }
    }

    /// So many steps with the same input.
    pub(super) fn run(&mut self, steps: u32, input: PlayerInput) {
        let solids = self.solids();
        let mut casts = SolidCasts::new(&solids);
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
        let mut casts = SolidCasts::new(&solids);
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

/// Boxes as triangles, two a face.
fn mesh_of(boxes: &[Solid]) -> Cooked {
    let sign = |at: usize, bit: usize| if at >> bit & 1 == 0 { -1.0 } else { 1.0 };
    let unit = |at| [sign(at, 0), sign(at, 1), sign(at, 2)];
    let corners: [[f32; 3]; 8] = std::array::from_fn(unit);
    let faces =
        [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 4, 5], [2, 3, 6, 7], [0, 2, 4, 6], [1, 3, 5, 7]];
    let indices: Vec<u32> = faces.into_iter().flat_map(|[a, b, c, d]| [a, b, c, c, b, d]).collect();
    let part = |solid: &Solid| {
        let axes = solid.axes();
        let axes =
            [axes.x_axis * solid.half.x, axes.y_axis * solid.half.y, axes.z_axis * solid.half.z];
        let object = solid.id.0 - BodyId::MAP;
        let plain = Part::in_world(object, &corners, &indices);
        Part { axes: axes.map(|axis| axis.to_array()), origin: solid.centre.to_array(), ..plain }
    };
    let parts: Vec<_> = boxes.iter().map(part).collect();
    cook(&parts).unwrap()
}

/// A ground of triangles around the middle, of so many cells of this size each way, whose height
/// follows a rule.
pub(super) fn ground(cells: i16, size: f32, height: impl Fn(f32, f32) -> f32) -> Arc<Cooked> {
    let row = u32::try_from(2 * cells + 1).unwrap();
    let line = || (-cells..=cells).map(|step| f32::from(step) * size);
    let corner = |x, z| [x, height(x, z), z];
    let positions: Vec<_> = line().flat_map(|z| line().map(move |x| corner(x, z))).collect();
    let cells = (0..row - 1).flat_map(|z| (0..row - 1).map(move |x| (x, z)));
    let halves = cells.flat_map(|(x, z)| {
        let [a, b, c, d] = [0, 1, row, row + 1].map(|more| z * row + x + more);
        if (x + z) % 2 == 0 { [a, c, b, b, c, d] } else { [a, c, d, a, d, b] }
    });
    let indices: Vec<u32> = halves.collect();
    Arc::new(cook(&[Part::in_world(0, &positions, &indices)]).unwrap())
}
