//! A record as a Chrome trace: one thread an actor, messages as complete events; ticks as tracks of
//! their own; packets as instant events; flows from where messages were sent to where they were
//! handled.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, Write};

use dh_machine::Micros;

use super::flows::{Flow, Slice, Slices, Written};
use super::messages::Message;
use super::names::Name;
use super::packets::{Header, Way};
use crate::metrics::Metrics;
use crate::registry::{ActorId, TickRecord};

/// Everything that is written.
pub(super) struct Record<'a> {
    pub(super) cause: &'a str,
    pub(super) now: Micros,
    /// What happened before is left out.
    pub(super) from: Micros,
    pub(super) names: &'a BTreeMap<ActorId, Name>,
    pub(super) messages: Vec<Message>,
    pub(super) ticks: Vec<(ActorId, String, Vec<TickRecord>)>,
    pub(super) packets: Vec<Header>,
}

/// The tracks of a trace.
const ACTORS: u32 = 1;
const TICKS: u32 = 2;
const NETWORK: u32 = 3;

impl Record<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"{\"traceEvents\":[\n")?;
        for (pid, name) in [(ACTORS, "actors"), (TICKS, "ticks"), (NETWORK, "network")] {
            named(out, "process_name", pid, 0, name)?;
        }
        let (messages, slices) = self.write_messages(out)?;
        let ticks = self.write_ticks(out)?;
        self.write_packets(out)?;
        // Behind all slices: readers keep to the order of the file where times are equal.
        self.write_flows(&Written { messages, ticks }, &slices, out)?;
        let (cause, now) = (Text(self.cause), self.now.0);
        let version = env!("CARGO_PKG_VERSION");
        writeln!(
            out,
            "{{\"ph\":\"i\",\"s\":\"g\",\"pid\":{ACTORS},\"tid\":0,\"ts\":{now},\
             \"name\":{cause}}}\n],\"displayTimeUnit\":\"ms\",\
             \"otherData\":{{\"cause\":{cause},\"version\":\"{version}\"}}}}"
        )
    }

    /// The messages that are told.
    fn recent(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.at >= self.from)
    }

    /// The tracks that were written, and the slice of each message.
    fn write_messages(&self, out: &mut dyn Write) -> io::Result<(Slices, Vec<Slice>)> {
        let actors: BTreeSet<ActorId> = self.recent().map(|it| it.to).collect();
        for actor in actors {
            named(out, "thread_name", ACTORS, actor.0, self.path(actor))?;
        }
        let (mut tracks, mut slices) = (Slices::default(), Vec::new());
        for message in self.recent() {
            let Message { at, from, to, kind, wait, handle_ns, panicked } = *message;
            let kinds = self.names.get(&to).map_or(&[][..], |name| name.kinds);
            let kind = match kinds.get(kind) {
                Some(kind) => kind,
                None if kind == Metrics::DEADLINE => "deadline",
                None => "message",
            };
            let slice = tracks.add(to, at, handle_ns);
            slices.push(slice);
            write!(
                out,
                "{{\"ph\":\"X\",\"pid\":{ACTORS},\"tid\":{},\"ts\":{},\"dur\":{},\
                 \"name\":\"{kind}\",\"args\":{{\"wait_us\":{}",
                to.0,
                Nanos(slice.begin),
                Nanos(handle_ns),
                wait.0
            )?;
            if from != ActorId::NOBODY {
                write!(out, ",\"from\":{}", Text(self.path(from)))?;
            }
            let panicked = if panicked { ",\"panicked\":true" } else { "" };
            writeln!(out, "{panicked}}}}},")?;
        }
        Ok((tracks, slices))
    }

    /// The tracks that were written.
    fn write_ticks(&self, out: &mut dyn Write) -> io::Result<Slices> {
        let mut tracks = Slices::default();
        for (actor, path, ticks) in &self.ticks {
            named(out, "thread_name", TICKS, actor.0, path)?;
            for it in ticks.iter().filter(|it| it.start >= self.from) {
                let slice = tracks.add(*actor, it.start, it.work().0 * 1_000);
                writeln!(
                    out,
                    "{{\"ph\":\"X\",\"pid\":{TICKS},\"tid\":{},\"ts\":{},\"dur\":{},\
                     \"name\":\"tick {}\",\"args\":{{\"late_us\":{},\"ticks\":{},\"messages\":{},\
                     \"drain_us\":{},\"wake_us\":{},\"perform_us\":{},\"behind\":{}}}}},",
                    actor.0,
                    Nanos(slice.begin),
                    it.work().0,
                    it.tick.0,
                    it.late.0,
                    it.ticks,
                    it.drained,
                    it.drain.0,
                    it.wake.0,
                    it.perform.0,
                    it.behind
                )?;
            }
        }
        Ok(tracks)
    }

    fn write_packets(&self, out: &mut dyn Write) -> io::Result<()> {
        let recent = || self.packets.iter().filter(|it| it.at >= self.from);
        for port in recent().map(|it| it.local).collect::<BTreeSet<u16>>() {
            named(out, "thread_name", NETWORK, port.into(), &format!("port {port}"))?;
        }
        for it in recent() {
            let way = if it.way == Way::In { "in" } else { "out" };
            writeln!(
                out,
                "{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{NETWORK},\"tid\":{0},\"ts\":{1},\
                 \"name\":\"{way} {2}\",\"args\":{{\"local\":{0},\"remote\":\"{3}\",\
                 \"bytes\":{4}}}}},",
                it.local,
                it.at.0,
                it.kind(),
                it.remote,
                it.bytes
            )?;
        }
        Ok(())
    }

    /// An arrow for each message whose way is known; one that leads from a slice which is written
    /// no more is left out.
    fn write_flows(
        &self,
        written: &Written,
        slices: &[Slice],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let handled = self.recent().zip(slices);
        let flows = handled.filter_map(|(message, slice)| written.flow(message, *slice));
        for (id, Flow { by_tick, from, to, sent, handled }) in (1_u64..).zip(flows) {
            let pid = if by_tick { TICKS } else { ACTORS };
            writeln!(
                out,
                "{{\"ph\":\"s\",\"id\":{id},\"cat\":\"flow\",\"name\":\"sent\",\
                 \"pid\":{pid},\"tid\":{},\"ts\":{}}},\n\
                 {{\"ph\":\"f\",\"bp\":\"e\",\"id\":{id},\"cat\":\"flow\",\"name\":\"sent\",\
                 \"pid\":{ACTORS},\"tid\":{},\"ts\":{}}},",
                from.0,
                Nanos(sent),
                to.0,
                Nanos(handled)
            )?;
        }
        Ok(())
    }

    fn path(&self, actor: ActorId) -> &str {
        self.names.get(&actor).map_or("?", |name| name.path.as_str())
    }
}

fn named(out: &mut dyn Write, what: &str, pid: u32, tid: u64, name: &str) -> io::Result<()> {
    let name = Text(name);
    writeln!(
        out,
        "{{\"ph\":\"M\",\"pid\":{pid},\"tid\":{tid},\"name\":\"{what}\",\
         \"args\":{{\"name\":{name}}}}},"
    )
}

/// Nanoseconds, written as microseconds.
struct Nanos(u64);

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// A text of JSON.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for it in self.0.chars() {
            match it {
                '"' | '\\' => write!(f, "\\{it}")?,
                it if u32::from(it) < 0x20 => write!(f, "\\u{:04x}", u32::from(it))?,
                it => write!(f, "{it}")?,
            }
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_plain_text_stays_one_text() {
        assert_eq!(Text("a\"b\\c\nd").to_string(), r#""a\"b\\c\u000ad""#);
    }
}
