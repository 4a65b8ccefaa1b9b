//! Plan: the data at the top of a script: how long it runs, who is there, over which links, and
//! what content there is.

use std::collections::BTreeMap;

use dh_host::net::Links;
use dh_machine::Micros;
use rhai::{Dynamic, Map};

use super::error::{Said, unknown, wrong};
use super::limit::{PALLET_MAX, PALLETS_MAX, PEERS_MAX, SECONDS_MAX, SERVERS_MAX};
use super::value::{integer, links, micros, role, text, truth};
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

impl Plan {
    /// Read what `scenario(#{...})` was given.
    pub(super) fn read(data: &Map) -> Said<Self> {
        const KEYS: [&str; 7] =
            ["size", "seconds", "transport", "links", "pallets", "servers", "peers"];
        known("entry of scenario", data, &KEYS)?;
        let span = data.get("seconds").ok_or_else(|| wrong("scenario: expected `seconds: N`"))?;
        let mut plan = Self {
            size: Size::Small,
            span: micros("seconds", span)?,
            transport: Transport::Memory,
            links: BTreeMap::new(),
            pallets: BTreeMap::new(),
            servers: Vec::new(),
            peers: Vec::new(),
        };
        if plan.span == Micros(0) || SECONDS_MAX < plan.span.as_secs_f64() {
            return Err(wrong(format!("seconds: expected more than 0 and at most {SECONDS_MAX}")));
        }
        if let Some(size) = data.get("size") {
            plan.size = one_of("size", size, &[("small", Size::Small), ("large", Size::Large)])?;
        }
        if let Some(transport) = data.get("transport") {
            let ways = [("quic", Transport::Quic), ("memory", Transport::Memory)];
            plan.transport = one_of("transport", transport, &ways)?;
        }
        for (name, link) in entries(data, "links")? {
            plan.links.insert(name.clone(), links(&link, &plan.links)?);
        }
        for (id, pallet) in entries(data, "pallets")? {
            plan.pallets.insert(id.clone(), PalletPlan::read(&pallet)?);
        }
        let bytes: u64 = plan.pallets.values().map(|it| it.bytes).sum();
        if PALLETS_MAX < bytes {
            let what = format!("pallets: {bytes} bytes, expected at most {PALLETS_MAX} in all");
            return Err(wrong(what));
        }
        for (name, server) in entries(data, "servers")? {
            plan.servers.push(ServerPlan::read(name, &server)?);
        }
        if plan.servers.is_empty() {
            plan.servers.push(ServerPlan {
                name: "main".into(),
                starts: true,
                ..Default::default()
            });
        }
        for (name, peer) in entries(data, "peers")? {
            let peer = PeerPlan::read(PeerPlan { name, ..PeerPlan::default() }, &peer, &plan)?;
            plan.peers.push(peer);
        }
        plan.is_in_bounds()?;
        Ok(plan)
    }

    fn is_in_bounds(&self) -> Said<()> {
        if PEERS_MAX < self.peers.len() {
            return Err(wrong(format!("peers: expected at most {PEERS_MAX}")));
        }
        if SERVERS_MAX < self.servers.len() {
            return Err(wrong(format!("servers: expected at most {SERVERS_MAX}")));
        }
        if self.size == Size::Small && SMALL_MAX < self.span {
            return Err(wrong("seconds: a small scenario runs at most 60; say `size: \"large\"`"));
        }
        Ok(())
    }

    /// The server of this name.
    pub(super) fn server(&self, name: &str) -> Said<usize> {
        let at = self.servers.iter().position(|server| server.name == name);
        let names = self.servers.iter().map(|server| server.name.as_str());
        at.ok_or_else(|| unknown("server", name, names))
    }
}

impl PalletPlan {
    fn read(data: &Dynamic) -> Said<Self> {
        let data = map("a pallet", data)?;
        known("entry of a pallet", &data, &["floor", "bytes"])?;
        let floor = data.get("floor").map_or(Ok(0.0), |it| super::value::number("floor", it))?;
        let bytes = data.get("bytes").map_or(Ok(0), |it| integer("bytes", it))?;
        let bytes = u64::try_from(bytes).ok().filter(|bytes| *bytes <= PALLET_MAX);
        let bytes = bytes.ok_or_else(|| wrong(format!("bytes: expected 0 to {PALLET_MAX}")))?;
        if !(-1_000.0..=1_000.0).contains(&floor) {
            return Err(wrong("floor: expected -1000 to 1000 metres"));
        }
        Ok(Self { floor, bytes })
    }
}

impl ServerPlan {
    fn read(name: String, data: &Dynamic) -> Said<Self> {
        let data = map("a server", data)?;
        known("entry of a server", &data, &["map", "prefs", "pallets", "starts"])?;
        let map = data.get("map").map_or(Ok(String::new()), |it| text("map", it))?;
        let pallets = match data.get("pallets") {
            Some(list) => Some(texts("pallets", list)?),
            None => None,
        };
        let starts = data.get("starts").map_or(Ok(true), |it| truth("starts", it))?;
        Ok(Self { name, map, prefs: prefs(&data)?, pallets, starts })
    }
}

impl PeerPlan {
    /// Change what `data` says of it.
    pub(super) fn read(mut self, data: &Dynamic, plan: &Plan) -> Said<Self> {
        let data = map("a peer", data)?;
        const KEYS: [&str; 6] = ["role", "link", "prefs", "server", "joins", "inside"];
        known("entry of a peer", &data, &KEYS)?;
        if let Some(role_name) = data.get("role") {
            self.role = role(&text("role", role_name)?)?;
        }
        if let Some(link) = data.get("link") {
            self.links = links(link, &plan.links)?;
        }
        if let Some(server) = data.get("server") {
            let server = text("server", server)?;
            plan.server(&server)?;
            self.server = Some(server);
        }
        self.joins = match data.get("joins") {
            Some(never) if never.as_bool() == Ok(false) => None,
            Some(when) => Some(micros("joins", when)?),
            None => self.joins,
        };
        self.inside = data.get("inside").map_or(Ok(self.inside), |it| truth("inside", it))?;
        self.prefs.extend(prefs(&data)?);
        Ok(self)
    }
}

/// Refuse an entry that nobody reads.
pub(super) fn known(kind: &str, data: &Map, keys: &[&str]) -> Said<()> {
    match data.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(unknown(kind, key, keys.iter().copied())),
        None => Ok(()),
    }
}

/// An object map.
pub(super) fn map(what: &str, value: &Dynamic) -> Said<Map> {
    let found = value.type_name();
    let map = value.clone().try_cast::<Map>();
    map.ok_or_else(|| wrong(format!("{what}: expected an object map #{{...}}, found {found}")))
}

fn entries(data: &Map, key: &str) -> Said<Vec<(String, Dynamic)>> {
    let Some(value) = data.get(key) else { return Ok(Vec::new()) };
    Ok(map(key, value)?.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
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
    let Some(given) = data.get("prefs") else { return Ok(Vec::new()) };
    let mut checked = dh_prefs::Prefs::default();
    let pairs = map("prefs", given)?;
    let pairs = pairs.into_iter().map(|(key, value)| format!("{key}={value}"));
    let pairs: Vec<String> = pairs.collect();
    for pair in &pairs {
        checked.set_argument(pair).map_err(|error| wrong(format!("prefs: {error}")))?;
    }
    Ok(pairs)
}
