//! The role that plays at a window: a world in this process, its one person, some simulated peers.

use std::net::SocketAddr;

use dh_client::{
    CameraMode, Client, ClientContent, ClientOptions, Controls, Dialer, Observer, Pilot,
};
use dh_host::net::{Identity, Links, Whose};
use dh_host::{KnownBuilds, Runtime, Scope};
use dh_prefs::{Address, Prefs, key};
use dh_server::{Server, ServerOptions};
use dh_sim::GrayBox;
use dh_store::Shelf;
use dh_wire::Guid;

use super::{Actors, LOOPBACK, PEERS, SEED, cast, tell};
use crate::command::{Play, Shared};
use crate::data::DataFolder;
use crate::exit::Failure;
use crate::front::{Front, FrontMsg};
use crate::inspect::Shown;
use crate::join::Visit;
use crate::picture::Theatre;
use crate::{content, identity, join, picture, serve, settings};

/// What this role is run with.
pub(crate) struct Hosting<'a> {
    pub(crate) flags: &'a Play,
    pub(crate) shared: &'a Shared,
    pub(crate) folder: DataFolder,
    pub(crate) prefs: Prefs,
    pub(crate) runtime: Runtime,
    pub(crate) shown: Shown,
    pub(crate) front: Front,
    pub(crate) theatre: Theatre,
}

/// Runs the role until its window is closed, its time is over or somebody asks.
pub(crate) fn run(hosting: Hosting<'_>) -> Result<(), Failure> {
    let Hosting { flags, shared, folder, prefs, runtime, shown, front, theatre } = hosting;
    let identity = identity::load(&folder)?;
    let peers = flags.peers.unwrap_or(PEERS);
    let shelf = content::shelf(&flags.content, &folder)?;
    let kept = ClientContent { shelf: shelf.clone(), picture_side_max: picture::side_max() };
    let builds = KnownBuilds::of_this_build();
    let house = (shelf, builds.clone());
    let server = server(&runtime, &front, &identity, &prefs, (peers, flags), house)?;
    let address = server.address();
    shown.ready();
    if flags.listen.is_some() {
        serve::ready(&server, &identity.key().fingerprint(), &shown, shared);
    }

    let seed = u64::from_le_bytes(*identity.key().bytes().first_chunk().unwrap_or(&[0; 8]));
    let gray_box = GrayBox::new();
    let options = ClientOptions {
        dialer: inside(identity, address),
        builds: builds.clone(),
        content: Some(kept.clone()),
        prefs,
        fallback_name: join::fallback_name(seed),
        controls: Controls::default(),
        camera: CameraMode::Eyes,
        observer: Observer::new(front.port().inlet(FrontMsg::Client), false),
    };
    let scope = runtime.root().child("client");
    let mut visit = Visit::start(&scope, &gray_box, options, front, shared, Some(theatre));
    visit.connect(at(address));
    let crowd = runtime.root().child("peers");
    let house = (ClientContent { picture_side_max: None, ..kept }, builds);
    let crowd: Vec<Client> =
        (0..peers).map(|number| peer(&crowd, &gray_box, house.clone(), number, address)).collect();

    visit.play(flags.stage.seconds);
    let picture = match &flags.stage.picture {
        Some(path) if visit.is_worth_a_picture() => {
            visit.photograph(path)?.map(|drawn| (path.as_path(), drawn))
        }
        Some(_) | None => None,
    };
    let actors = Actors::of(&runtime);
    visit.close();
    visit.leave();
    crowd.iter().for_each(Client::disconnect);
    server.say_goodbye("the host has left");
    let told = tell(shared, picture.as_ref().map(|(path, drawn)| (*path, drawn)), &actors);
    serve::stop(&runtime)?;
    told?;
    serve::failed(&runtime)?;
    visit.result()
}

fn server(
    runtime: &Runtime,
    front: &Front,
    identity: &Identity,
    prefs: &Prefs,
    (peers, flags): (u32, &Play),
    (shelf, builds): (Shelf, KnownBuilds),
) -> Result<Server, Failure> {
    let mut prefs = prefs.clone();
    // The person and the simulated ones always find a place.
    let cap = prefs.get(key::MAX_PLAYERS).max(peers + 1).min(64);
    let told = prefs.set_argument(&format!("server.maxPlayers={cap}"));
    told.map_err(|error| settings::failure(&[error]))?;
    let map = super::map(flags, &shelf)?;
    let options = ServerOptions {
        address: serve::listening(flags.listen, LOOPBACK)?,
        open: flags.listen.is_some(),
        identity: identity.clone(),
        prefs,
        name: "server".to_owned(),
        world_id: Guid::from(serve::new_world_id(runtime)),
        builds,
        observer: dh_server::Observer::new(front.port().inlet(FrontMsg::Server), false),
        answers: front.port().inlet(FrontMsg::Answer),
        shelf: Some(shelf),
        map: Some(map),
        links: Links::IDEAL,
    };
    let server = Server::start(&runtime.root().child("server"), options);
    server.map_err(|error| serve::cannot_start(&error))
}

/// One simulated peer, on its way in.
fn peer(
    crowd: &Scope,
    world: &GrayBox,
    (kept, builds): (ClientContent, KnownBuilds),
    number: u32,
    server: SocketAddr,
) -> Client {
    let (name, manner) = cast(number);
    let scope = crowd.child(name.clone());
    let secret = crowd.runtime().seeds().bytes(&format!("identity-{name}"));
    let options = ClientOptions {
        dialer: inside(Identity::from_secret(&secret), server),
        builds,
        content: Some(kept),
        prefs: Prefs::default(),
        fallback_name: name,
        controls: Controls::Flown(Box::new(Pilot::new(manner, SEED + u64::from(number)))),
        camera: CameraMode::Map,
        observer: Observer::default(),
    };
    let client = Client::start(&scope, world, options);
    client.connect(Some(at(server)));
    client
}

fn inside(identity: Identity, server: SocketAddr) -> Dialer {
    let mut dialer = Dialer::new(identity);
    dialer.local = Some(server);
    dialer.through_memory = Some(Whose::Host);
    dialer
}

fn at(server: SocketAddr) -> Address {
    Address { host: server.ip().to_string(), port: server.port() }
}
