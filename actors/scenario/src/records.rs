//! Records: what happened to each server and each peer of a scenario, as they told it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use dh_client::{ClientEvent, ClockReading, Correction, Progress, SessionEnd};
use dh_machine::{Micros, Tick};
use dh_messages::{EntityId, ServerChat, Snapshot};
use dh_server::ServerEvent;
use dh_sim::Frame;
use dh_view::View;

use crate::happening::{Happening, Whose};
use crate::invariants::Line;
use crate::peer::PeerId;
use crate::server::ServerId;

/// Frames of a server that are remembered: snapshots older than that are not compared any more.
pub(crate) const FRAMES_MAX: usize = 600;

/// Where a peer stands that was killed.
const GONE: &str = "gone";

/// Everything that was told so far.
#[derive(Debug, Default)]
pub struct Records {
    servers: BTreeMap<ServerId, ServerRecord>,
    peers: BTreeMap<PeerId, PeerRecord>,
    /// Whether only what is newest is kept of what happens every tick.
    brief: bool,
    /// What a script may wait for, since it was last taken; none where nobody does.
    happenings: Option<Vec<Happening>>,
    /// Snapshots that nobody has compared yet with what their server published, each with the
    /// number of the attempt it belongs to.
    unchecked: Vec<(PeerId, u32, Arc<Snapshot>)>,
    /// What was said since it was last taken.
    said: Vec<Line>,
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
    /// The last frames, by tick.
    pub frames: VecDeque<Arc<Frame>>,
    /// Each session, by the server's own number of it.
    pub sessions: BTreeMap<u32, SessionRecord>,
    /// Whether the console asked for a stop.
    pub stop_asked: bool,
    /// Preferences that are to hold at the next start too, as they were last told.
    pub kept: BTreeMap<&'static str, String>,
    /// Maps that came to stand after the first, and their generations.
    pub maps: Vec<(String, u32)>,
}

/// What a server told of one session.
#[derive(Debug, Default)]
pub struct SessionRecord {
    /// The player's name, once it was said.
    pub name: Option<String>,
    /// The text form of the player's key.
    pub key: Option<String>,
    /// Where it stands.
    pub state: &'static str,
    /// Since when it plays.
    pub playing_since: Option<Micros>,
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
    /// The newest sequence of the last ticks, by tick.
    pub newest: VecDeque<(Tick, u32)>,
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
    /// How often it has dialled a server.
    pub attempts: u32,
    /// Lines of its feed and console, as they are read.
    pub lines: Vec<String>,
    /// Lines of its feed, as they were stamped.
    pub chat: Vec<ServerChat>,
    /// What the server answered to lines of its console, with the number of each.
    pub answers: Vec<(u32, String)>,
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
    /// How many predictions were corrected.
    pub corrected: u64,
    /// The largest correction that no placement explains, metres.
    pub correction_max: f32,
    /// What its clock read with each snapshot, and when.
    pub clock: Vec<(Micros, ClockReading)>,
    /// Snapshots it applied, and when.
    pub snapshots: Vec<(Micros, Tick)>,
    /// The newest snapshot it applied, and when.
    pub newest: Option<(Micros, Arc<Snapshot>)>,
    /// The barcode of the map its server last named, empty for the gray box.
    pub map: String,
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

    /// What every server told.
    pub fn servers(&self) -> impl Iterator<Item = &ServerRecord> {
        self.servers.values()
    }

    /// What every peer told that told anything.
    pub fn peers(&self) -> impl Iterator<Item = (PeerId, &PeerRecord)> {
        self.peers.iter().map(|(id, record)| (*id, record))
    }

    /// What a peer told.
    #[must_use]
    pub fn peer(&self, id: PeerId) -> &PeerRecord {
        self.peers.get(&id).unwrap_or(&NO_PEER)
    }

    /// Keep only what is newest of what happens every tick; for long runs.
    pub(crate) fn be_brief(&mut self) {
        self.brief = true;
    }

    /// Keep what happens for a script, until it is taken.
    pub(crate) fn listen(&mut self) {
        self.happenings.get_or_insert_default();
    }

    /// What happened since this was asked last, in order.
    pub(crate) fn take_happenings(&mut self) -> Vec<Happening> {
        self.happenings.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Snapshots that were applied since this was asked last.
    pub(crate) fn take_unchecked(&mut self) -> Vec<(PeerId, u32, Arc<Snapshot>)> {
        std::mem::take(&mut self.unchecked)
    }

    /// What was said since this was asked last.
    pub(crate) fn take_said(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.said)
    }

