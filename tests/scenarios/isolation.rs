//! Isolation: a fault in one actor at every one of its first messages. The ticks go on, whoever has
//! nothing to do with it notices nothing, and what was lost is asked for again.

use std::collections::{BTreeMap, BTreeSet};

use dh_client::EndKind;
use dh_host::ActorReport;
use dh_machine::{Micros, Tick};
use dh_scenario::{PeerId, PeerSetup, Report, Scenario, ServerId, ServerSetup, Transport, World};

use crate::raw::{Dial, Raw};
use crate::stage::{self, BOTH, SECOND};

const NAMES: [&str; 3] = ["ada", "bob", "cyd"];
/// The first so many messages of each actor are tried.
const MESSAGES: u64 = 100;
const SESSION: &str = "server-0/peer-1/session";

/// What every world of this file is checked for at its end.
struct Outcome {
    report: Report,
    /// The actor in which the fault was, as it was last seen.
    subject: Option<ActorReport>,
    /// The last listing while everybody was still there.
    listing: String,
}

/// A world with three peers that walk, and a fault at message `nth` of the actor at `path`.
fn world(
    transport: Transport,
    path: &str,
    faults: &[u64],
    course: impl AsyncFnOnce(&mut World, ServerId),
) -> Outcome {
    let name = format!("a fault at messages {faults:?} of {path} over {transport:?}");
    let (mut subject, mut listing) = (None, String::new());
    let report = Scenario::new(name, 31).transport(transport).closely().run(async |world| {
        for nth in faults {
            world.runtime().registry().faults().panic_at(path, *nth);
        }
        let server = world.server(ServerSetup::default());
        for name in NAMES {
            let peer = world.peer(PeerSetup::new(name));
            world.join(peer, server);
            world.walk(peer, 30, 100);
            world.run_for(Micros::from_millis(100)).await;
        }
        course(world, server).await;
        subject = world.runtime().registry().report(path);
        let asked = world.console(server, "players");
        world.run_for(Micros::from_millis(100)).await;
        let answers = world.records().server(server).answers.clone();
        listing = answers.into_iter().find(|(id, _)| *id == asked).unwrap().1;
        assert_eq!(world.runtime().failure(), None);
        // With nobody left to talk to, nothing waits anywhere.
        for peer in 0..3 {
            world.disconnect(PeerId(peer));
        }
        world.run_for(Micros::from_millis(200)).await;
        for report in world.runtime().registry().reports() {
            assert_eq!(report.port.total().depth, 0, "{}", report.path);
        }
    });
    report.assert_passed();
    Outcome { report, subject, listing }
}

impl Outcome {
    /// Every tick was run once, on time.
    fn ticks_are_unbroken(&self) {
        let server = self.report.records.server(ServerId(0));
        let ticks: Vec<u32> = server.worlds.iter().map(|(tick, _)| tick.0).collect();
        let all: Vec<u32> = (1..).take(ticks.len()).collect();
        assert!(ticks == all, "{}", self.report.name);
        let due = self.report.simulated.0 * 60 / 1_000_000;
        assert!(ticks.len() as u64 + 2 >= due, "{}: {} of {due}", self.report.name, ticks.len());
    }

    /// A peer has played all the time and has seen every tick once.
    fn is_untouched(&self, peer: u32) {
        let name = &self.report.name;
        let record = self.report.records.peer(PeerId(peer));
        let kinds: Vec<EndKind> = record.endings.iter().map(|end| end.kind).collect();
        assert_eq!(kinds, [EndKind::Quiet], "{name}: {peer} left when it was told to");
        assert_eq!(record.spawns.len(), 1, "{name}");
        let seen: Vec<u32> = record.snapshots.iter().map(|(_, tick)| tick.0).collect();
        let all: Vec<u32> = (seen[0]..).take(seen.len()).collect();
        assert!(seen == all, "{name}: {peer} saw {seen:?}");
        assert!(seen.len() > 30, "{name}");
    }

