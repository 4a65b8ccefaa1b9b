//! Chaos: a storm of faults that the seed draws. Each is one deed and ends by itself, so that a run
//! that goes without it goes without its end too; after the storm everything is whole again.

use std::rc::Rc;

use dh_host::disk::Failure;
use dh_host::net::{Burst, Cut, Link, Links};
use dh_machine::Micros;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng as _;
use rhai::{Dynamic, Map, Position};

use super::time::in_time;
use super::{Entries, Words, actors, peers, servers};
use crate::scenario::Transport;
use crate::script::content::{Contents, owner_of_peer};
use crate::script::deed::DeedKind::{self, Event, Fault as Broken};
use crate::script::error::{Said, wrong};
use crate::script::plan::known;
use crate::script::stage::{Stage, What};
use crate::script::value::{integer, micros};
use crate::world::World;

/// Faults of one storm, at most.
const STORM_MAX: i64 = 1_000;
/// How long what is broken for a while stays broken, at most.
const SPAN_MAX: u64 = 2_500;
/// The kinds of actors that panic, each once a storm: a few more would be past their restarts.
const ACTORS: [&str; 12] = [
    "listener",
    "session",
    "blob_transfer",
    "map_switch",
    "tick",
    "roster",
    "chat",
    "connection",
    "downloader",
    "map_loader",
    "predictor",
    "presenter",
];

/// The entries of a storm.
pub(super) const ENTRIES: Entries = &[
    ("faults", "how many, 1 to 1000"),
    ("from", "when it begins, in seconds; 0 unless said"),
    ("to", "when it ends"),
];

/// One thing that happens in a storm.
#[derive(Clone, Debug)]
enum Fault {
    /// A peer's path lets nothing pass for a while.
    Cut(usize, Cut, Micros),
    /// A peer has another link for a while.
    Relink(usize, Links, Micros),
    /// A peer has another address.
    Rebind(usize),
    /// One of the next calls of a peer's disk fails, if there are so many before this time.
    Disk(usize, u64, Micros),
    /// A peer leaves, and comes back after a while.
    Visit(usize, Micros),
    /// A server ticks late.
    Stall(usize, Micros),
    /// A server dies, and starts again after a while.
    Restart(usize, Micros),
    /// A server changes to the map of a pallet.
    Map(usize, String),
    /// One of the actors of a kind panics at one of its next messages, or at the next of a kind,
    /// if it takes that before this time.
    Panic(&'static str, u64, u64, Micros),
}

/// Draws faults for those who are there.
struct Dice {
    rng: ChaCha8Rng,
    /// How many peers and servers there are.
    peers: usize,
    servers: usize,
    /// Pallets whose maps may stand.
    maps: Vec<String>,
    /// Kinds of actors that have not panicked yet.
    actors: Vec<&'static str>,
    /// Servers that have not been killed yet.
    alive: Vec<usize>,
    /// When the storm ends.
    to: Micros,
}

pub(super) fn register(words: &mut Words) {
    words.group(
        "storms",
        "chaos(#{ faults: 5, from: 2, to: 6 });\n\
         eventually(\"all play again\", || ada.playing);",
    );
    let stage = words.stage.clone();
    words.word(
        "chaos(#{ faults, from, to })",
        "So many faults between two times, drawn from the seed for the peers and servers of this \
         moment: cut paths, other links, other addresses, late ticks, failing disks, panics, other \
         maps, leaves and returns, and each server killed at most once. Each ends by itself within \
         2.5 seconds; a panic or a failing disk that has not struck by the last of these times \
         never does.",
        move |data: Map| storm(&stage, &data),
    );
}

fn storm(stage: &Stage, data: &Map) -> Said<()> {
    known("entry of chaos", data, ENTRIES)?;
    let get = |key: &str| data.get(key).cloned().unwrap_or_else(|| Dynamic::from(0_i64));
    let faults = integer("faults", &get("faults"))?;
    let (from, to) = (micros("from", &get("from"))?, micros("to", &get("to"))?);
    if !(1..=STORM_MAX).contains(&faults) {
        return Err(wrong(format!("faults: expected 1 to {STORM_MAX}, found {faults}")));
    }
    if to <= from {
        return Err(wrong("chaos: expected `from` before `to`"));
    }
    in_time(stage, "to", to)?;
    let mut dice = Dice::new(stage, to)?;
    for nth in 1..=faults {
        let at = from + dice.span(0, (to - from).0 / 1_000);
        let fault = dice.fault();
        let strike = What::Do(Rc::new(move |stage: &Stage| fault.strike(stage, nth)));
        stage.call_at(at, strike, Position::NONE)?;
    }
    Ok(())
}

impl Dice {
    fn new(stage: &Stage, to: Micros) -> Said<Self> {
        let plan = stage.plan()?;
        let peers = stage.0.peers.borrow();
        if peers.is_empty() {
            return Err(wrong("chaos: expected peers before it"));
        }
        let servers = plan.servers.len();
        Ok(Self {
            rng: stage.0.seeds.rng("chaos"),
            peers: peers.len(),
            alive: (0..servers).collect(),
            servers,
            maps: plan.pallets.keys().cloned().collect(),
            actors: ACTORS.to_vec(),
            to,
        })
    }

