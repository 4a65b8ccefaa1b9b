//! Shadow frames: the fixed box of space that a depth map covers, and where on the picture a
//! player's shadow may fall.
//!
//! A frame depends on the scene and the camera only. Players never move it, so that a
//! player changes no pixel but those its own shadow reaches.

use dh_view::{Bounds, BoxView, PixelBox, Scene};
use glam::{Mat3, Mat4, Vec2, Vec3, Vec4};

use super::budget::Looks;
use super::lens::{Area, Lens, pixels};

/// How far from its caster, in texels of the map, a shadow's edge may reach: rasterising (1), the
/// filter (2.5), the shift of the lit point along its normal (2).
pub const REACH_TEXELS: f32 = 5.5;

/// What cutting a box at a shadow's sides costs, in looks.
const CUT_LOOKS: u32 = 64;

/// How far a frame moves at a time, texels.
const STEP_TEXELS: f32 = 128.0;

/// An upright view along light: which part of the world a depth map covers.
#[derive(Clone, Copy, Debug)]
pub struct ShadowFrame {
    /// Along the map's width, its height, and the way the light travels: unit vectors.
    axes: [Vec3; 3],
    /// The corner with the smallest coordinates along the axes, metres.
    min: Vec3,
    /// Metres along both sides of the map.
    span: f32,
    /// Metres along the light.
    depth: f32,
    /// Metres along one side of a texel.
    pub texel: f32,
}

impl ShadowFrame {
    /// A frame around this scene seen from `toward` (unit), at most `span_max` metres wide; a
    /// larger world is covered around `focus`. The map has `side` texels along each side.
    #[must_use]
    pub fn fit(scene: &Scene, toward: Vec3, focus: Vec3, span_max: f32, side: u16) -> Self {
        let along = -toward;
        let across = if along.y.abs() > 0.99 { Vec3::X } else { along.cross(Vec3::Y).normalize() };
        let axes = [across, across.cross(along), along];
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for item in scene.boxes.iter() {
            let (centre, reach) = (on(axes, item.centre), extent(item, axes));
            low = low.min(centre - reach);
            high = high.max(centre + reach);
        }
        for (start, end) in scene.models.iter().filter_map(|it| range(&it.bounds, axes)) {
            low = low.min(start);
            high = high.max(end);
        }
        if !(low.is_finite() && high.is_finite()) {
            (low, high) = (on(axes, focus) - 1.0, on(axes, focus) + 1.0);
        }
        let size = high - low;
        let span = (size.x.max(size.y) + 1.0).ceil().clamp(2.0, span_max);
        let texel = span / f32::from(side);
        let focus = on(axes, focus);
        let start = |low: f32, high: f32, focus: f32| {
            if high - low <= span {
                (low + high - span) / 2.0
            } else {
                // Many whole texels, so that edges do not crawl while the camera moves and what
                // stands still is drawn again only now and then.
                let step = texel * STEP_TEXELS;
                ((focus - span / 2.0).min(high - span).max(low) / step).floor() * step
            }
        };
        let min = Vec3::new(
            start(low.x, high.x, focus.x),
            start(low.y, high.y, focus.y),
            low.z.floor() - 1.0,
        );
        Self { axes, min, span, depth: (high.z - min.z).ceil() + 1.0, texel }
    }

    /// World to the clip space of the map: -1..=1 across and up, 0..=1 along the light.
    #[must_use]
    pub fn clip_from_world(&self) -> Mat4 {
        let [u, v, along] = self.axes;
        let scale = Vec3::new(2.0 / self.span, 2.0 / self.span, 1.0 / self.depth);
        let rows = Mat4::from_cols(
            (u * scale.x).extend(-self.min.x * scale.x - 1.0),
            (v * scale.y).extend(-self.min.y * scale.y - 1.0),
            (along * scale.z).extend(-self.min.z * scale.z),
            Vec4::W,
        );
        rows.transpose()
    }

    /// Metres along the light that the map's depth of 0..=1 stands for.
    #[must_use]
    pub const fn depth(&self) -> f32 {
        self.depth
    }

