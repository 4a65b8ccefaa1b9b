//! Report: what a run came to: its hashes, its cost, its failures, and everything that was told.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::{Duration, Instant};

use dh_host::net::{DatagramRecord, PacketRecord, SimulatedNetwork, Trace};
use dh_host::{Hashes, Runtime};
use dh_machine::Micros;
use rustix::time::{ClockId, clock_gettime};

use crate::invariants::Invariant;
use crate::records::Records;

/// What a run came to.
#[derive(Debug)]
pub struct Report {
    /// The scenario's sentence.
    pub name: String,
    /// The seed that gives this run again.
    pub seed: u64,
    /// Time that passed in the world.
    pub simulated: Micros,
    /// Time of cores it used: in simulation this thread's, else that of the whole process, where
    /// whatever else runs meanwhile is counted too.
    pub cpu: Duration,
    /// Equal in two runs of one seed.
    pub hashes: Hashes,
    /// Where the time of the core went.
    pub split: CpuSplit,
    /// What was expected and did not come.
    pub failures: Vec<Failure>,
    /// What servers and peers told.
    pub records: Records,
    /// Every packet so far as hashes and counts, where the network is simulated.
    pub wire: Trace,
    /// The fate of each packet, where it was recorded.
    pub packets: Vec<PacketRecord>,
    /// The fate of each datagram, where it was recorded.
    pub datagrams: Vec<DatagramRecord>,
    /// The last events before the end, as text.
    pub last_lines: Vec<String>,
}

/// Something that was expected and did not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When that was clear.
    pub at: Micros,
    /// What.
    pub what: String,
    /// What always holds and did not, where it is that.
    pub broken: Option<Invariant>,
    /// The check of a script that expected it; none for what every scenario expects.
    pub place: Option<Place>,
}

/// A check of a script that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// The check as it is written, on one line.
    pub text: String,
    /// What its condition read when it failed, and found there.
    pub found: Vec<(String, String)>,
}

/// Where the time of a core went, by the actors that used it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSplit {
    /// Tick and predictor: movement, and what surrounds it.
    pub mover: Duration,
    /// Session and connection: reading and writing messages.
    pub codec: Duration,
    /// Whatever no actor used: the network below them, and the scheduler.
    pub transport: Duration,
    /// All other actors.
    pub rest: Duration,
}

/// What a run is measured from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clocks {
    simulated: Micros,
    clock: ClockId,
    cpu: Duration,
    wall: Instant,
}

/// The measurements of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    simulated: Micros,
    cpu: Duration,
    hashes: Hashes,
    split: CpuSplit,
    wire: Trace,
    packets: Vec<PacketRecord>,
    datagrams: Vec<DatagramRecord>,
    last_lines: Vec<String>,
}

impl Clocks {
    pub(crate) fn start(runtime: &Runtime) -> Self {
        // A simulated world lives on this thread, and others may live beside it.
        let clock = match runtime.is_simulated() {
            true => ClockId::ThreadCPUTime,
            false => ClockId::ProcessCPUTime,
        };
        Self { simulated: runtime.now(), clock, cpu: cpu(clock), wall: Instant::now() }
    }

    pub(crate) fn stop(self, runtime: &Runtime) -> Ended {
        let cpu = cpu(self.clock).saturating_sub(self.cpu);
        let network = runtime.net().network();
        Ended {
            simulated: runtime.now() - self.simulated,
            cpu,
            hashes: runtime.trace().hashes(),
            split: CpuSplit::of(runtime, cpu, self.wall.elapsed()),
            wire: network.map(SimulatedNetwork::trace).unwrap_or_default(),
            packets: network.map(SimulatedNetwork::take_records).unwrap_or_default(),
            datagrams: network.map(SimulatedNetwork::take_datagrams).unwrap_or_default(),
            last_lines: runtime.trace().lines(),
        }
    }
}

impl CpuSplit {
    /// Actors count the time that passes while they work. Where the one thread of a simulation had
    /// only a part of a core, they worked for that part of it.
    fn of(runtime: &Runtime, cpu: Duration, wall: Duration) -> Self {
        let part = match runtime.is_simulated() {
            true => (cpu.as_secs_f64() / wall.as_secs_f64().max(1e-9)).min(1.0),
            false => 1.0,
        };
        let mut busy: BTreeMap<&str, Duration> = BTreeMap::new();
        for report in runtime.registry().reports() {
            let worked = Duration::from_micros(report.busy.0).mul_f64(part);
            *busy.entry(report.kind).or_default() += worked;
        }
        let mut take = |kind| busy.remove(kind).unwrap_or_default();
        let mover = take("tick") + take("predictor");
        let codec = take("session") + take("connection");
        let rest = busy.values().sum();
        Self { mover, codec, transport: cpu.saturating_sub(mover + codec + rest), rest }
    }
}

impl Report {
    pub(crate) fn new(
        name: String,
        seed: u64,
        ended: Ended,
        failures: Vec<Failure>,
        records: Records,
    ) -> Self {
        let Ended { simulated, cpu, hashes, split, wire, packets, datagrams, last_lines } = ended;
        Self {
            name,
            seed,
            simulated,
            cpu,
            hashes,
            split,
            failures,
            records,
            wire,
            packets,
            datagrams,
            last_lines,
        }
    }

    /// Simulated seconds for each second of a core.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.simulated.as_secs_f64() / self.cpu.as_secs_f64().max(1e-9)
    }

    /// Whether everything came that was expected.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// Panics with everything that helps when something failed; for tests.
    ///
    /// # Panics
    /// When something that was expected did not come.
    #[expect(clippy::panic, reason = "this is what a test ends with")]
    pub fn assert_passed(&self) {
        if self.passed() {
            return;
        }
        let mut text = format!("{} failed with seed {}:", self.name, self.seed);
        for failure in &self.failures {
            let _ = write!(text, "\n  {failure}");
        }
        for line in self.last_lines.iter().rev().take(40).rev() {
            let _ = write!(text, "\n    {line}");
        }
        panic!("{text}");
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:.3} s {}", self.at.as_secs_f64(), self.what)?;
        // In brackets, so that runs that fail alike are told as alike.
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " [{place}]"))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, text, found } = self;
        write!(f, "{file}:{line}:{column}: {text}")?;
        for (nth, (name, value)) in found.iter().enumerate() {
            let gap = if nth == 0 { "; found" } else { "," };
            write!(f, "{gap} {name} = {value}")?;
        }
        Ok(())
    }
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let secs = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(secs, u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use dh_host::{RealOptions, Simulation};

    use super::*;

    const WORK: Duration = Duration::from_millis(50);

    /// What a run is told to cost in which another thread works for so long.
    fn cost(runtime: &Runtime) -> Duration {
        let clocks = Clocks::start(runtime);
        let other = std::thread::spawn(|| {
            let from = cpu(ClockId::ThreadCPUTime);
            while cpu(ClockId::ThreadCPUTime) - from < WORK {}
        });
        other.join().unwrap();
        clocks.stop(runtime).cpu
    }

    #[test]
    fn a_run_on_real_threads_costs_what_all_of_them_took_and_a_simulated_one_what_its_own_did() {
        let runtime = Runtime::real(RealOptions::for_this_machine()).unwrap();
        assert!(cost(&runtime) >= WORK);
        runtime.stop().unwrap();
        let simulated = Simulation::new(1).run(async |runtime| cost(&runtime));
        assert!(simulated < WORK, "{simulated:?}");
    }
}
