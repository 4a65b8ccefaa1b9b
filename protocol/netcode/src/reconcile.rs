//! `ReconcileOffset`: keeps the picture continuous while a correction is adopted at once.
//!
//! Used by the predictor. It changes what is drawn, never what is simulated, and never looks at
//! how large a correction is: only a changed epoch or an overflow makes a jump.

use dh_machine::Micros;

/// What is added to the drawn pawn, easing out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReconcileOffset {
    feet: [f32; 3],
    eye_height: f32,
    epoch: Option<u8>,
}

/// The part of a pawn that is eased.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stance {
    /// Where it stands, in metres.
    pub feet: [f32; 3],
    /// Its eyes above the feet, in metres.
    pub eye_height: f32,
}

impl ReconcileOffset {
    /// Time constant of the easing, in seconds; what is left after 0.1 s is 6 %.
    pub const TIME_CONSTANT: f32 = 0.035;
    /// What is shorter than this, in metres, is dropped instead of eased.
    pub const RESIDUE: f32 = 0.001;

    /// The simulated pawn changed from `before` to `after` for the same moment: the drawn one
    /// stays where it was, and eases to it.
    pub fn correct(&mut self, before: Stance, after: Stance) {
        for ((offset, before), after) in self.feet.iter_mut().zip(before.feet).zip(after.feet) {
            *offset += before - after;
        }
        self.eye_height += before.eye_height - after.eye_height;
        self.drop_residue();
    }

    /// Eases by so much real time.
    pub fn ease(&mut self, elapsed: Micros) {
        let left = libm::exp(-elapsed.as_secs_f64() / f64::from(Self::TIME_CONSTANT));
        #[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
        let left = left as f32;
        self.feet = self.feet.map(|offset| offset * left);
        self.eye_height *= left;
        self.drop_residue();
    }

    /// Takes the placement epoch of a snapshot; whether it says that the pawn was placed anew
    /// since the last one, in which case nothing is left to ease. The first epoch says nothing.
    pub fn observe_epoch(&mut self, epoch: u8) -> bool {
        let placed = self.epoch.replace(epoch).is_some_and(|last| last != epoch);
        if placed {
            self.clear();
        }
        placed
    }

    /// Drops both offsets, as after an overflow of the pending inputs.
    pub const fn clear(&mut self) {
        self.feet = [0.0; 3];
        self.eye_height = 0.0;
    }

    /// What is added to the feet, in metres.
    #[must_use]
    pub const fn feet(&self) -> [f32; 3] {
        self.feet
    }

    /// What is added to the eye height, in metres.
    #[must_use]
    pub const fn eye_height(&self) -> f32 {
        self.eye_height
    }

    /// What is drawn at `share` of the way from the tick before to the newest one.
    #[must_use]
    pub fn drawn(&self, before: Stance, newest: Stance, share: f32) -> Stance {
        let lerp = |a: f32, b: f32| a + (b - a) * share;
        let mut feet = self.feet;
        for ((offset, a), b) in feet.iter_mut().zip(before.feet).zip(newest.feet) {
            *offset += lerp(a, b);
        }
        let eye_height = lerp(before.eye_height, newest.eye_height) + self.eye_height;
        Stance { feet, eye_height }
    }

    fn drop_residue(&mut self) {
        let [x, y, z] = self.feet;
        if x * x + y * y + z * z < Self::RESIDUE * Self::RESIDUE {
            self.feet = [0.0; 3];
        }
        if self.eye_height.abs() < Self::RESIDUE {
            self.eye_height = 0.0;
        }
    }
}

#[cfg(test)]
mod tests;
