//! The snapshot as Prometheus text: sums by kind of actor, never by actor, peer or address.
//!
//! A counter never goes backwards: what ended is in the sums. Outcomes that never came about have
//! no series, so that many kinds stay few series. Seconds are written exactly, nine digits deep.

use std::fmt::{self, Write};

use super::snapshot::{
    KindRow, LimitRow, LinkRow, PlayersRow, Snapshot, Spread, TickTotals, Usage,
};

/// Upper ends of the buckets that are told, in nanoseconds: powers of two, where buckets of the
/// histograms end, so that what is told is exact.
const BOUNDS_NS: [u64; 4] = [1 << 17, 1 << 20, 1 << 23, 1 << 26];

/// The same of ticks, which come every 16.7 ms or so: powers of two and what lies half way between.
const TICK_BOUNDS_NS: [u64; 11] = [
    1 << 17,
    1 << 18,
    1 << 19,
    1 << 20,
    1 << 21,
    1 << 22,
    1 << 23,
    3 << 22,
    1 << 24,
    1 << 25,
    1 << 27,
];

/// What the text is called in HTTP.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The whole text.
pub(crate) fn text(snapshot: &Snapshot) -> String {
    let mut text = Text(String::new());
    text.process(snapshot);
    text.usage(&snapshot.figures.usage);
    text.players(snapshot.figures.players);
    text.ticks(snapshot.figures.ticks.as_ref());
    text.limits(&snapshot.limits);
    text.actors(&snapshot.kinds);
    text.spreads(&snapshot.kinds);
    text.links(snapshot);
    text.paths(&snapshot.links);
    text.0
}

impl Snapshot {
    /// It as Prometheus text, as `/metrics` answers.
    #[must_use]
    pub fn metrics(&self) -> String {
        text(self)
    }
}

struct Text(String);

impl Text {
    fn process(&mut self, snapshot: &Snapshot) {
        let process = &snapshot.process;
        let labels = [("role", process.role.as_ref()), ("version", process.version.as_ref())];
        self.family("dh_build_info", "gauge", "What runs here.");
        self.sample("dh_build_info", &labels, 1);
        self.alone("dh_snapshot_seq", "gauge", "The number of this snapshot.", snapshot.seq);
        self.family("dh_uptime_seconds", "gauge", "Time since the runtime started.");
        let uptime = Seconds(snapshot.now_us.saturating_mul(1_000));
        self.sample("dh_uptime_seconds", &[], uptime);
        let (edges, cycles) = (snapshot.edges.len(), snapshot.cycles.len());
        self.alone("dh_wait_edges", "gauge", "Actors that wait for another.", edges);
        self.alone("dh_wait_cycles", "gauge", "Rings of actors that wait for each other.", cycles);
    }

    /// By the names that every program gives these.
    fn usage(&mut self, usage: &Usage) {
        let [cpu, started] = [usage.cpu_ns, usage.started_ns].map(|ns| ns.map(Seconds));
        let help = "Memory that is resident.";
        self.known("process_resident_memory_bytes", "gauge", help, usage.resident_bytes);
        let help = "Time on processors, of all threads together.";
        self.known("process_cpu_seconds_total", "counter", help, cpu);
        let help = "Files, sockets and pipes that are open.";
        self.known("process_open_fds", "gauge", help, usage.open_files);
        let help = "When it started, in seconds since 1970.";
        self.known("process_start_time_seconds", "gauge", help, started);
    }

    /// Nothing where there is no server.
    fn players(&mut self, players: Option<PlayersRow>) {
        let Some(PlayersRow { connecting, loading, playing, max }) = players else { return };
        self.family("dh_players", "gauge", "Peers of the servers here, by how far they have come.");
        for (state, count) in
            [("connecting", connecting), ("loading", loading), ("playing", playing)]
        {
            self.sample("dh_players", &[("state", state)], count);
        }
        self.alone("dh_players_max", "gauge", "Peers that may be there at once.", max);
    }

    /// Nothing where there never was a tick loop.
    fn ticks(&mut self, ticks: Option<&TickTotals>) {
        let Some(ticks) = ticks else { return };
        let help = "Ticks that took too long.";
        self.alone("dh_tick_overruns_total", "counter", help, ticks.overruns);
        for (name, help, spread) in [
            ("dh_tick_work_seconds", "How long ticks worked.", &ticks.work),
            ("dh_tick_late_seconds", "How late ticks began.", &ticks.late),
        ] {
            self.family(name, "histogram", help);
            if spread.count > 0 {
                self.histogram(name, &[], &TICK_BOUNDS_NS, spread);
            }
        }
    }

