//! Snapshot: everything an inspector shows, taken at one moment.
//!
//! One struct, four renderings: the terminal screen, `--json`, the page and `/metrics` all read it,
//! so what they show of one `seq` agrees. Names are camelCase in JSON; `...Ns` are nanoseconds and
//! `...Us` microseconds, since the runtime started where they are moments.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::port::Counts;

/// A name that the program holds, or that was read.
pub type Name = Cow<'static, str>;

/// Everything at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Its number: the next one of this process is larger.
    pub seq: u64,
    /// Whose it is.
    pub process: Process,
    /// When it was taken, on the runtime's clock.
    pub now_us: u64,
    /// Every live actor, by path.
    pub actors: Vec<ActorRow>,
    /// Every kind of actor there ever was, by name; those that have ended are in its sums.
    pub kinds: Vec<KindRow>,
    /// Who waits for whom.
    pub edges: Vec<EdgeRow>,
    /// Rings of actors that wait for each other, as their numbers: each is a deadlock.
    pub cycles: Vec<Vec<u64>>,
    /// The process as a whole.
    pub figures: Figures,
    /// The tick loops, one a server of this process.
    pub ticks: Vec<TickStrip>,
    /// Every live connection.
    pub links: Vec<LinkRow>,
    /// All connections added up, also those that have ended.
    pub link_totals: LinkTotals,
    /// Every limit by name, and how often each was hit.
    pub limits: Vec<LimitRow>,
}

/// The process that is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// `server`, `client` or `play`.
    pub role: Name,
    /// Its version.
    pub version: Name,
    /// Its number in the operating system.
    pub pid: u32,
    /// Whether its time and network are simulated.
    pub simulated: bool,
}

/// The process as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The peers of its servers; none where it has no server.
    pub players: Option<PlayersRow>,
    /// All ticks of all its tick loops, also those of loops that have ended; none where there never
    /// was one.
    pub ticks: Option<TickTotals>,
    /// What it takes of its machine.
    pub usage: Usage,
}

/// How far peers have come, of all servers of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayersRow {
    /// Connected; they have not said who they are.
    pub connecting: u64,
    /// They load the map, or wait for their pawn.
    pub loading: u64,
    /// They play.
    pub playing: u64,
    /// How many may be there at once.
    pub max: u64,
}

/// All ticks from the start of the process on. Nothing of it ever gets less.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TickTotals {
    /// Ticks that worked longer than the time between two.
    pub overruns: u64,
    /// How late ticks started.
    pub late: Spread,
    /// How long ticks worked.
    pub work: Spread,
}

/// What a process takes of its machine, where its system tells; nothing of it in simulation, which
/// knows no machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Memory that is resident.
    pub resident_bytes: Option<u64>,
    /// Time on processors, of all threads together.
    pub cpu_ns: Option<u64>,
    /// Files, sockets and pipes that are open.
    pub open_files: Option<u64>,
    /// When it started, in nanoseconds since 1970.
    pub started_ns: Option<u64>,
}

/// One live actor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ActorRow {
    /// Its number; those started later have larger ones.
    pub id: u64,
    /// Where it stands in the tree, parts separated by `/`.
    pub path: String,
    /// What kind of actor it is.
    pub kind: Name,
    /// The thread, or group of threads, that it runs on.
    pub place: Name,
    /// Which making of its machine this is, from 1.
    pub generation: u64,
    /// What it is doing.
    pub state: State,
    /// The lane that is always taken first.
    pub control: LaneRow,
    /// The other lane.
    pub data: LaneRow,
    /// What became of its messages, all kinds added up.
    pub total: Counts,
    /// The same for each kind of message, in the order the actor declares them. In a stream empty
    /// but for the actor that was asked for.
    pub messages: Vec<MessageRow>,
    /// How long its messages waited.
    pub wait: Spread,
    /// How long its messages took.
    pub handle: Spread,
    /// How late its deadlines were served, to the microsecond.
    pub late: Spread,
    /// Time spent working since it started.
    pub busy_ns: u64,
    /// Turns its shell took.
    pub turns: u64,
    /// Panics caught.
    pub panics: u64,
    /// Times its machine was made again.
    pub restarts: u64,
    /// The last panic.
    pub last_panic: Option<PanicRow>,
}

