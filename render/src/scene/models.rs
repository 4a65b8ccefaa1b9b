//! Models: which meshes are drawn, where, and in how few calls. Equal meshes become one batch; what
//! cannot be made out is left out. Used by the draw list; never touches the device.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use dh_view::{Mesh, ModelView, Scene};
use glam::Vec3;

use super::book::{Book, Sound, name};
use super::budget::{Limits, Load, SHARE_MIN, away};
use super::count;
use super::lens::{Lens, pixels};
use super::shadow::ShadowFrame;

/// A model of fewer pixels across is left out.
const PIXELS_MIN: f32 = 0.75;
/// Half-lives of haze after which nothing is left of a thing: less than a step of brightness.
const HAZE_MAX: f32 = 9.0;

/// One model as the GPU reads it: three rows of mesh to world.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct ModelInstance {
    /// The rows; the last number of each is the move.
    pub rows: [[f32; 4]; 3],
}

/// All places of one mesh, one after the other in the list's instances.
#[derive(Clone, Debug)]
pub struct Batch {
    /// What is drawn.
    pub mesh: Arc<Mesh>,
    /// Whether its places are mirrored, so that triangles wind the other way.
    pub mirrored: bool,
    /// The first of its instances.
    pub first: u32,
    /// How many, from the first, the camera sees.
    pub seen: u32,
    /// Those of its instances that the depth maps need, from the first of the list.
    pub cast: Range<u32>,
    /// Metres from the eye to the nearest that is seen.
    near: f32,
}

/// Everything of a scene's models that one picture submits.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// What is drawn, the nearest first.
    pub batches: Vec<Batch>,
    /// Where, in the order of the batches.
    pub instances: Vec<ModelInstance>,
    /// Triangles that are submitted to the camera.
    pub triangles: u64,
    /// Models whose mesh cannot be drawn.
    pub left_out: u32,
    /// Models that are left out because a scene holds, or one frame draws, no more.
    pub over: u32,
}

/// Places of one mesh, mirrored or not.
type Key = (usize, bool);

/// A model, and what it is drawn for.
struct Item<'a> {
    model: &'a ModelView,
    sound: &'a Sound,
    key: Key,
    seen: bool,
    cast: bool,
}

impl Models {
    /// The models of a scene as this lens and these depth maps need them, paid from `left`.
    #[must_use]
    pub fn new(
        scene: &Scene,
        book: &Book,
        lens: &Lens,
        maps: [&ShadowFrame; 2],
        left: &mut Limits,
    ) -> Self {
        let mut found = Self::default();
        let mut items = Vec::new();
        for model in &scene.models {
            let Some(sound) = book.sound(model) else {
                let over = book.is_over(model);
                found.over += u32::from(over);
                found.left_out += u32::from(!over);
                continue;
            };
            let seen = is_seen(lens, scene.sky.haze, model);
            let cast = maps.iter().any(|map| map.covers(&model.bounds));
            if seen || cast {
                let mirrored = model.transform.matrix3.determinant() < 0.0;
                let key = (name(&model.mesh), mirrored);
                items.push(Item { model, sound, key, seen, cast });
            }
        }
        found.over += keep_near(&mut items, lens, &mut left.camera);
        keep_first(&mut items, maps, &mut left.maps);
        let mut sorted: BTreeMap<Key, Vec<&Item<'_>>> = BTreeMap::new();
        for item in items.iter().filter(|item| item.seen || item.cast) {
            sorted.entry(item.key).or_default().push(item);
        }
        for ((_, mirrored), group) in sorted {
            found.add(mirrored, group, lens.eye);
        }
        // What is near hides what is far before that is shaded.
        found.batches.sort_by(|a, b| a.near.total_cmp(&b.near));
        found
    }

