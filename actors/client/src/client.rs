//! Client: starts the client's actors in a scope, and is the handle they are driven by.

use std::sync::Arc;

use dh_host::{Place, Scope};
use dh_machine::Spec;
use dh_prefs::{Address, Prefs};
use dh_sim::GrayBox;

use crate::connection::{ConnectionActor, ConnectionMsg};
use crate::controls::{Controls, Wish};
use crate::dialer::Dialer;
use crate::event::Observer;
use crate::predictor::{PredictorActor, PredictorMsg, Standing};
use crate::presenter::{CameraMode, PresenterActor, PresenterMsg};
use crate::ways::Ways;
use crate::{connection, predictor, prefs, presenter};

/// The promises of all client actors: who waits for whom is checked to be acyclic over these.
pub const SPECS: &[Spec] = &[connection::SPEC, predictor::SPEC, presenter::SPEC];

/// What a client starts from.
#[derive(Debug)]
pub struct ClientOptions {
    /// How it dials.
    pub dialer: Dialer,
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
    fallback_name: String,
}

impl Client {
    /// Start a client in `scope`; it is nowhere until told to connect.
    #[must_use]
    pub fn start(scope: &Scope, world: &GrayBox, options: ClientOptions) -> Self {
        let ClientOptions { dialer, prefs, fallback_name, controls, camera, observer } = options;
        let ways = Ways::default();

        let boxes = world.boxes();
        let stage = PresenterActor::new(observer.clone(), boxes, camera, prefs::interp(&prefs));
        ways.set_presenter(scope.spawn(Place::Thread("frame"), "presenter", stage));

        let clock = Some(prefs::clock(&prefs));
        let predictor = PredictorActor {
            ways: ways.clone(),
            observer: observer.clone(),
            solids: world.solids(),
            standing: Standing { rate: None, sequence: 0, controls, clock },
        };
        ways.set_predictor(scope.spawn(Place::Thread("predict"), "predictor", predictor));

        let profile = Arc::new(prefs::profile(&prefs, &fallback_name));
        let connection = ConnectionActor::new(profile, ways.clone(), observer, dialer);
        ways.set_connection(scope.spawn(Place::Net, "connection", connection));
        Self { scope: scope.clone(), ways, fallback_name }
    }

    /// Join a server; without an address the one before, or this machine.
    pub fn connect(&self, address: Option<Address>) {
        self.ways.to_connection(ConnectionMsg::Connect(address));
    }

    /// Leave, or give up the attempt.
    pub fn disconnect(&self) {
        self.ways.to_connection(ConnectionMsg::Disconnect);
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
        self.ways.to_predictor(PredictorMsg::Clock(prefs::clock(prefs)));
        self.ways.to_presenter(PresenterMsg::Interp(prefs::interp(prefs)));
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