    /// A peer says a line that shows something.
    pub(crate) fn note_said(&mut self, said: Line) {
        self.said.push(said);
    }

    /// A server begins anew: its ticks count from the first again.
    pub(crate) fn server_starts(&mut self, id: ServerId) {
        let record = self.servers.entry(id).or_default();
        record.frames.clear();
        record.sessions.clear();
        record.maps.clear();
        record.stop_asked = false;
    }

    /// A peer is killed: whatever of it is still told changes nothing.
    pub(crate) fn peer_dies(&mut self, id: PeerId) {
        self.peers.entry(id).or_default().state = GONE;
    }

    pub(crate) fn note_answer(&mut self, id: ServerId, number: u32, text: String) {
        self.happens(Happening::new(Whose::Server(id), "answer", &text));
        self.servers.entry(id).or_default().answers.push((number, text));
    }

    pub(crate) fn note_server(&mut self, id: ServerId, now: Micros, event: ServerEvent) {
        if let Some(happening) = Happening::of_server(id, &event) {
            self.happens(happening);
        }
        self.servers.entry(id).or_default().note(now, event, self.brief);
    }

    pub(crate) fn note_peer(&mut self, id: PeerId, now: Micros, event: ClientEvent) {
        Happening::of_peer(id, &event).for_each(|happening| self.happens(happening));
        let record = self.peers.entry(id).or_default();
        if let ClientEvent::Applied(snapshot) = &event {
            self.unchecked.push((id, record.attempts, Arc::clone(snapshot)));
        }
        record.note(now, event, self.brief);
    }

    fn happens(&mut self, happening: Happening) {
        if let Some(happenings) = &mut self.happenings {
            happenings.push(happening);
        }
    }
}

static NO_SERVER: ServerRecord = ServerRecord {
    lines: Vec::new(),
    answers: Vec::new(),
    last_tick: None,
    worlds: Vec::new(),
    pawns: 0,
    frames: VecDeque::new(),
    sessions: BTreeMap::new(),
    stop_asked: false,
    kept: BTreeMap::new(),
    maps: Vec::new(),
};

static NO_PEER: PeerRecord = PeerRecord {
    state: "",
    attempts: 0,
    lines: Vec::new(),
    chat: Vec::new(),
    answers: Vec::new(),
    endings: Vec::new(),
    spawns: Vec::new(),
    sent: Vec::new(),
    confirmed: 0,
    corrections: Vec::new(),
    corrected: 0,
    correction_max: 0.0,
    clock: Vec::new(),
    snapshots: Vec::new(),
    newest: None,
    map: String::new(),
    download: None,
    loaded: Vec::new(),
    view: None,
};

impl ServerRecord {
    fn note(&mut self, now: Micros, event: ServerEvent, brief: bool) {
        match event {
            ServerEvent::InputCame { peer, sequences } => {
                let session = self.session(peer.0);
                session.datagrams += 1;
                if !brief {
                    session.came.extend(sequences);
                }
            }
            ServerEvent::Applied { peer, tick, sequence } => {
                let session = self.session(peer.0);
                push_bounded(&mut session.newest, (tick, sequence));
                if !brief {
                    session.applied.push((tick, sequence));
                }
            }
            ServerEvent::Starved { .. }
            | ServerEvent::Overflowed { .. }
            | ServerEvent::CameLate { .. }
                if brief => {}
            ServerEvent::Starved { peer, tick } => self.session(peer.0).starved.push(tick),
            ServerEvent::Overflowed { peer, tick, sequence } => {
                self.session(peer.0).overflowed.push((tick, sequence));
            }
            ServerEvent::CameLate { peer, sequence } => {
                self.session(peer.0).late.insert(sequence);
            }
            ServerEvent::Ticked { frame, digest } => {
                self.last_tick = Some((frame.tick(), now));
                if !brief {
                    self.worlds.push((frame.tick(), digest));
                }
                self.pawns = u32::try_from(frame.owners().len()).unwrap_or(u32::MAX);
                push_bounded(&mut self.frames, frame);
            }
            ServerEvent::Stands { peer, name, key, state } => {
                let session = self.session(peer.0);
                (session.name, session.key, session.state) = (name, key, state);
                if state == "playing" {
                    session.playing_since.get_or_insert(now);
                }
            }
            ServerEvent::Ended { peer, reason } => self.session(peer.0).ended = Some(reason),
            ServerEvent::MapStands { map, generation } => self.maps.push((map, generation)),
            ServerEvent::Line(line) => self.lines.push(line),
            ServerEvent::Keep(change) => {
                self.kept.insert(change.preference.key, change.value.to_string());
            }
            ServerEvent::StopAsked => self.stop_asked = true,
        }
    }

