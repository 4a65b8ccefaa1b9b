//! The role that starts a world here and plays in it: one local player, some simulated peers, a
//! picture and the table of actors at the end.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dh_client::Manner;
use dh_machine::Micros;
use dh_prefs::{Prefs, key};
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerSetup, World};
use dh_view::{PictureReport, View};
use serde_json::{Value, json};

use crate::command::{Play, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure, say};
use crate::front::Front;
use crate::picture::{Darkroom, no_adapter};
use crate::{identity, join, output, picture, serve, settings, table};

/// Simulated peers unless told otherwise.
const PEERS: u32 = 8;
/// How long it runs unless told otherwise.
const SECONDS: Duration = Duration::from_secs(10);
/// Where the picture goes unless told otherwise.
const PICTURE: &str = "driftholm.png";
/// How long everybody may take to enter play.
const JOIN_MAX: Micros = Micros::from_secs(15);
/// What the pilots' courses follow from: everybody stays where the picture shows them.
const SEED: u64 = 11;
/// What simulated peers are called.
const NAMES: [&str; 12] = [
    "Aurora", "Bjarke", "Cassia", "Dagny", "Eskil", "Freya", "Gunnar", "Hedda", "Ivar", "Juno",
    "Kari", "Leif",
];

/// Runs the role to its end.
pub(crate) fn run(flags: &Play, shared: &Shared) -> Result<(), Failure> {
    let folder = DataFolder::open(shared.data.as_deref())?;
    let prefs = settings::load(&folder, None, shared)?;
    let runtime = serve::start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), false)?;
    let darkroom = match (Darkroom::open(&runtime.root(), &front), &flags.stage.picture) {
        (Ok(darkroom), _) => Some(darkroom),
        (Err(none), Some(_)) => return Err(no_adapter(&none)),
        (Err(none), None) => {
            say(&format!("{none}; playing on without a picture"));
            None
        }
    };
    let show = Show::new(flags, prefs, &folder)?;
    show.announce();
    let mut shown = Err(Failure::new(Exit::Internal, "the world never started"));
    let course = async |world: &mut World| shown = show.play(world).await;
    let report = runtime.block_on(Scenario::new("play", SEED).play(runtime.clone(), course));
    let view = shown?;
    let actors = Actors { text: table::text(&runtime), json: table::json(&runtime) };
    let picture = match (darkroom, view) {
        (Some(mut darkroom), Some(view)) => {
            let path = show.picture.clone();
            let drawn = darkroom.develop(&front, view, &path)?;
            Some((path, drawn))
        }
        _ => None,
    };
    tell(shared, picture.as_ref().map(|(path, drawn)| (path.as_path(), drawn)), &actors)?;
    serve::stop(&runtime)?;
    for failure in &report.failures {
        say(&failure.what);
    }
    serve::failed(&runtime)
}

/// What this run shows.
struct Show {
    server: ServerSetup,
    local: PeerSetup,
    peers: u32,
    seconds: Duration,
    picture: PathBuf,
}

impl Show {
    fn new(flags: &Play, prefs: Prefs, folder: &DataFolder) -> Result<Self, Failure> {
        let peers = flags.peers.unwrap_or(PEERS);
        let identity = identity::load(folder)?;
        let seed = u64::from_le_bytes(*identity.key().bytes().first_chunk().unwrap_or(&[0; 8]));
        let name = prefs.get(key::CLIENT_NAME).unwrap_or_else(|| join::fallback_name(seed));
        let mut local = PeerSetup::new(name).inside().flown(Manner::Walker);
        local.prefs = prefs.clone();
        let address = flags.listen.unwrap_or(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0));
        let mut server = ServerSetup { prefs, address: Some(address), identity: Some(identity) };
        // The local player and the simulated ones always find a place.
        let cap = server.prefs.get(key::MAX_PLAYERS).max(peers + 1);
        server = server.with(&format!("server.maxPlayers={cap}"));
        let seconds = flags.stage.seconds.unwrap_or(SECONDS);
        let picture = flags.stage.picture.clone().unwrap_or_else(|| PICTURE.into());
        Ok(Self { server, local, peers, seconds, picture })
    }

    fn announce(&self) {
        let display = ["WAYLAND_DISPLAY", "DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
        let why = if display { "this build opens no window yet" } else { "there is no display" };
        let (seconds, peers) = (self.seconds.as_secs_f64(), self.peers);
        say(&format!("{why}: playing headless for {seconds} s with {peers} simulated peers"));
    }

    /// Everybody joins, time passes, a view of the end is taken.
    async fn play(&self, world: &mut World) -> Result<Option<Arc<View>>, Failure> {
        let server =
            world.try_server(self.server.clone()).map_err(|error| serve::cannot_listen(&error))?;
        let local = world.peer(self.local.clone());
        world.join(local, server);
        let playing = |world: &World| world.is_playing(local);
        if !world.expect_within(JOIN_MAX, "the local player enters play", playing).await {
            return Err(Failure::new(Exit::Internal, "the local player did not enter play"));
        }
        let end = world.runtime().now() + micros(self.seconds);
        let peers: Vec<PeerId> = (0..self.peers).map(|n| world.peer(peer(n))).collect();
        for peer in &peers {
            world.join(*peer, server);
        }
        let all = |world: &World| peers.iter().all(|peer| world.is_playing(*peer));
        world.expect_within(JOIN_MAX, "every simulated peer enters play", all).await;
        world.run_for(end - world.runtime().now()).await;
        world.client(local).present();
        let shown = |world: &World| world.records().peer(local).view.is_some();
        world.expect_within(Micros::from_secs(2), "the presenter answers", shown).await;
        let view = world.records().peer(local).view.clone();
        Ok(view)
    }
}

fn peer(number: u32) -> PeerSetup {
    let at = usize::try_from(number).unwrap_or_default();
    let round = at / NAMES.len();
    let name = NAMES[at % NAMES.len()];
    let name = if round == 0 { name.to_owned() } else { format!("{name} {}", round + 1) };
    let manner = if at % 3 == 2 { Manner::Jumper } else { Manner::Walker };
    PeerSetup::new(name).flown(manner)
}

/// The table of actors as it stood at the end of play.
struct Actors {
    text: String,
    json: Value,
}

fn tell(
    shared: &Shared,
    picture: Option<(&Path, &PictureReport)>,
    actors: &Actors,
) -> Result<(), Failure> {
    if shared.json {
        let picture = picture.map(|(path, report)| picture::facts(path, report));
        return output::json(&json!({ "picture": picture, "actors": actors.json }));
    }
    output::line(&actors.text)?;
    picture.map_or(Ok(()), |(path, report)| output::line(&picture::line(path, report)))
}

fn micros(span: Duration) -> Micros {
    Micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}
