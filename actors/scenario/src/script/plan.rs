//! Plan: the data at the top of a script: how long it runs, who is there, over which links, and
//! what content there is.

use std::collections::BTreeMap;

use dh_host::net::Links;
use dh_machine::Micros;
use dh_pallet::CORE_PALLET_ID;
use rhai::{Dynamic, Map};

use super::content::Contents;
use super::error::{Said, Under as _, nobody, unknown, wrong, wrong_pref};
use super::limit::{PALLET_MAX, PALLETS_MAX, PEERS_MAX, SECONDS_MAX, SERVERS_MAX};
use super::value::{called, integer, links, micros, role, shown, text, truth};
use super::words::Entries;
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
];

impl Plan {
    /// Read what `scenario(#{...})` was given.
    pub(super) fn read(data: &Map) -> Said<Self> {
        known("entry of scenario", data, SCENARIO)?;
        let span = data.get("seconds").ok_or_else(|| wrong("scenario: expected `seconds: N`"))?;
        let sizes = [("small", Size::Small), ("large", Size::Large)];
        let ways = [("quic", Transport::Quic), ("memory", Transport::Memory)];
        let mut plan = Self {
            size: entry(data, "size", Size::Small, |it| one_of("size", it, &sizes))?,
            span: micros("seconds", span).under("seconds")?,
            transport: entry(data, "transport", Transport::Memory, |it| {
                one_of("transport", it, &ways)
            })?,
            links: BTreeMap::new(),
            pallets: BTreeMap::new(),
            servers: Vec::new(),
            peers: Vec::new(),
        };
        plan.is_in_bounds().under("seconds")?;
        each(data, "links", |name, link| {
            let read = links(link, &plan.links)?;
            plan.links.insert(name.to_owned(), read);
            Ok(())
        })?;
        each(data, "pallets", |id, pallet| {
            if id == CORE_PALLET_ID {
                return Err(wrong("core is the program's own pallet; expected another id"));
            }
            dh_pallet::check_pallet_id(id).map_err(|error| wrong(error.to_string()))?;
            plan.pallets.insert(id.to_owned(), PalletPlan::read(pallet)?);
            Ok(())
        })?;
        let bytes: u64 = plan.pallets.values().map(|it| it.bytes).sum();
        if PALLETS_MAX < bytes {
            let what = format!("{bytes} bytes, expected at most {PALLETS_MAX} in all");
            return Err(wrong(what)).under("pallets");
        }
        each(data, "servers", |name, server| {
            called("server", name)?;
            let server = ServerPlan::read(name.to_owned(), server)?;
            for id in server.pallets.iter().flatten() {
                let all = plan.pallets.keys().map(String::as_str);
                let is_there = plan.pallets.contains_key(id);
                is_there.then_some(()).ok_or_else(|| nobody("pallet", id, all)).under("pallets")?;
            }
            Contents::barcode(&plan, Some(&server), &server.map).under("map")?;
            plan.servers.push(server);
            Ok(())
        })?;
        if plan.servers.is_empty() {
            let main = ServerPlan { name: "main".into(), starts: true, ..Default::default() };
            plan.servers.push(main);
        }
        each(data, "peers", |name, peer| {
            called("peer", name)?;
            let peer =
                PeerPlan { name: name.to_owned(), ..PeerPlan::default() }.read(peer, &plan)?;
            plan.peers.push(peer);
            Ok(())
        })?;
        if PEERS_MAX < plan.peers.len() {
            return Err(wrong(format!("expected at most {PEERS_MAX}"))).under("peers");
        }
        if SERVERS_MAX < plan.servers.len() {
            return Err(wrong(format!("expected at most {SERVERS_MAX}"))).under("servers");
        }
        Ok(plan)
    }

