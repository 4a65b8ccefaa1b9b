//! Happening: what a script can wait for, by the names scripts use.

use dh_client::{ClientEvent, EndKind};
use dh_server::ServerEvent;

use crate::peer::PeerId;
use crate::server::ServerId;

/// The names of what can happen to a peer, and what the text of each is.
pub(crate) const PEER_EVENTS: &[(&str, &str)] = &[
    ("connecting", "it dials a server"),
    ("loading", "it was admitted and loads the map; the map's barcode"),
    ("playing", "it entered play"),
    ("spawned", "it was given a pawn; its slot"),
    ("loaded", "a map is loaded; its generation"),
    ("downloading", "content comes in; received and total bytes"),
    ("corrected", "a prediction was corrected; by how many metres"),
    ("chat", "a line of chat; the line as it is shown"),
    ("answer", "an answer of the server's console to it; the answer"),
    ("line", "another line of its feed or console; the line"),
    (
        "ended",
        "a session or an attempt at one ended, also for its own leave() or join(); how and why",
    ),
    ("lost", "the same, of any kind but Quiet; how and why"),
];

/// How a session of a peer, or an attempt at one, ends.
pub(crate) const ENDINGS: [(EndKind, &str); 17] = [
    (EndKind::Quiet, "it was asked to: its own leave(), or join() while it was there"),
    (EndKind::CouldNotReach, "nobody answers at the address"),
    (EndKind::TimedOut, "the attempt ran out its clock"),
    (EndKind::ServerFull, "the server has no place left"),
    (EndKind::Removed, "the server threw it out"),
    (EndKind::ClosedByServer, "the server ended the session"),
    (EndKind::Lost, "its path died: nothing came for 10 s, or its server was killed"),
    (EndKind::MapTransferFailed, "the map did not arrive as it was described"),
    (EndKind::MapUnusable, "the map arrived and is of no use"),
    (EndKind::DiskFailed, "its disk cannot keep the map, or not read it"),
    (EndKind::Unreadable, "the server sent what it cannot read"),
    (EndKind::ClientFailed, "it failed itself"),
    (EndKind::ServerKeyChanged, "the server has another key than before"),
    (EndKind::ProtocolMismatch, "the two speak different protocols"),
    (EndKind::ContentDiffers, "the map needs content that only the server's build has"),
    (EndKind::KnownHostsUnusable, "its file of known servers is damaged"),
    (EndKind::KnownHostsNotWritten, "its file of known servers cannot be written"),
];

/// The names of what can happen to a server, and what the text of each is.
pub(crate) const SERVER_EVENTS: &[(&str, &str)] = &[
    ("line", "a line of its transcript; the line"),
    ("answer", "an answer to a console line; the answer"),
    ("map", "another map stands; its barcode, empty for the gray box"),
    ("joined", "a session entered play; its name"),
    ("left", "a session ended; the reason"),
    ("stop", "its console asked for a stop"),
];

/// To whom something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whose {
    /// A server.
    Server(ServerId),
    /// A peer.
    Peer(PeerId),
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Happening {
    pub(crate) whose: Whose,
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

impl Happening {
    pub(crate) fn new(whose: Whose, name: &'static str, text: &str) -> Self {
        Self { whose, name, text: text.to_owned() }
    }

    /// What an event of a peer is to a script; nothing where it happens every tick.
    pub(crate) fn of_peer(id: PeerId, event: &ClientEvent) -> impl Iterator<Item = Self> {
        let first = Self::first_of_peer(id, event);
        let lost = match event {
            ClientEvent::Ended(end) if end.kind != EndKind::Quiet => first.clone(),
            _ => None,
        };
        let lost = lost.map(|ended| Self { name: "lost", ..ended });
        first.into_iter().chain(lost)
    }

    fn first_of_peer(id: PeerId, event: &ClientEvent) -> Option<Self> {
        let told = |name, text: &str| Some(Self::new(Whose::Peer(id), name, text));
        match event {
            ClientEvent::Stands(name @ ("connecting" | "playing")) => told(name, ""),
            ClientEvent::Informed { map, .. } => told("loading", map),
            ClientEvent::Spawned { slot, .. } => told("spawned", &slot.to_string()),
            ClientEvent::Loaded(generation) => told("loaded", &generation.to_string()),
            ClientEvent::Downloading(it) => {
                told("downloading", &format!("{} {}", it.received, it.total))
            }
            ClientEvent::Corrected(it) if !it.placed => told("corrected", &it.metres.to_string()),
            ClientEvent::Chat(line) => told("chat", &line.to_log_line()),
            ClientEvent::Answer { text, .. } => told("answer", text),
            ClientEvent::Line(line) => told("line", line),
            ClientEvent::Ended(end) => {
                told("ended", &format!("{:?} {}", end.kind, end.reason.as_deref().unwrap_or("")))
            }
            _ => None,
        }
    }

    /// What an event of a server is to a script; none where it happens every tick.
    pub(crate) fn of_server(id: ServerId, event: &ServerEvent) -> Option<Self> {
        let told = |name, text: &str| Some(Self::new(Whose::Server(id), name, text));
        match event {
            ServerEvent::Line(line) => told("line", line),
            ServerEvent::MapStands { map, .. } => told("map", map),
            ServerEvent::Stands { name: Some(name), state: "playing", .. } => told("joined", name),
            ServerEvent::Ended { reason, .. } => told("left", reason),
            ServerEvent::StopAsked => told("stop", ""),
            _ => None,
        }
    }
}
