//! Whether a player can be seen past the world's boxes and models, by a few rays. Used by the scene
//! to decide who gets a name above the head; other players hide nobody.

use dh_view::{BoxView, PlayerView, Scene};
use glam::Vec3;

use super::book::Book;
use super::budget::Looks;
use super::lens::Lens;

/// Rays that must get through, of [`SAMPLES`]: one may slip through a crack between boxes.
const CLEAR_MIN: usize = 2;
/// Where the rays go: parts of the height, and parts of the radius to the side.
const SAMPLES: [(f32, f32); 9] = [
    (0.5, 0.0),
    (0.86, 0.0),
    (0.14, 0.0),
    (0.5, 0.7),
    (0.5, -0.7),
    (0.8, 0.6),
    (0.8, -0.6),
    (0.2, 0.6),
    (0.2, -0.6),
];

/// Whether some of this player's body is on the picture and before all of the world. Not where the
/// world has more than can be looked at.
#[must_use]
pub fn seen(lens: &Lens, scene: &Scene, book: &Book, player: &PlayerView, looks: &Looks) -> bool {
    let back = (lens.eye - player.feet).with_y(0.0).normalize_or(Vec3::Z);
    let side = Vec3::Y.cross(back);
    let clear = SAMPLES.iter().filter(|(part, aside)| {
        let to = player.feet
            + Vec3::Y * (player.height * part)
            + side * (PlayerView::RADIUS * aside)
            + back * (PlayerView::RADIUS * 0.6);
        on_picture(lens, to)
            && !scene.boxes.iter().any(|item| looks.at(1) && blocks(item, lens.eye, to))
            && !scene
                .models
                .iter()
                .any(|model| looks.at(1) && book.blocks(model, lens.eye, to, looks))
    });
    clear.take(CLEAR_MIN).count() == CLEAR_MIN && looks.at(1)
}

fn on_picture(lens: &Lens, point: Vec3) -> bool {
    lens.planes().iter().all(|plane| plane.dot(point.extend(1.0)) > 0.0)
}

/// Whether a box cuts the way from `from` to `to`.
fn blocks(item: &BoxView, from: Vec3, to: Vec3) -> bool {
    let into = item.rotation.conjugate();
    let (start, way) = (into * (from - item.centre), into * (to - from));
    let (mut enter, mut leave) = (0.0_f32, 1.0_f32);
    for axis in 0..3 {
        let inverse = 1.0 / way[axis];
        let (a, b) =
            ((-item.half[axis] - start[axis]) * inverse, (item.half[axis] - start[axis]) * inverse);
        // A way along a face makes one of them not a number; `min` and `max` then keep the other.
        enter = enter.max(a.min(b));
        leave = leave.min(a.max(b));
    }
    enter < leave
}