    fn has_restarted(&self, times: u64) {
        let subject = self.subject.as_ref().unwrap();
        assert_eq!((subject.restarts, subject.panics), (times, times), "{}", self.report.name);
    }

    /// All three play under numbers of their own.
    fn everybody_plays(&self) {
        let listing = &self.listing;
        assert!(listing.starts_with("players: 3/16 connected"), "{}: {listing}", self.report.name);
        for (slot, name) in NAMES.iter().enumerate() {
            let line = listing.lines().nth(slot + 1).unwrap();
            assert!(line.starts_with(&format!("  #{slot}   {name} ")), "{line}");
            assert!(line.contains("state=playing"), "{line}");
        }
    }
}

#[test]
fn a_session_that_fails_at_any_of_its_messages_harms_nobody_and_its_peer_stays() {
    for nth in 1..=MESSAGES {
        for transport in BOTH {
            let outcome =
                world(transport, SESSION, &[nth], async |world, _| world.run_for(SECOND).await);
            outcome.ticks_are_unbroken();
            outcome.is_untouched(0);
            outcome.is_untouched(2);
            outcome.has_restarted(1);
            outcome.everybody_plays();
            assert!(outcome.report.records.peer(PeerId(1)).endings.len() == 1, "{nth}: it left");
        }
    }
}

#[test]
fn a_message_that_breaks_a_session_twice_ends_it_with_a_reason_where_nothing_after_it_fits() {
    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    for nth in 1..=30 {
        let twice = async |world: &mut World, _| world.run_for(SECOND).await;
        let outcome = world(Transport::Quic, SESSION, &[nth, nth], twice);
        outcome.ticks_are_unbroken();
        outcome.is_untouched(0);
        outcome.is_untouched(2);
        if outcome.subject.is_some() {
            outcome.everybody_plays();
            continue;
        }
        let endings = &outcome.report.records.peer(PeerId(1)).endings;
        let [end] = &endings[..] else { panic!("{nth}: {endings:?}") };
        assert_eq!(end.kind, EndKind::Removed, "{nth}");
        *told.entry(end.detail()).or_default() += 1;
    }
    let reasons = ["of yours", "for you"]
        .map(|whose| format!("the server lost a message {whose} to a fault; connect again"));
    assert_eq!(told.keys().cloned().collect::<BTreeSet<_>>(), reasons.into(), "{told:?}");
    assert_eq!(told.values().next_back(), Some(&3), "the three messages of a join: {told:?}");
}

#[test]
fn a_session_past_its_restarts_is_dropped_with_a_reason() {
    let outcome = world(Transport::Quic, SESSION, &[40, 50, 60, 70], async |world, _| {
        world.run_for(Micros::from_secs(2)).await;
    });
    outcome.ticks_are_unbroken();
    outcome.is_untouched(0);
    outcome.is_untouched(2);
    assert!(outcome.subject.is_none());
    let endings = &outcome.report.records.peer(PeerId(1)).endings;
    let [end] = &endings[..] else { panic!("{endings:?}") };
    assert_eq!((end.kind, &*end.detail()), (EndKind::Removed, "the session failed; join again"));
    let session = outcome.report.records.server(ServerId(0)).session_of("bob").unwrap();
    assert_eq!(session.ended.as_deref(), Some("the session failed; join again"));
    assert!(outcome.listing.starts_with("players: 2/16"), "{}", outcome.listing);
}

/// Raw peers come and go, so that listener and roster have much to hear.
async fn churn(world: &mut World, server: ServerId, transport: Transport, visits: u8, joins: bool) {
    let mut raws = Vec::new();
    for visit in 0..visits {
        let raw = Raw::dial(world, server, Dial::new(100 + visit, transport));
        raw.connect(world).await;
        if joins {
            raw.join(world, "visitor").await;
        }
        raws.push(raw);
        if let [.., before, _] = &raws[..] {
            before.connection().close(0, b"left");
        }
    }
    raws[raws.len() - 1].connection().close(0, b"left");
    world.run_for(Micros::from_millis(100)).await;
}

