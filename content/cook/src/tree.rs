//! Tree: a box around each group of neighbouring triangles, to find those near a place.
//!
//! Its shape follows from the number of triangles alone: a complete binary tree whose leaves hold 2
//! to 4 triangles each, the children of node `n` being `2n` and `2n + 1`. So only the order of the
//! triangles is ever stored, a search needs no stack, and no bytes can make one that goes astray.

use glam::Vec3;

/// Triangles of a leaf at most.
const LEAF_MAX: usize = 4;
/// Work is reported each time so many triangles have found their leaf.
const REPORTED: usize = 1 << 14;

/// The shape of a tree over a number of triangles, above 0.
#[derive(Clone, Copy, Debug, Default)]
struct Shape {
    triangles: usize,
    leaves: usize,
}

/// A triangle on its way into a leaf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Three times its middle.
    pub(crate) middle: Vec3,
    /// Its number before.
    pub(crate) number: u32,
}

/// Boxes over triangles that lie in the order of the leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    shape: Shape,
    /// By node, the root first at 1; none for a tree over nothing.
    boxes: Vec<Bounds>,
}

/// An upright box, metres.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    low: Vec3,
    high: Vec3,
}

impl Shape {
    const fn over(triangles: usize) -> Self {
        Self { triangles, leaves: triangles.div_ceil(LEAF_MAX).next_power_of_two() }
    }

    /// The first triangle of a leaf.
    const fn start(&self, leaf: usize) -> usize {
        let (each, more) = (self.triangles / self.leaves, self.triangles % self.leaves);
        leaf * each + if leaf < more { leaf } else { more }
    }
}

/// Brings triangles into the order of the leaves: each node halves what it holds across its widest
/// side. `placed` hears how many found their leaf, and stops the work by saying no.
pub(crate) fn arrange(members: &mut [Member], placed: &mut dyn FnMut(usize) -> bool) -> bool {
    if members.is_empty() {
        return true;
    }
    let shape = Shape::over(members.len());
    halve(members, &shape, 0..shape.leaves, placed)
}

fn halve(
    members: &mut [Member],
    shape: &Shape,
    leaves: std::ops::Range<usize>,
    placed: &mut dyn FnMut(usize) -> bool,
) -> bool {
    if leaves.len() == 1 {
        members.sort_unstable_by_key(|member| member.number);
        return true;
    }
    let middle = leaves.start + leaves.len() / 2;
    let split = shape.start(middle) - shape.start(leaves.start);
    let axis = widest(members);
    // The numbers break ties, so that both halves are the same sets on every machine.
    members.select_nth_unstable_by(split, |a, b| {
        a.middle[axis].total_cmp(&b.middle[axis]).then(a.number.cmp(&b.number))
    });
    let reported = members.len() > REPORTED;
    let mut go_on = true;
    let (first, second) = members.split_at_mut(split);
    for (half, leaves) in [(first, leaves.start..middle), (second, middle..leaves.end)] {
        let size = half.len();
        go_on = go_on && halve(half, shape, leaves, placed);
        if reported && size <= REPORTED {
            go_on = go_on && placed(size);
        }
    }
    go_on
}

/// The axis along which the middles lie furthest apart.
fn widest(members: &[Member]) -> usize {
    let mut bounds = Bounds::NONE;
    members.iter().for_each(|member| bounds.add(member.middle));
    let size = bounds.high - bounds.low;
    let wider = |best: usize, axis: usize| if size[axis] > size[best] { axis } else { best };
    wider(wider(0, 2), 1)
}

impl Tree {
    /// The tree over triangles that lie in the order of the leaves.
    pub(crate) fn over(triangles: usize, corners: impl Fn(usize) -> [Vec3; 3]) -> Self {
        if triangles == 0 {
            return Self::default();
        }
        let shape = Shape::over(triangles);
        let mut boxes = vec![Bounds::NONE; 2 * shape.leaves];
        for leaf in 0..shape.leaves {
            for triangle in shape.start(leaf)..shape.start(leaf + 1) {
                boxes[shape.leaves + leaf].add_all(corners(triangle));
            }
        }
        for node in (1..shape.leaves).rev() {
            let [a, b] = [boxes[2 * node], boxes[2 * node + 1]];
            boxes[node].add_all([a.low, a.high, b.low]);
            boxes[node].add(b.high);
        }
        Self { shape, boxes }
    }

    /// The box around everything.
    pub(crate) fn bounds(&self) -> Option<[Vec3; 2]> {
        self.boxes.get(1).map(|root| [root.low, root.high])
    }

    /// Hands over the triangles of each leaf whose box meets the space between two corners,
    /// ascending.
    pub(crate) fn near(&self, low: Vec3, high: Vec3, mut found: impl FnMut(usize)) {
        if self.boxes.is_empty() {
            return;
        }
        let leaves = self.shape.leaves;
        let mut node = 1;
        loop {
            if self.boxes[node].meets(low, high) {
                if node < leaves {
                    node *= 2;
                    continue;
                }
                let leaf = node - leaves;
                (self.shape.start(leaf)..self.shape.start(leaf + 1)).for_each(&mut found);
            }
            // On to the right, or from a right child to the right of what it ended.
            node += 1;
            node >>= node.trailing_zeros();
            if node == 1 {
                return;
            }
        }
    }
}

impl Bounds {
    const NONE: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    pub(crate) fn of(corners: [Vec3; 3]) -> Self {
        let mut bounds = Self::NONE;
        bounds.add_all(corners);
        bounds
    }

    fn add(&mut self, point: Vec3) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
    }

    fn add_all(&mut self, points: [Vec3; 3]) {
        points.into_iter().for_each(|point| self.add(point));
    }

    pub(crate) fn meets(&self, low: Vec3, high: Vec3) -> bool {
        self.high.cmpge(low).all() && self.low.cmple(high).all()
    }
}
