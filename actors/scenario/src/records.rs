//! Records: what happened to each server and each peer of a scenario, as they told it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dh_client::{ClientEvent, ClockReading, Correction, Progress, SessionEnd};
use dh_machine::{Micros, Tick};
use dh_messages::EntityId;
use dh_server::ServerEvent;
use dh_view::View;

use crate::peer::PeerId;
use crate::server::ServerId;

/// Everything that was told so far.
#[derive(Debug, Default)]
pub struct Records {
    servers: BTreeMap<ServerId, ServerRecord>,
    peers: BTreeMap<PeerId, PeerRecord>,
}

/// What one server told.
#[derive(Debug, Default)]
pub struct ServerRecord {
    /// Lines of its transcript.
    pub lines: Vec<String>,
    /// Answers to console lines, with the number of each line.
    pub answers: Vec<(u32, String)>,
    /// The last tick that was completed, and when it was told.
    pub last_tick: Option<(Tick, Micros)>,
    /// Digest of the world after each tick, in order.
    pub worlds: Vec<(Tick, u64)>,
    /// Pawns after the last tick.
    pub pawns: u32,
    /// Each session, by the server's own number of it.
    pub sessions: BTreeMap<u32, SessionRecord>,
    /// Whether the console asked for a stop.
    pub stop_asked: bool,
    /// Maps that came to stand after the first, and their generations.
    pub maps: Vec<(String, u32)>,
}

/// What a server told of one session.
#[derive(Debug, Default)]
pub struct SessionRecord {
    /// The player's name, once it was said.
    pub name: Option<String>,
    /// Where it stands.
    pub state: &'static str,
    /// Why it ended, if it has.
    pub ended: Option<String>,
    /// Input datagrams that came.
    pub datagrams: u64,
    /// Sequences that came at least once.
    pub came: BTreeSet<u32>,
    /// Which tick used which sequence, in order.
    pub applied: Vec<(Tick, u32)>,
    /// Ticks that found no input.
    pub starved: Vec<Tick>,
    /// Sequences dropped because the queue was full, with the tick that was next.
    pub overflowed: Vec<(Tick, u32)>,
    /// Sequences that came after a newer one was applied.
    pub late: BTreeSet<u32>,
}

/// Why an input was never simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputFate {
    /// No datagram that carried it came.
    Lost,
    /// It came after a newer one was applied.
    Late,
    /// It was dropped because the queue was full.
    Overflowed,
    /// None of these: a fault of the server.
    Unexplained,
}

/// What one peer told.
#[derive(Debug, Default)]
pub struct PeerRecord {
    /// Where it stands.
    pub state: &'static str,
    /// Lines of its feed and console.
    pub lines: Vec<String>,
    /// Endings of its sessions, oldest first.
    pub endings: Vec<SessionEnd>,
    /// Each time it was given a pawn: slot, pawn, tick.
    pub spawns: Vec<(u8, EntityId, Tick)>,
    /// The sequences of each input datagram it sent.
    pub sent: Vec<Vec<u32>>,
    /// Predictions that the server's answer confirmed.
    pub confirmed: u64,
    /// Predictions that were corrected.
    pub corrections: Vec<Correction>,
    /// What its clock read with each snapshot, and when.
    pub clock: Vec<(Micros, ClockReading)>,
    /// Snapshots it applied, and when.
    pub snapshots: Vec<(Micros, Tick)>,
    /// How far its newest transfer of content has come.
    pub download: Option<Progress>,
    /// The generations of the maps it loaded.
    pub loaded: Vec<u32>,
    /// The view it was last asked for.
    pub view: Option<Arc<View>>,
}

impl Records {
    /// What a server told.
    #[must_use]
    pub fn server(&self, id: ServerId) -> &ServerRecord {
        self.servers.get(&id).unwrap_or(&NO_SERVER)
    }

    /// What a peer told.
    #[must_use]
    pub fn peer(&self, id: PeerId) -> &PeerRecord {
        self.peers.get(&id).unwrap_or(&NO_PEER)
    }

    pub(crate) fn server_mut(&mut self, id: ServerId) -> &mut ServerRecord {
        self.servers.entry(id).or_default()
    }

    pub(crate) fn peer_mut(&mut self, id: PeerId) -> &mut PeerRecord {
        self.peers.entry(id).or_default()
    }
}