#[test]
fn a_listener_that_fails_at_any_of_its_messages_turns_nobody_away() {
    for nth in 1..=MESSAGES {
        for transport in BOTH {
            let outcome = world(transport, "server-0/listener", &[nth], async |world, server| {
                churn(world, server, transport, 36, false).await;
            });
            outcome.ticks_are_unbroken();
            (0..3).for_each(|peer| outcome.is_untouched(peer));
            outcome.has_restarted(1);
            outcome.everybody_plays();
        }
    }
}

#[test]
fn a_roster_that_fails_at_any_of_its_messages_is_told_again_who_is_here() {
    for nth in 1..=MESSAGES {
        for transport in BOTH {
            let outcome = world(transport, "server-0/roster", &[nth], async |world, server| {
                churn(world, server, transport, 12, true).await;
                world.client(PeerId(0)).present();
                world.run_for(Micros::from_millis(50)).await;
            });
            outcome.ticks_are_unbroken();
            (0..3).for_each(|peer| outcome.is_untouched(peer));
            outcome.has_restarted(1);
            outcome.everybody_plays();
            let view = outcome.report.records.peer(PeerId(0)).view.clone().unwrap();
            let mut names: Vec<&str> = view.players.iter().map(|it| it.name.as_str()).collect();
            names.sort_unstable();
            assert_eq!(names, NAMES, "{nth}: everybody has a name, and nobody else");
        }
    }
}

fn notices(outcome: &Outcome, peer: u32) -> Vec<&str> {
    let lines = &outcome.report.records.peer(PeerId(peer)).lines;
    let notices = lines.iter().filter_map(|line| line.strip_prefix("[notice] "));
    notices.collect()
}

#[test]
fn a_tick_that_fails_at_any_of_its_messages_goes_on_from_the_last_whole_tick() {
    for nth in 1..=MESSAGES {
        for transport in BOTH {
            let outcome = world(transport, "server-0/tick", &[nth], async |world, _| {
                world.run_for(SECOND).await;
            });
            outcome.ticks_are_unbroken();
            outcome.has_restarted(1);
            outcome.everybody_plays();
            for peer in 0..3 {
                outcome.is_untouched(peer);
                // Whoever was admitted by then reads it, once.
                let notices = notices(&outcome, peer);
                assert!(notices.len() <= 1, "{nth}: {notices:?}");
                let text = notices.first().copied().unwrap_or("the world went back to tick");
                assert!(text.starts_with("the world went back to tick"), "{text}");
            }
            assert_eq!(notices(&outcome, 0).len(), 1, "{nth}");
        }
    }
}

#[test]
fn a_tick_that_fails_again_and_again_starts_its_world_anew_and_everybody_stays() {
    for transport in BOTH {
        let faults = [150, 200, 250];
        let outcome = world(transport, "server-0/tick", &faults, async |world, _| {
            world.run_for(Micros::from_secs(3)).await;
        });
        outcome.ticks_are_unbroken();
        outcome.has_restarted(3);
        outcome.everybody_plays();
        for peer in 0..3 {
            outcome.is_untouched(peer);
            let notices = notices(&outcome, peer);
            assert_eq!(notices.len(), 3, "{notices:?}");
            assert!(notices[2].contains("starts anew"), "{notices:?}");
            let placed = outcome.report.records.peer(PeerId(peer)).corrections.iter();
            assert_eq!(placed.filter(|it| it.placed).count(), 1, "and everybody is at a spawn");
        }
    }
}

