//! Pictures and their reports: what the renderer answers. Read by `bin` and by tests, which compare
//! pictures only where the report says something was drawn.

use alloc::{string::String, vec::Vec};

use crate::Camera;

/// A finished picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Red, green, blue, alpha (always 255) of each pixel, rows from the top, sRGB encoded.
    pub rgba: Vec<u8>,
    /// What is on it, counted from the draw list that was submitted.
    pub report: PictureReport,
}

impl Picture {
    /// The four bytes of the pixel at `x`, `y`; `None` outside.
    #[must_use]
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 4]> {
        if x >= self.report.width || y >= self.report.height {
            return None;
        }
        let at = (y as usize * self.report.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 4)?.try_into().ok()
    }
}

/// What is on a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureReport {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Where it was taken from.
    pub camera: Camera,
    /// The adapter that drew it, as people know it.
    pub adapter: String,
    /// Triangles of the world that were submitted.
    pub world_triangles: u32,
    /// Models of the scene that cannot be drawn: their mesh does not add up, or does not fit.
    pub models_left_out: u32,
    /// Boxes and models that are left out because a scene, or one frame, has room for no more.
    pub over_budget: u32,
    /// Players whose body was submitted.
    pub players_drawn: u32,
    /// Runs of text in the panel.
    pub hud_runs: u32,
    /// The panel.
    pub hud: Option<PixelBox>,
    /// Every player of the view, in its order, drawn or not.
    pub players: Vec<PlayerBoxes>,
}

/// Where one player may have changed the picture. Boxes are cut at the picture's border; `None` is
/// outside of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerBoxes {
    /// The pawn's entity id.
    pub id: u32,
    /// The player's name.
    pub name: String,
    /// Whether some of the body can be seen: it is on the picture and no box hides all of it.
    pub visible: bool,
    /// The body.
    pub body: Option<PixelBox>,
    /// The name above the head.
    pub tag: Option<PixelBox>,
    /// Every pixel of the world that the body's shadow may darken. On another player's body it may
    /// darken pixels of that body's box.
    pub shadow: Option<PixelBox>,
}

impl PlayerBoxes {
    /// Body, tag and shadow, those that are on the picture.
    pub fn boxes(&self) -> impl Iterator<Item = PixelBox> + '_ {
        [self.body, self.tag, self.shadow].into_iter().flatten()
    }
}

/// A rectangle of whole pixels; never empty where it is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelBox {
    /// The first column.
    pub left: u32,
    /// The first row.
    pub top: u32,
    /// The column after the last.
    pub right: u32,
    /// The row after the last.
    pub bottom: u32,
}

impl PixelBox {
    /// Whether the pixel at `x`, `y` lies inside.
    #[must_use]
    pub const fn contains(self, x: u32, y: u32) -> bool {
        self.left <= x && x < self.right && self.top <= y && y < self.bottom
    }

    /// The box with a border of `by` more pixels; it may reach past a picture's far border.
    #[must_use]
    pub const fn grown(self, by: u32) -> Self {
        Self {
            left: self.left.saturating_sub(by),
            top: self.top.saturating_sub(by),
            right: self.right.saturating_add(by),
            bottom: self.bottom.saturating_add(by),
        }
    }

    /// The smallest box around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Whether the two share a pixel.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: PixelBox = PixelBox { left: 1, top: 2, right: 4, bottom: 6 };

    #[test]
    fn the_far_edges_of_a_box_are_outside_it() {
        assert!(BOX.contains(1, 2) && BOX.contains(3, 5));
        assert!(!BOX.contains(4, 2) && !BOX.contains(1, 6) && !BOX.contains(0, 2));
    }

    #[test]
    fn a_box_grows_on_all_sides_and_stops_at_the_near_border() {
        let grown = PixelBox { left: 0, top: 0, right: 6, bottom: 8 };
        assert_eq!(BOX.grown(2), grown);
        assert!(BOX.overlaps(PixelBox { left: 3, top: 5, right: 9, bottom: 9 }));
        assert!(!BOX.overlaps(PixelBox { left: 4, top: 2, right: 9, bottom: 9 }));
        assert_eq!(BOX.union(PixelBox { left: 0, top: 3, right: 2, bottom: 9 }).bottom, 9);
    }

    #[test]
    fn a_pixel_outside_the_picture_is_none() {
        let report = PictureReport { width: 2, height: 1, ..PictureReport::default() };
        let picture = Picture { rgba: Vec::from([1, 2, 3, 4, 5, 6, 7, 8]), report };
        assert_eq!(picture.pixel(1, 0), Some([5, 6, 7, 8]));
        assert_eq!((picture.pixel(2, 0), picture.pixel(0, 1)), (None, None));
    }
}
