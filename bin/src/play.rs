//! The role that starts a world here and plays in it: one local player, some simulated peers, a
//! picture and the table of actors at the end.

mod desk;
mod hosting;
mod table;

use std::cell::RefCell;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use dh_client::{ClientContent, Manner};
use dh_host::Runtime;
use dh_host::net::Fingerprint;
use dh_machine::Micros;
use dh_prefs::{Prefs, key};
use dh_render::find_adapter;
use dh_scenario::{PeerId, PeerSetup, Scenario, ServerSetup, World};
use dh_store::Shelf;
use dh_view::{PictureReport, View};
use serde_json::{Value, json};

use self::desk::Desk;
use self::hosting::Hosting;
use crate::command::{Play, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure, say};
use crate::front::{Event, Front, FrontMsg};
use crate::inspect::{Setting, Shown};
use crate::picture::{Darkroom, Theatre, no_adapter};
use crate::{content, identity, join, output, picture, serve, settings};

/// How often somebody who asks to end is listened for.
const LISTEN_EVERY: Micros = Micros::from_millis(50);
/// Where the world listens unless told otherwise.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Simulated peers unless told otherwise.
const PEERS: u32 = 8;
/// Preferences that may wait to be set; one more is told that nobody sets it.
const SETTINGS_MAX: usize = 64;
/// How long it runs unless told otherwise.
const SECONDS: Duration = Duration::from_secs(10);
/// Where the picture goes unless told otherwise.
const PICTURE: &str = "driftholm.png";
/// The map of the core pallet that is worth looking at.
const DEMO: &str = "core:assets/demo.dh-map";
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
    flags.stage.picture.as_deref().map_or(Ok(()), picture::check)?;
    let folder = DataFolder::open(shared.data.as_deref())?;
    let prefs = settings::load(&folder, None, shared)?;
    let runtime = serve::start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), !flags.stage.headless)?;
    let settings = front.port().inlet(FrontMsg::Set);
    let shown = Shown::start(&runtime, &folder, "play", flags.stage.inspect, settings)?;
    let mut why = None;
    // Without anything to draw with the darkroom says so.
    if !flags.stage.headless && find_adapter().is_ok() {
        match Theatre::open(&runtime.root(), &front) {
            Ok(theatre) => {
                let hosting =
                    Hosting { flags, shared, folder, prefs, runtime, shown, front, theatre };
                return hosting::run(hosting);
            }
            Err(none) => why = Some(none),
        }
    }
    let darkroom = match (Darkroom::open(&runtime.root(), &front), &flags.stage.picture) {
        (Ok(darkroom), _) => Some(darkroom),
        (Err(none), Some(_)) => return Err(no_adapter(&none)),
        (Err(none), None) => {
            say(&format!("{none}; playing on without a picture"));
            None
        }
    };
    let show = Show::new(flags, shared, prefs, &folder, shown)?;
    show.announce(why.as_deref());
    let mut shown = Err(Failure::new(Exit::Internal, "the world never started"));
    let course = async |world: &mut World| shown = show.play_until_asked(world, &front).await;
    let report = runtime.block_on(Scenario::new("play", SEED).play(runtime.clone(), course));
    let view = shown?;
    let actors = Actors::of(&runtime);
    let picture = match (darkroom, view) {
        (Some(mut darkroom), Some(view)) => {
            let path = show.picture.clone();
            let drawn = darkroom.develop(&front, view, &path)?;
            Some((path, drawn))
        }
        _ => None,
    };
    let picture = picture.as_ref().map(|(path, drawn)| (path.as_path(), drawn));
    let told = tell(shared, picture, &actors);
    // In order too where nobody reads any more, as when a terminal has gone.
    serve::stop(&runtime)?;
    told?;
    for failure in &report.failures {
        say(&failure.what);
    }
    serve::failed(&runtime)
}

/// The map that this run plays in.
fn map(flags: &Play, shelf: &Shelf) -> Result<String, Failure> {
    let map = content::map(flags.map.as_deref(), shelf)?;
    Ok(map.unwrap_or_else(|| DEMO.to_owned()))
}

/// What this run shows.
struct Show<'a> {
    shared: &'a Shared,
    shown: Shown,
    /// Who it is to those outside, where they may join.
    open_as: Option<Fingerprint>,
    server: ServerSetup,
    local: PeerSetup,
    /// What those keep who draw nothing.
    blind: ClientContent,
    peers: u32,
    seconds: Duration,
    picture: PathBuf,
    /// Preferences that are to be set as soon as the world stands.
    settings: RefCell<Vec<Setting>>,
}

