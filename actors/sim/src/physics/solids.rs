//! Solids: everything that stops movement, boxes and triangles, with ways to find it by a place.
//! Owned by the world and by the client's predictor, shared behind an `Arc`; never changes once
//! built.

use std::sync::Arc;

use dh_cook::Cooked;
use dh_machine::Digest;
use glam::Vec3;

use super::{BodyId, Solid, grid::Grid};

/// All solids of a world at one moment: boxes by ascending id, and triangles that stand still.
#[derive(Clone, Debug, Default)]
pub struct Solids {
    all: Vec<Solid>,
    grid: Grid,
    fastest: f32,
    triangles: Option<Arc<Cooked>>,
    digest: Digest,
}

impl Solids {
    /// The boxes given, which need not be in order.
    ///
    /// # Panics
    /// When two share an id, or one has id 0: what made them is broken.
    #[must_use]
    pub fn new(mut all: Vec<Solid>) -> Self {
        all.sort_by_key(|solid| solid.id);
        assert!(all.windows(2).all(|pair| pair[0].id < pair[1].id), "two solids share an id");
        assert!(all.first().is_none_or(|solid| solid.id > BodyId::NONE), "id 0 means no body");
        let fastest = all.iter().fold(0.0, |fastest: f32, solid| fastest.max(solid.fastest()));
        let digest = digest_of(&all);
        Self { grid: Grid::over(&all), all, fastest, triangles: None, digest }
    }

    /// The same boxes, and these triangles. A triangle is met as the body of its map object, which
    /// may have boxes too.
    #[must_use]
    pub fn with_triangles(self, triangles: Arc<Cooked>) -> Self {
        let mut digest = digest_of(&self.all);
        digest.word(triangles.digest());
        Self { triangles: Some(triangles), digest, ..self }
    }

    /// The triangles, if there are any.
    #[must_use]
    pub fn triangles(&self) -> Option<&Cooked> {
        self.triangles.as_deref()
    }

    /// Every box, by ascending id.
    #[must_use]
    pub fn all(&self) -> &[Solid] {
        &self.all
    }

    /// The box with this id.
    #[must_use]
    pub fn get(&self, id: BodyId) -> Option<&Solid> {
        let at = self.all.binary_search_by_key(&id, |solid| solid.id).ok()?;
        Some(&self.all[at])
    }

    /// No point of any solid moves faster than this, m/s.
    #[must_use]
    pub const fn fastest(&self) -> f32 {
        self.fastest
    }

    /// Hands over each box whose upright box meets the space between two corners, by ascending
    /// id; `numbers` is scratch space.
    pub(super) fn near(
        &self,
        (low, high): (Vec3, Vec3),
        numbers: &mut Vec<u32>,
        mut found: impl FnMut(&Solid),
    ) {
        numbers.clear();
        self.grid.near(low, high, |number| numbers.push(number));
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers.iter() {
            let solid = &self.all[*number as usize];
            let (half, to) = (solid.half_size(), solid.centre);
            if (to + half).cmpge(low).all() && (to - half).cmple(high).all() {
                found(solid);
            }
        }
    }

    /// A hash of everything that a pawn can feel, made once.
    #[must_use]
    pub const fn digest(&self) -> u64 {
        self.digest.value()
    }
}

fn digest_of(boxes: &[Solid]) -> Digest {
    let mut digest = Digest::new();
    for solid in boxes {
        digest.word(u64::from(solid.id.0));
        let parts = [solid.centre, solid.half, solid.velocity, solid.spin];
        parts.iter().flat_map(Vec3::to_array).for_each(|part| digest.float(part));
        solid.rotation.to_array().into_iter().for_each(|part| digest.float(part));
    }
    digest
}