/// What an actor is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum State {
    /// Nothing.
    #[default]
    Idle,
    /// Handling a message.
    Running {
        /// The kind of the message.
        message: Name,
        /// Since when.
        since_us: u64,
    },
    /// Waiting for a place in another actor's port; it takes no data meanwhile.
    Waiting {
        /// Effects that wait.
        effects: u64,
        /// The number of the actor whose port is full, where it is known.
        on: Option<u64>,
    },
    /// Its restart budget is spent; the supervisor decides.
    Broken,
    /// It takes no more messages.
    Ending,
}

/// One lane of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneRow {
    /// Waiting now.
    pub depth: u64,
    /// The most that ever waited at once.
    pub peak: u64,
    /// The bound.
    pub max: u64,
}

/// What became of the messages of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageRow {
    /// The kind of message.
    pub message: Name,
    /// What became of them.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Durations in summary; quantiles are the upper ends of their buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// Durations noted.
    pub count: u64,
    /// Half were at most this.
    pub p50_ns: u64,
    /// 99 of 100 were at most this.
    pub p99_ns: u64,
    /// 999 of 1000 were at most this.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// All together.
    pub sum_ns: u64,
    /// How many lie in each bucket that is not empty, as its upper end in nanoseconds and their
    /// number; only of kinds, and of the actor that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<(u64, u64)>,
}

/// A panic that was caught.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PanicRow {
    /// Its message.
    pub text: String,
    /// File, line and column.
    pub location: String,
}

/// All actors of one kind added up, from the start of the process on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KindRow {
    /// The kind.
    pub kind: Name,
    /// How many live now.
    pub live: u64,
    /// How many were ever started.
    pub started: u64,
    /// Waiting now in their control lanes.
    pub control_depth: u64,
    /// Waiting now in their data lanes.
    pub data_depth: u64,
    /// What became of their messages.
    pub total: Counts,
    /// The same for each kind of message.
    pub messages: Vec<MessageRow>,
    /// How long their messages waited.
    pub wait: Spread,
    /// How long their messages took.
    pub handle: Spread,
    /// How late their deadlines were served.
    pub late: Spread,
    /// Time spent working.
    pub busy_ns: u64,
    /// Turns their shells took.
    pub turns: u64,
    /// Panics caught.
    pub panics: u64,
    /// Times a machine was made again.
    pub restarts: u64,
}

/// One actor waits for another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EdgeRow {
    /// The number of the actor that waits.
    pub from: u64,
    /// The number of the actor it waits for.
    pub to: u64,
    /// The kind of the message it cannot hand over, or has no answer to.
    pub message: Name,
    /// Since when.
    pub since_us: u64,
}

/// The newest ticks of one tick loop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TickStrip {
    /// The number of the actor whose ticks these are.
    pub actor: u64,
    /// The time between two ticks as they are due: what one may take.
    pub period_ns: u64,
    /// The time between two as they began, on average of the last second; none where fewer than two
    /// began in it.
    pub mean_ns: Option<u64>,
    /// The longest time in which none began, of the newest ticks and since the last one.
    pub longest_ns: u64,
    /// What the stages of a tick are called, in their order.
    pub stages: Vec<Name>,
    /// How late the newest ticks started.
    pub late: Spread,
    /// How long the newest ticks worked.
    pub work: Spread,
    /// Ticks that worked longer than the time between two, of all since the loop started.
    pub overruns: u64,
    /// The newest ticks, oldest first, at most [`TickStrip::TICKS_MAX`].
    pub recent: Vec<TickRow>,
}