impl<'a> Show<'a> {
    fn new(
        flags: &Play,
        shared: &'a Shared,
        prefs: Prefs,
        folder: &DataFolder,
        shown: Shown,
    ) -> Result<Self, Failure> {
        let peers = flags.peers.unwrap_or(PEERS);
        let identity = identity::load(folder)?;
        let seed = u64::from_le_bytes(*identity.key().bytes().first_chunk().unwrap_or(&[0; 8]));
        let name = prefs.get(key::CLIENT_NAME).unwrap_or_else(|| join::fallback_name(seed));
        let shelf = content::shelf(&flags.content, folder)?;
        let map = map(flags, &shelf)?;
        let kept = ClientContent { shelf: shelf.clone(), picture_side_max: picture::side_max() };
        let mut local = PeerSetup::new(name).inside().flown(Manner::Walker).keeping(kept.clone());
        local.prefs = prefs.clone();
        let address = serve::listening(flags.listen, LOOPBACK)?;
        let open_as = flags.listen.map(|_| identity.key().fingerprint());
        let mut server = ServerSetup {
            prefs,
            address: Some(address),
            identity: Some(identity),
            shelf: Some(shelf),
            map: Some(map),
            ..ServerSetup::default()
        };
        // The local player and the simulated ones always find a place.
        let cap = server.prefs.get(key::MAX_PLAYERS).max(peers + 1);
        server = server.with(&format!("server.maxPlayers={cap}"));
        let seconds = flags.stage.seconds.unwrap_or(SECONDS);
        let picture = flags.stage.picture.clone().unwrap_or_else(|| PICTURE.into());
        let blind = ClientContent { picture_side_max: None, ..kept };
        let settings = RefCell::default();
        Ok(Self { shared, shown, open_as, server, local, blind, peers, seconds, picture, settings })
    }

    fn announce(&self, why: Option<&str>) {
        let (seconds, peers) = (self.seconds.as_secs_f64(), self.peers);
        let why = why.map_or_else(String::new, |why| format!("{why}: "));
        say(&format!("{why}playing headless for {seconds} s with {peers} simulated peers"));
    }

    /// Play to the end, or until somebody asks: whoever does that waits for no picture.
    async fn play_until_asked(
        &self,
        world: &mut World,
        front: &Front,
    ) -> Result<Option<Arc<View>>, Failure> {
        let runtime = world.runtime().clone();
        let asked = asked(&runtime, front, &self.settings);
        let (mut asked, mut play) = (pin!(asked), pin!(self.play(world)));
        poll_fn(|cx| match asked.as_mut().poll(cx) {
            Poll::Ready(name) => {
                say(&format!("leaving: {name}"));
                Poll::Ready(Ok(None))
            }
            Poll::Pending => play.as_mut().poll(cx),
        })
        .await
    }

    /// Everybody joins, time passes, a view of the end is taken.
    async fn play(&self, world: &mut World) -> Result<Option<Arc<View>>, Failure> {
        let server =
            world.try_server(self.server.clone()).map_err(|error| serve::cannot_start(&error))?;
        if let Some(identity) = &self.open_as {
            serve::ready(world.running(server), identity, &self.shown, self.shared);
        }
        self.shown.ready();
        let local = world.peer(self.local.clone());
        world.join(local, server);
        let ended = |world: &World| world.records().peer(local).endings.last().cloned();
        let settled = |world: &World| world.is_playing(local) || ended(world).is_some();
        world.expect_within(JOIN_MAX, "the local player enters play", settled).await;
        if !world.is_playing(local) {
            let why = ended(world).as_ref().and_then(join::failure_of);
            let unknown = || Failure::new(Exit::Internal, "the local player did not enter play");
            return Err(why.unwrap_or_else(unknown));
        }
        let end = world.runtime().now() + micros(self.seconds);
        let peers: Vec<PeerId> =
            (0..self.peers).map(|n| world.peer(peer(n).keeping(self.blind.clone()))).collect();
        for peer in &peers {
            world.join(*peer, server);
        }
        let all = |world: &World| peers.iter().all(|peer| world.is_playing(*peer));
        world.expect_within(JOIN_MAX, "every simulated peer enters play", all).await;
        let mut desk = Desk::new(server, local, self.local.prefs.clone());
        while world.runtime().now() < end {
            world.run_for(LISTEN_EVERY.min(end - world.runtime().now())).await;
            desk.work(world, self.settings.take());
        }
        world.client(local).present();
        let shown = |world: &World| world.records().peer(local).view.is_some();
        world.expect_within(Micros::from_secs(2), "the presenter answers", shown).await;
        let view = world.records().peer(local).view.clone();
        Ok(view)
    }
}

/// The signal that asks the process to end, once one does.
async fn asked(runtime: &Runtime, front: &Front, settings: &RefCell<Vec<Setting>>) -> &'static str {
    loop {
        while let Some(event) = front.next(Some(Instant::now())) {
            match event {
                Event::Signal(name) => return name,
                Event::Told(FrontMsg::Set(setting)) if settings.borrow().len() < SETTINGS_MAX => {
                    settings.borrow_mut().push(setting);
                }
                Event::Told(_) => (),
            }
        }
        runtime.sleep_until(runtime.now() + LISTEN_EVERY).await;
    }
}

fn peer(number: u32) -> PeerSetup {
    let (name, manner) = cast(number);
    PeerSetup::new(name).flown(manner)
}

/// What a simulated peer is called, and how it moves.
fn cast(number: u32) -> (String, Manner) {
    let at = usize::try_from(number).unwrap_or_default();
    let round = at / NAMES.len();
    let name = NAMES[at % NAMES.len()];
    let name = if round == 0 { name.to_owned() } else { format!("{name} {}", round + 1) };
    let manner = if at % 3 == 2 { Manner::Jumper } else { Manner::Walker };
    (name, manner)
}

/// The table of actors as it stood at the end of play.
struct Actors {
    text: String,
    json: Value,
}

impl Actors {
    /// As it stands now.
    fn of(runtime: &Runtime) -> Self {
        Self { text: table::text(runtime), json: table::json(runtime) }
    }
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