/// PACE-11, PACE-12, PACE-14
#[test]
fn a_tick_loop_that_stalls_catches_up_and_leaves_no_snapshot_out() {
    for transport in BOTH {
        let mut stalled = Tick(0);
        let outcome = world(transport, "nobody", &[], async |world, server| {
            world.run_for(SECOND).await;
            stalled = world.records().server(server).last_tick.unwrap().0;
            let by = Micros::from_millis(167);
            world.runtime().registry().faults().delay_deadline("server-0/tick", by);
            world.run_for(SECOND).await;
        });
        outcome.ticks_are_unbroken();
        (0..3).for_each(|peer| outcome.is_untouched(peer));
        let seen = &outcome.report.records.peer(PeerId(0)).snapshots;
        let burst = seen.chunk_by(|a, b| b.0.since(a.0) < Micros::from_millis(2));
        let longest = burst.max_by_key(|burst| burst.len()).unwrap();
        assert!((10..=12).contains(&longest.len()), "{longest:?}");
        assert!(longest[0].1.0.abs_diff(stalled.0) <= 2, "{longest:?} after {stalled:?}");
    }
}

#[test]
fn a_goodbye_that_is_lost_is_noticed_all_the_same() {
    for path in ["server-0/peer-1/session", "server-0/tick", "server-0/roster", "server-0/listener"]
    {
        for nth in 1..=20 {
            for transport in BOTH {
                stage::world(transport, ServerSetup::default(), async |world, server| {
                    world.runtime().registry().faults().panic_at(path, nth);
                    let stays = Raw::dial(world, server, Dial::new(1, transport));
                    stays.join(world, "stays").await;
                    let mut visitors = Vec::new();
                    for key in 2..8 {
                        let visitor = Raw::dial(world, server, Dial::new(key, transport));
                        visitor.connect(world).await;
                        visitor.greet();
                        visitor.identify("visitor");
                        visitor.ready();
                        world.run_for(Micros::from_millis(60)).await;
                        visitor.connection().close(0, b"left");
                        visitors.push(visitor);
                    }
                    world.run_for(SECOND).await;
                    let played = visitors.iter().filter(|raw| raw.has(5)).count();
                    let spared = usize::from(path.ends_with("session"));
                    assert!(played + spared >= 6, "{path} {nth}: {played} of 6 played");
                    assert_eq!(world.records().server(server).pawns, 1, "{path} {nth}");
                    assert_eq!(world.running(server).directory().peers().len(), 1, "{path} {nth}");
                    let listing = stage::console(world, server, "players").await;
                    assert!(listing.starts_with("players: 1/16"), "{path} {nth}: {listing}");
                    assert!(listing.contains("  #0   stays ") && listing.contains("pawn=1:0"));
                    let last = stays.snapshots().pop().unwrap();
                    assert_eq!(last.records.len(), 1, "{path} {nth}");
                });
            }
        }
    }
}

#[test]
fn no_place_is_lost_when_the_listener_fails_among_many_who_arrive_at_once() {
    for nth in 1..=24 {
        for transport in BOTH {
            let setup = ServerSetup::default().with("server.maxPlayers=8");
            stage::world(transport, setup, async |world, server| {
                world.runtime().registry().faults().panic_at("server-0/listener", nth);
                for (first, before) in [(1, 0), (11, 8)] {
                    let crowd: Vec<Raw> = (first..first + 8)
                        .map(|key| Raw::dial(world, server, Dial::new(key, transport)))
                        .collect();
                    for raw in &crowd {
                        raw.join(world, "one of eight").await;
                    }
                    let peers = world.running(server).directory().peers();
                    let numbers = peers.iter().map(|peer| u8::try_from(peer.0).unwrap());
                    assert!(numbers.eq(before..before + 8), "{nth}: nobody was counted twice");
                    crowd.iter().for_each(|raw| raw.connection().close(0, b"left"));
                    world.run_for(SECOND).await;
                }
                let listener = world.runtime().registry().report("server-0/listener").unwrap();
                assert_eq!(listener.restarts, 1, "{nth}");
            });
        }
    }
}
