//! What both ends of a session compute alike: input queue, clocks, interpolation, smoothing, and
//! how a snapshot is cut into datagrams.
//!
//! Every part is plain state: elapsed time, ticks and messages are handed in, answers come back as
//! values. No clock, no socket, no thread, no log; nothing here depends on the order of a hash map,
//! and what is transcendental goes through `libm`, so that equal inputs give equal bits everywhere.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod ack_window;
mod composition;
mod fragment;
mod input_queue;
mod margin;
mod pending;
mod reconcile;
mod render_clock;
mod replica;
mod replica_store;
mod tick_clock;

pub use self::ack_window::AckWindow;
pub use self::composition::{Composition, CompositionWatch, Fit};
pub use self::fragment::{
    Assembler, FRAGMENT_BODY_MAX, FRAGMENT_HEADER_BYTES, FragmentError, Joined, Part,
    TooManyFragments, slice,
};
pub use self::input_queue::{
    INPUT_WORDS, InputCounts, InputQueue, Offered, Taken, input_of_words, input_words,
};
pub use self::margin::{JitterMargin, MarginSettings};
pub use self::pending::{Pending, PendingInputs};
pub use self::reconcile::{ReconcileOffset, Stance};
pub use self::render_clock::{InterpCounts, InterpSettings, Moment, RenderClock};
pub use self::replica::{Payload, Replica};
pub use self::replica_store::{KindSet, ReplicaStore, Turnover};
pub use self::tick_clock::{ClockSettings, TickClock};
