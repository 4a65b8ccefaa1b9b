//! Nested: how deep values of a script lie within each other. What holds another is dropped, copied
//! and told by calls within calls, and the engine bounds no closure that holds a closure.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use rhai::{Array, Dynamic, EvalContext, FnPtr, Map};

use super::error::{Said, wrong};
use super::limit::NESTED_MAX;

/// One of so many looks at a variable looks at everything that is at hand.
const LOOK_EVERY: u64 = 64;

/// Which looks do. Nobody knows before, so that nobody arranges what is at hand then.
pub(super) struct Looks(Cell<u64>);

impl Looks {
    pub(super) fn new() -> Self {
        Self(Cell::new(RandomState::new().hash_one(0) | 1))
    }

    /// Looks at every variable there is and at `this`, if it is time to.
    pub(super) fn look(&self, context: &EvalContext<'_, '_, '_, '_, '_, '_>) -> Said<()> {
        let mut dice = self.0.get();
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        self.0.set(dice);
        if !dice.is_multiple_of(LOOK_EVERY) {
            return Ok(());
        }
        let mut heights = Heights::default();
        let all = context.scope().iter_raw().map(|(_, _, value)| value);
        let is_low = |value| heights.of(value, NESTED_MAX).is_some();
        if all.chain(context.this_ptr()).all(is_low) {
            return Ok(());
        }
        Err(wrong(format!(
            "closures, arrays and object maps lie within each other more than {NESTED_MAX} deep; \
             expected less"
        )))
    }
}

/// How high each closure and container is with what it holds, by its place in memory. One that is
/// looked into right now is as high as nothing: it may hold itself.
#[derive(Default)]
struct Heights(BTreeMap<*const (), usize>);

impl Heights {
    /// How high a value is, if that is not above the most.
    fn of(&mut self, value: &Dynamic, most: usize) -> Option<usize> {
        if let Some(closure) = value.read_lock::<FnPtr>() {
            return self.holder(std::ptr::from_ref(&*closure).cast(), closure.curry().iter(), most);
        }
        if let Some(list) = value.read_lock::<Array>() {
            return self.holder(std::ptr::from_ref(&*list).cast(), list.iter(), most);
        }
        if let Some(map) = value.read_lock::<Map>() {
            return self.holder(std::ptr::from_ref(&*map).cast(), map.values(), most);
        }
        Some(0)
    }

    fn holder<'v>(
        &mut self,
        place: *const (),
        mut held: impl Iterator<Item = &'v Dynamic>,
        most: usize,
    ) -> Option<usize> {
        if let Some(height) = self.0.get(&place) {
            return Some(*height).filter(|height| *height <= most);
        }
        let below = most.checked_sub(1)?;
        self.0.insert(place, 0);
        let height =
            held.try_fold(0, |highest, value| Some(self.of(value, below)?.max(highest)))?;
        self.0.insert(place, height + 1);
        Some(height + 1)
    }
}