    fn fault(&mut self) -> Fault {
        let peer = self.below(self.peers);
        let server = self.below(self.servers);
        let span = self.span(100, SPAN_MAX);
        match self.below(16) {
            0..=2 => Fault::Cut(peer, self.cut(), span),
            3..=6 => Fault::Relink(peer, self.links(), span),
            7 => Fault::Rebind(peer),
            8 => Fault::Disk(peer, 1 + self.number(12), self.to),
            9..=10 => Fault::Visit(peer, span),
            11 if !self.alive.is_empty() => {
                let at = self.below(self.alive.len());
                Fault::Restart(self.alive.swap_remove(at), span)
            }
            12 if !self.maps.is_empty() => {
                let at = self.below(self.maps.len());
                Fault::Map(server, self.maps[at].clone())
            }
            13..=14 if !self.actors.is_empty() => {
                let at = self.below(self.actors.len());
                let kind = self.actors.swap_remove(at);
                Fault::Panic(kind, self.rng.next_u64(), 1 + self.number(20), self.to)
            }
            _ => Fault::Stall(server, self.stall()),
        }
    }

    /// Mostly short, now and then so long that much piles up.
    fn stall(&mut self) -> Micros {
        if self.below(3) == 0 { self.span(1_000, 6_000) } else { self.span(20, 400) }
    }

    fn cut(&mut self) -> Cut {
        [Cut::BOTH, Cut::UP, Cut::DOWN][self.below(3)]
    }

    fn links(&mut self) -> Links {
        Links { up: self.link(), down: self.link() }
    }

    fn link(&mut self) -> Link {
        let latency = self.span(0, 250);
        let is_in_bursts = self.below(2) == 0;
        let loss = self.part(60_000);
        Link {
            latency,
            draw: Micros(self.number(latency.0 / 2)),
            tail: self.span(0, 40),
            loss_ppm: if is_in_bursts { 0 } else { loss },
            burst: if is_in_bursts { Burst::of(loss, 6) } else { Burst::NONE },
            duplicate_ppm: self.part(30_000),
            reorder_ppm: self.part(200_000),
            reorder: self.span(5, 80),
            mtu: [0, 0, 600, 300][self.below(4)],
            ..Link::IDEAL
        }
    }

    fn part(&mut self, most: u64) -> u32 {
        u32::try_from(self.number(most)).unwrap_or(0)
    }

    fn span(&mut self, least: u64, most: u64) -> Micros {
        Micros::from_millis(least + self.number(most - least))
    }

    /// From 0 to below `bound`; 0 where that is 0.
    fn number(&mut self, bound: u64) -> u64 {
        self.rng.next_u64() % bound.max(1)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.number(u64::try_from(bound).unwrap_or(1))).unwrap_or(0)
    }
}

impl Fault {
    /// Write it down, and have it happen unless this run goes without it.
    fn strike(&self, stage: &Stage, nth: i64) -> Said<()> {
        let fault = self.clone();
        let what = format!("chaos {nth}: {}", self.told(stage)?);
        stage.deed(self.kind(), what, move |stage| fault.happen(stage))
    }

    fn kind(&self) -> DeedKind {
        if matches!(self, Self::Visit(..) | Self::Map(..)) { Event } else { Broken }
    }

    fn told(&self, stage: &Stage) -> Said<String> {
        let peer = |at: &usize| stage.peer_name(*at);
        let plan = stage.plan()?;
        let server = |at: &usize| &plan.servers[*at].name;
        let secs = |span: &Micros| span.as_secs_f64();
        Ok(match self {
            Self::Cut(at, way, span) => {
                let way = if *way == Cut::UP { " upwards" } else { " downwards" };
                let way = if matches!(self, Self::Cut(_, Cut::BOTH, _)) { "" } else { way };
                format!("{} is cut off{way} for {} s", peer(at), secs(span))
            }
            Self::Relink(at, _, span) => {
                format!("{} has another link for {} s", peer(at), secs(span))
            }
            Self::Rebind(at) => format!("{} gets another address", peer(at)),
            Self::Disk(at, call, _) => format!("{}: call {call} of the disk fails", peer(at)),
            Self::Visit(at, span) => format!("{} leaves for {} s", peer(at), secs(span)),
            Self::Stall(at, by) => format!("{} ticks {} s late", server(at), secs(by)),
            Self::Restart(at, span) => format!("{} is dead for {} s", server(at), secs(span)),
            Self::Map(at, map) => format!("{} changes to map \"{map}\"", server(at)),
            Self::Panic(kind, ..) => format!("a {kind} panics soon"),
        })
    }

