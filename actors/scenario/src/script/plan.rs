//! Plan: the data at the top of a script: how long it runs, who is there, over which links, and
//! what content there is.

use std::collections::BTreeMap;

use dh_host::net::Links;
use dh_machine::Micros;
use dh_pallet::CORE_PALLET_ID;
use rhai::{Dynamic, Map};

use super::build::build;
use super::content::Contents;
use super::error::{Said, Under as _, nobody, unknown, wrong, wrong_pref};
use super::gathered::Gathered;
use super::limit::{PALLET_MAX, PALLETS_MAX, PEERS_MAX, SECONDS_MAX, SERVERS_MAX};
use super::value::{called, integer, links_of, micros, role, shown, text, truth};
use super::words::{Entries, time::never_comes};
use crate::build::OtherBuild;
use crate::roles::Role;
use crate::scenario::Transport;

/// What a scenario costs: what `small` promises, everything else is `large`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// At most 8 peers and 60 simulated seconds.
    #[default]
    Small,
    /// Anything else.
    Large,
}

impl Size {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Large => "large",
        }
    }
}

/// Peers of a small scenario, at most.
pub(super) const SMALL_PEERS_MAX: usize = 8;
/// Simulated time of a small scenario, at most.
pub(super) const SMALL_MAX: Micros = Micros::from_secs(60);

/// The data at the top of a script.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its cost.
    pub size: Size,
    /// How long it runs.
    pub span: Micros,
    /// How peers reach servers, unless the command line says otherwise.
    pub transport: Transport,
    /// Named links, for peers to refer to.
    pub links: BTreeMap<String, Links>,
    /// Pallets there are, by id.
    pub pallets: BTreeMap<String, PalletPlan>,
    /// Servers, by name.
    pub servers: Vec<ServerPlan>,
    /// Peers, by name.
    pub peers: Vec<PeerPlan>,
}

/// A pallet that is made up: a floor with a spawn on it, and so many bytes of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PalletPlan {
    /// Height of the floor, metres.
    pub floor: f64,
    /// Bytes of noise beside the map.
    pub bytes: u64,
}

/// A server to be.
#[derive(Clone, Debug, Default)]
pub struct ServerPlan {
    /// Its name.
    pub name: String,
    /// The map it starts with: a pallet's id, `core:assets/demo.dh-map`, or empty for the gray box.
    pub map: String,
    /// Preferences, `KEY=VALUE`.
    pub prefs: Vec<String>,
    /// The pallets it has; all of them unless said.
    pub pallets: Option<Vec<String>>,
    /// Whether it starts with the scenario, or when it is told to.
    pub starts: bool,
    /// The build it is of; the program's own unless said.
    pub build: Option<OtherBuild>,
}

/// A peer to be.
#[derive(Clone, Debug)]
pub struct PeerPlan {
    /// Its name.
    pub name: String,
    /// How it behaves.
    pub role: Role,
    /// What its path does.
    pub links: Links,
    /// Preferences, `KEY=VALUE`.
    pub prefs: Vec<String>,
    /// The server it joins; the first unless said.
    pub server: Option<String>,
    /// When it joins; never unless told to.
    pub joins: Option<Micros>,
    /// Whether it is the host inside the server's process.
    pub inside: bool,
    /// The build it is of; the program's own unless said.
    pub build: Option<OtherBuild>,
}

impl Default for PeerPlan {
    fn default() -> Self {
        Self {
            name: String::new(),
            role: Role::Idle,
            links: Links::IDEAL,
            prefs: Vec::new(),
            server: None,
            joins: Some(Micros(0)),
            inside: false,
            build: None,
        }
    }
}

/// The entries of the data at the top.
pub(super) const SCENARIO: Entries = &[
    ("size", "small, at most 8 peers and 60 seconds, or large; small unless said"),
    ("seconds", "how long it runs; must be said"),
    ("transport", "memory, or quic where packets matter; memory unless said"),
    ("links", "links by name, for peers to refer to"),
    ("pallets", "pallets that are made up, by id"),
    ("servers", "servers by name; one called main unless said"),
    ("peers", "peers by name"),
];

/// The entries of a server.
pub(super) const SERVER: Entries = &[
    ("map", "the map it starts with: a pallet's id, core:assets/demo.dh-map, or the gray box"),
    ("prefs", "its preferences, #{ \"server.maxPlayers\": 2 }; `dh prefs list` lists them"),
    ("pallets", "the ids of the pallets it has; all of them unless said"),
    ("starts", "whether it starts with the scenario; true unless said"),
    ("build", "the build it is of, as that of a peer"),
];

/// The entries of a pallet.
pub(super) const PALLET: Entries = &[
    ("floor", "how high its floor is, -1000 to 1000 metres; 0 unless said"),
    ("bytes", "bytes of noise that peers must fetch with it; 0 unless said"),
];

