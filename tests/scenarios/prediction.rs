//! Prediction: many peers over bad links, what each prediction came to, and that a seed decides it.

use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dh_client::Manner;
use dh_host::net::{Link, Links};
use dh_machine::{Micros, Tick};
use dh_scenario::{InputFate, PeerId, PeerSetup, Report, Scenario, ServerId, ServerSetup, World};

use crate::account::Account;

/// Each packet takes 40 to 80 ms, so that they overtake each other, and one in fifty is lost.
const ROUGH: Link =
    Link { latency: Micros(60_000), draw: Micros(20_000), loss_ppm: 20_000, ..Link::IDEAL };

/// A course that is over.
struct Course {
    report: Report,
    server: ServerId,
    peers: Vec<(String, PeerId)>,
    /// The last tick before the uplinks were cut.
    end: Tick,
}

impl Course {
    fn accounts(&self) -> impl Iterator<Item = (&str, Account)> {
        let records = &self.report.records;
        self.peers.iter().map(|(name, peer)| {
            let session = records.server(self.server).session_of(name).unwrap();
            (name.as_str(), Account::of(records.peer(*peer), session, self.end))
        })
    }

    /// Everything that one seed decides, as one line.
    fn hashes(&self) -> String {
        format!("{:?} {:?}", self.report.hashes, self.report.wire)
    }

    fn describe(&self) {
        let starved: f64 = self.accounts().map(|(_, it)| it.starved_share()).fold(0.0, f64::max);
        let corrections: u64 = self.accounts().map(|(_, it)| it.corrections).sum();
        let ticks: u64 = self.accounts().map(|(_, it)| it.ticks).sum();
        let (speed, split) = (self.report.speed(), self.report.split);
        eprintln!(
            "{}: {ticks} peer-ticks, starved at most {:.3} % of a peer's, {corrections} \
             corrections, {speed:.1} simulated seconds a second of a core, {split:?}",
            self.report.name,
            starved * 100.0
        );
    }
}

/// What a course is made from.
#[derive(Clone, Copy)]
struct Plan {
    peers: u32,
    seconds: u64,
    /// The path to the server, from when everybody plays; a calmer one leads there.
    links: Links,
    /// Times that the server's tick stands still for a third of a second.
    stalls: u32,
}

impl Plan {
    fn new(peers: u32, seconds: u64, link: Link) -> Self {
        Self { peers, seconds, links: Links::both(link), stalls: 0 }
    }
}

/// So many peers walk, jump and turn over `links` for a while; then nothing more reaches the
/// server, so that whatever was under way has arrived when it is over.
fn course(name: &str, seed: u64, plan: Plan) -> Course {
    let (mut made, mut end) = (None, Tick(0));
    let report = Scenario::new(name, seed).closely().run(async |world: &mut World| {
        let server = world.server(ServerSetup::default().with("server.maxPlayers=64"));
        let Plan { seconds, links, stalls, .. } = plan;
        let arriving = |link: Link| Link { loss_ppm: link.loss_ppm.min(20_000), ..link };
        let arriving = Links { up: arriving(links.up), down: arriving(links.down) };
        let names: Vec<_> = (0..plan.peers).map(|number| format!("p{number}")).collect();
        let peers: Vec<_> = names
            .iter()
            .zip([Manner::Jumper, Manner::Walker].iter().cycle())
            .map(|(name, manner)| {
                let setup = PeerSetup::new(name).over(arriving).flown(*manner);
                (name.clone(), world.peer(setup))
            })
            .collect();
        for (_, peer) in &peers {
            world.join(*peer, server);
        }
        let all = |world: &World| peers.iter().all(|(_, peer)| world.is_playing(*peer));
        world.expect_within(Micros::from_secs(10), "everybody plays", all).await;
        for (_, peer) in &peers {
            world.relink(*peer, links);
        }
        for stall in 0..stalls {
            let after = Micros::from_secs(7 + 5 * u64::from(stall));
            world.at(after, |world| {
                let faults = world.runtime().registry().faults();
                faults.delay_deadline("server-0/tick", Micros::from_millis(350));
            });
        }
        world.run_for(Micros::from_secs(seconds)).await;
        end = world.records().server(server).last_tick.unwrap().0;
        for (_, peer) in &peers {
            world.relink(*peer, Links { up: Link::CUT, ..links });
        }
        world.run_for(Micros::from_secs(1)).await;
        made = Some((server, peers));
    });
    report.assert_passed();
    let (server, peers) = made.unwrap();
    Course { report, server, peers, end }
}

/// Thirty-two peers, 60 ms and up to 20 more or less each way, 2 % loss, a minute.
#[test]
fn prediction_is_exact_over_links_that_lose_and_reorder() {
    let course = course("a rough minute", 1, Plan::new(32, 60, ROUGH));
    course.describe();
    for (name, account) in course.accounts() {
        account.assert_sound(name);
        assert_eq!(account.by_skips, 0, "{name}: {account:?}");
        assert!(account.starved_share() <= 0.001, "{name}: {account:?}");
        assert!(3_500 < account.ticks && 2_700 < account.confirmed, "{name}: {account:?}");
    }
    assert_lost_means_no_carrier(&course);
    for (name, peer) in &course.peers {
        let clock = &course.report.records.peer(*peer).clock;
        let settled = clock.iter().filter(|(at, _)| Micros::from_secs(20) < *at);
        let depths: Vec<f32> = settled.map(|(_, it)| it.smoothed - it.target).collect();
        let mean = depths.iter().sum::<f32>() / depths.len() as f32;
        assert!(mean.abs() < 0.25, "{name}: the clock is off by {mean} ticks");
    }
}

