//! Lens: how a camera maps metres to pixels. Used by the scene to know what falls where, and by the
//! GPU passes for the same matrix; it never looks at what is drawn.

use dh_view::{Camera, PixelBox};
use glam::camera::rh::proj::directx::perspective_infinite_reverse;
use glam::camera::rh::view::look_to_mat4;
use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

/// Nothing nearer than this is drawn, metres.
const NEAR: f32 = 0.08;

/// A camera with a picture size.
#[derive(Clone, Copy, Debug)]
pub struct Lens {
    /// The eye, metres.
    pub eye: Vec3,
    /// Half the picture's width at one metre, along the picture's right.
    pub right: Vec3,
    /// Half the picture's height at one metre, along the picture's up.
    pub up: Vec3,
    /// The unit vector it looks along.
    pub forward: Vec3,
    /// World to clip space; depth is reversed, 1 at the near plane and 0 at infinity.
    pub clip_from_world: Mat4,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

impl Lens {
    /// The lens of this camera for a picture of this many pixels.
    #[must_use]
    pub fn new(camera: &Camera, width: u32, height: u32) -> Self {
        let size = Vec2::new(pixels(width), pixels(height));
        let aspect = size.x / size.y;
        let fov = camera.fov.clamp(0.1, 2.5);
        let tall = libm::tanf(fov / 2.0);
        let turn = Mat3::from_rotation_y(camera.yaw) * Mat3::from_rotation_x(camera.pitch);
        let view = look_to_mat4(camera.eye, -turn.z_axis, turn.y_axis);
        Self {
            eye: camera.eye,
            right: turn.x_axis * tall * aspect,
            up: turn.y_axis * tall,
            forward: -turn.z_axis,
            clip_from_world: perspective_infinite_reverse(fov, aspect, NEAR) * view,
            width,
            height,
        }
    }

    /// The planes of what can be seen, `(normal, offset)`, inside where the dot product with a
    /// point is positive: left, right, bottom, top, near.
    #[must_use]
    pub fn planes(&self) -> [Vec4; 5] {
        let rows = self.clip_from_world.transpose();
        let (x, y, w) = (rows.x_axis, rows.y_axis, rows.w_axis);
        [w + x, w - x, w + y, w - y, w - Vec4::W * NEAR]
    }

    /// Whether any of a ball may be seen; may say yes for one that is just outside.
    #[must_use]
    pub fn sees_ball(&self, centre: Vec3, radius: f32) -> bool {
        self.planes()
            .iter()
            .all(|plane| plane.dot(centre.extend(1.0)) >= -radius * plane.truncate().length())
    }

    /// Where a point falls, in pixels from the top left; `None` before the near plane.
    #[must_use]
    pub fn pixel(&self, point: Vec3) -> Option<Vec2> {
        let clip = self.clip_from_world * point.extend(1.0);
        if clip.w < NEAR {
            return None;
        }
        let unit = Vec2::new(clip.x / clip.w * 0.5 + 0.5, 0.5 - clip.y / clip.w * 0.5);
        Some(unit * Vec2::new(pixels(self.width), pixels(self.height)))
    }

    /// The pixels of the hull of these points; the whole picture where it reaches past the near
    /// plane, nothing where all of it lies before.
    #[must_use]
    pub fn hull(&self, points: impl IntoIterator<Item = Vec3>) -> Option<PixelBox> {
        let (mut area, mut before) = (Area::default(), false);
        for point in points {
            match self.pixel(point) {
                Some(pixel) => area.add(pixel),
                None => before = true,
            }
        }
        let size = Vec2::new(pixels(self.width), pixels(self.height));
        if before && !area.is_empty() {
            [Vec2::ZERO, size].into_iter().for_each(|corner| area.add(corner));
        }
        area.pixels(self.width, self.height)
    }
}

/// A rectangle in pixels that grows around points.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    min: Vec2,
    max: Vec2,
}

impl Default for Area {
    fn default() -> Self {
        Self { min: Vec2::INFINITY, max: Vec2::NEG_INFINITY }
    }
}

impl Area {
    /// Reach to one more point.
    pub fn add(&mut self, point: Vec2) {
        self.min = self.min.min(point);
        self.max = self.max.max(point);
    }

    /// Whether no point was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.min.x > self.max.x
    }

    /// The whole pixels it touches, cut at the picture's border.
    #[must_use]
    pub fn pixels(&self, width: u32, height: u32) -> Option<PixelBox> {
        let found = PixelBox {
            left: whole(self.min.x.floor(), width),
            top: whole(self.min.y.floor(), height),
            right: whole(self.max.x.ceil(), width),
            bottom: whole(self.max.y.ceil(), height),
        };
        (found.left < found.right && found.top < found.bottom).then_some(found)
    }
}

/// A count of pixels as a length. Exact: pictures are at most 4096 across.
#[expect(clippy::cast_precision_loss, reason = "exact below 2^24")]
pub(crate) const fn pixels(count: u32) -> f32 {
    count as f32
}

/// A whole number of pixels within 0..=most.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
pub(crate) fn whole(length: f32, most: u32) -> u32 {
    length.clamp(0.0, pixels(most)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lens() -> Lens {
        let camera = Camera { eye: Vec3::new(1.0, 2.0, 3.0), yaw: 0.7, pitch: -0.3, fov: 1.1 };
        Lens::new(&camera, 1280, 720)
    }

    #[test]
    fn the_way_through_a_corner_of_the_picture_falls_on_that_corner() {
        let lens = lens();
        for (x, y) in [(-1.0, 1.0), (1.0, -1.0), (0.0, 0.0), (0.5, 0.25)] {
            let way = lens.forward + lens.right * x + lens.up * y;
            let at = lens.pixel(lens.eye + way * 5.0).unwrap();
            let expected = Vec2::new((x + 1.0) * 640.0, (1.0 - y) * 360.0);
            assert!(at.abs_diff_eq(expected, 0.05), "{at} is not {expected}");
        }
    }

    #[test]
    fn a_point_behind_the_eye_is_nowhere_and_a_hull_around_it_is_everywhere() {
        let lens = lens();
        let (ahead, behind) = (lens.eye + lens.forward, lens.eye - lens.forward);
        assert_eq!(lens.pixel(behind), None);
        assert_eq!(lens.hull([behind]), None);
        let whole = PixelBox { left: 0, top: 0, right: 1280, bottom: 720 };
        assert_eq!(lens.hull([ahead, behind]), Some(whole));
    }

    #[test]
    fn a_ball_is_seen_until_all_of_it_is_outside() {
        let lens = lens();
        let edge = lens.eye + (lens.forward + lens.right) * 10.0;
        let outward = lens.right.normalize();
        assert!(lens.sees_ball(edge + outward, 2.0));
        assert!(!lens.sees_ball(edge + outward * 4.0, 2.0));
        assert!(!lens.sees_ball(lens.eye - lens.forward * 3.0, 2.0));
    }
}
