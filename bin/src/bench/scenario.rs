//! How fast scenarios run: simulated time at several sizes of crowd, and how many headless peers on
//! real sockets it takes until a tick of this machine first misses its deadline.

use std::time::Instant;

use dh_client::Manner;
use dh_host::net::Links;
use dh_host::{RealOptions, Runtime};
use dh_machine::Micros;
use dh_scenario::{PeerSetup, Scenario, ServerId, ServerSetup, Transport, World};
use tracing::subscriber::NoSubscriber;

use super::measure::median;
use super::progress;
use super::report::{Figure, Report};
use crate::exit::{Exit, Failure};

/// Peers, and how long their world runs.
const CROWDS: [(u32, Micros); 3] =
    [(1, Micros::from_secs(60)), (64, Micros::from_secs(10)), (256, Micros::from_secs(4))];
/// Places of one server.
const PLACES: u32 = 64;
/// Runs of each; figures are medians.
const ROUNDS: usize = 3;
/// How many peers join at a time where real ticks are looked at, and the most there are.
const MORE: u32 = 8;
const MOST: u32 = 256;
/// How long each number of them is looked at.
const LOOK: Micros = Micros::from_secs(2);

/// Runs all of it.
pub(super) fn run() -> Result<Report, Failure> {
    let mut report = Report::new("scenario");
    for (peers, span) in CROWDS {
        let [mut memory, mut quic] = [const { Vec::new() }; 2];
        for round in 1..=ROUNDS {
            progress(&format!("{peers} simulated peers, round {round} of {ROUNDS}"));
            tracing::subscriber::with_default(NoSubscriber::default(), || {
                memory.push(speed(peers, span, Transport::Memory)?);
                quic.push(speed(peers, span, Transport::Quic)?);
                Ok::<_, Failure>(())
            })?;
        }
        let name = format!("{peers} peers, simulated time over memory");
        let figure = Figure::new(name, median(memory), "sim s/s").beside("over QUIC", median(quic));
        report.push(figure);
    }
    progress("headless peers on real sockets, until a tick is missed: up to a minute");
    let (peers, missed) = tracing::subscriber::with_default(NoSubscriber::default(), most_peers)?;
    let name =
        if missed { "peers when a tick is first missed" } else { "peers without a missed tick" };
    report.push(Figure::new(name, f64::from(peers), "peers"));
    Ok(report)
}

/// Simulated seconds for each second that passes.
fn speed(peers: u32, span: Micros, transport: Transport) -> Result<f64, Failure> {
    let begin = Instant::now();
    let scenario = Scenario::new(format!("{peers} players jump about"), 1).transport(transport);
    let ran = scenario.run(async |world: &mut World| {
        crowd(world, peers);
        world.run_for(span).await;
    });
    let took = begin.elapsed().as_secs_f64();
    match ran.failures.first() {
        None => Ok(span.as_secs_f64() / took),
        Some(failure) => Err(Failure::new(Exit::Internal, &failure.what)),
    }
}

/// So many players, on as many servers as it takes.
fn crowd(world: &mut World, peers: u32) {
    let mut server = ServerId(0);
    for number in 0..peers {
        if number % PLACES == 0 {
            server = world.server(places());
        }
        enter(world, server, number);
    }
}

/// The number of peers at which a tick is first missed, and whether one was.
fn most_peers() -> Result<(u32, bool), Failure> {
    let runtime = Runtime::real(RealOptions::for_this_machine())
        .map_err(|error| Failure::new(Exit::Unavailable, format!("no threads: {error}")))?;
    let mut found = (0, false);
    let course = async |world: &mut World| {
        let mut server = ServerId(0);
        let mut after = 0;
        while found.0 < MOST && !found.1 {
            for number in found.0..found.0 + MORE {
                if number % PLACES == 0 {
                    server = world.server(places());
                }
                enter(world, server, number);
            }
            found.0 += MORE;
            // Those who join cost more than those who play.
            world.run_for(LOOK).await;
            let path = world.server_path(ServerId(0), "tick");
            let strip = |after| world.runtime().registry().ticks(&path, after);
            after = strip(after).map_or(0, |(_, count)| count);
            world.run_for(LOOK).await;
            let strip = world.runtime().registry().ticks(&path, after);
            found.1 = strip.is_some_and(|(ticks, _)| ticks.iter().any(|tick| tick.behind));
        }
    };
    runtime.block_on(Scenario::new("crowd", 1).play(runtime.clone(), course));
    runtime.stop().map_err(|error| Failure::new(Exit::Internal, format!("a thread: {error}")))?;
    Ok(found)
}

fn places() -> ServerSetup {
    ServerSetup::default().with(&format!("server.maxPlayers={PLACES}"))
}

fn enter(world: &mut World, server: ServerId, number: u32) {
    let setup = PeerSetup::new(format!("peer-{number}")).over(Links::IDEAL).flown(Manner::Jumper);
    let peer = world.peer(setup);
    world.join(peer, server);
}
