//! Every limit of the network, with its reason. Nothing here is tuned at run time.

pub(super) mod hits;

use std::time::Duration;

use dh_machine::Micros;

/// The largest datagram play ever uses, in bytes; the path may hold less (see
/// [`Connection::datagram_max`](super::Connection::datagram_max)).
pub const DATAGRAM_MAX: usize = 1200;

/// The largest body of one reliable message, in bytes.
pub const BODY_MAX: usize = 1 << 20;

/// Bytes of reliable messages that may wait to be sent to one peer; more means that the peer
/// reads too slowly, and it is closed.
pub const SEND_QUEUE_MAX: usize = 4 << 20;

/// Letters of a player's name that are shown beside a connection; servers cut names shorter.
pub const PLAYER_CHARS: usize = 64;

/// What one waiting reliable message costs beyond its bytes, so that empty messages are bounded.
pub const SEND_QUEUE_COST: usize = 64;

/// Bytes of datagrams that may wait for the congestion window: two ticks of sixteen datagrams.
/// Beyond it the oldest is dropped.
pub const DATAGRAM_SEND_BUFFER: usize = 2 * 16 * (DATAGRAM_MAX + DATAGRAM_COST);

/// The age beyond which a waiting datagram makes room for newer ones: two ticks of 60 a second.
pub const DATAGRAM_AGE_MAX: Micros = Micros(33_400);

/// What quinn adds to each waiting datagram when it counts its buffer: the size of one `Bytes`.
pub const DATAGRAM_COST: usize = size_of::<bytes::Bytes>();

/// How many later packets must arrive before one counts as lost. Jitter of a few ticks makes
/// packets overtake each other; quinn's own figure of 3 would take a tenth of them for lost, and
/// from such losses that the path had narrowed.
pub const REORDER_PACKETS: u32 = 12;

/// How long after its time a packet may still come before it counts as lost, in round trips.
pub const REORDER_ROUND_TRIPS: f32 = 1.5;

/// Bytes of received datagrams that may wait for the receiving task.
pub const DATAGRAM_RECEIVE_BUFFER: usize = 256 << 10;

/// Bytes of the reliable stream a peer may have under way before it must wait for the reader.
pub const STREAM_WINDOW: u32 = 256 << 10;

/// Bytes of blobs a server may have under way to a client: what 100 Mbit/s hold at 100 ms.
pub const BLOB_WINDOW: u32 = 1_224 << 10;

/// Bytes a server keeps for a client until they are acknowledged: two windows, and two more that go
/// out while lost packets are sent again.
pub const BLOB_UNACKED: u32 = 4 * (BLOB_WINDOW + STREAM_WINDOW);

/// The same on a path whose round trip is next to nothing: acknowledgements are soon there, and a
/// message that finds no room among blobs waits for the next one only.
pub const BLOB_UNACKED_NEAR: u32 = (512 << 10) + STREAM_WINDOW;

/// The round trip from which on all of [`BLOB_UNACKED`] is of use.
pub const BLOB_FAR: Micros = Micros(100_000);

/// Frames of blobs that may wait to be sent to one peer.
pub const BLOB_QUEUE_MAX: usize = 8_192;

/// How long closing waits for the last reliable messages to be acknowledged.
pub const FLUSH_MAX: Duration = Duration::from_millis(500);

/// How long a handshake may take at the server, and a first packet may wait for its verdict.
pub const HANDSHAKE_MAX: Duration = Duration::from_secs(3);

/// Silence after which something is sent to keep the connection alive.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Silence after which a connection is lost.
pub const IDLE_MAX: Duration = Duration::from_secs(10);

/// The round trip assumed before one is measured: a third of the time after which an unanswered
/// first packet is sent again (240 ms), which the gate of a shedding server relies on.
pub const INITIAL_RTT: Duration = Duration::from_millis(80);

/// First packets that may wait for a verdict at one endpoint; more are ignored.
pub const KNOCKS_MAX: usize = 2048;

/// How long the probe for a closed port listens for the answer of the network.
pub const PROBE_MAX: Duration = Duration::from_secs(2);

/// Bytes of a close reason; longer ones are cut.
pub const REASON_MAX: usize = 512;
