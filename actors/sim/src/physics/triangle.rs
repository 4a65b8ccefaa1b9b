//! Distance from a triangle to the axis of an upright capsule, in closed form.
//!
//! Used by the sweeps. A triangle has no thickness and two sides; outside of it the distance is a
//! convex function along any straight motion. What is handed out lies relative to the middle of the
//! capsule, so that far from the middle of the world nothing is lost to rounding.

use glam::Vec3;

use super::solid::{ON_FACE, length};

/// Below this a direction cannot be told from a difference of points, metres.
const TINY: f32 = 1e-6;

/// A triangle that spans a plane.
#[derive(Debug)]
pub(super) struct Triangle {
    corners: [Vec3; 3],
    /// From each corner to the next.
    sides: [Vec3; 3],
    /// Into the triangle, square to each side and as long.
    inward: [Vec3; 3],
    /// A unit vector out of one of its sides.
    normal: Vec3,
}

/// How a triangle lies to the axis of a capsule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Metres; below 0 where the axis runs through the triangle.
    pub(super) far: f32,
    /// The unit direction in which it grows fastest: from the triangle to the axis.
    pub(super) normal: Vec3,
    /// The point of the triangle that is nearest to the axis, from the middle of the capsule.
    pub(super) point: Vec3,
    /// Whether that point lies on a side, and the axis is not straight above or below.
    pub(super) rim: bool,
}

impl Triangle {
    pub(super) fn of(corners: [Vec3; 3]) -> Self {
        let [a, b, c] = corners;
        let sides = [b - a, c - b, a - c];
        let across = sides[0].cross(sides[1]);
        let normal = across / length(across) + Vec3::ZERO;
        Self { corners, sides, inward: sides.map(|side| normal.cross(side)), normal }
    }

    /// The corners, from `centre`.
    pub(super) fn from(&self, centre: Vec3) -> [Vec3; 3] {
        self.corners.map(|corner| corner - centre)
    }

    /// The normal on the side that `out` points out of.
    pub(super) fn facing(&self, out: Vec3) -> Vec3 {
        if self.normal.dot(out) < 0.0 { self.other_normal() } else { self.normal }
    }

    /// The normal of the other side. No part of a normal is -0.
    fn other_normal(&self) -> Vec3 {
        Vec3::ZERO - self.normal
    }

    /// Whether a point, given from `centre`, lies on the triangle or within a millimetre of it.
    pub(super) fn holds(&self, centre: Vec3, point: Vec3) -> bool {
        let corners = self.from(centre);
        let out = self.normal.dot(point - corners[0]);
        out.abs() <= ON_FACE && (0..3).all(|side| !self.is_beyond(side, point - corners[side]))
    }

    /// Whether a point on it, given from `centre`, lies within a millimetre of a side.
    pub(super) fn is_at_rim(&self, centre: Vec3, point: Vec3) -> bool {
        let corners = self.from(centre);
        (0..3).any(|side| {
            let inside = self.inward[side].dot(point - corners[side]);
            inside <= 0.0 || inside * inside <= ON_FACE * ON_FACE * self.square(side)
        })
    }

    /// Whether a point, given from the side's first corner, lies more than a millimetre beyond it.
    fn is_beyond(&self, side: usize, point: Vec3) -> bool {
        let inside = self.inward[side].dot(point);
        inside < 0.0 && inside * inside > ON_FACE * ON_FACE * self.square(side)
    }

    fn square(&self, side: usize) -> f32 {
        self.sides[side].dot(self.sides[side])
    }

    /// To the axis of an upright capsule: the segment `straight` metres up and down from `centre`.
    pub(super) fn reach(&self, centre: Vec3, straight: f32) -> Reach {
        let corners = self.from(centre);
        let (height, rise) = (-self.normal.dot(corners[0]), self.normal.y);
        let (foot, head) = (height - rise * straight, height + rise * straight);
        let facing = if foot + head < 0.0 { self.other_normal() } else { self.normal };
        if let Some([low, high]) = self.over(&corners, straight) {
            let [at_low, at_high] = [low, high].map(|along| height + rise * along);
            if at_low * at_high < 0.0 {
                return self.through(foot, head, -height / rise);
            }
            let lower = at_low.abs() <= at_high.abs();
            let (along, out) = if lower { (low, at_low) } else { (high, at_high) };
            let crosses = foot * head < 0.0;
            let least = if crosses { 0.0 } else { foot.abs().min(head.abs()) };
            if out.abs() <= least + TINY {
                let point = Vec3::new(0.0, along, 0.0) - self.normal * out;
                return Reach { far: out.abs(), normal: facing, point, rim: false };
            }
        }
        let mut best = (f32::INFINITY, Vec3::ZERO, Vec3::ZERO);
        for (corner, side) in corners.iter().zip(&self.sides) {
            let (point, away) = nearest_of_side(*corner, *side, straight);
            let square = away.dot(away);
            if square < best.0 {
                best = (square, point, away);
            }
        }
        let (far, point, away) = (best.0.sqrt(), best.1, best.2);
        let normal = if far > TINY { away / far } else { facing };
        Reach { far, normal, point, rim: true }
    }

    /// The part of the axis that lies straight above or below the triangle along its normal, metres
    /// from the middle of the capsule.
    fn over(&self, corners: &[Vec3; 3], straight: f32) -> Option<[f32; 2]> {
        let (mut low, mut high) = (-straight, straight);
        for (inward, corner) in self.inward.iter().zip(corners) {
            let (inside, gain) = (-inward.dot(*corner), inward.y);
            if gain > 0.0 {
                let cut = -inside / gain;
                low = if cut > low { cut } else { low };
            } else if gain < 0.0 {
                let cut = -inside / gain;
                high = if cut < high { cut } else { high };
            } else if inside < 0.0 {
                return None;
            }
        }
        (low <= high).then_some([low, high])
    }

    /// The axis runs through: out on the side where less of it is on the other.
    fn through(&self, foot: f32, head: f32, along: f32) -> Reach {
        let (below, above) = if foot < head { (-foot, head) } else { (-head, foot) };
        let point = Vec3::new(0.0, along, 0.0);
        if below <= above {
            Reach { far: -below, normal: self.normal, point, rim: false }
        } else {
            Reach { far: -above, normal: self.other_normal(), point, rim: false }
        }
    }
}

/// The point of a side that is nearest to the axis, and the way from it to the axis.
fn nearest_of_side(corner: Vec3, side: Vec3, straight: f32) -> (Vec3, Vec3) {
    let square = side.dot(side);
    let level = side.x * side.x + side.z * side.z;
    let aside = corner.x * side.x + corner.z * side.z;
    // Nearest seen from above; of a side that stands upright the part level with the middle.
    let part = if level > TINY * square { -aside / level } else { -corner.y / side.y };
    let part = part.clamp(0.0, 1.0);
    let mut point = corner + side * part;
    if point.y.abs() > straight {
        // Above or below the straight part: nearest to that end of it.
        let end = if point.y < 0.0 { -straight } else { straight };
        let part = ((end - corner.y) * side.y - aside) / square;
        point = corner + side * part.clamp(0.0, 1.0);
    }
    let axis = point.y.clamp(-straight, straight);
    (point, Vec3::new(0.0, axis, 0.0) - point)
}
