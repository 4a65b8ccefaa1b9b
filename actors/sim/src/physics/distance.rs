//! Signed distance from a box to the axis of a capsule, with the direction it grows in.
//!
//! Used by the sweeps. Distance between convex shapes is a convex function along any straight
//! motion, inside and outside alike; the sweeps build on that.

use glam::Vec3;

/// A distance and the unit direction, along the box's own axes, in which it grows fastest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Distance {
    /// Metres; below 0 inside.
    pub(super) far: f32,
    pub(super) normal: Vec3,
    /// The point of the axis that is nearest to the box, along the box's own axes, metres.
    pub(super) nearest: Vec3,
}

/// Below this a direction cannot be told from a difference of points, metres.
const TINY: f32 = 1e-6;

/// From a box of half size `half` to a point.
pub(super) fn to_point(half: Vec3, point: Vec3) -> Distance {
    let out = point.abs() - half;
    let over = out.max(Vec3::ZERO);
    let square = over.x * over.x + over.y * over.y + over.z * over.z;
    if square > TINY * TINY {
        let far = square.sqrt();
        let normal = signed(over / far, point);
        return Distance { far, normal, nearest: point };
    }
    // On the surface or inside: the nearest face, y first so that floors win ties.
    let mut axis = 1;
    for other in [0, 2] {
        if out[other] > out[axis] {
            axis = other;
        }
    }
    let mut normal = Vec3::ZERO;
    normal[axis] = 1.0;
    Distance { far: out[axis], normal: signed(normal, point), nearest: point }
}

/// From a box of half size `half` to the segment of half length `straight` along the unit `axis`.
pub(super) fn to_segment(half: Vec3, middle: Vec3, axis: Vec3, straight: f32) -> Distance {
    let nearest = middle + axis * nearest_along(half, middle, axis, straight);
    let over = (nearest.abs() - half).max(Vec3::ZERO);
    let square = over.x * over.x + over.y * over.y + over.z * over.z;
    if square > TINY * TINY {
        let far = square.sqrt();
        return Distance { far, normal: signed(over / far, nearest), nearest };
    }
    inside(half, middle, axis, straight, nearest)
}

/// `v` with the signs of `like`.
fn signed(v: Vec3, like: Vec3) -> Vec3 {
    let side = |v: f32, like: f32| if like < 0.0 { -v } else { v };
    Vec3::new(side(v.x, like.x), side(v.y, like.y), side(v.z, like.z))
}

/// Where on the segment, metres from its middle, the squared distance to the box is least.
///
/// The slope of the squared distance is a rising broken line of at most seven pieces, so its zero
/// is found exactly: between two neighbouring breaks it is straight.
fn nearest_along(half: Vec3, middle: Vec3, axis: Vec3, straight: f32) -> f32 {
    let slope = |s: f32| {
        let point = middle + axis * s;
        let over = signed((point.abs() - half).max(Vec3::ZERO), point);
        over.x * axis.x + over.y * axis.y + over.z * axis.z
    };
    let (mut low, mut high) = (-straight, straight);
    let (mut slope_low, mut slope_high) = (slope(low), slope(high));
    if slope_low >= 0.0 {
        return low;
    }
    if slope_high <= 0.0 {
        return high;
    }
    for side in 0..3 {
        if axis[side].abs() < TINY {
            continue;
        }
        for face in [-half[side], half[side]] {
            let cut = (face - middle[side]) / axis[side];
            if cut > low && cut < high {
                let slope_cut = slope(cut);
                if slope_cut <= 0.0 {
                    (low, slope_low) = (cut, slope_cut);
                }
                if slope_cut >= 0.0 {
                    (high, slope_high) = (cut, slope_cut);
                }
            }
        }
    }
    let rise = slope_high - slope_low;
    if rise <= 0.0 {
        // Flat at zero: the segment runs through the box; its innermost point is as good as any.
        return (low + high) * 0.5;
    }
    low + (high - low) * (-slope_low / rise)
}

/// The segment runs through the box: the least overlap over the faces of the box and over the
/// directions square to both the segment and an edge.
fn inside(half: Vec3, middle: Vec3, axis: Vec3, straight: f32, nearest: Vec3) -> Distance {
    let mut best = Distance { far: f32::MIN, normal: Vec3::Y, nearest };
    for side in 0..3 {
        let mut face = Vec3::ZERO;
        face[side] = 1.0;
        for direction in [face, face.cross(axis)] {
            let square = direction.length_squared();
            if square < 1e-6 {
                continue;
            }
            let normal =
                signed(Vec3::ONE, Vec3::splat(middle.dot(direction))) * direction / square.sqrt();
            let reach = half.dot(normal.abs()) + (normal.dot(axis) * straight).abs();
            let far = middle.dot(normal) - reach;
            if far > best.far {
                best = Distance { far, normal, nearest };
            }
        }
    }
    best
}
