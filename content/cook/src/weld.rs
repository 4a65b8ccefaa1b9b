//! Weld: corners at equal places become one, and triangles that span no plane go.

use glam::Vec3;

/// A triangle lower over its longest side than this part of it has no direction that could be told
/// from rounding.
const FLAT: f32 = 1e-4;
/// A triangle whose longest side is no longer than this stops nobody, metres.
const SPECK: f32 = 1e-4;

/// Gives each corner the number of its place; the places, by ascending bits.
pub(crate) fn weld(corners: &[Vec3]) -> (Vec<Vec3>, Vec<u32>) {
    let bits = |corner: &Vec3| corner.to_array().map(f32::to_bits);
    let mut sorted: Vec<([u32; 3], u32)> = corners.iter().map(bits).zip(0..).collect();
    sorted.sort_unstable();
    let (mut places, mut place_of) = (Vec::new(), vec![0; corners.len()]);
    for (number, equal) in (0..).zip(sorted.chunk_by(|(a, _), (b, _)| a == b)) {
        places.push(Vec3::from_array(equal[0].0.map(f32::from_bits)));
        for (_, corner) in equal {
            place_of[*corner as usize] = number;
        }
    }
    (places, place_of)
}

/// Whether three corners span a plane.
pub(crate) fn spans([a, b, c]: [Vec3; 3]) -> bool {
    let sides = [b - a, c - a, c - b];
    let longest = sides.iter().fold(0.0, |longest: f32, side| longest.max(side.dot(*side)));
    let across = sides[0].cross(sides[1]);
    longest > SPECK * SPECK && across.dot(across) > FLAT * FLAT * longest * longest
}