    /// How much waits in lanes is told by kind already: here only how often they were full.
    fn limits(&mut self, limits: &[LimitRow]) {
        self.family("dh_limit_hits_total", "counter", "Times a limit was hit.");
        for row in limits {
            self.sample("dh_limit_hits_total", &[("limit", &row.limit)], row.hits);
        }
        let own = || limits.iter().filter(|row| !row.is_lane());
        self.family("dh_limit_max", "gauge", "The bound of a limit.");
        for row in own() {
            self.sample("dh_limit_max", &[("limit", &row.limit)], row.max);
        }
        self.family("dh_limit_used", "gauge", "How much of a limit is used.");
        for (row, used) in own().filter_map(|row| Some((row, row.used?))) {
            self.sample("dh_limit_used", &[("limit", &row.limit)], used);
        }
    }

    fn actors(&mut self, kinds: &[KindRow]) {
        self.each(kinds, "dh_actor_live", "gauge", "Actors that live.", |kind| kind.live);
        let help = "Actors that were ever started.";
        self.each(kinds, "dh_actor_started_total", "counter", help, |kind| kind.started);
        self.family("dh_actor_queue_depth", "gauge", "Messages that wait.");
        for kind in kinds {
            for (lane, depth) in [("control", kind.control_depth), ("data", kind.data_depth)] {
                let labels = [("kind", kind.kind.as_ref()), ("lane", lane)];
                self.sample("dh_actor_queue_depth", &labels, depth);
            }
        }
        self.family("dh_actor_messages_total", "counter", "What became of messages.");
        for kind in kinds {
            let total = &kind.total;
            let outcomes = [
                ("handled", total.handled),
                ("refused", total.refused),
                ("coalesced", total.coalesced),
                ("dropped", total.dropped),
                ("expired", total.expired),
                ("lost", total.lost),
            ];
            for (outcome, count) in outcomes {
                if count > 0 || outcome == "handled" {
                    let labels = [("kind", kind.kind.as_ref()), ("outcome", outcome)];
                    self.sample("dh_actor_messages_total", &labels, count);
                }
            }
        }
        let busy = |kind: &KindRow| Seconds(kind.busy_ns);
        self.each(kinds, "dh_actor_busy_seconds_total", "counter", "Time spent working.", busy);
        self.each(kinds, "dh_actor_panics_total", "counter", "Panics caught.", |kind| kind.panics);
        let help = "Times a machine was made again.";
        self.each(kinds, "dh_actor_restarts_total", "counter", help, |kind| kind.restarts);
    }

    fn spreads(&mut self, kinds: &[KindRow]) {
        type Of = fn(&KindRow) -> &Spread;
        let spreads: [(&str, &str, Of); 3] = [
            ("dh_actor_wait_seconds", "How long messages waited.", |kind| &kind.wait),
            ("dh_actor_handle_seconds", "How long messages took.", |kind| &kind.handle),
            ("dh_actor_late_seconds", "How late deadlines were served.", |kind| &kind.late),
        ];
        for (name, help, of) in spreads {
            self.family(name, "histogram", help);
            for kind in kinds.iter().filter(|kind| of(kind).count > 0) {
                self.histogram(name, &[("kind", &kind.kind)], &BOUNDS_NS, of(kind));
            }
        }
    }

    /// Its bounds are powers of two, or one and a half times one.
    fn histogram(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        bounds_ns: &[u64],
        spread: &Spread,
    ) {
        let bucket = format!("{name}_bucket");
        let mut told = |le: &str, count: u64| {
            self.sample(&bucket, &[labels, &[("le", le)]].concat(), count);
        };
        for bound in bounds_ns {
            let within = spread.buckets.iter().filter(|(upper, _)| upper < bound);
            told(&Seconds(*bound).to_string(), within.map(|(_, count)| count).sum());
        }
        told("+Inf", spread.count);
        self.sample(&format!("{name}_sum"), labels, Seconds(spread.sum_ns));
        self.sample(&format!("{name}_count"), labels, spread.count);
    }

    fn links(&mut self, snapshot: &Snapshot) {
        let totals = &snapshot.link_totals;
        let t = &totals.traffic;
        self.family("dh_links_live", "gauge", "Connections that live, by the end that is here.");
        for end in LinkRow::ENDS {
            let live = snapshot.links.iter().filter(|link| link.end == end).count();
            self.sample("dh_links_live", &[("end", end)], live);
        }
        let counters = [
            ("dh_links_made_total", "Ends of connections that ever were here.", totals.made),
            ("dh_link_packets_sent_total", "Packets sent.", t.packets_sent),
            ("dh_link_packets_lost_total", "Packets sent and lost.", t.packets_lost),
            ("dh_link_sent_bytes_total", "Bytes sent.", t.bytes_sent),
            ("dh_link_received_bytes_total", "Bytes received.", t.bytes_received),
            ("dh_link_datagrams_offered_total", "Datagrams to send.", t.datagrams_offered),
            ("dh_link_datagrams_dropped_total", "Datagrams never sent.", t.datagrams_dropped),
            ("dh_link_datagrams_refused_total", "Datagrams not taken.", t.datagrams_refused),
        ];
        for (name, help, value) in counters {
            self.alone(name, "counter", help, value);
        }
    }