static NO_SERVER: ServerRecord = ServerRecord {
    lines: Vec::new(),
    answers: Vec::new(),
    last_tick: None,
    worlds: Vec::new(),
    pawns: 0,
    sessions: BTreeMap::new(),
    stop_asked: false,
    maps: Vec::new(),
};

static NO_PEER: PeerRecord = PeerRecord {
    state: "",
    lines: Vec::new(),
    endings: Vec::new(),
    spawns: Vec::new(),
    sent: Vec::new(),
    confirmed: 0,
    corrections: Vec::new(),
    clock: Vec::new(),
    snapshots: Vec::new(),
    download: None,
    loaded: Vec::new(),
    view: None,
};

impl ServerRecord {
    pub(crate) fn note(&mut self, now: Micros, event: ServerEvent) {
        match event {
            ServerEvent::InputCame { peer, sequences } => {
                let session = self.session(peer.0);
                session.datagrams += 1;
                session.came.extend(sequences);
            }
            ServerEvent::Applied { peer, tick, sequence } => {
                self.session(peer.0).applied.push((tick, sequence));
            }
            ServerEvent::Starved { peer, tick } => self.session(peer.0).starved.push(tick),
            ServerEvent::Overflowed { peer, tick, sequence } => {
                self.session(peer.0).overflowed.push((tick, sequence));
            }
            ServerEvent::CameLate { peer, sequence } => {
                self.session(peer.0).late.insert(sequence);
            }
            ServerEvent::Ticked { tick, digest, pawns } => {
                self.last_tick = Some((tick, now));
                self.worlds.push((tick, digest));
                self.pawns = pawns;
            }
            ServerEvent::Stands { peer, name, state } => {
                let session = self.session(peer.0);
                (session.name, session.state) = (name, state);
            }
            ServerEvent::Ended { peer, reason } => self.session(peer.0).ended = Some(reason),
            ServerEvent::MapStands { map, generation } => self.maps.push((map, generation)),
            ServerEvent::Line(line) => self.lines.push(line),
            ServerEvent::StopAsked => self.stop_asked = true,
        }
    }

    /// The newest session of the player called `name`.
    #[must_use]
    pub fn session_of(&self, name: &str) -> Option<&SessionRecord> {
        self.sessions.values().rev().find(|session| session.name.as_deref() == Some(name))
    }

    fn session(&mut self, peer: u32) -> &mut SessionRecord {
        self.sessions.entry(peer).or_default()
    }
}

impl SessionRecord {
    /// Every sequence up to the last one applied that was never simulated, and why.
    #[must_use]
    pub fn skipped(&self) -> BTreeMap<u32, InputFate> {
        let applied: BTreeSet<u32> = self.applied.iter().map(|(_, sequence)| *sequence).collect();
        let last = applied.last().copied().unwrap_or(0);
        let overflowed: BTreeSet<u32> = self.overflowed.iter().map(|(_, it)| *it).collect();
        let fate = |sequence: &u32| {
            if overflowed.contains(sequence) {
                InputFate::Overflowed
            } else if self.late.contains(sequence) {
                InputFate::Late
            } else if self.came.contains(sequence) {
                InputFate::Unexplained
            } else {
                InputFate::Lost
            }
        };
        (1..=last).filter(|it| !applied.contains(it)).map(|it| (it, fate(&it))).collect()
    }
}

impl PeerRecord {
    pub(crate) fn note(&mut self, now: Micros, event: ClientEvent) {
        match event {
            ClientEvent::Stands(state) => self.state = state,
            ClientEvent::Informed { .. } => (),
            ClientEvent::Spawned { slot, pawn, tick } => self.spawns.push((slot, pawn, tick)),
            ClientEvent::Line(line) => self.lines.push(line),
            ClientEvent::Ended(end) => self.endings.push(end),
            ClientEvent::Applied(tick) => self.snapshots.push((now, tick)),
            ClientEvent::InputSent(sequences) => self.sent.push(sequences),
            ClientEvent::Confirmed => self.confirmed += 1,
            ClientEvent::Corrected(correction) => self.corrections.push(correction),
            ClientEvent::Clock(reading) => self.clock.push((now, reading)),
            ClientEvent::Downloading(progress) => self.download = Some(progress),
            ClientEvent::Loaded(generation) => self.loaded.push(generation),
            ClientEvent::View(view) => self.view = Some(view),
        }
    }

    /// Whether it has a pawn and no ending since.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.state == "playing"
    }
}
