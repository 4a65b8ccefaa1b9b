//! Datagrams of one peer: its inputs and acknowledgements, and a count of what was not used.

use std::fmt;

use dh_machine::{Digest, Micros, Outbox, TickRate};
use dh_messages::{Input, PlayerInput, ToServer};
use dh_netcode::AckWindow;

use super::state::{Effect, Phase, Session};
use crate::event::ServerEvent;

/// Datagrams a peer may send a tick, counted over a second, as honest ones come together where a
/// path or the tick stood still; more are dropped unread.
pub(super) const PER_TICK_MAX: u64 = 16;
/// Time between two log lines about dropped datagrams of one peer.
pub(super) const LOG_INTERVAL: Micros = Micros::from_secs(60);

/// What came, and what of it was dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Datagrams {
    /// The second that is counted, and what came in it.
    second: Micros,
    in_second: u64,
    /// Dropped before play.
    early: u64,
    unreadable: u64,
    /// Dropped over the limit of one second.
    flooded: u64,
    logged: Option<Micros>,
}

impl Datagrams {
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

    /// Whether one more datagram is over the limit of this second.
    fn is_flood(&mut self, now: Micros, rate: TickRate) -> bool {
        if Micros::from_secs(1) <= now.since(self.second) {
            (self.second, self.in_second) = (now, 0);
        }
        self.in_second += 1;
        PER_TICK_MAX * u64::from(rate.hz()) < self.in_second
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
            return self.report_dropped(now, "too many in one second", out);
        }
        match ToServer::from_datagram(bytes) {
            Ok(ToServer::Input(input)) => self.inputs(&input, out),
            Ok(other) => self.unreadable(now, other.name(), out),
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
