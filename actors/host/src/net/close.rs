//! Closing: how a connection ended, and the bounded wait for last words.

use std::sync::atomic::{AtomicUsize, Ordering};

use quinn::ConnectionError;
use tokio::sync::Notify;

use super::limit;

/// Codes a connection is closed with by this crate itself; `server` and `client` add their own.
pub mod code {
    /// Left on purpose.
    pub const LEAVE: u32 = 0;
    /// Ended for the reason given as text.
    pub const CLOSED: u32 = 2;
    /// The peer sent what cannot be read.
    pub const UNREADABLE: u32 = 3;
}

/// The end of a connection; nothing follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closed {
    /// Who or what ended it.
    pub by: By,
    /// The code it was closed with; 0 where none was given.
    pub code: u32,
    /// The reason it was closed with; a few words where none was given.
    pub reason: Vec<u8>,
}

/// Who or what ended a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The peer closed it. Where its close frame was lost, the code is 0 and the reason empty.
    Peer,
    /// This end closed it.
    Local,
    /// Nothing was heard for [`limit::IDLE_MAX`].
    Timeout,
    /// The transport failed: a reset, or a peer that breaks the protocol.
    Lost,
}

impl Closed {
    pub(crate) fn new(by: By, code: u32, reason: &[u8]) -> Self {
        Self { by, code, reason: cut(reason).to_vec() }
    }

    /// What quinn says, in our words; `local` is what this end closed with.
    pub(crate) fn of(error: ConnectionError, local: Option<(u32, Vec<u8>)>) -> Self {
        match error {
            ConnectionError::ApplicationClosed(close) => {
                let code = u32::try_from(close.error_code.into_inner()).unwrap_or(u32::MAX);
                Self::new(By::Peer, code, &close.reason)
            }
            ConnectionError::LocallyClosed => {
                let (code, reason) = local.unwrap_or_default();
                Self::new(By::Local, code, &reason)
            }
            ConnectionError::TimedOut => Self::new(By::Timeout, 0, b"timed out"),
            other => Self::new(By::Lost, 0, other.to_string().as_bytes()),
        }
    }
}

/// A reason cut to its limit.
pub(crate) fn cut(reason: &[u8]) -> &[u8] {
    &reason[..reason.len().min(limit::REASON_MAX)]
}

/// Connections that are flushing their last words.
#[derive(Debug, Default)]
pub(crate) struct Closing {
    count: AtomicUsize,
    done: Notify,
}

impl Closing {
    pub(crate) fn begin(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn end(&self) {
        if self.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.done.notify_waiters();
        }
    }

    /// Wait until nothing flushes any more, and the last close frames have left.
    pub(crate) async fn settle(&self) {
        let flushed = async {
            loop {
                let done = self.done.notified();
                if self.count.load(Ordering::Acquire) == 0 {
                    return;
                }
                done.await;
            }
        };
        let _ = tokio::time::timeout(limit::FLUSH_MAX, flushed).await;
        // quinn's drivers send the close frames on their next turn.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}
