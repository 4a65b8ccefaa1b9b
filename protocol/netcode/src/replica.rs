//! Replica: one entity as a snapshot describes it, and how two descriptions blend.
//!
//! Made by the client from entity records, drawn by the presenter. It holds no wire types, so that
//! records of other forms can become replicas as well.

use core::f32::consts::TAU;

/// One entity of one snapshot. All numbers are finite: the wire refuses others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Replica {
    /// The entity's id.
    pub id: u32,
    /// Its `NetKind` number, known here or not.
    pub kind: u8,
    /// Its feet, in metres.
    pub position: [f32; 3],
    /// Heading in radians.
    pub yaw: f32,
    /// Look up and down, in radians.
    pub pitch: f32,
    /// Eyes above the feet, in metres.
    pub eye_height: f32,
    /// The flag bits of its record, [`Replica::PLACED`] and [`Replica::CROUCHING`] among them.
    pub flags: u8,
    /// A unit quaternion (x, y, z, w) for kinds that turn.
    pub rotation: Option<[f32; 4]>,
    /// A scale by axis, where one was set.
    pub scale: Option<[f32; 3]>,
    /// What its kind adds.
    pub payload: Payload,
}

/// What a kind adds to a record: channels that blend and bits that do not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Payload {
    /// Channels; those a snapshot does not carry are 0.
    pub channels: [f32; 4],
    /// Bits by kind.
    pub bits: u8,
}

impl Replica {
    /// The flag that flips with each placement: between two snapshots that differ in it lies a
    /// jump, and nothing is blended across.
    pub const PLACED: u8 = 1 << 0;
    /// The flag of a crouched pawn.
    pub const CROUCHING: u8 = 1 << 1;

    /// What stands between `self` and the later `next`, `share` of the way, 0 up to 1.
    #[must_use]
    pub fn blend(&self, next: &Self, share: f32) -> Self {
        if (self.flags ^ next.flags) & Self::PLACED != 0 {
            return if share < 1.0 { *self } else { *next };
        }
        let lerp = |a: f32, b: f32| a + (b - a) * share;
        Self {
            id: next.id,
            kind: next.kind,
            position: each(self.position, next.position, lerp),
            yaw: self.yaw + shortest_turn(self.yaw, next.yaw) * share,
            pitch: lerp(self.pitch, next.pitch),
            eye_height: lerp(self.eye_height, next.eye_height),
            flags: next.flags,
            rotation: both(self.rotation, next.rotation, |a, b| turn(a, b, share)),
            scale: both(self.scale, next.scale, |a, b| each(a, b, lerp)),
            payload: Payload {
                channels: each(self.payload.channels, next.payload.channels, lerp),
                bits: next.payload.bits,
            },
        }
    }
}

fn each<const N: usize>(mut a: [f32; N], b: [f32; N], blend: impl Fn(f32, f32) -> f32) -> [f32; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = blend(*a, b);
    }
    a
}

/// Blends what both have; what only the later one has, or lacks, is taken as it is.
fn both<T>(a: Option<T>, b: Option<T>, blend: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(blend(a, b)),
        (_, b) => b,
    }
}

/// The turn from one heading to another that is at most half a circle.
fn shortest_turn(from: f32, to: f32) -> f32 {
    let turn = to - from;
    turn - TAU * libm::roundf(turn / TAU)
}

/// Normalised linear blend of two unit quaternions, the short way round: at the few degrees of one
/// tick it follows the arc.
fn turn(a: [f32; 4], b: [f32; 4], share: f32) -> [f32; 4] {
    let along: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let sign = if along < 0.0 { -1.0 } else { 1.0 };
    let blended = each(a, b, |a, b| a + (sign * b - a) * share);
    let length = libm::sqrtf(blended.iter().map(|it| it * it).sum());
    if length > 0.0 { blended.map(|it| it / length) } else { b }
}

#[cfg(test)]
mod tests {
    use core::f32::consts::{FRAC_1_SQRT_2, PI};

    use super::*;

    fn close(a: f32, b: f32) -> bool {
        (a - b).abs() < 1e-5
    }

    /// KIND-08
    #[test]
    fn channels_blend_and_bits_are_those_of_the_newer_snapshot() {
        let bits = |bits, channel| Payload { channels: [channel, 0.0, 0.0, 0.0], bits };
        let before = Replica { payload: bits(0b01, 0.0), ..Replica::default() };
        let after = Replica { payload: bits(0b10, 1.0), ..Replica::default() };
        for share in [0.1, 0.5, 0.9] {
            let payload = before.blend(&after, share).payload;
            assert!(close(payload.channels[0], share));
            assert_eq!(payload.bits, 0b10);
        }
    }

    /// KIND-10
    #[test]
    fn a_channel_the_older_snapshot_lacks_blends_upward_from_zero() {
        let older = Payload { channels: [1.0, 0.0, 0.0, 0.0], bits: 0 };
        let newer = Payload { channels: [1.0, 4.0, 0.0, 0.0], bits: 0 };
        let before = Replica { payload: older, ..Replica::default() };
        let after = Replica { payload: newer, ..Replica::default() };
        assert!(close(before.blend(&after, 0.25).payload.channels[1], 1.0));
    }

    /// Netcode OQ-19.
    #[test]
    fn nothing_is_blended_across_a_placement() {
        let before = Replica { position: [0.0; 3], ..Replica::default() };
        let after =
            Replica { position: [50.0, 0.0, 0.0], flags: Replica::PLACED, ..Replica::default() };
        assert_eq!(before.blend(&after, 0.99), before);
        assert_eq!(before.blend(&after, 1.0), after);
    }

    #[test]
    fn headings_turn_the_short_way() {
        let before = Replica { yaw: PI - 0.1, ..Replica::default() };
        let after = Replica { yaw: -PI + 0.1, ..Replica::default() };
        assert!(close(before.blend(&after, 0.5).yaw, PI));
    }

    #[test]
    fn rotations_turn_the_short_way_and_stay_of_unit_length() {
        let quarter = [0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];
        let before = Replica { rotation: Some([0.0, 0.0, 0.0, 1.0]), ..Replica::default() };
        let after = Replica { rotation: Some(quarter.map(|it| -it)), ..Replica::default() };
        let rotation = before.blend(&after, 0.5).rotation.unwrap();
        assert!(close(rotation.iter().map(|it| it * it).sum(), 1.0));
        assert!(close(rotation[1], libm::sinf(PI / 8.0)));
    }

    #[test]
    fn what_only_one_snapshot_has_follows_the_newer_one() {
        let with = Replica { scale: Some([2.0; 3]), ..Replica::default() };
        let without = Replica::default();
        assert_eq!(with.blend(&without, 0.5).scale, None);
        assert_eq!(without.blend(&with, 0.5).scale, Some([2.0; 3]));
    }
}
