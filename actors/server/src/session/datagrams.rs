//! Datagrams of one peer: its inputs and acknowledgements, and a count of what was not used.

use std::fmt;

use dh_machine::{Digest, Micros, Outbox, TickRate};
use dh_messages::{Channel, Input, PlayerInput, ToServer};
use dh_netcode::AckWindow;

use super::rate::Rate;
use super::state::{Effect, Phase, Session};
use crate::event::ServerEvent;

/// Datagrams a peer may send a tick on average; more are dropped unread.
pub(super) const PER_TICK_MAX: u32 = 16;
/// Datagrams that may come at once, as honest ones do where their path or the tick stood still for
/// half a second. The tick has place for as many of every peer.
pub(super) const BURST_MAX: u32 = 32;
/// Time between two log lines about dropped datagrams of one peer.
pub(super) const LOG_INTERVAL: Micros = Micros::from_secs(60);

/// What came, and what of it was dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagrams {
    /// How many more may come now, in millionths of a datagram, and when that was so.
    allowed: u64,
    at: Micros,
    /// Dropped before play.
    early: u64,
    unreadable: u64,
    /// Dropped over the limit.
    flooded: u64,
    logged: Option<Micros>,
}

/// One datagram, in the unit of what is allowed.
const ONE: u64 = 1_000_000;

impl Datagrams {
    /// Nothing came yet.
    pub(super) fn new(now: Micros) -> Self {
        let allowed = u64::from(BURST_MAX) * ONE;
        Self { allowed, at: now, early: 0, unreadable: 0, flooded: 0, logged: None }
    }

    /// What was dropped, for the log; `None` where nothing was.
    pub(super) fn dropped(&self, who: &impl fmt::Display) -> Option<String> {
        let Self { early, unreadable, flooded, .. } = self;
        (early + unreadable + flooded > 0).then(|| {
            format!(
                "datagrams of {who} dropped so far: {early} before play, {unreadable} unreadable, \
                 {flooded} over {PER_TICK_MAX} a tick"
            )
        })
    }

    pub(super) fn digest(&self, digest: &mut Digest) {
        [self.early, self.unreadable, self.flooded].into_iter().for_each(|it| digest.word(it));
    }

    /// Whether one more datagram is over the limit.
    fn is_flood(&mut self, now: Micros, rate: TickRate) -> bool {
        let a_second = u64::from(PER_TICK_MAX) * u64::from(rate.hz());
        let earned = now.since(self.at).0.saturating_mul(a_second);
        self.at = now;
        self.allowed = self.allowed.saturating_add(earned).min(u64::from(BURST_MAX) * ONE);
        let within = self.allowed.checked_sub(ONE);
        self.allowed = within.unwrap_or(self.allowed);
        within.is_none()
    }
}

impl Session {
    /// One datagram, as it came.
    pub(super) fn datagram(&mut self, now: Micros, bytes: &[u8], out: &mut Outbox<Effect>) {
        if !matches!(self.phase, Phase::Playing { .. }) {
            self.datagrams.early += 1;
            return self.report_dropped(now, "the peer does not play", out);
        }
        if self.datagrams.is_flood(now, self.facts.tick_rate) {
            self.datagrams.flooded += 1;
            out.push(Effect::Over(Rate::Datagrams));
            return self.report_dropped(now, "too many at once", out);
        }
        let Some((id, body)) = bytes.split_first() else {
            return self.unreadable(now, "an empty datagram", out);
        };
        let dialect = self.speech.terms.dialect();
        match dialect.read(Channel::Datagram, *id, body, &mut self.scratch) {
            Ok(Some(ToServer::Input(input))) => self.inputs(&input, out),
            Ok(Some(other)) => self.unreadable(now, other.name(), out),
            Ok(None) => self.unreadable(now, "a datagram that has no name here", out),
            Err(error) => self.unreadable(now, &error.to_string(), out),
        }
    }

    fn inputs(&mut self, input: &Input, out: &mut Outbox<Effect>) {
        let acks = AckWindow::from(input.snapshot_ack);
        // One that was overtaken says less, and one of a tick to come says nothing.
        if self.acks.newest() <= acks.newest() && acks.newest() <= self.newest {
            self.acks = acks;
        }
        let inputs: Vec<PlayerInput> = input.inputs.iter().rev().copied().collect();
        if self.watched {
            let sequences = input.inputs.iter().map(|input| input.sequence).collect();
            out.push(Effect::Tell(ServerEvent::InputCame { peer: self.presence.peer, sequences }));
        }
        if !inputs.is_empty() {
            out.push(Effect::Inputs(inputs));
        }
    }

    fn unreadable(&mut self, now: Micros, error: &str, out: &mut Outbox<Effect>) {
        self.datagrams.unreadable += 1;
        self.report_dropped(now, error, out);
    }

    fn report_dropped(&mut self, now: Micros, why: &str, out: &mut Outbox<Effect>) {
        let quiet = self.datagrams.logged.is_some_and(|at| now.since(at) < LOG_INTERVAL);
        if !quiet && let Some(line) = self.datagrams.dropped(&self.label()) {
            self.datagrams.logged = Some(now);
            out.push(Effect::Log(format!("{line}; the last: {why}")));
        }
    }
}