    fn is_in_bounds(&self) -> Said<()> {
        if self.span == Micros(0) || SECONDS_MAX < self.span.as_secs_f64() {
            return Err(wrong(format!("expected more than 0 and at most {SECONDS_MAX}")));
        }
        if self.size == Size::Small && SMALL_MAX < self.span {
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
    fn read(data: &Dynamic) -> Said<Self> {
        let data = map("a pallet", data)?;
        known("entry of a pallet", &data, PALLET)?;
        let floor = entry(&data, "floor", 0.0, |it| {
            let floor = super::value::number("floor", it)?;
            let is_fair = (-1_000.0..=1_000.0).contains(&floor);
            if is_fair { Ok(floor) } else { Err(wrong("expected -1000 to 1000 metres")) }
        })?;
        let bytes = entry(&data, "bytes", 0, |it| {
            let bytes = u64::try_from(integer("bytes", it)?).ok();
            let bytes = bytes.filter(|bytes| *bytes <= PALLET_MAX);
            bytes.ok_or_else(|| wrong(format!("expected 0 to {PALLET_MAX}")))
        })?;
        Ok(Self { floor, bytes })
    }
}

impl ServerPlan {
    fn read(name: String, data: &Dynamic) -> Said<Self> {
        let data = map("a server", data)?;
        known("entry of a server", &data, SERVER)?;
        Ok(Self {
            name,
            map: entry(&data, "map", String::new(), |it| text("map", it))?,
            pallets: entry(&data, "pallets", None, |it| texts("pallets", it).map(Some))?,
            starts: entry(&data, "starts", true, |it| truth("starts", it))?,
            prefs: prefs(&data)?,
        })
    }
}

impl PeerPlan {
    /// Change what `data` says of it.
    pub(super) fn read(mut self, data: &Dynamic, plan: &Plan) -> Said<Self> {
        let data = map("a peer", data)?;
        known("entry of a peer", &data, PEER)?;
        self.role = entry(&data, "role", self.role, |it| role(&text("role", it)?))?;
        self.links = entry(&data, "link", self.links, |it| links(it, &plan.links))?;
        self.server = entry(&data, "server", self.server, |it| {
            let server = text("server", it)?;
            plan.server(&server)?;
            Ok(Some(server))
        })?;
        self.joins = entry(&data, "joins", self.joins, |it| match it.as_bool() {
            Ok(false) => Ok(None),
            _ => micros("joins", it).map(Some),
        })?;
        self.inside = entry(&data, "inside", self.inside, |it| truth("inside", it))?;
        self.prefs.extend(prefs(&data)?);
        Ok(self)
    }
}

/// Refuse an entry that nobody reads.
pub(super) fn known(kind: &str, data: &Map, keys: Entries) -> Said<()> {
    let names = keys.iter().map(|(key, _)| *key);
    match data.keys().find(|key| !names.clone().any(|name| name == key.as_str())) {
        Some(key) => Err(unknown(kind, key, names)).under(key),
        None => Ok(()),
    }
}

/// An object map.
pub(super) fn map(what: &str, value: &Dynamic) -> Said<Map> {
    let map = value.clone().try_cast::<Map>();
    let found = || shown(value);
    map.ok_or_else(|| wrong(format!("{what}: expected an object map #{{...}}, found {}", found())))
}

/// What an entry says, or what holds where it is not there.
fn entry<T>(data: &Map, key: &str, standard: T, read: impl FnOnce(&Dynamic) -> Said<T>) -> Said<T> {
    data.get(key).map_or(Ok(standard), |value| read(value).under(key))
}

/// Read each entry of the object map that an entry is.
fn each(data: &Map, key: &str, mut read: impl FnMut(&str, &Dynamic) -> Said<()>) -> Said<()> {
    entry(data, key, (), |value| {
        map(key, value)?.iter().try_for_each(|(name, value)| read(name, value).under(name))
    })
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

fn prefs(data: &Map) -> Said<Vec<String>> {
    let (mut checked, mut pairs) = (dh_prefs::Prefs::default(), Vec::new());
    each(data, "prefs", |key, value| {
        let pair = format!("{key}={value}");
        checked.set_argument(&pair).map_err(|error| wrong_pref(error.problem))?;
        pairs.push(pair);
        Ok(())
    })?;
    Ok(pairs)
}