    /// The pixels of the world whose light a caster with these corners may take: all of them where
    /// the world has more than can be looked at.
    #[must_use]
    pub fn shade(
        &self,
        lens: &Lens,
        scene: &Scene,
        caster: impl Iterator<Item = Vec3>,
        looks: &Looks,
    ) -> Option<PixelBox> {
        let prism = self.prism(caster)?;
        let seen = lens.planes();
        let mut area = Area::default();
        let near =
            |item: &&BoxView| looks.at(1) && self.in_prism(&prism, item) && looks.at(CUT_LOOKS);
        for item in scene.boxes.iter().filter(near) {
            for face in faces(item) {
                if !face.looks_at(lens.eye) || face.normal.dot(self.axes[2]) >= 0.0 {
                    continue;
                }
                let lit = prism.planes.iter().chain(&seen);
                let polygon = lit.fold(face.corners.to_vec(), |cut, plane| clip(&cut, *plane));
                polygon.iter().filter_map(|at| lens.pixel(*at)).for_each(|at| area.add(at));
            }
        }
        let ranges = scene.models.iter().filter_map(|it| range(&it.bounds, self.axes));
        for (low, high) in ranges.take_while(|_| looks.at(1)) {
            let (low, high) = (low.max(prism.low), high.min(prism.high));
            if low.cmplt(high).all() && looks.at(CUT_LOOKS) {
                self.shade_part(lens, low, high, &mut area);
            }
        }
        if !looks.at(1) {
            everywhere(lens, &mut area);
        }
        area.pixels(lens.width, lens.height)
    }

    /// Whether a thing may cast a shadow into what the map covers.
    #[must_use]
    pub fn covers(&self, bounds: &Bounds) -> bool {
        let end = self.min + self.span;
        range(bounds, self.axes).is_some_and(|(low, high)| {
            low.x < end.x && low.y < end.y && high.x > self.min.x && high.y > self.min.y
        })
    }

    /// How much of the map this box of the world covers, 0 to 1.
    #[must_use]
    pub fn share_of_box(&self, item: &BoxView) -> f32 {
        let (centre, reach) = (on(self.axes, item.centre), extent(item, self.axes));
        self.overlap(centre - reach, centre + reach)
    }

    /// At most how often a thing's triangles, so many of this area, cover the map.
    #[must_use]
    pub fn layers(&self, bounds: &Bounds, triangles: f32, area: f32) -> f32 {
        let share = range(bounds, self.axes).map_or(0.0, |(low, high)| self.overlap(low, high));
        (triangles * share).min(area / (self.span * self.span))
    }

    fn overlap(&self, low: Vec3, high: Vec3) -> f32 {
        let shared = high.min(self.min + self.span) - low.max(self.min);
        shared.x.max(0.0) * shared.y.max(0.0) / (self.span * self.span)
    }

    /// Reach to every pixel of a box that is given along the frame's axes.
    fn shade_part(&self, lens: &Lens, low: Vec3, high: Vec3, area: &mut Area) {
        let [u, v, along] = self.axes;
        let turn = Mat3::from_cols(u, v, along);
        let (eye, seen) = (on(self.axes, lens.eye), lens.planes());
        if eye.cmpge(low).all() && eye.cmple(high).all() {
            return everywhere(lens, area);
        }
        for (n, a, b) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
            for side in [low, high] {
                let corners = [(low, low), (high, low), (high, high), (low, high)];
                let polygon = corners.map(|(first, second)| {
                    let mut at = side;
                    (at[a], at[b]) = (first[a], second[b]);
                    at[n] = side[n];
                    turn * at
                });
                let cut = seen.iter().fold(polygon.to_vec(), |cut, plane| clip(&cut, *plane));
                cut.iter().filter_map(|at| lens.pixel(*at)).for_each(|at| area.add(at));
            }
        }
    }

    /// The space a caster's shadow may fill, cut at the frame's border.
    fn prism(&self, caster: impl Iterator<Item = Vec3>) -> Option<Prism> {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        for at in caster.map(|at| on(self.axes, at)) {
            low = low.min(at);
            high = high.max(at);
        }
        let reach = REACH_TEXELS * self.texel;
        low -= reach;
        high += reach;
        let end = self.min + self.span;
        if high.x < self.min.x || high.y < self.min.y || low.x > end.x || low.y > end.y {
            return None;
        }
        let [u, v, along] = self.axes;
        let planes = [
            u.extend(-low.x),
            (-u).extend(high.x),
            v.extend(-low.y),
            (-v).extend(high.y),
            along.extend(-low.z),
        ];
        Some(Prism { low, high: high.with_z(f32::INFINITY), planes })
    }

    /// Whether a box may reach into the prism.
    fn in_prism(&self, prism: &Prism, item: &BoxView) -> bool {
        let (centre, reach) = (on(self.axes, item.centre), extent(item, self.axes));
        let (low, high) = (centre - reach, centre + reach);
        low.x < prism.high.x
            && low.y < prism.high.y
            && high.x > prism.low.x
            && high.y > prism.low.y
            && high.z > prism.low.z
    }
}

