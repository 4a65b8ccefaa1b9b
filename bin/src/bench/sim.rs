//! How fast a simulated world runs: a server and jumping players over bad links, watched as closely
//! as a replay needs.

use std::time::Duration;

use dh_client::Manner;
use dh_host::net::{Link, Links};
use dh_machine::{Micros, TickRate};
use dh_scenario::{PeerId, PeerSetup, Report as Ran, Scenario, ServerSetup, Transport, World};
use tracing::subscriber::NoSubscriber;

use super::measure::median;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

/// A world of one size, and the least it should do over QUIC and over memory, in simulated seconds
/// for each second of a core.
struct Crowd {
    peers: u32,
    span: Micros,
    quic_min: f64,
    memory_min: f64,
}

const CROWDS: [Crowd; 2] = [
    Crowd { peers: 32, span: Micros::from_secs(60), quic_min: 8.0, memory_min: 16.0 },
    Crowd { peers: 64, span: Micros::from_secs(30), quic_min: 4.0, memory_min: 10.0 },
];
/// Runs of each; figures are medians.
const ROUNDS: usize = 3;

/// 60 ms plus a draw of 20 ms to either side, and 2 % loss, each way.
const LINK: Link =
    Link { latency: Micros(60_000), draw: Micros(20_000), loss_ppm: 20_000, ..Link::IDEAL };

/// A part of what a run cost.
type Part = fn(&Ran) -> Duration;

/// Runs each world over both transports in turn.
pub(super) fn run() -> Result<Report, Failure> {
    let mut report = Report::new("sim");
    for crowd in CROWDS {
        let [mut quic, mut memory] = [const { Vec::new() }; 2];
        for round in 1..=ROUNDS {
            let peers = crowd.peers;
            progress(&format!("{peers} simulated peers, round {round} of {ROUNDS}: about 10 s"));
            // What the world logs is not what is measured.
            tracing::subscriber::with_default(NoSubscriber::default(), || {
                memory.push(world(&crowd, Transport::Memory)?);
                quic.push(world(&crowd, Transport::Quic)?);
                Ok(())
            })?;
        }
        tell(&crowd, &quic, &memory, &mut report);
    }
    Ok(report)
}

/// The figures of one crowd: its speed, and where the time of each peer's tick goes.
fn tell(crowd: &Crowd, quic: &[Ran], memory: &[Ran], report: &mut Report) {
    let named = |what: &str| format!("{} peers, {what}", crowd.peers);
    let [slow, fast] = [quic, memory].map(|runs| of(runs, Ran::speed));
    let speed = |name, value| Figure::new(named(name), value, "sim s/cpu s");
    let over_quic = speed("speed over QUIC", slow).beside("over memory", fast);
    report.push(over_quic.within(Budget::AtLeast(crowd.quic_min)));
    let over_memory = speed("speed over memory", fast).beside("over QUIC", slow);
    report.push(over_memory.within(Budget::AtLeast(crowd.memory_min)));
    let parts: [(&str, Part); 5] = [
        ("mover", |ran| ran.split.mover),
        ("codec", |ran| ran.split.codec),
        ("transport", |ran| ran.split.transport),
        ("rest", |ran| ran.split.rest),
        ("all", |ran| ran.cpu),
    ];
    for (name, part) in parts {
        let each = |ran: &Ran| each(crowd, ran, part(ran));
        let [value, beside] = [quic, memory].map(|runs| of(runs, each));
        let figure = Figure::new(named(&format!("a peer's tick, {name}")), value, "us");
        report.push(figure.beside("over memory", beside));
    }
}

/// One run; it fails if not everybody plays to its end.
fn world(crowd: &Crowd, transport: Transport) -> Result<Ran, Failure> {
    let name = format!("{} players jump about", crowd.peers);
    let scenario = Scenario::new(name, 1).transport(transport).closely();
    let ran = scenario.run(async |world: &mut World| {
        let places = format!("server.maxPlayers={}", crowd.peers);
        let server = world.server(ServerSetup::default().with(&places));
        let peers: Vec<PeerId> = (0..crowd.peers)
            .map(|number| {
                let setup = PeerSetup::new(format!("peer-{number}"));
                let peer = world.peer(setup.over(Links::both(LINK)).flown(Manner::Jumper));
                world.join(peer, server);
                peer
            })
            .collect();
        world.run_for(crowd.span).await;
        let all = peers.iter().all(|peer| world.is_playing(*peer));
        world.expect("everybody plays to the end", all);
    });
    match ran.failures.first() {
        None => Ok(ran),
        Some(failure) => Err(Failure::new(Exit::Internal, &failure.what)),
    }
}

/// Microseconds of CPU time for each peer and tick.
fn each(crowd: &Crowd, ran: &Ran, spent: Duration) -> f64 {
    let ticks = ran.simulated.as_secs_f64() * f64::from(TickRate::DEFAULT.hz());
    spent.as_secs_f64() * 1e6 / (ticks * f64::from(crowd.peers))
}

fn of(runs: &[Ran], figure: impl Fn(&Ran) -> f64) -> f64 {
    median(runs.iter().map(figure).collect())
}
