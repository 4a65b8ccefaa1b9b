//! `GrayBox`: the world without content. Procedural, the same at both ends, and the first thing
//! anyone sees of Driftholm.
//!
//! Used by the server, the predictor and the presenter. It is built from code alone, so it needs
//! no asset and no peer asks for one.

mod build;
mod layout;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use dh_view::{BoxView, Camera};
use glam::Vec3;

use crate::physics::{BodyId, Solid, Solids};

/// The procedural gray box.
#[derive(Clone, Debug)]
pub struct GrayBox {
    boxes: Arc<[BoxView]>,
    solids: Arc<Solids>,
    spawns: Arc<[SpawnPoint]>,
}

/// Where a pawn appears.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpawnPoint {
    /// Where its feet are put, metres; a skin above the ground.
    pub feet: Vec3,
    /// Where it looks, radians about +y.
    pub yaw: f32,
}

impl GrayBox {
    /// Builds it.
    #[must_use]
    pub fn new() -> Self {
        let (boxes, spawns) = layout::lay_out();
        let solids = boxes
            .iter()
            .enumerate()
            .map(|(number, drawn)| Solid::of_view(BodyId::of_map(number), drawn))
            .collect();
        Self { boxes: boxes.into(), solids: Arc::new(Solids::new(solids)), spawns: spawns.into() }
    }

    /// What is drawn.
    #[must_use]
    pub fn boxes(&self) -> Arc<[BoxView]> {
        Arc::clone(&self.boxes)
    }

    /// What stops movement: the same boxes, solid number `n` being box number `n`.
    #[must_use]
    pub fn solids(&self) -> Arc<Solids> {
        Arc::clone(&self.solids)
    }

    /// Where pawns appear, taken round robin.
    #[must_use]
    pub fn spawns(&self) -> Arc<[SpawnPoint]> {
        Arc::clone(&self.spawns)
    }

    /// Where a picture of the whole is taken from.
    #[must_use]
    pub fn viewpoint(&self) -> Camera {
        layout::viewpoint()
    }
}

impl Default for GrayBox {
    fn default() -> Self {
        Self::new()
    }
}
