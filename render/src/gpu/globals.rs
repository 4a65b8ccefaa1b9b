//! Globals: the numbers every shader reads, laid out as light.wgsl declares them.

use bytemuck::{Pod, Zeroable};
use dh_view::View;
use glam::{Mat4, Vec3, Vec4};

use crate::scene::DrawList;
use crate::scene::lens::pixels;

/// `struct Globals` of light.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct Globals {
    clip_from_world: Mat4,
    pub(super) sun_from_world: Mat4,
    pub(super) top_from_world: Mat4,
    eye: Vec4,
    right: Vec4,
    up: Vec4,
    forward: Vec4,
    toward: Vec4,
    sun: Vec4,
    zenith: Vec4,
    horizon: Vec4,
    ground: Vec4,
    maps: Vec4,
}

impl Globals {
    pub(super) fn new(list: &DrawList, view: &View) -> Self {
        let lens = &list.lens;
        let paint = |colour: dh_view::Colour| Vec3::from(colour.linear()).extend(1.0);
        let (sun, sky) = (&view.scene.sun, &view.scene.sky);
        Self {
            clip_from_world: lens.clip_from_world,
            sun_from_world: list.sun.clip_from_world(),
            top_from_world: list.top.clip_from_world(),
            eye: lens.eye.extend(1.0 / sky.haze.max(1.0)),
            right: lens.right.extend(pixels(lens.width)),
            up: lens.up.extend(pixels(lens.height)),
            forward: lens.forward.extend(0.0),
            toward: sun.toward.normalize_or(Vec3::Y).extend(sun.strength.clamp(0.0, 10.0)),
            sun: paint(sun.colour).truncate().extend(f32::from(u8::from(sun.shadows))),
            zenith: paint(sky.zenith).truncate().extend(sky.strength.clamp(0.0, 10.0)),
            horizon: paint(sky.horizon),
            ground: paint(sky.ground),
            maps: Vec4::new(
                list.sun.texel,
                1.0 / list.sun.depth(),
                list.top.texel,
                1.0 / list.top.depth(),
            ),
        }
    }
}