/// A link without jitter and loss starves no tick at all, from the first one on.
#[test]
fn a_calm_link_starves_no_tick() {
    let calm = Link { latency: Micros(60_000), ..Link::IDEAL };
    let course = course("a calm half minute", 2, Plan::new(8, 30, calm));
    for (name, account) in course.accounts() {
        account.assert_sound(name);
        assert_eq!((account.corrections, account.skipped.len()), (0, 0), "{name}: {account:?}");
    }
    for session in course.report.records.server(course.server).sessions.values() {
        let early = session.starved.iter().filter(|tick| **tick <= course.end).count();
        assert_eq!(early, 0, "{:?}", session.name);
    }
}

/// A link that loses a third of everything, and a server that stands still now and then: inputs
/// are skipped for every reason there is, and each reason is on record at both ends.
#[test]
fn every_skipped_input_is_explained_by_the_records_of_link_and_queue() {
    let storm = Link { draw: Micros(55_000), loss_ppm: 350_000, ..ROUGH };
    let course = course("a storm", 3, Plan { stalls: 6, ..Plan::new(8, 40, storm) });
    course.describe();
    let mut fates = std::collections::BTreeMap::new();
    for (name, account) in course.accounts() {
        account.assert_sound(name);
        for (fate, count) in account.skipped {
            *fates.entry(fate).or_insert(0) += count;
        }
    }
    eprintln!("{fates:?}");
    for fate in [InputFate::Lost, InputFate::Late, InputFate::Overflowed] {
        assert!(fates.contains_key(&fate), "{fates:?}");
    }
    assert_lost_means_no_carrier(&course);
}

/// A session tells of each input datagram that reached its machine. The network tells of each
/// that reached its connection. If these are as many, a sequence that no session told of was in
/// none that arrived.
fn assert_lost_means_no_carrier(course: &Course) {
    let sessions = course.report.records.server(course.server).sessions.values();
    let told: u64 = sessions.map(|session| session.datagrams).sum();
    let inputs = course.report.datagrams.iter().filter(|it| it.to.port() == SERVER_PORT);
    let arrived = inputs.filter(|it| it.arrived.is_some()).count() as u64;
    assert_eq!(told, arrived);
    for (name, peer) in &course.peers {
        let session = course.report.records.server(course.server).session_of(name).unwrap();
        let sent = &course.report.records.peer(*peer).sent;
        for (sequence, _) in session.skipped() {
            assert!(sent.iter().any(|it| it.contains(&sequence)), "{name}: {sequence}");
        }
    }
}

/// Where simulated servers listen.
const SERVER_PORT: u16 = 27_015;

/// Set in a child process: the seed whose hashes it prints.
const CHILD_SEED: &str = "DH_TEST_COURSE_OF_SEED";
/// A child's answer starts with this.
const ANSWER: &str = "hashes of the course: ";

/// One seed gives the same packets, events and worlds in this process twice and in three others,
/// one of them under load; another seed does not.
#[test]
fn one_seed_decides_every_packet_event_and_world() {
    let seconds = if std::env::var_os("DH_NIGHTLY").is_some() { 60 } else { 8 };
    let hashes = |seed| course("determinism", seed, Plan::new(32, seconds, ROUGH)).hashes();
    if let Some(seed) = std::env::var(CHILD_SEED).ok().and_then(|seed| seed.parse().ok()) {
        println!("{ANSWER}{}", hashes(seed));
        return;
    }
    let calm = spawn_child(7);
    let here = hashes(7);
    assert_eq!(answer(calm), here);
    let loaded = under_load(|| [spawn_child(7), spawn_child(7)].map(answer));
    assert_eq!(loaded, [here.clone(), here.clone()]);
    assert_eq!(hashes(7), here);
    assert_ne!(hashes(8), here);
}

fn spawn_child(seed: u64) -> Child {
    let this = std::env::current_exe().unwrap();
    let test = "prediction::one_seed_decides_every_packet_event_and_world";
    Command::new(this)
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_SEED, seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the child prints; it is ended if it takes too long.
fn answer(mut child: Child) -> String {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if Duration::from_secs(300) < started.elapsed() {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once(ANSWER));
    line.unwrap_or_else(|| panic!("{}: {text}", output.status)).1.to_owned()
}

/// Keep every core busy meanwhile.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let done = Arc::new(AtomicBool::new(false));
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let busy: Vec<_> = (0..2 * cores)
        .map(|_| {
            let done = Arc::clone(&done);
            thread::spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        })
        .collect();
    let result = work();
    done.store(true, Ordering::Relaxed);
    for thread in busy {
        thread.join().unwrap();
    }
    result
}
