//! `ServerEvent`: what the server tells whoever watches it: scenarios, the console, a JSON reader.

use std::sync::Arc;

use dh_host::Inlet;
use dh_machine::Tick;
use dh_prefs::Change;
use dh_sim::Frame;

use crate::PeerId;

/// One thing that happened on the server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerEvent {
    /// Datagrams of input came for a peer: the sequences of one, newest first.
    InputCame {
        /// Whose.
        peer: PeerId,
        /// The sequences it carried.
        sequences: Vec<u32>,
    },
    /// A tick used one input of a peer.
    Applied {
        /// Whose.
        peer: PeerId,
        /// The tick that used it.
        tick: Tick,
        /// Its sequence.
        sequence: u32,
    },
    /// A tick found no input of a peer that plays.
    Starved {
        /// Whose.
        peer: PeerId,
        /// The tick.
        tick: Tick,
    },
    /// An input was dropped because the queue was full.
    Overflowed {
        /// Whose.
        peer: PeerId,
        /// The tick that would have been simulated next.
        tick: Tick,
        /// Its sequence.
        sequence: u32,
    },
    /// An input came after a newer one was applied.
    CameLate {
        /// Whose.
        peer: PeerId,
        /// Its sequence.
        sequence: u32,
    },
    /// A whole tick was simulated and published.
    Ticked {
        /// The world after it, as everybody is sent it.
        frame: Arc<Frame>,
        /// Digest of the whole state of the world after it.
        digest: u64,
    },
    /// A session stands where it did not stand before.
    Stands {
        /// Whose.
        peer: PeerId,
        /// Its name, once it has said it.
        name: Option<String>,
        /// The text form of the key it has proved.
        key: Option<String>,
        /// `handshaking`, `loading` or `playing`.
        state: &'static str,
    },
    /// Another map stands.
    MapStands {
        /// Its barcode, empty for the gray box.
        map: String,
        /// Its generation.
        generation: u32,
    },
    /// A session ended.
    Ended {
        /// Whose.
        peer: PeerId,
        /// What the log says of it.
        reason: String,
    },
    /// An answer to a console line, or a line of the transcript.
    Line(String),
    /// A preference that is to hold at the next start too.
    Keep(Change),
    /// The console asked the server to stop.
    StopAsked,
}

/// Where events go. Nobody watches by default, and then nothing is built.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    to: Option<Arc<Inlet<ServerEvent>>>,
    closely: bool,
}

impl Observer {
    /// An observer that hears what an operator would want to know; `closely` adds what happens
    /// each tick.
    #[must_use]
    pub fn new(to: Inlet<ServerEvent>, closely: bool) -> Self {
        Self { to: Some(Arc::new(to)), closely }
    }

    /// Whether what happens each tick is told.
    #[must_use]
    pub fn is_close(&self) -> bool {
        self.closely
    }

    /// Tell the watcher. A watcher that cannot keep up misses events; it never slows the server.
    pub fn tell(&self, event: ServerEvent) {
        if let Some(to) = &self.to {
            let _ = to.offer(event);
        }
    }
}