    /// Those that only the camera sees come first, those that only cast shadows last.
    fn add(&mut self, mirrored: bool, mut group: Vec<&Item<'_>>, eye: Vec3) {
        group.sort_by_key(|item| (!item.seen, item.cast));
        let Some(one) = group.first() else { return };
        let seen = group.iter().take_while(|item| item.seen);
        let only_seen = group.iter().take_while(|item| item.seen && !item.cast).count();
        let far = |item: &&Item<'_>| {
            let bounds = &item.model.bounds;
            eye.distance(bounds.centre()) - bounds.half().length()
        };
        let first = count(self.instances.len());
        self.triangles += one.sound.load.triangles * seen.clone().count() as u64;
        self.batches.push(Batch {
            mesh: Arc::clone(&one.model.mesh),
            mirrored,
            first,
            seen: count(seen.clone().count()),
            cast: first + count(only_seen)..first + count(group.len()),
            near: seen.map(far).reduce(f32::min).unwrap_or(0.0),
        });
        self.instances.extend(group.iter().map(|item| ModelInstance::new(item.model)));
    }
}

/// Keep the nearest of what the camera sees, as many as `left` holds; how many that leaves out.
fn keep_near(items: &mut [Item<'_>], lens: &Lens, left: &mut Load) -> u32 {
    let glance = |item: &Item<'_>| item.sound.blocks.layers_at_most(item.model, lens.eye);
    if pays_all(items, |item| item.seen, glance, left) {
        return 0;
    }
    let mut order: Vec<_> = items.iter_mut().filter(|item| item.seen).collect();
    let near = |item: &Item<'_>| away(&item.model.bounds, lens.eye);
    order.sort_by(|a, b| near(a).total_cmp(&near(b)));
    let (mut begun, mut over) = (BTreeSet::new(), 0);
    for item in order {
        let mut price = price_of(item, &begun);
        if price.is_within(left) {
            let layers = glance(item);
            let closely = || item.sound.blocks.layers(item.model, lens, left.layers);
            price.layers = if layers < SHARE_MIN { layers } else { closely() };
        }
        item.seen = left.pay(&price);
        over += u32::from(!item.seen);
        if item.seen {
            begun.insert(item.key);
        }
    }
    over
}

/// Keep the first of what casts shadows, as many as `left` holds.
fn keep_first(items: &mut [Item<'_>], maps: [&ShadowFrame; 2], left: &mut Load) {
    let layers = |item: &Item<'_>| {
        let (blocks, model) = (&item.sound.blocks, item.model);
        let area = blocks.area(&model.transform);
        maps.iter().map(|map| map.layers(&model.bounds, blocks.count(), area)).sum()
    };
    if pays_all(items, |item| item.cast, layers, left) {
        return;
    }
    let mut begun = BTreeSet::new();
    for item in items.iter_mut().filter(|item| item.cast) {
        let price = Load { layers: layers(item), ..price_of(item, &begun) };
        item.cast = left.pay(&price);
        if item.cast {
            begun.insert(item.key);
        }
    }
}

/// What one more of this mesh takes, but for what it covers: its parts are drawn all at once.
fn price_of(item: &Item<'_>, begun: &BTreeSet<Key>) -> Load {
    let load = item.sound.load;
    Load { draws: if begun.contains(&item.key) { 0 } else { load.draws }, ..load }
}

/// Pay for all of these at once, if `left` holds so much.
fn pays_all(
    items: &[Item<'_>],
    wanted: impl Fn(&Item<'_>) -> bool,
    layers: impl Fn(&Item<'_>) -> f32,
    left: &mut Load,
) -> bool {
    let (mut begun, mut all) = (BTreeSet::new(), Load::default());
    for item in items.iter().filter(|item| wanted(item)) {
        all = all.with(Load { layers: layers(item), ..price_of(item, &begun) });
        begun.insert(item.key);
    }
    let fits = all.is_within(left);
    fits && left.pay(&all)
}

impl ModelInstance {
    fn new(model: &ModelView) -> Self {
        let (turn, at) = (model.transform.matrix3, Vec3::from(model.transform.translation));
        let row = |axis: usize| [turn.x_axis[axis], turn.y_axis[axis], turn.z_axis[axis], at[axis]];
        Self { rows: [row(0), row(1), row(2)] }
    }
}

fn is_seen(lens: &Lens, haze: f32, model: &ModelView) -> bool {
    let (centre, radius) = (model.bounds.centre(), model.bounds.half().length());
    let far = (lens.eye.distance(centre) - radius).max(0.0);
    let across = 2.0 * radius / far.max(1e-3) * pixels(lens.height) / (2.0 * lens.up.length());
    far < HAZE_MAX * haze.max(1.0) && across >= PIXELS_MIN && lens.sees_ball(centre, radius)
}
