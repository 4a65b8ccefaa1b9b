//! Encoded: bytes made once, by whoever needs them first, in a buffer that is used again.

use std::mem;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes made once.
#[derive(Debug, Default)]
pub(super) struct Encoded {
    made: OnceLock<Vec<u8>>,
    /// The buffer of the last life. Locked once in a life, when the bytes are made.
    buffer: Mutex<Vec<u8>>,
}

impl Encoded {
    /// The bytes; `make` writes them if nobody did.
    pub(super) fn get(&self, make: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        self.made.get_or_init(|| {
            let mut held = self.buffer.lock().unwrap_or_else(PoisonError::into_inner);
            let mut out = mem::take(&mut *held);
            out.clear();
            make(&mut out);
            out
        })
    }

    /// Forgets the bytes and keeps their buffer.
    pub(super) fn reset(&mut self) {
        if let Some(made) = self.made.take() {
            *self.buffer.get_mut().unwrap_or_else(PoisonError::into_inner) = made;
        }
    }
}
