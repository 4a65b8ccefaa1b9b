//! How fast content comes down the chunk path, beside a raw stream of QUIC with the same figures;
//! and what it costs a server whose players go on meanwhile.

mod crowd;
mod stage;

use std::time::Duration;

use dh_host::bench::cpu_of_this_process;
use dh_host::net::{Link, Links};
use dh_host::{RealOptions, Runtime, Simulation};
use dh_machine::Micros;
use dh_scenario::{PeerSetup, Report as Ran, Scenario, ServerSetup, World};

use self::stage::Stage;
use super::measure::median;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

/// Runs of each course; figures are medians.
const ROUNDS: usize = 3;
const CONTROL: &str = "raw stream";
/// How long any transfer may take before something is wrong.
const PATIENCE: Micros = Micros::from_secs(120);

/// A path and how much goes over it.
struct Course {
    name: &'static str,
    links: Links,
    bytes: usize,
}

/// Half of a round trip of 100 ms.
const FAR: Link = Link { latency: Micros(50_000), ..Link::IDEAL };
/// The same at 100 Mbit a second, where one packet of 200 is lost.
const LOSSY: Link = Link { loss_ppm: 5_000, rate: RATE, queue: Micros::from_millis(100), ..FAR };
/// Bytes a second of 100 Mbit.
const RATE: u32 = 12_500_000;
/// The least share of that link that is to be used, percent.
const SHARE_MIN: f64 = 80.0;

const REAL: [Course; 2] = [
    Course { name: "loopback, 0 ms", links: Links::IDEAL, bytes: 128 << 20 },
    Course { name: "loopback, 100 ms", links: Links::both(FAR), bytes: 32 << 20 },
];
const SIMULATED: Course =
    Course { name: "100 Mbit/s, 100 ms, 0.5 % loss", links: Links::both(LOSSY), bytes: 32 << 20 };

/// Runs each course, and then the crowd.
pub(super) fn run() -> Result<Report, Failure> {
    let mut report = Report::new("transfer");
    crowd::run(&mut report)?;
    for course in &REAL {
        compare(course, &mut report)?;
    }
    lossy(&mut report)?;
    Ok(report)
}

/// What moving some bytes came to.
#[derive(Clone, Copy)]
struct Moved {
    bytes: f64,
    took: f64,
    /// CPU seconds of this process, which is both ends.
    cpu: f64,
}

impl Moved {
    fn megabytes_a_second(self) -> f64 {
        self.bytes / 1e6 / self.took
    }

    fn cpu_a_gibibyte(self) -> f64 {
        self.cpu / (self.bytes / f64::from(1_u32 << 30))
    }
}

/// One course over real sockets, ours and the raw stream in turn.
fn compare(course: &Course, report: &mut Report) -> Result<(), Failure> {
    let stage = Stage::new(course.bytes)?;
    let (mut ours, mut raw) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        progress(&format!("{}, round {round} of {ROUNDS}: a few seconds", course.name));
        let runtime = runtime()?;
        raw.push(stream(&runtime, course)?);
        ours.push(fetch(&runtime, course, &stage)?);
        runtime.stop().map_err(|error| failed(&error))?;
    }
    let of = |all: &[Moved], figure: fn(Moved) -> f64| {
        median(all.iter().map(|moved| figure(*moved)).collect())
    };
    let rate = Moved::megabytes_a_second;
    let figure = Figure::new(format!("{}: chunk path", course.name), of(&ours, rate), "MB/s");
    report.push(figure.beside(CONTROL, of(&raw, rate)));
    let name = format!("{}: CPU of both ends, proof included", course.name);
    let figure = Figure::new(name, of(&ours, Moved::cpu_a_gibibyte), "s/GiB");
    report.push(figure.beside(CONTROL, of(&raw, Moved::cpu_a_gibibyte)));
    Ok(())
}