    fn happen(&self, stage: &Stage) -> Said<()> {
        match self {
            Self::Cut(at, way, span) => {
                stage.with_peer(*at, |world, peer| world.cut(peer, *way))?;
                let at = *at;
                later(stage, *span, move |stage| {
                    stage.with_peer(at, |world, peer| world.cut(peer, Cut::NONE))
                })
            }
            Self::Relink(at, links, span) => {
                stage.with_peer(*at, |world, peer| world.relink(peer, fitted(world, *links)))?;
                let at = *at;
                later(stage, *span, move |stage| {
                    let links = stage.0.peers.borrow()[at].plan.links;
                    stage.with_peer(at, |world, peer| world.relink(peer, links))
                })
            }
            Self::Rebind(at) => stage.with_peer(*at, |world, peer| {
                world.rebind(peer);
            }),
            Self::Disk(at, call, until) => {
                let owner = owner_of_peer(&stage.0.peers.borrow()[*at].plan.name);
                let disk = stage.0.contents.borrow_mut().disk(&owner).faulty.clone();
                let number = disk.fail_nth(*call, Failure::Io);
                let forgive = move |_: &Stage| {
                    disk.forgive(number);
                    Ok(())
                };
                stage.call_at(*until, What::Do(Rc::new(forgive)), Position::NONE)
            }
            Self::Visit(at, span) => {
                stage.with_peer(*at, World::disconnect)?;
                let at = *at;
                later(stage, *span, move |stage| {
                    let server = stage.server(peers::home_of(stage, at)?)?;
                    stage.with_peer(at, |world, peer| world.join(peer, server))
                })
            }
            Self::Stall(at, by) => {
                let id = stage.server(*at)?;
                let world = stage.world()?;
                let path = world.server_path(id, "tick");
                world.runtime().registry().faults().delay_deadline(&path, *by);
                Ok(())
            }
            Self::Restart(at, span) => {
                let (at, id) = (*at, stage.server(*at)?);
                stage.world()?.kill_server(id);
                later(stage, *span, move |stage| servers::start_unless_it_runs(stage, at))
            }
            Self::Map(at, map) => {
                let barcode = Contents::barcode(&*stage.plan()?, None, map)?;
                let line = format!("map {}", barcode.unwrap_or_default());
                let id = stage.server(*at)?;
                stage.world()?.console(id, &line);
                Ok(())
            }
            Self::Panic(kind, choice, soon, until) => {
                let Some((path, blow)) = panic_soon(&*stage.world()?, kind, *choice, *soon) else {
                    return Ok(());
                };
                let forgive = move |stage: &Stage| {
                    blow.forgive(&*stage.world()?, &path);
                    Ok(())
                };
                stage.call_at(*until, What::Do(Rc::new(forgive)), Position::NONE)
            }
        }
    }
}

/// At which message a panic strikes.
enum Blow {
    Nth(u64),
    /// The next of this kind: most messages are of a few kinds, and most faults are in others.
    Kind(&'static str),
}

impl Blow {
    /// Give it up where it has not struck.
    fn forgive(&self, world: &World, path: &str) {
        let faults = world.runtime().registry().faults();
        match *self {
            Self::Nth(nth) => faults.forgive(path, nth),
            Self::Kind(kind) => faults.forgive_kind(path, kind),
        }
    }
}

/// A panic in one of the actors of a kind: where it is, and at which message. Half of them strike
/// at one of its next messages, half at the next message of a kind that it has had.
fn panic_soon(world: &World, kind: &str, choice: u64, soon: u64) -> Option<(String, Blow)> {
    let registry = world.runtime().registry();
    let mut reports = registry.reports();
    reports.retain(|report| report.kind == kind);
    let at = choice.checked_rem(u64::try_from(reports.len()).ok()?)?;
    let victim = reports.swap_remove(usize::try_from(at).ok()?);
    let had = victim.port.kinds.iter().filter(|(_, counts)| 0 < counts.offered);
    let had: Vec<&'static str> = had.map(|(name, _)| *name).collect();
    let by_kind = choice >> 63 == 1 && !had.is_empty();
    let blow = if by_kind {
        let kind = had[usize::try_from(soon).ok()? % had.len()];
        registry.faults().panic_at_kind(&victim.path, kind);
        Blow::Kind(kind)
    } else {
        let nth = actors::taken(&victim) + soon;
        registry.faults().panic_at(&victim.path, nth);
        Blow::Nth(nth)
    };
    Some((victim.path, blow))
}

/// QUIC needs packets of a certain size, and ends where they do not pass.
fn fitted(world: &World, links: Links) -> Links {
    let whole = |link: Link| Link { mtu: 0, ..link };
    match world.transport() {
        Transport::Memory => links,
        Transport::Quic => Links { up: whole(links.up), down: whole(links.down) },
    }
}

/// The end of a fault: no deed of its own.
fn later(stage: &Stage, span: Micros, act: impl Fn(&Stage) -> Said<()> + 'static) -> Said<()> {
    let at = stage.0.now.get() + span;
    stage.call_at(at, What::Do(Rc::new(act)), Position::NONE)
}
