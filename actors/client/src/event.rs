//! `ClientEvent`: what a client tells whoever watches it: the console, scenarios, a JSON reader.

use std::sync::Arc;

use dh_host::Inlet;
use dh_machine::Tick;
use dh_messages::{EntityId, ServerChat, Snapshot};
use dh_view::View;

use crate::downloader::Progress;
use crate::ending::SessionEnd;

/// One thing that happened to a client.
#[derive(Clone, Debug)]
pub enum ClientEvent {
    /// The session machine moved to another resting or passing state.
    Stands(&'static str),
    /// The server is known: its name and what it runs.
    Informed {
        /// The server's name.
        world_name: String,
        /// The map's barcode, empty for the gray box.
        map: String,
    },
    /// Content comes in: how far it is.
    Downloading(Progress),
    /// A map is loaded and shown: its generation.
    Loaded(u32),
    /// A pawn was given to this client.
    Spawned {
        /// Its roster slot.
        slot: u8,
        /// Its pawn.
        pawn: EntityId,
        /// The tick of the spawn.
        tick: Tick,
    },
    /// A line of the feed, as the server stamped it.
    Chat(ServerChat),
    /// What a line of this client's console was answered by the server.
    Answer {
        /// The number of the line.
        id: u32,
        /// The answer, of one line or several.
        text: String,
    },
    /// Anything else that a person should read.
    Line(String),
    /// A session or an attempt at one has ended.
    Ended(SessionEnd),
    /// A snapshot was applied.
    Applied(Arc<Snapshot>),
    /// One input datagram was handed to the transport: its sequences, newest first.
    InputSent(Vec<u32>),
    /// A prediction turned out equal to the server's answer, and was not replayed.
    Confirmed,
    /// A prediction was replaced by the server's answer and replayed.
    Corrected(Correction),
    /// The state of the clock after a snapshot.
    Clock(ClockReading),
    /// A view that was asked for.
    View(Arc<View>),
}

/// One correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The tick of the snapshot that corrected.
    pub tick: Tick,
    /// The input that snapshot acknowledges.
    pub ack: u32,
    /// How far the present predicted feet moved, metres.
    pub metres: f32,
    /// Inputs that were simulated again.
    pub replayed: u32,
    /// Whether the pawn had been placed anew, which is no misprediction.
    pub placed: bool,
}

/// What the tick clock knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockReading {
    /// The server's depth byte.
    pub depth: i8,
    /// The smoothed depth.
    pub smoothed: f32,
    /// Ticks that should wait.
    pub target: f32,
    /// How much faster than real time ticks are made.
    pub rate: f32,
    /// Un-acknowledged inputs.
    pub unacked: usize,
    /// Whether the link counts as dead.
    pub holding: bool,
}

/// Where events go. Nobody watches by default, and then nothing is built.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    to: Option<Arc<Inlet<ClientEvent>>>,
    closely: bool,
}

impl Observer {
    /// An observer that hears what a person would want to know; `closely` adds what happens each
    /// tick.
    #[must_use]
    pub fn new(to: Inlet<ClientEvent>, closely: bool) -> Self {
        Self { to: Some(Arc::new(to)), closely }
    }

    /// Whether what happens each tick is told.
    #[must_use]
    pub fn is_close(&self) -> bool {
        self.closely
    }

    /// Tell the watcher. A watcher that cannot keep up misses events; it never slows the client.
    pub fn tell(&self, event: ClientEvent) {
        if let Some(to) = &self.to {
            let _ = to.offer(event);
        }
    }
}
