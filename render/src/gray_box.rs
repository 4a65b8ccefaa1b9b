//! A world to look at: floor, walls, ramps, crates and eight players. Only tests use it.

use std::sync::Arc;

use dh_view::{Bounds, BoxView, Camera, Hud, Mesh, Part, PlayerView, Scene, View, palette};
use glam::{Quat, Vec3};

/// A walled yard, 40 m across, with eight players in it.
pub(crate) fn yard() -> View {
    let camera = Camera::look_at(Vec3::new(10.6, 4.7, 10.6), Vec3::new(-0.6, 0.9, -0.9), 0.95);
    let lines = [
        "fps 60 (16.7 ms)",
        "ping 42.0 ms",
        "tick 1234 at 60 Hz",
        "buf 2/2.0 rate x1.000",
        "interp 3 t (+0.0) held 0 snaps 0 burst 1",
    ];
    View {
        camera,
        scene: Arc::new(Scene { camera, ..Scene::of_boxes(boxes().into()) }),
        players: players(),
        hud: Hud { lines: lines.map(String::from).to_vec(), detail: Vec::new() },
        loading: None,
    }
}

fn boxes() -> Vec<BoxView> {
    let upright = |centre: [f32; 3], half: [f32; 3], colour| {
        BoxView::upright(Vec3::from(centre), Vec3::from(half), colour)
    };
    let mut boxes = vec![
        upright([0.0, -0.5, 0.0], [20.0, 0.5, 20.0], palette::FLOOR),
        upright([0.0, 1.5, -20.5], [21.0, 1.5, 0.5], palette::WALL),
        upright([0.0, 1.5, 20.5], [21.0, 1.5, 0.5], palette::WALL),
        upright([-20.5, 1.5, 0.0], [0.5, 1.5, 20.0], palette::WALL),
        upright([20.5, 1.5, 0.0], [0.5, 1.5, 20.0], palette::WALL),
        upright([-7.0, 1.0, -9.0], [5.0, 1.0, 4.0], palette::PLATFORM),
        upright([9.0, 2.0, -13.0], [4.0, 2.0, 4.0], palette::PLATFORM),
        upright([-13.0, 2.5, 7.0], [0.5, 2.5, 4.0], palette::WALL),
        upright([-9.5, 2.5, 10.5], [3.0, 2.5, 0.5], palette::WALL),
        upright([4.0, 3.2, -4.2], [0.4, 3.2, 0.4], palette::WALL),
        upright([-1.0, 3.2, -4.2], [0.4, 3.2, 0.4], palette::WALL),
        upright([1.5, 6.6, -4.2], [3.2, 0.25, 0.9], palette::PLATFORM),
    ];
    for (index, (x, z)) in [(5.2, 3.0), (6.3, 3.1), (5.7, 2.1)].into_iter().enumerate() {
        let lift = if index == 2 { 1.5 } else { 0.5 };
        let turn = Quat::from_rotation_y([0.1, -0.25, 0.4][index]);
        boxes.push(BoxView {
            rotation: turn,
            ..upright([x, lift, z + f32::from(index == 2) * 0.9], [0.5; 3], palette::CRATE)
        });
    }
    boxes.push(upright([-4.0, 0.35, 4.5], [0.7, 0.35, 0.7], palette::CRATE));
    boxes.push(upright([13.0, 0.75, -2.0], [0.75; 3], palette::CRATE));
    // Two ramps: onto the near platform, and from there on.
    let slope = libm::atan2f(2.0, 5.0);
    boxes.push(BoxView {
        rotation: Quat::from_rotation_z(slope),
        ..upright([0.35, 0.90, -9.0], [2.75, 0.1, 2.0], palette::RAMP)
    });
    if let Some(ramp) = boxes.last_mut() {
        ramp.rotation = Quat::from_rotation_z(-slope);
    }
    for step in 0..5_u8 {
        let high = 0.2 * (f32::from(step) + 1.0);
        let near = 3.5 + 0.55 * f32::from(step);
        boxes.push(upright([-16.0, high, -near], [2.2, high, 0.275], palette::RAMP));
    }
    boxes
}

fn players() -> Vec<PlayerView> {
    let standing = [
        ("ada", [2.2, 0.0, 5.6], 0.5),
        ("grace", [-1.6, 0.0, 2.2], 2.2),
        ("edsger", [7.6, 0.0, -0.6], 1.2),
        ("barbara", [-6.0, 2.0, -7.0], -2.4),
        ("donald", [1.3, 0.62, -9.0], 1.6),
        ("radia", [-4.0, 0.7, 4.5], -0.6),
        ("tim", [-9.6, 0.0, 1.0], -1.9),
        ("a-very-long-name-for-one-player", [9.0, 4.0, -10.5], 2.9),
    ];
    let one = |(index, (name, feet, yaw)): (usize, (&str, [f32; 3], f32))| {
        let slot = u8::try_from(index).unwrap_or(0);
        PlayerView {
            id: 100 + u32::from(slot),
            name: name.to_owned(),
            feet: Vec3::from(feet),
            yaw,
            pitch: if slot == 1 { 0.4 } else { 0.0 },
            height: if slot == 2 { PlayerView::CROUCHED } else { PlayerView::STANDING },
            colour: palette::player(slot),
        }
    };
    standing.into_iter().enumerate().map(one).collect()
}

/// A ball of one metre at the origin, of twice as many triangles around as from pole to pole.
pub(crate) fn ball(rings: u16) -> Mesh {
    let around = rings * 2;
    let mut mesh = Mesh::default();
    for ring in 0..=rings {
        for step in 0..=around {
            let (down, side) =
                (f32::from(ring) / f32::from(rings), f32::from(step) / f32::from(around));
            let (level, high) = libm::sincosf(down * core::f32::consts::PI);
            let (sin, cos) = libm::sincosf(side * core::f32::consts::TAU);
            let at = [sin * level, high, cos * level];
            mesh.positions.push(at);
            mesh.normals.push(at);
            mesh.uvs.push([side, down]);
        }
    }
    let row = u32::from(around) + 1;
    for ring in 0..u32::from(rings) {
        for step in 0..u32::from(around) {
            let (upper, lower) = (ring * row + step, (ring + 1) * row + step);
            mesh.indices.extend([upper, lower, lower + 1, upper, lower + 1, upper + 1]);
        }
    }
    let count = u32::try_from(mesh.indices.len()).unwrap_or(0);
    mesh.parts = vec![Part { first: 0, count, material: 0 }];
    mesh.bounds = Bounds::around(mesh.positions.iter().map(|at| Vec3::from_array(*at)));
    mesh
}