    /// The frame of one of the last ticks.
    #[must_use]
    pub fn frame(&self, tick: Tick) -> Option<&Arc<Frame>> {
        let at = self.frames.partition_point(|frame| frame.tick() < tick);
        self.frames.get(at).filter(|frame| frame.tick() == tick)
    }

    /// The newest input of the player with this key that was simulated up to `tick`, in any of its
    /// sessions; none where it had none, or where that was too long ago to say.
    pub(crate) fn simulated(&self, key: &str, tick: Tick) -> Option<u32> {
        let sessions = self.sessions.values();
        let sessions = sessions.filter(|session| session.key.as_deref() == Some(key));
        sessions.filter_map(|session| session.newest_at(tick)).max()
    }

    /// The newest session of the player with this key, and the server's number of it.
    pub(crate) fn session_with(&self, key: &str) -> Option<(u32, &SessionRecord)> {
        self.newest(|session| session.key.as_deref() == Some(key))
    }

    fn newest(&self, is_it: impl Fn(&SessionRecord) -> bool) -> Option<(u32, &SessionRecord)> {
        let mut sessions = self.sessions.iter().rev();
        sessions.find(|(_, session)| is_it(session)).map(|(id, session)| (*id, session))
    }

    /// The generation of the map that stands.
    pub(crate) fn standing(&self) -> Option<u32> {
        self.frames.back().map(|frame| frame.generation())
    }

    /// The newest session of the player called `name`.
    #[must_use]
    pub fn session_of(&self, name: &str) -> Option<&SessionRecord> {
        self.newest(|session| session.name.as_deref() == Some(name)).map(|(_, session)| session)
    }

    fn session(&mut self, peer: u32) -> &mut SessionRecord {
        self.sessions.entry(peer).or_default()
    }
}

impl SessionRecord {
    /// The newest sequence simulated up to `tick`; zero where none was yet, none where it is
    /// forgotten.
    fn newest_at(&self, tick: Tick) -> Option<u32> {
        let after = self.newest.partition_point(|(at, _)| *at <= tick);
        match after.checked_sub(1) {
            Some(last) => Some(self.newest[last].1),
            None if self.newest.len() < FRAMES_MAX => Some(0),
            None => None,
        }
    }

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
    fn note(&mut self, now: Micros, event: ClientEvent, brief: bool) {
        match event {
            ClientEvent::Stands(_) if self.is_gone() => {}
            ClientEvent::Stands(state) => {
                self.attempts += u32::from(state == "connecting");
                self.state = state;
            }
            ClientEvent::Informed { map, .. } => self.map = map,
            ClientEvent::Spawned { slot, pawn, tick } => self.spawns.push((slot, pawn, tick)),
            ClientEvent::Line(line) => self.lines.push(line),
            ClientEvent::Chat(line) => {
                self.lines.push(line.to_log_line());
                self.chat.push(line);
            }
            ClientEvent::Answer { id, text } => self.answers.push((id, text)),
            ClientEvent::Ended(end) => self.endings.push(end),
            ClientEvent::Applied(snapshot) => {
                if !brief {
                    self.snapshots.push((now, Tick(snapshot.head.tick)));
                }
                self.newest = Some((now, snapshot));
            }
            ClientEvent::Confirmed => self.confirmed += 1,
            ClientEvent::Corrected(correction) => self.corrected_by(correction, brief),
            ClientEvent::InputSent(_) | ClientEvent::Clock(_) if brief => (),
            ClientEvent::InputSent(sequences) => self.sent.push(sequences),
            ClientEvent::Clock(reading) => self.clock.push((now, reading)),
            ClientEvent::Downloading(progress) => self.download = Some(progress),
            ClientEvent::Loaded(generation) => self.loaded.push(generation),
            ClientEvent::View(view) => self.view = Some(view),
        }
    }

    fn corrected_by(&mut self, correction: Correction, brief: bool) {
        self.corrected += 1;
        if !correction.placed {
            self.correction_max = self.correction_max.max(correction.metres);
        }
        if !brief {
            self.corrections.push(correction);
        }
    }

    /// Whether it was killed.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.state == GONE
    }

    /// Whether it has a pawn and no ending since.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.state == "playing"
    }
}

fn push_bounded<T>(kept: &mut VecDeque<T>, newest: T) {
    if kept.len() == FRAMES_MAX {
        kept.pop_front();
    }
    kept.push_back(newest);
}
