//! Camera: where a picture is taken from. Used by presenter and renderer; never projects anything.

use glam::Vec3;

/// The steepest look up or down, radians (89 degrees): the horizon never flips.
const PITCH_MAX: f32 = 1.553_343;

/// Where a picture is taken from and what it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// The eye, metres.
    pub eye: Vec3,
    /// Turn about +y, radians; 0 looks along -z, positive turns left.
    pub yaw: f32,
    /// Look up (positive) or down, radians, within +-89 degrees.
    pub pitch: f32,
    /// Vertical field of view, radians, 0.1 to 2.5.
    pub fov: f32,
}

impl Camera {
    /// The field of view unless told otherwise: 60 degrees.
    pub const FOV: f32 = core::f32::consts::FRAC_PI_3;

    /// A camera at `eye` that looks at `target`; looks along -z when the two coincide.
    #[must_use]
    pub fn look_at(eye: Vec3, target: Vec3, fov: f32) -> Self {
        let to = target - eye;
        let level = libm::sqrtf(to.x * to.x + to.z * to.z);
        let yaw = if level > 0.0 { libm::atan2f(-to.x, -to.z) } else { 0.0 };
        let pitch = libm::atan2f(to.y, level).clamp(-PITCH_MAX, PITCH_MAX);
        Self { eye, yaw, pitch, fov }
    }

    /// The unit vector it looks along.
    #[must_use]
    pub fn forward(&self) -> Vec3 {
        facing(self.yaw, self.pitch)
    }
}

impl Default for Camera {
    fn default() -> Self {
        Self { eye: Vec3::ZERO, yaw: 0.0, pitch: 0.0, fov: Self::FOV }
    }
}

/// The unit vector that a yaw and a pitch (radians) look along.
#[must_use]
pub fn facing(yaw: f32, pitch: f32) -> Vec3 {
    let level = libm::cosf(pitch);
    Vec3::new(-libm::sinf(yaw) * level, libm::sinf(pitch), -libm::cosf(yaw) * level)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaw_zero_looks_along_minus_z_and_a_quarter_turn_left_along_minus_x() {
        assert!(facing(0.0, 0.0).abs_diff_eq(Vec3::NEG_Z, 1e-6));
        assert!(facing(core::f32::consts::FRAC_PI_2, 0.0).abs_diff_eq(Vec3::NEG_X, 1e-6));
        assert!(facing(0.0, core::f32::consts::FRAC_PI_2).abs_diff_eq(Vec3::Y, 1e-6));
    }

    #[test]
    fn a_camera_made_to_look_at_a_point_looks_at_it() {
        for target in [Vec3::new(3.0, -2.0, 7.0), Vec3::new(-4.0, 9.0, -1.0), Vec3::X] {
            let eye = Vec3::new(0.5, 1.0, -2.0);
            let camera = Camera::look_at(eye, target, Camera::FOV);
            assert!(camera.forward().abs_diff_eq((target - eye).normalize(), 1e-5));
        }
    }

    #[test]
    fn straight_up_and_nowhere_stay_finite_and_off_the_pole() {
        let up = Camera::look_at(Vec3::ZERO, Vec3::Y, Camera::FOV);
        assert!(up.pitch < core::f32::consts::FRAC_PI_2 && up.forward().is_finite());
        assert!(Camera::look_at(Vec3::X, Vec3::X, Camera::FOV).forward().is_finite());
    }
}
