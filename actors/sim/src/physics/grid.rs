//! Grid: which solids may stand where, seen from above. Built once by `Solids`, asked once a mover
//! step. It answers with too many, never with too few.

use std::ops::RangeInclusive;

use glam::Vec3;

use super::Solid;

/// Cells along one side at most.
const SIDE_MAX: usize = 128;
/// Cells are at least this wide, metres.
const CELL_MIN: f32 = 2.0;
/// Members of all cells together. Solids that each cover much of a world make cells wider instead.
const MEMBERS_MAX: usize = 1 << 22;

/// A grid of cells over x and z; the solids of a cell lie in `members[starts[c]..starts[c + 1]]`.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    low: [f32; 2],
    cell: f32,
    sides: [usize; 2],
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Grid {
    /// The grid over `solids`; members are their indices, ascending in each cell.
    pub(super) fn over(solids: &[Solid]) -> Self {
        let Some((low, high)) = bounds(solids) else { return Self::default() };
        let wide = (high[0] - low[0]).max(high[1] - low[1]);
        let mut grid = Self::empty(low, high, CELL_MIN.max(wide / 100.0));
        while grid.sides != [1, 1] && grid.members_of(solids) > MEMBERS_MAX {
            grid = Self::empty(low, high, grid.cell * 2.0);
        }
        let mut cells = vec![Vec::new(); grid.sides[0] * grid.sides[1]];
        for (number, solid) in (0..).zip(solids) {
            let half = solid.half_size();
            grid.visit(solid.centre - half, solid.centre + half, |at| cells[at].push(number));
        }
        for members in cells {
            grid.starts.push(count(grid.members.len()));
            grid.members.extend(members);
        }
        grid.starts.push(count(grid.members.len()));
        grid
    }

    /// A grid of such cells without members.
    fn empty(low: [f32; 2], high: [f32; 2], cell: f32) -> Self {
        let side = |axis: usize| (floor_index((high[axis] - low[axis]) / cell) + 1).min(SIDE_MAX);
        Self { low, cell, sides: [side(0), side(1)], ..Self::default() }
    }

    /// How many members its cells would have.
    fn members_of(&self, solids: &[Solid]) -> usize {
        let each = solids.iter().map(|solid| {
            let half = solid.half_size();
            let [x, z] = self.span(solid.centre - half, solid.centre + half);
            x.count() * z.count()
        });
        each.fold(0, usize::saturating_add)
    }

    /// Hands over every solid that may reach into the space between two corners, some twice.
    pub(super) fn near(&self, low: Vec3, high: Vec3, mut found: impl FnMut(u32)) {
        self.visit(low, high, |at| {
            let range = self.starts[at] as usize..self.starts[at + 1] as usize;
            self.members[range].iter().for_each(|member| found(*member));
        });
    }

    /// Visits the cells under the space between two corners; what lies outside counts as the rim.
    fn visit(&self, low: Vec3, high: Vec3, mut visit: impl FnMut(usize)) {
        if self.sides[0] == 0 {
            return;
        }
        let [columns, rows] = self.span(low, high);
        for z in rows {
            for x in columns.clone() {
                visit(z * self.sides[0] + x);
            }
        }
    }

    /// The columns and rows under the space between two corners.
    fn span(&self, low: Vec3, high: Vec3) -> [RangeInclusive<usize>; 2] {
        let index = |value: f32, axis: usize| {
            floor_index((value - self.low[axis]) / self.cell).min(self.sides[axis] - 1)
        };
        [index(low.x, 0)..=index(high.x, 0), index(low.z, 1)..=index(high.z, 1)]
    }
}

/// The rectangle around all solids, seen from above.
fn bounds(solids: &[Solid]) -> Option<([f32; 2], [f32; 2])> {
    let mut all: Option<([f32; 2], [f32; 2])> = None;
    for solid in solids {
        let half = solid.half_size();
        let (low, high) = (solid.centre - half, solid.centre + half);
        let (all_low, all_high) = all.get_or_insert(([low.x, low.z], [high.x, high.z]));
        *all_low = [all_low[0].min(low.x), all_low[1].min(low.z)];
        *all_high = [all_high[0].max(high.x), all_high[1].max(high.z)];
    }
    all
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as meant")]
fn floor_index(value: f32) -> usize {
    value as usize
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("a grid holds fewer members than u32 counts")
}

#[cfg(test)]
mod tests {
    use super::super::BodyId;
    use super::*;

    #[test]
    fn solids_that_each_cover_the_world_take_no_more_room_than_the_bound_and_are_found() {
        let wide = Vec3::new(5_000.0, 1.0, 5_000.0);
        let solid = |number| Solid::fixed(BodyId::of_map(number), Vec3::ZERO, wide);
        let solids: Vec<Solid> = (0..3_000).map(solid).collect();
        let grid = Grid::over(&solids);
        assert!(grid.members.len() <= MEMBERS_MAX && grid.sides[0] > 1, "{:?}", grid.sides);
        let mut found = Vec::new();
        grid.near(Vec3::splat(7.0), Vec3::splat(7.5), |number| found.push(number));
        assert_eq!(found, (0..3_000).collect::<Vec<_>>());
    }
}
