//! Client: starts the client's actors in a scope, and is the handle they are driven by.

use std::net::SocketAddr;
use std::sync::Arc;

use dh_host::net::{ClientPath, Links, RebindError};
use dh_host::{Inlet, KnownBuilds, Place, Port, Pump, Scope};
use dh_machine::Spec;
use dh_prefs::{Address, Prefs};
use dh_sim::GrayBox;
use dh_view::View;

use crate::connection::{ConnectionActor, ConnectionMsg, ServerLine};
use crate::content::{ClientContent, StandingMap};
use crate::controls::{Controls, Wish};
use crate::dialer::Dialer;
use crate::downloader::DownloaderActor;
use crate::event::Observer;
use crate::map_loader::MapLoaderActor;
use crate::predictor::{PredictorActor, PredictorMsg, Standing};
use crate::presenter::{CameraMode, PresenterActor, PresenterMsg, Stage};
use crate::ways::Ways;
use crate::{connection, downloader, map_loader, predictor, prefs, presenter};

/// The promises of all client actors: who waits for whom is checked to be acyclic over these.
pub const SPECS: &[Spec] =
    &[connection::SPEC, downloader::SPEC, map_loader::SPEC, predictor::SPEC, presenter::SPEC];

/// What a client starts from.
#[derive(Debug)]
pub struct ClientOptions {
    /// How it dials.
    pub dialer: Dialer,
    /// The build it is of, and those its process has met.
    pub builds: KnownBuilds,
    /// Where content lies; a client without it shows the gray box only.
    pub content: Option<ClientContent>,
    /// The preferences as they stand at the start.
    pub prefs: Prefs,
    /// The name where `client.name` is not set.
    pub fallback_name: String,
    /// Who holds the controls at first.
    pub controls: Controls,
    /// Where pictures are taken from.
    pub camera: CameraMode,
    /// Who watches.
    pub observer: Observer,
}

/// A running client.
#[derive(Clone, Debug)]
pub struct Client {
    scope: Scope,
    ways: Ways,
    path: ClientPath,
    fallback_name: String,
}

impl Client {
    /// Start a client in `scope`; it is nowhere until told to connect.
    #[must_use]
    pub fn start(scope: &Scope, world: &GrayBox, options: ClientOptions) -> Self {
        let place = |presenter| (scope.spawn(Place::Thread("frame"), "presenter", presenter), ());
        Self::begin(scope, world, options, None, place).0
    }

    /// The same for a client with a window: its presenter runs only while the window's loop pumps
    /// it, and every view that is asked for goes to `views`.
    #[must_use]
    pub fn start_on_screen(
        scope: &Scope,
        world: &GrayBox,
        options: ClientOptions,
        views: Inlet<Arc<View>>,
    ) -> (Self, Pump<PresenterActor>) {
        let place = |presenter| scope.pumped("presenter", presenter);
        Self::begin(scope, world, options, Some(views), place)
    }

    fn begin<P>(
        scope: &Scope,
        world: &GrayBox,
        options: ClientOptions,
        views: Option<Inlet<Arc<View>>>,
        place: impl FnOnce(PresenterActor) -> (Port<PresenterMsg>, P),
    ) -> (Self, P) {
        let ClientOptions { dialer, content, prefs, fallback_name, .. } = options;
        let ClientOptions { controls, camera, observer, builds, .. } = options;
        builds.declare(scope.runtime());
        let (ways, path) = (Ways::default(), dialer.path.clone());

        let prefs = Arc::new(prefs);
        let stage = Stage::new(camera, Arc::clone(&prefs));
        let shown = StandingMap::gray_box(world, 0);
        let presenter =
            PresenterActor::new(ways.clone(), observer.clone(), views, shown.scene, stage);
        let (port, placed) = place(presenter);
        ways.set_presenter(port);

        let standing = Standing::new(controls, Arc::clone(&prefs));
        let predictor = PredictorActor::new(ways.clone(), observer.clone(), shown.solids, standing);
        ways.set_predictor(scope.spawn(Place::Thread("predict"), "predictor", predictor));

        let profile = Arc::new(prefs::profile(&prefs, &fallback_name));
        let loader = MapLoaderActor::new(content.clone(), ways.clone());
        ways.set_map_loader(scope.spawn(Place::Thread("map-loader"), "map-loader", loader));
        let downloader = DownloaderActor::new(content, ways.clone(), observer.clone());
        ways.set_downloader(scope.spawn(Place::Io, "downloader", downloader));

        let gray_box = Arc::new(world.clone());
        let line = (dialer, builds);
        let connection = ConnectionActor::new(profile, ways.clone(), observer, line, gray_box);
        ways.set_connection(scope.spawn(Place::Net, "connection", connection));
        (Self { scope: scope.clone(), ways, path, fallback_name }, placed)
    }

    /// Join a server; without an address the one before, or this machine.
    pub fn connect(&self, address: Option<Address>) {
        self.ways.to_connection(ConnectionMsg::Connect(address));
    }

    /// Leave, or give up the attempt.
    pub fn disconnect(&self) {
        self.ways.to_connection(ConnectionMsg::Disconnect);
    }

    /// Say a line to everybody. What shows nothing, is too much at once or comes before there is a
    /// pawn is not said.
    pub fn chat(&self, text: impl Into<String>) {
        self.ways.to_connection(ConnectionMsg::Chat(text.into()));
    }

    /// Have the server's console run a line, if it lets this player; the answer is told as an
    /// event that carries `id`.
    pub fn console(&self, id: u32, text: impl Into<String>) {
        self.ways.to_connection(ConnectionMsg::Console(ServerLine { id, text: text.into() }));
    }

    /// Want this from the next tick on.
    pub fn wish(&self, wish: Wish) {
        self.ways.to_predictor(PredictorMsg::Wish(wish));
    }

    /// Hand the controls over.
    pub fn control(&self, controls: Controls) {
        self.ways.to_predictor(PredictorMsg::Controls(controls));
    }

    /// Take pictures from elsewhere.
    pub fn camera(&self, camera: CameraMode) {
        self.ways.to_presenter(PresenterMsg::Camera(camera));
    }

    /// Ask for a view of this moment; it is told as an event.
    pub fn present(&self) {
        self.ways.to_presenter(PresenterMsg::Present);
    }

    /// Preferences have changed: each actor takes what it lives by.
    pub fn apply(&self, prefs: &Prefs) {
        let profile = prefs::profile(prefs, &self.fallback_name);
        self.ways.to_connection(ConnectionMsg::Profile(Arc::new(profile)));
        let prefs = Arc::new(prefs.clone());
        self.ways.to_predictor(PredictorMsg::Prefs(Arc::clone(&prefs)));
        self.ways.to_presenter(PresenterMsg::Prefs(prefs));
    }

    /// Have its path do this to packets from now on; for scenarios, and over a real socket only
    /// where the path was given links before, or is shaped.
    pub fn relink(&self, links: Links) {
        self.ways.to_connection(ConnectionMsg::Links(links));
    }

    /// Its path to servers, to be cut, healed and given another address; for scenarios.
    #[must_use]
    pub fn path(&self) -> &ClientPath {
        &self.path
    }

    /// Have the network see it at another address from now on; for scenarios.
    ///
    /// # Errors
    /// When there is no path, or no way to change its address.
    pub fn rebind(&self) -> Result<SocketAddr, RebindError> {
        self.path.rebind()
    }

    /// Where its actors listen.
    #[must_use]
    pub fn ways(&self) -> &Ways {
        &self.ways
    }

    /// The scope its actors run in.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}