/// The entries of a peer.
pub(super) const PEER: Entries = &[
    ("role", "how it behaves; idle unless said"),
    ("link", "its path: the name of a link, a link, or #{ up, down }; ideal unless said"),
    ("prefs", "its preferences, as those of a server"),
    ("server", "the server it joins; unless said the first, by the order of their names"),
    ("joins", "when it joins, in seconds; 0 unless said, false for not before join()"),
    ("inside", "whether it is the host in the server's own process; false unless said"),
    ("build", "its build: older-5 to older-1, newer-1 to newer-5, or an array of changes"),
];

impl Plan {
    /// Read what `scenario(#{...})` was given, as far as it can be read.
    pub(super) fn read(data: &Map, told: &mut Gathered) -> Self {
        told.known("entry of scenario", data, SCENARIO);
        let sizes = [("small", Size::Small), ("large", Size::Large)];
        let ways = [("quic", Transport::Quic), ("memory", Transport::Memory)];
        // It may be what another entry was meant to be.
        if !data.contains_key("seconds") && told.is_empty() {
            told.add(wrong("scenario: expected `seconds: N`"));
        }
        let mut plan = Self {
            size: told.entry(data, "size", Size::Small, |it| one_of("size", it, &sizes)),
            // Where it is not known, nothing is too late.
            span: Micros::from_secs_f64(SECONDS_MAX),
            transport: told
                .entry(data, "transport", Transport::Memory, |it| one_of("transport", it, &ways)),
            links: BTreeMap::new(),
            pallets: BTreeMap::new(),
            servers: Vec::new(),
            peers: Vec::new(),
        };
        plan.span = told.entry(data, "seconds", plan.span, |it| {
            micros("seconds", it).and_then(|span| plan.is_in_bounds(span).map(|()| span))
        });
        told.each(data, "links", |name, link, told| {
            let read = links_of(link, &plan.links, told);
            plan.links.insert(name.to_owned(), read);
        });
        plan.read_pallets(data, told);
        plan.read_servers(data, told);
        plan.read_peers(data, told);
        plan
    }

    fn read_pallets(&mut self, data: &Map, told: &mut Gathered) {
        told.each(data, "pallets", |id, pallet, told| {
            if id == CORE_PALLET_ID {
                told.add(wrong("core is the program's own pallet; expected another id"));
            } else {
                let said = dh_pallet::check_pallet_id(id);
                told.hear(said.map_err(|error| wrong(error.to_string())));
            }
            self.pallets.insert(id.to_owned(), PalletPlan::read(pallet, told));
        });
        let bytes: u64 = self.pallets.values().map(|it| it.bytes).sum();
        if PALLETS_MAX < bytes {
            let what = format!("{bytes} bytes, expected at most {PALLETS_MAX} in all");
            told.add(wrong(what).under("pallets"));
        }
    }

    fn read_servers(&mut self, data: &Map, told: &mut Gathered) {
        told.each(data, "servers", |name, server, told| {
            told.hear(called("server", name));
            let server = ServerPlan::read(name.to_owned(), server, told);
            for id in server.pallets.iter().flatten().filter(|id| !self.pallets.contains_key(*id)) {
                let all = self.pallets.keys().map(String::as_str);
                told.add(nobody("pallet", id, all).under("pallets"));
            }
            told.hear(Contents::barcode(self, Some(&server), &server.map).map(drop).under("map"));
            self.servers.push(server);
        });
        if self.servers.is_empty() {
            let main = ServerPlan { name: "main".into(), starts: true, ..Default::default() };
            self.servers.push(main);
        }
        if SERVERS_MAX < self.servers.len() {
            told.add(wrong(format!("expected at most {SERVERS_MAX}")).under("servers"));
        }
    }

    fn read_peers(&mut self, data: &Map, told: &mut Gathered) {
        told.each(data, "peers", |name, peer, told| {
            told.hear(called("peer", name));
            let standard = PeerPlan { name: name.to_owned(), ..PeerPlan::default() };
            let peer = standard.gather(peer, self, told);
            if let Some(late) = peer.joins.filter(|joins| self.span < *joins) {
                told.add(never_comes("joins", late, self.span).under("joins"));
            }
            self.peers.push(peer);
        });
        if PEERS_MAX < self.peers.len() {
            told.add(wrong(format!("expected at most {PEERS_MAX}")).under("peers"));
        }
    }

    fn is_in_bounds(&self, span: Micros) -> Said<()> {
        if span == Micros(0) || SECONDS_MAX < span.as_secs_f64() {
            return Err(wrong(format!("expected more than 0 and at most {SECONDS_MAX}")));
        }
        if self.size == Size::Small && SMALL_MAX < span {
            return Err(wrong("a small scenario runs at most 60; say `size: \"large\"`"));
        }
        Ok(())
    }

