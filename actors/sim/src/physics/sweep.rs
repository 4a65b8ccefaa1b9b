//! Sweep: how a capsule comes to a contact, the same for every shape that tells its distance.

use glam::Vec3;

/// A gap this small counts as contact, metres.
pub(super) const TOUCH: f32 = 1e-4;
/// A motion that closes a gap by less than this part of its length runs along the surface. The
/// distance is convex, so such a motion sinks in by no more than that part of its length.
pub(super) const ALONG: f32 = 1e-4;
/// Steps of one sweep. At a face it takes two; at a rim the gap shrinks fourfold with each.
const STEPS_MAX: u32 = 24;

/// How a shape lies to the axis of a capsule.
pub(super) trait Gap: Copy {
    /// From the shape to the axis, metres.
    fn far(self) -> f32;
    /// The unit direction in which that grows fastest.
    fn normal(self) -> Vec3;
}

/// A motion of a capsule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    /// The radius of the capsule, metres.
    pub(super) radius: f32,
    /// Where to, metres, along the axes of the gaps.
    pub(super) along: Vec3,
    /// How far that is, metres.
    pub(super) far: f32,
    /// The part of the motion after which no contact counts, 0 to 1.
    pub(super) until: f32,
}

/// When the motion meets the shape that lies so at its start, and how it lies then.
///
/// Newton's method on the distance, which is convex along the motion: from outside no step passes
/// the contact, and where the distance does not fall there is none ahead.
pub(super) fn sweep<G: Gap>(start: G, motion: Motion, at: impl Fn(f32) -> G) -> Option<(f32, G)> {
    let (mut time, mut found) = (0.0, start);
    for _ in 0..STEPS_MAX {
        let gap = found.far() - motion.radius;
        let closing = -motion.along.dot(found.normal());
        if closing <= ALONG * motion.far {
            return None;
        }
        if gap <= TOUCH {
            break;
        }
        time += gap / closing;
        if time > motion.until {
            return None;
        }
        found = at(time);
    }
    Some((time, found))
}