impl TickStrip {
    /// Ticks that are shown.
    pub const TICKS_MAX: usize = 4_096;
}

/// One tick.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TickRow {
    /// Its number.
    pub tick: u64,
    /// How late it started.
    pub late_ns: u64,
    /// How long it worked.
    pub work_ns: u64,
    /// How long each stage worked, in the order of [`TickStrip::stages`].
    pub stages_ns: Vec<u64>,
    /// Ticks that were due when it started, but for itself: what it has to catch up with.
    pub behind: u32,
}

/// One live connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkRow {
    /// Its number; those made later have larger ones.
    pub id: u64,
    /// Which end of it is here: `server` or `client`. In a process that holds both there is a row
    /// for each.
    pub end: Name,
    /// The number of the actor that reads it; none before one does.
    pub actor: Option<u64>,
    /// The name of who plays over it; none before it is known.
    pub player: Option<String>,
    /// Where the peer is: an address, or `loopback` within this process.
    pub peer: String,
    /// How long ago the last packet came; none where the peer has just moved.
    pub silent_us: Option<u64>,
    /// The round trip: measured, or within this process what its link model says. None before one
    /// was measured, and where nothing delays.
    pub rtt_us: Option<u64>,
    /// How far single round trips lie from it, on average; none where that is not measured.
    pub rtt_var_us: Option<u64>,
    /// Bytes that may be on their way; zero over memory, which has no such bound.
    pub window: u64,
    /// What went over it.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Bytes of reliable messages that wait to be sent.
    pub send_queue: u64,
}

impl LinkRow {
    /// What the two ends are called.
    pub const ENDS: [&str; 2] = ["client", "server"];
}

/// What went over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Traffic {
    /// Packets sent.
    pub packets_sent: u64,
    /// Of these, known to be lost.
    pub packets_lost: u64,
    /// Bytes sent.
    pub bytes_sent: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Datagrams given to the connection to send.
    pub datagrams_offered: u64,
    /// Of these, how many never left.
    pub datagrams_dropped: u64,
    /// Datagrams that arrived and that the owner's port did not take.
    pub datagrams_refused: u64,
}

/// All connections, also those that have ended. In a process that holds both ends of one each end
/// counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkTotals {
    /// How many live now.
    pub live: u64,
    /// How many were ever made.
    pub made: u64,
    /// What went over them.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// A limit of this process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitRow {
    /// Its name; a lane's is that of its kind of actor and its own.
    pub limit: Name,
    /// What is counted; [`LimitRow::OF_LANES`] for lanes.
    pub unit: Name,
    /// The bound; of lanes of one kind the largest.
    pub max: u64,
    /// How much of it is used now, where something is held; of lanes of one kind the deepest.
    pub used: Option<u64>,
    /// The most that was ever used at once.
    pub peak: Option<u64>,
    /// How often it was hit.
    pub hits: u64,
}

impl LimitRow {
    /// What lanes are bounded in.
    pub const OF_LANES: &str = "messages";

    /// Whether it is the bound of a lane.
    #[must_use]
    pub fn is_lane(&self) -> bool {
        self.unit == Self::OF_LANES
    }
}

impl Snapshot {
    /// The live actor of this number.
    #[must_use]
    pub fn actor(&self, id: u64) -> Option<&ActorRow> {
        self.actors.iter().find(|actor| actor.id == id)
    }

    /// The live actor at this path.
    #[must_use]
    pub fn at(&self, path: &str) -> Option<&ActorRow> {
        self.actors.iter().find(|actor| actor.path == path)
    }
}

impl Traffic {
    /// Adds what went over another.
    pub fn add(&mut self, other: &Self) {
        self.packets_sent += other.packets_sent;
        self.packets_lost += other.packets_lost;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.datagrams_offered += other.datagrams_offered;
        self.datagrams_dropped += other.datagrams_dropped;
        self.datagrams_refused += other.datagrams_refused;
    }
}
