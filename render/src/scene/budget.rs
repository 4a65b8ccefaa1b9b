//! Budget: how much of a scene one frame draws at most, so that no map stops a picture. What is
//! over is left out: of what the camera sees the farthest, of what casts shadows the last. Pure.

use std::cell::Cell;
use std::f32::consts::PI;

use dh_view::Bounds;
use glam::Vec3;

/// What has a smaller share of a layer is not looked at more closely.
pub(super) const SHARE_MIN: f32 = 1.0 / 64.0;
/// Boxes, bounds and triangles that one frame looks at to find where players and shadows fall.
const LOOKS_MAX: u32 = 4_000_000;

/// A load on the device: what a pass may draw, or what one thing takes of that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Triangles.
    pub triangles: u64,
    /// Draw calls.
    pub draws: u64,
    /// How often they cover all there is to cover: the sphere around the eye, or a depth map.
    pub layers: f32,
}

/// What one frame draws at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// For the camera.
    pub camera: Load,
    /// Into the depth maps.
    pub maps: Load,
}

impl Limits {
    // A picture shows about a tenth of the sphere around the eye: eight layers of that are some
    // seventy of the picture, of which worlds that are meant to be looked at have less than ten.
    /// For graphics cards.
    pub const CARD: Self = Self {
        camera: Load { triangles: 8_000_000, draws: 16_384, layers: 32.0 },
        maps: Load { triangles: 8_000_000, draws: 16_384, layers: 512.0 },
    };
    /// Where a processor does the drawing: a window then still shows a frame every few seconds.
    pub const PROCESSOR: Self = Self {
        camera: Load { triangles: 2_000_000, draws: 8_192, layers: 8.0 },
        maps: Load { triangles: 2_000_000, draws: 8_192, layers: 128.0 },
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::CARD
    }
}

impl Load {
    /// Whether this is no more than `other`.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.triangles <= other.triangles
            && self.draws <= other.draws
            && self.layers <= other.layers
    }

    /// Both together.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            triangles: self.triangles.saturating_add(other.triangles),
            draws: self.draws.saturating_add(other.draws),
            layers: self.layers + other.layers,
        }
    }

    /// Take a thing's load out of this, if it holds as much. Triangles that were looked at are gone
    /// either way, so that looking has an end as well.
    pub fn pay(&mut self, price: &Self) -> bool {
        if price.triangles > self.triangles {
            return false;
        }
        self.triangles -= price.triangles;
        if !price.is_within(&Self { triangles: u64::MAX, ..*self }) {
            return false;
        }
        self.draws -= price.draws;
        self.layers -= price.layers;
        true
    }
}

/// How much may still be looked at in this frame.
#[derive(Debug)]
pub struct Looks(Cell<u32>);

impl Looks {
    /// A frame's worth.
    #[must_use]
    pub const fn new() -> Self {
        Self(Cell::new(LOOKS_MAX))
    }

    /// Look at so many things; whether that is still possible.
    #[must_use]
    pub fn at(&self, count: u32) -> bool {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

impl Default for Looks {
    fn default() -> Self {
        Self::new()
    }
}

/// The part of the sphere around the origin that a triangle covers, after Van Oosterom and
/// Strackee.
#[must_use]
pub fn share([a, b, c]: [Vec3; 3]) -> f32 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    (2.0 * libm::atan2f(a.dot(b.cross(c)), below)).abs() / (4.0 * PI)
}

/// At most the part of the sphere around the eye that so many triangles cover, when they have this
/// area and none is nearer than this.
#[must_use]
pub fn share_of(triangles: f32, area: f32, away: f32) -> f32 {
    // One triangle covers less than half a sphere.
    let most = triangles * 0.5;
    if away > 0.0 { (area / (4.0 * PI * away * away)).min(most) } else { most }
}

/// Metres from a point to the nearest of a box.
#[must_use]
pub fn away(bounds: &Bounds, from: Vec3) -> f32 {
    (bounds.min - from).max(from - bounds.max).max(Vec3::ZERO).length()
}

#[cfg(test)]
mod tests {
    use glam::Vec3Swizzles;

    use super::*;

    #[test]
    fn the_sides_of_a_box_around_the_eye_cover_all_of_the_sphere() {
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z) - Vec3::new(0.2, -0.1, 0.3);
        let mut sum = 0.0;
        for side in [-1.0, 1.0] {
            for turn in [Vec3::xyz, Vec3::zxy, Vec3::yzx] {
                let corner = |u: f32, v: f32| turn(Vec3::new(side, u, v));
                let [a, b] = [corner(-1.0, -1.0), corner(1.0, -1.0)];
                let [c, d] = [corner(1.0, 1.0), corner(-1.0, 1.0)];
                for triangle in [[a, b, c], [a, c, d]] {
                    sum += share(triangle.map(|it| at(it.x, it.y, it.z)));
                }
            }
        }
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }

    #[test]
    fn what_is_looked_at_is_paid_for_even_if_it_is_left_out() {
        let mut left = Load { triangles: 100, draws: 2, layers: 1.0 };
        assert!(!left.pay(&Load { triangles: 101, ..Load::default() }) && left.triangles == 100);
        assert!(!left.pay(&Load { triangles: 40, draws: 1, layers: 2.0 }));
        assert!(left.pay(&Load { triangles: 60, draws: 2, layers: 1.0 }));
        assert_eq!(left, Load::default());
        assert!(!left.pay(&Load { draws: 1, ..Load::default() }));
        let looks = Looks::new();
        assert!(looks.at(LOOKS_MAX) && !looks.at(1) && !looks.at(1));
    }
}
