//! Boxes as the triangles a modelling program would make of them: each face a grid of cells about a
//! metre wide, two triangles a cell.

use dh_cook::{Cooked, Part, cook};
use dh_sim::Solid;

/// A mesh: positions and indices.
type Mesh = (Vec<[f32; 3]>, Vec<u32>);

/// The triangles of all faces of all boxes.
pub(super) fn of_boxes(boxes: &[Solid]) -> Cooked {
    let meshes: Vec<Mesh> = boxes.iter().map(mesh_of).collect();
    let parts: Vec<Part<'_>> = boxes
        .iter()
        .zip(&meshes)
        .zip(0..)
        .map(|((solid, (positions, indices)), object)| {
            let turn = solid.axes();
            let [x, y, z] = solid.half.to_array();
            let axes = [turn.x_axis * x, turn.y_axis * y, turn.z_axis * z];
            Part {
                axes: axes.map(|axis| axis.to_array()),
                origin: solid.centre.to_array(),
                ..Part::in_world(object, positions, indices)
            }
        })
        .collect();
    cook(&parts).expect("the gray box is small and sound")
}

/// The six faces of a box whose half size counts as one.
fn mesh_of(solid: &Solid) -> Mesh {
    let mut mesh = Mesh::default();
    let half = solid.half.to_array();
    for out in 0..3 {
        let (along, across) = ((out + 1) % 3, (out + 2) % 3);
        for side in [-1.0, 1.0] {
            let place = |u: f32, v: f32| {
                let mut position = [side; 3];
                (position[along], position[across]) = (u, v);
                position
            };
            add_grid(&mut mesh, [cells(half[along]), cells(half[across])], place);
        }
    }
    mesh
}

/// A grid of cells over -1..=1 both ways.
fn add_grid(
    (positions, indices): &mut Mesh,
    cells: [u16; 2],
    place: impl Fn(f32, f32) -> [f32; 3],
) {
    let first = u32::try_from(positions.len()).unwrap_or(u32::MAX);
    let part = |step: u16, of: u16| 2.0 * f32::from(step) / f32::from(of) - 1.0;
    for v in 0..=cells[1] {
        positions.extend((0..=cells[0]).map(|u| place(part(u, cells[0]), part(v, cells[1]))));
    }
    let row = u32::from(cells[0]) + 1;
    for v in 0..u32::from(cells[1]) {
        for u in 0..u32::from(cells[0]) {
            let at = first + v * row + u;
            indices.extend([at, at + 1, at + row, at + row, at + 1, at + row + 1]);
        }
    }
}

/// Cells along a side of this half length, metres.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred metres")]
fn cells(half: f32) -> u16 {
    (2.0 * half).ceil().max(1.0) as u16
}