    /// The server of this name.
    pub(super) fn server(&self, name: &str) -> Said<usize> {
        let at = self.servers.iter().position(|server| server.name == name);
        let names = self.servers.iter().map(|server| server.name.as_str());
        at.ok_or_else(|| nobody("server", name, names))
    }
}

impl PalletPlan {
    fn read(data: &Dynamic, told: &mut Gathered) -> Self {
        let data = told.map("a pallet", data);
        told.known("entry of a pallet", &data, PALLET);
        let floor = told.entry(&data, "floor", 0.0, |it| {
            let floor = super::value::number("floor", it)?;
            let is_fair = (-1_000.0..=1_000.0).contains(&floor);
            if is_fair { Ok(floor) } else { Err(wrong("expected -1000 to 1000 metres")) }
        });
        let bytes = told.entry(&data, "bytes", 0, |it| {
            let bytes = u64::try_from(integer("bytes", it)?).ok();
            let bytes = bytes.filter(|bytes| *bytes <= PALLET_MAX);
            bytes.ok_or_else(|| wrong(format!("expected 0 to {PALLET_MAX}")))
        });
        Self { floor, bytes }
    }
}

impl ServerPlan {
    fn read(name: String, data: &Dynamic, told: &mut Gathered) -> Self {
        let data = told.map("a server", data);
        told.known("entry of a server", &data, SERVER);
        Self {
            name,
            map: told.entry(&data, "map", String::new(), |it| text("map", it)),
            pallets: told.entry(&data, "pallets", None, |it| texts("pallets", it).map(Some)),
            starts: told.entry(&data, "starts", true, |it| truth("starts", it)),
            build: told.entry(&data, "build", None, |it| build(it).map(Some)),
            prefs: prefs(&data, told),
        }
    }
}

impl PeerPlan {
    /// Change what `data` says of it.
    pub(super) fn read(self, data: &Dynamic, plan: &Plan) -> Said<Self> {
        let mut told = Gathered::default();
        let read = self.gather(data, plan, &mut told);
        told.or_first(read)
    }

    fn gather(mut self, data: &Dynamic, plan: &Plan, told: &mut Gathered) -> Self {
        let data = told.map("a peer", data);
        told.known("entry of a peer", &data, PEER);
        self.role = told.entry(&data, "role", self.role, |it| role(&text("role", it)?));
        if let Some(link) = data.get("link") {
            self.links = told.under("link", |told| links_of(link, &plan.links, told));
        }
        self.server = told.entry(&data, "server", self.server, |it| {
            let server = text("server", it)?;
            plan.server(&server)?;
            Ok(Some(server))
        });
        self.joins = told.entry(&data, "joins", self.joins, |it| match it.as_bool() {
            Ok(false) => Ok(None),
            _ => micros("joins", it).map(Some),
        });
        self.inside = told.entry(&data, "inside", self.inside, |it| truth("inside", it));
        self.build = told.entry(&data, "build", self.build, |it| build(it).map(Some));
        self.prefs.extend(prefs(&data, told));
        self
    }
}

/// Refuse an entry that nobody reads.
pub(super) fn known(kind: &str, data: &Map, keys: Entries) -> Said<()> {
    let mut told = Gathered::default();
    told.known(kind, data, keys);
    told.or_first(())
}

/// An object map.
pub(super) fn map(what: &str, value: &Dynamic) -> Said<Map> {
    let map = value.clone().try_cast::<Map>();
    let found = || shown(value);
    map.ok_or_else(|| wrong(format!("{what}: expected an object map #{{...}}, found {}", found())))
}

fn one_of<T: Copy>(what: &str, value: &Dynamic, choices: &[(&str, T)]) -> Said<T> {
    let said = text(what, value)?;
    let found = choices.iter().find(|(name, _)| *name == said);
    let names = choices.iter().map(|(name, _)| *name);
    found.map(|(_, it)| *it).ok_or_else(|| unknown(what, &said, names))
}

fn texts(what: &str, value: &Dynamic) -> Said<Vec<String>> {
    let list = value.clone().into_typed_array::<String>();
    list.map_err(|found| wrong(format!("{what}: expected an array of texts, found {found}")))
}

fn prefs(data: &Map, told: &mut Gathered) -> Vec<String> {
    let (mut checked, mut pairs) = (dh_prefs::Prefs::default(), Vec::new());
    told.each(data, "prefs", |key, value, told| {
        let pair = format!("{key}={value}");
        let said = checked.set_argument(&pair).map_err(|error| wrong_pref(error.problem));
        match said {
            Ok(_) => pairs.push(pair),
            Err(mistake) => told.add(mistake),
        }
    });
    pairs
}
