//! Congestion: the controller and the transport figures every connection is made with.
//!
//! quinn's BBR picks a starting point in its gain cycle from the system's randomness. It cannot
//! show: the gain only feeds a pacing rate that quinn reports and never sends by (its pacer and
//! its window read [`Controller::window`](quinn::congestion::Controller::window) alone), so equal
//! seeds still give equal packets; a test below holds the window to that.

mod steady;

use std::sync::Arc;
use std::time::Duration;

use quinn::congestion::{Controller, ControllerFactory, CubicConfig};
use quinn::{IdleTimeout, TransportConfig, VarInt};

use self::steady::{Steady, SteadyConfig};
use super::limit;

/// Which controller decides how much may be under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// For play: loss alone does not slow it down.
    #[default]
    Bbr,
    /// The control of the link bench: loss halves it.
    Cubic,
}

/// Which end the figures are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    /// What it is called where it is shown.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

impl Congestion {
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            Self::Bbr => Arc::new(SteadyConfig::default()),
            Self::Cubic => Arc::new(CubicConfig::default()),
        }
    }
}

/// How far single round trips lie from the smoothed one on average, where this controller has
/// measured any.
pub(crate) fn variation(controller: Box<dyn Controller>) -> Option<Duration> {
    controller.into_any().downcast::<Steady>().ok()?.variation()
}

/// The figures of one connection. The client opens stream 0 for the messages, the server stream 1
/// for blobs; nothing else may be opened.
pub(crate) fn transport(congestion: Congestion, end: End) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    let idle = u32::try_from(limit::IDLE_MAX.as_millis()).unwrap_or(u32::MAX);
    // What a client receives includes blobs; a stream of them that stands still leaves the messages
    // their share of the connection.
    let both = limit::BLOB_WINDOW + limit::STREAM_WINDOW;
    let (sends, receives, stream) = match end {
        End::Client => (limit::STREAM_WINDOW, both, limit::BLOB_WINDOW),
        End::Server => (limit::BLOB_UNACKED, limit::STREAM_WINDOW, limit::STREAM_WINDOW),
    };
    config
        .congestion_controller_factory(congestion.factory())
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(idle))))
        .keep_alive_interval(Some(limit::KEEP_ALIVE))
        .initial_rtt(limit::INITIAL_RTT)
        .packet_threshold(limit::REORDER_PACKETS)
        .time_threshold(limit::REORDER_ROUND_TRIPS)
        .stream_receive_window(VarInt::from_u32(stream))
        .receive_window(VarInt::from_u32(receives))
        .send_window(u64::from(sends))
        .datagram_receive_buffer_size(Some(limit::DATAGRAM_RECEIVE_BUFFER))
        .datagram_send_buffer_size(limit::DATAGRAM_SEND_BUFFER);
    Arc::new(config)
}