/// The raw stream of a course.
fn stream(runtime: &Runtime, course: &Course) -> Result<Moved, Failure> {
    let cpu = cpu_of_this_process();
    let bytes = u64::try_from(course.bytes).unwrap_or(u64::MAX);
    let took = runtime.block_on(runtime.net().raw_stream(bytes, course.links));
    let took = took.map_err(|why| failed(&why))?;
    Ok(Moved {
        bytes: float(course.bytes),
        took: took.as_secs_f64(),
        cpu: (cpu_of_this_process() - cpu).as_secs_f64(),
    })
}

/// The chunk path of a course: a whole server, a whole client with nothing in its cache.
fn fetch(runtime: &Runtime, course: &Course, stage: &Stage) -> Result<Moved, Failure> {
    let mut moved = Err(failed(&"nothing came"));
    let scenario = Scenario::new("a pallet is fetched", 1);
    let fetching = scenario.play(runtime.clone(), async |world: &mut World| {
        moved = watch(world, course, stage).await;
    });
    let ran = runtime.block_on(fetching);
    passed(&ran)?;
    moved
}

/// The same over a link that only a simulation can hold to its word.
fn lossy(report: &mut Report) -> Result<(), Failure> {
    let course = &SIMULATED;
    progress(&format!("{}, simulated: a few seconds", course.name));
    let stage = Stage::new(course.bytes)?;
    let mut moved = Err(failed(&"nothing came"));
    let scenario = Scenario::new("a pallet is fetched over a bad link", 1);
    let ran = scenario.run(async |world: &mut World| {
        moved = watch(world, course, &stage).await;
    });
    passed(&ran)?;
    let bytes = u64::try_from(course.bytes).unwrap_or(u64::MAX);
    let raw = Simulation::new(1)
        .run(|runtime| async move { runtime.net().raw_stream(bytes, course.links).await });
    let raw = raw.map_err(|why| failed(&why))?;
    let share = |bytes: f64, took: f64| bytes * 100.0 / took / f64::from(RATE);
    let moved = moved?;
    let figure = Figure::new(
        format!("{}: chunk path", course.name),
        share(moved.bytes, moved.took),
        "% of link",
    );
    let raw = share(float(course.bytes), raw.as_secs_f64());
    report.push(figure.beside(CONTROL, raw).within(Budget::AtLeast(SHARE_MIN)));
    Ok(())
}

/// Have a peer join and watch its transfer, from the first time it is told of to its end.
async fn watch(world: &mut World, course: &Course, stage: &Stage) -> Result<Moved, Failure> {
    let map = Some(stage.map());
    let shelf = Some(stage.shelf()?);
    let server = world.server(ServerSetup { shelf, map, ..ServerSetup::default() });
    let setup = PeerSetup::new("fetcher").over(course.links).keeping(stage.kept()?);
    let peer = world.peer(setup);
    world.join(peer, server);
    let begun = |world: &World| world.records().peer(peer).download.is_some();
    world.expect_within(PATIENCE, "the transfer begins", begun).await;
    let (from, cpu) = (world.runtime().now(), cpu_of_this_process());
    let before = world.records().peer(peer).download.map_or(0, |it| it.received);
    let whole = |world: &World| {
        world.records().peer(peer).download.is_some_and(|it| it.received == it.total)
    };
    world.expect_within(PATIENCE, "the transfer ends", whole).await;
    let took = world.runtime().now().since(from);
    let cpu: Duration = cpu_of_this_process() - cpu;
    let after = world.records().peer(peer).download.map_or(0, |it| it.received);
    let plays = |world: &World| world.is_playing(peer);
    world.expect_within(PATIENCE, "it plays", plays).await;
    let bytes = usize::try_from(after - before).unwrap_or_default();
    Ok(Moved { bytes: float(bytes), took: took.as_secs_f64(), cpu: cpu.as_secs_f64() })
}

fn runtime() -> Result<Runtime, Failure> {
    Runtime::real(RealOptions::for_this_machine()).map_err(|error| failed(&error))
}

fn passed(ran: &Ran) -> Result<(), Failure> {
    ran.failures.first().map_or(Ok(()), |failure| Err(failed(&failure.what)))
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
fn float(bytes: usize) -> f64 {
    bytes as f64
}

fn failed(why: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Internal, format!("the transfer bench: {why}"))
}