/// Reach to every pixel.
fn everywhere(lens: &Lens, area: &mut Area) {
    let all = [Vec2::ZERO, Vec2::new(pixels(lens.width), pixels(lens.height))];
    all.into_iter().for_each(|corner| area.add(corner));
}

/// Everything behind a caster, seen from the light.
struct Prism {
    /// The smallest coordinates along the frame's axes.
    low: Vec3,
    /// The largest; along the light it has no end.
    high: Vec3,
    /// Its sides, inside where the dot product is positive.
    planes: [Vec4; 5],
}

/// One side of a box.
pub(super) struct Face {
    normal: Vec3,
    pub(super) corners: [Vec3; 4],
}

impl Face {
    pub(super) fn looks_at(&self, eye: Vec3) -> bool {
        self.normal.dot(eye - self.corners[0]) > 0.0
    }
}

/// The six sides of a box.
pub(super) fn faces(item: &BoxView) -> impl Iterator<Item = Face> {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| item.rotation * axis);
    let (centre, half) = (item.centre, item.half);
    [(0, 1, 2), (1, 2, 0), (2, 0, 1)].into_iter().flat_map(move |(n, a, b)| {
        [1.0, -1.0].map(|side| {
            let (out, u, v) = (axes[n] * side, axes[a] * half[a], axes[b] * half[b]);
            let middle = centre + out * half[n];
            Face {
                normal: out,
                corners: [middle - u - v, middle + u - v, middle + u + v, middle - u + v],
            }
        })
    })
}

/// What of a polygon lies on a plane's inner side.
fn clip(polygon: &[Vec3], plane: Vec4) -> Vec<Vec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (index, from) in polygon.iter().enumerate() {
        let to = polygon[(index + 1) % polygon.len()];
        let (a, b) = (plane.dot(from.extend(1.0)), plane.dot(to.extend(1.0)));
        if a >= 0.0 {
            kept.push(*from);
        }
        if (a >= 0.0) != (b >= 0.0) {
            kept.push(from.lerp(to, a / (a - b)));
        }
    }
    kept
}

/// A point's coordinates along three axes.
fn on(axes: [Vec3; 3], point: Vec3) -> Vec3 {
    Vec3::from(axes.map(|axis| axis.dot(point)))
}

/// How far a box reaches from its centre along three axes.
fn extent(item: &BoxView, axes: [Vec3; 3]) -> Vec3 {
    let own = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| item.rotation * axis);
    Vec3::from(axes.map(|axis| {
        own.iter().zip(item.half.to_array()).map(|(side, half)| side.dot(axis).abs() * half).sum()
    }))
}

/// The smallest and largest coordinates of bounds along three axes; none where they are nowhere.
fn range(bounds: &Bounds, axes: [Vec3; 3]) -> Option<(Vec3, Vec3)> {
    let (centre, half) = (on(axes, bounds.centre()), bounds.half());
    let reach = Vec3::from(axes.map(|axis| axis.abs().dot(half)));
    let found = (centre - reach, centre + reach);
    (found.0.is_finite() && found.1.is_finite()).then_some(found)
}