    /// Of the live connections the least, the middle and the most: a series for each would grow
    /// with the peers. Each end for itself, so that none counts twice where both are here; what is
    /// not known of one does not count.
    fn paths(&mut self, links: &[LinkRow]) {
        let seconds = |us: u64| Seconds(us.saturating_mul(1_000));
        let help = "Time since the last packet of connections: least, middle, most.";
        let name = "dh_link_silent_seconds";
        self.three(name, help, links, |link| link.silent_us.map(seconds));
        let help = "Round trips of connections: least, middle, most.";
        self.three("dh_link_rtt_seconds", help, links, |link| link.rtt_us.map(seconds));
        let help = "How far single round trips lie from that on average: least, middle, most.";
        let name = "dh_link_rtt_variation_seconds";
        self.three(name, help, links, |link| link.rtt_var_us.map(seconds));
        let help = "Bytes that may be on their way in connections: least, middle, most.";
        let window = |link: &LinkRow| Some(link.window).filter(|window| *window > 0);
        self.three("dh_link_window_bytes", help, links, window);
    }

    /// Gauges of the least, the middle and the most, by the end; none where there is nothing.
    fn three<V: fmt::Display + Ord>(
        &mut self,
        name: &str,
        help: &str,
        links: &[LinkRow],
        of: impl Fn(&LinkRow) -> Option<V>,
    ) {
        self.family(name, "gauge", help);
        for end in LinkRow::ENDS {
            let links = links.iter().filter(|link| link.end == end);
            let mut values: Vec<V> = links.filter_map(&of).collect();
            values.sort_unstable();
            let (Some(least), Some(most)) = (values.first(), values.last()) else { continue };
            let middle = &values[(values.len() - 1) / 2];
            for (quantile, value) in [("0", least), ("0.5", middle), ("1", most)] {
                self.sample(name, &[("end", end), ("quantile", quantile)], value);
            }
        }
    }

    fn each<V: fmt::Display>(
        &mut self,
        kinds: &[KindRow],
        name: &str,
        what: &str,
        help: &str,
        value: impl Fn(&KindRow) -> V,
    ) {
        self.family(name, what, help);
        for kind in kinds {
            self.sample(name, &[("kind", &kind.kind)], value(kind));
        }
    }

    fn alone(&mut self, name: &str, what: &str, help: &str, value: impl fmt::Display) {
        self.family(name, what, help);
        self.sample(name, &[], value);
    }

    /// Only where it is known.
    fn known(&mut self, name: &str, what: &str, help: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.alone(name, what, help, value);
        }
    }

    fn family(&mut self, name: &str, what: &str, help: &str) {
        self.write(format_args!("# HELP {name} {help}\n# TYPE {name} {what}\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        self.write(format_args!("{name}"));
        for (at, (label, text)) in labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            self.write(format_args!("{before}{label}=\"{}\"", Escaped(text)));
        }
        let after = if labels.is_empty() { "" } else { "}" };
        self.write(format_args!("{after} {value}\n"));
    }

    fn write(&mut self, text: fmt::Arguments<'_>) {
        // A string takes everything.
        let _ = self.0.write_fmt(text);
    }
}

/// Nanoseconds, written as seconds without rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// The value of a label.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '\\' => f.write_str("\\\\"),
            '"' => f.write_str("\\\""),
            '\n' => f.write_str("\\n"),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_seconds_are_exact() {
        assert_eq!(Escaped("a\"b\\c\nd").to_string(), "a\\\"b\\\\c\\nd");
        assert_eq!(Seconds(1_500_000_001).to_string(), "1.500000001");
        assert_eq!(Seconds(BOUNDS_NS[0]).to_string(), "0.000131072");
    }

    #[test]
    fn every_family_is_described_once_and_before_its_samples() {
        let kind = KindRow { kind: "a".into(), ..KindRow::default() };
        let text = text(&Snapshot { kinds: vec![kind], ..Snapshot::default() });
        let mut described = std::collections::BTreeSet::new();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, what) = rest.split_once(' ').unwrap();
                assert!(described.insert(name), "{name} twice");
                assert_eq!(what == "counter", name.ends_with("_total"), "{name} is a {what}");
            } else if !line.starts_with('#') {
                let name = line.split(['{', ' ']).next().unwrap();
                assert!(described.contains(name), "{line}");
            }
        }
    }
}
