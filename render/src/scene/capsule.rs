//! The shape of a player: a capsule with a visor for a face, as triangles. Drawn by the GPU passes
//! and projected by the scene, so that a listed box is the box of what is drawn.

use core::f32::consts::{PI, TAU};

use bytemuck::{Pod, Zeroable};
use dh_view::PlayerView;
use glam::Vec3;

/// Corners around the body.
const AROUND: u16 = 32;
/// Rings from equator to pole.
const RINGS: u16 = 8;
/// Where the visor sits, from the middle of the upper ball.
const VISOR: Vec3 = Vec3::new(0.0, 0.05, -0.205);
/// Half the visor's size.
const VISOR_HALF: Vec3 = Vec3::new(0.245, 0.145, 0.18);

/// One corner of a player's shape.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Corner {
    /// Metres from the middle of the ball it belongs to.
    pub position: [f32; 3],
    /// Outward, a unit vector.
    pub normal: [f32; 3],
    /// 0 for the ball at the feet, 1 for the ball at the head.
    pub upper: f32,
    /// 0 for the body, 1 for the visor, which turns with the look.
    pub visor: f32,
}

/// The triangles of every player.
#[derive(Clone, Debug)]
pub struct Capsule {
    /// Corners; the body's come first.
    pub corners: Vec<Corner>,
    /// Three to a triangle, counterclockwise from outside.
    pub indices: Vec<u16>,
}

impl Capsule {
    /// The shape, the same each time.
    #[must_use]
    pub fn new() -> Self {
        let mut shape = Self { corners: Vec::new(), indices: Vec::new() };
        shape.rings(2 * RINGS + 1, |ring| {
            // Two rings lie on the equator, one of each ball: between them is the straight part.
            let upper = ring > RINGS;
            let steps = if upper { ring - 1 } else { ring };
            let climb = PI * (f32::from(steps) / f32::from(2 * RINGS) - 0.5);
            (climb, f32::from(u8::from(upper)))
        });
        let visor = shape.corners.len();
        shape.rings(2 * RINGS, |ring| (PI * (f32::from(ring) / f32::from(2 * RINGS) - 0.5), 1.0));
        for corner in &mut shape.corners[visor..] {
            let outward = Vec3::from(corner.normal);
            corner.position = (VISOR + outward * VISOR_HALF).to_array();
            corner.normal = (outward / VISOR_HALF).normalize().to_array();
            corner.visor = 1.0;
        }
        shape
    }

    /// Where this player's corners stand, metres.
    pub fn placed(&self, player: &PlayerView) -> impl Iterator<Item = Vec3> {
        let (turn, look) = (Spin::new(player.yaw), Spin::new(nod(player.pitch)));
        let (feet, height) = (player.feet, player.height);
        self.corners.iter().map(move |corner| {
            let mut at = Vec3::from(corner.position);
            if corner.visor > 0.0 {
                (at.y, at.z) =
                    (look.cos * at.y - look.sin * at.z, look.sin * at.y + look.cos * at.z);
            }
            at.y += PlayerView::RADIUS + corner.upper * straight(height);
            (at.x, at.z) = (turn.cos * at.x + turn.sin * at.z, turn.cos * at.z - turn.sin * at.x);
            feet + at
        })
    }

    /// Rings of corners from the lower pole to the upper, on the ball of a player's radius.
    fn rings(&mut self, last: u16, ring_at: impl Fn(u16) -> (f32, f32)) {
        let start = u16::try_from(self.corners.len()).unwrap_or(u16::MAX);
        for ring in 0..=last {
            let (climb, upper) = ring_at(ring);
            for step in 0..AROUND {
                let (sin, cos) = libm::sincosf(TAU * f32::from(step) / f32::from(AROUND));
                let level = libm::cosf(climb);
                let normal = Vec3::new(sin * level, libm::sinf(climb), cos * level);
                let position = (normal * PlayerView::RADIUS).to_array();
                self.corners.push(Corner {
                    position,
                    normal: normal.to_array(),
                    upper,
                    visor: 0.0,
                });
            }
        }
        for ring in 0..last {
            for step in 0..AROUND {
                let (low, high) = (start + ring * AROUND, start + (ring + 1) * AROUND);
                let next = (step + 1) % AROUND;
                let (a, b, c, d) = (low + step, low + next, high + next, high + step);
                self.indices.extend([a, b, c, a, c, d]);
            }
        }
    }
}

impl Default for Capsule {
    fn default() -> Self {
        Self::new()
    }
}

/// A turn by an angle in radians.
#[derive(Clone, Copy, Debug)]
pub struct Spin {
    /// Its sine.
    pub sin: f32,
    /// Its cosine.
    pub cos: f32,
}

impl Spin {
    /// The turn by this angle, radians.
    #[must_use]
    pub fn new(angle: f32) -> Self {
        let (sin, cos) = libm::sincosf(angle);
        Self { sin, cos }
    }
}

/// How far the visor turns for a look up or down, radians: it stays on the head.
pub(crate) fn nod(pitch: f32) -> f32 {
    pitch.clamp(-0.7, 0.7)
}

/// The straight part between the two balls, metres.
pub(crate) fn straight(height: f32) -> f32 {
    (height - 2.0 * PlayerView::RADIUS).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn player(yaw: f32, height: f32) -> PlayerView {
        PlayerView {
            id: 1,
            name: String::new(),
            feet: Vec3::new(4.0, 1.0, -3.0),
            yaw,
            pitch: 0.0,
            height,
            colour: dh_view::palette::player(0),
        }
    }

    #[test]
    fn a_player_reaches_from_feet_to_crown_and_is_as_wide_as_two_radii() {
        for height in [PlayerView::STANDING, PlayerView::CROUCHED] {
            let player = player(0.4, height);
            let body: Vec<Vec3> = Capsule::new().placed(&player).collect();
            let low = body.iter().copied().reduce(Vec3::min).unwrap() - player.feet;
            let high = body.iter().copied().reduce(Vec3::max).unwrap() - player.feet;
            assert!(low.y.abs() < 1e-5 && (high.y - height).abs() < 1e-5);
            assert!((low.x + PlayerView::RADIUS).abs() < 0.08, "the visor sticks out a little");
            assert!((high.x - PlayerView::RADIUS).abs() < 1e-2);
        }
    }

    #[test]
    fn the_face_looks_where_the_yaw_does() {
        for yaw in [0.0, 1.2, -2.5] {
            let player = player(yaw, PlayerView::STANDING);
            let shape = Capsule::new();
            let far = shape.placed(&player).map(|at| {
                let level = (at - player.feet).with_y(0.0);
                (level.length(), level.normalize_or_zero())
            });
            let face = far.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            assert!(face.0 > PlayerView::RADIUS + 0.02);
            assert!(face.1.dot(dh_view::facing(yaw, 0.0)) > 0.99);
        }
    }

    #[test]
    fn every_triangle_looks_outward() {
        let shape = Capsule::new();
        let at = |index: u16| shape.corners[usize::from(index)];
        for triangle in shape.indices.chunks_exact(3) {
            let [a, b, c] = [at(triangle[0]), at(triangle[1]), at(triangle[2])];
            let place = |corner: Corner| Vec3::from(corner.position) + Vec3::Y * corner.upper;
            let cross = (place(b) - place(a)).cross(place(c) - place(a));
            assert!(cross.dot(Vec3::from(b.normal)) >= -1e-9);
        }
    }
}
