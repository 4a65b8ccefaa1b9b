//! An allocator that counts what this thread asks for.
#![expect(unsafe_code, reason = "only a global allocator sees every allocation")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; the counter beside it is a plain
// thread-local number that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`, which is the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: `ptr` came from the system's allocator with this layout.
        unsafe { System.dealloc(ptr, layout) }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: `ptr` came from the system's allocator with this layout.
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// What `work` gives, and how many bytes it asked for in all, freed ones included.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ASKED.with(Cell::get);
    let done = work();
    (done, ASKED.with(Cell::get) - before)
}

fn count(bytes: usize) {
    // A thread that is ending has no counter any more.
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + bytes));
}
