//! Boxes: which boxes of a world are drawn, and in which order. Used by the draw list; never
//! touches the device.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use dh_view::{BoxView, Scene};
use glam::Vec3;

use super::budget::{Limits, Load, SHARE_MIN, share};
use super::count;
use super::lens::Lens;
use super::shadow::{ShadowFrame, faces};

/// Triangles of one box.
const BOX_TRIANGLES: u32 = 12;

/// One box as the GPU reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BoxInstance {
    /// Its middle, metres.
    pub centre: [f32; 3],
    /// Half its size, metres.
    pub half: [f32; 3],
    /// Its turn, x y z w.
    pub rotation: [f32; 4],
    /// Its paint, linear.
    pub colour: [f32; 3],
}

/// Everything of a scene's boxes that one picture submits.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// Where they are: first those that only the camera sees, last those that only cast shadows.
    pub instances: Vec<BoxInstance>,
    /// How many, from the first, the camera sees.
    pub seen: u32,
    /// Those that cast shadows.
    pub cast: Range<u32>,
    /// Those that the camera sees, by their material in the scene.
    pub runs: Vec<(Option<u32>, Range<u32>)>,
    /// Boxes that are left out because one frame draws no more.
    pub over: u32,
}

/// A box, and what it is drawn for.
struct Item<'a> {
    item: &'a BoxView,
    seen: bool,
    cast: bool,
}

impl Boxes {
    /// The boxes of a scene as this lens and these depth maps need them, paid from `left`.
    #[must_use]
    pub fn new(scene: &Scene, lens: &Lens, maps: [&ShadowFrame; 2], left: &mut Limits) -> Self {
        let mut items: Vec<Item<'_>> = scene
            .boxes
            .iter()
            .map(|item| Item {
                item,
                seen: lens.sees_ball(item.centre, item.half.length()),
                cast: true,
            })
            .collect();
        let over = keep_near(&mut items, lens, &mut left.camera);
        keep_first(&mut items, maps, &mut left.maps);
        let material = |item: &BoxView| {
            item.material
                .filter(|it| usize::try_from(*it).is_ok_and(|it| it < scene.materials.len()))
        };
        let (mut seen, hidden): (Vec<_>, Vec<_>) = items.iter().partition(|it| it.seen);
        // Of one material the nearest first: it hides what is far before that is shaded.
        seen.sort_by(|a, b| {
            let (near, far) = (gap(a.item, lens.eye), gap(b.item, lens.eye));
            let order = a.cast.cmp(&b.cast).then(material(a.item).cmp(&material(b.item)));
            order.then(near.total_cmp(&far))
        });
        let only_seen = count(seen.iter().filter(|it| !it.cast).count());
        let cast = hidden.iter().filter(|it| it.cast);
        let all = || seen.iter().chain(cast.clone()).map(|it| it.item);
        Self {
            instances: all().map(BoxInstance::new).collect(),
            seen: count(seen.len()),
            cast: only_seen..count(all().count()),
            runs: runs(seen.iter().map(|it| material(it.item))),
            over,
        }
    }

    /// Triangles that are submitted to the camera.
    #[must_use]
    pub const fn triangles(&self) -> u32 {
        self.seen.saturating_mul(BOX_TRIANGLES)
    }
}

/// Keep the nearest of what the camera sees, as many as `left` holds; how many that leaves out.
fn keep_near(items: &mut [Item<'_>], lens: &Lens, left: &mut Load) -> u32 {
    let price = |layers| Load { triangles: u64::from(BOX_TRIANGLES), draws: 0, layers };
    let seen = items.iter().filter(|it| it.seen);
    let all =
        seen.map(|it| price(at_a_glance(it.item, lens.eye))).fold(Load::default(), Load::with);
    if all.is_within(left) && left.pay(&all) {
        return 0;
    }
    let mut order: Vec<_> = items.iter_mut().filter(|it| it.seen).collect();
    order.sort_by(|a, b| gap(a.item, lens.eye).total_cmp(&gap(b.item, lens.eye)));
    let mut over = 0;
    for it in order {
        let glance = at_a_glance(it.item, lens.eye);
        let layers = if glance < SHARE_MIN { glance } else { layers(it.item, lens.eye) };
        it.seen = left.pay(&price(layers));
        over += u32::from(!it.seen);
    }
    over
}

/// Keep the first of what casts shadows, as many as `left` holds.
fn keep_first(items: &mut [Item<'_>], maps: [&ShadowFrame; 2], left: &mut Load) {
    let price = |item: &BoxView| {
        // What is near the light and what is far of it.
        let layers = maps.iter().map(|map| map.share_of_box(item) * 2.0).sum();
        Load { triangles: u64::from(BOX_TRIANGLES), draws: 0, layers }
    };
    let all = items.iter().map(|it| price(it.item)).fold(Load::default(), Load::with);
    if !(all.is_within(left) && left.pay(&all)) {
        items.iter_mut().for_each(|it| it.cast = left.pay(&price(it.item)));
    }
}

/// At most the part of the sphere around the eye that a box covers.
fn at_a_glance(item: &BoxView, eye: Vec3) -> f32 {
    let (radius, far) = (item.half.length(), item.centre.distance(eye));
    if far > radius { (1.0 - (1.0 - (radius / far).powi(2)).sqrt()) * 0.5 } else { 0.5 }
}

/// The same, looked at closely.
fn layers(item: &BoxView, eye: Vec3) -> f32 {
    let looking = faces(item).filter(|face| face.looks_at(eye));
    looking
        .map(|face| {
            let [a, b, c, d] = face.corners.map(|corner| corner - eye);
            share([a, b, c]) + share([a, c, d])
        })
        .sum()
}

impl BoxInstance {
    fn new(item: &BoxView) -> Self {
        Self {
            centre: item.centre.to_array(),
            half: item.half.to_array(),
            rotation: item.rotation.to_array(),
            colour: item.colour.linear(),
        }
    }
}

/// Metres from a point to the nearest of a box.
fn gap(item: &BoxView, from: Vec3) -> f32 {
    let inside = item.rotation.conjugate() * (from - item.centre);
    (inside.abs() - item.half).max(Vec3::ZERO).length()
}

/// Equal neighbours as ranges.
fn runs(items: impl Iterator<Item = Option<u32>>) -> Vec<(Option<u32>, Range<u32>)> {
    let mut runs: Vec<(Option<u32>, Range<u32>)> = Vec::new();
    for (at, item) in (0..).zip(items) {
        match runs.last_mut() {
            Some((last, range)) if *last == item => range.end = at + 1,
            _ => runs.push((item, at..at + 1)),
        }
    }
    runs
}
