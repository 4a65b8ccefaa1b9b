//! Builder: boxes, stairs and ramps by what one wants of them. Used by the layout.

use dh_view::{BoxView, Colour, facing};
use glam::{Quat, Vec3};

use crate::physics::Solid;

/// How thick ramps and roofs are, metres.
pub(super) const THICK: f32 = 0.3;

/// Boxes in the order they were asked for.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) boxes: Vec<BoxView>,
}

/// A flight that rises along a yaw from the middle of its lower edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// The middle of its lower edge, metres.
    pub(super) foot: Vec3,
    /// Where it leads, radians about +y.
    pub(super) yaw: f32,
    /// Metres across.
    pub(super) wide: f32,
}

impl Builder {
    /// A box along the axes that stands on `base`, the middle of its underside.
    pub(super) fn stand(&mut self, base: Vec3, size: Vec3, colour: Colour) {
        self.turned(base, size, 0.0, colour);
    }

    /// A box that stands on `base` and is turned by `yaw`.
    pub(super) fn turned(&mut self, base: Vec3, size: Vec3, yaw: f32, colour: Colour) {
        let rotation = if yaw == 0.0 { Quat::IDENTITY } else { Solid::turned(Vec3::Y, yaw) };
        let centre = base + Vec3::new(0.0, size.y * 0.5, 0.0);
        self.boxes.push(BoxView { centre, half: size * 0.5, rotation, colour, material: None });
    }

    /// A plank that rises by `slope` radians over `run` metres of ground.
    pub(super) fn ramp(&mut self, flight: Flight, slope: f32, run: f32, colour: Colour) {
        let long = run / libm::cosf(slope);
        let rotation = Solid::turned(Vec3::Y, flight.yaw) * Solid::turned(Vec3::X, slope);
        let along = facing(flight.yaw, slope);
        let normal = facing(flight.yaw, slope + core::f32::consts::FRAC_PI_2);
        let centre = flight.foot + along * (long * 0.5) - normal * (THICK * 0.5);
        let half = Vec3::new(flight.wide, THICK, long) * 0.5;
        self.boxes.push(BoxView { centre, half, rotation, colour, material: None });
    }

    /// Solid steps, each `rise` metres above the last and `tread` metres deep.
    pub(super) fn stairs(
        &mut self,
        flight: Flight,
        count: u8,
        (rise, tread): (f32, f32),
        colour: Colour,
    ) {
        let along = facing(flight.yaw, 0.0);
        for number in (0..count).map(f32::from) {
            let base = flight.foot + along * (tread * (number + 0.5));
            let size = Vec3::new(flight.wide, rise * (number + 1.0), tread);
            self.turned(base, size, flight.yaw, colour);
        }
    }
}
