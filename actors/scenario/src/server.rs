//! A server of a scenario.

use std::net::SocketAddr;

use dh_host::net::Identity;
use dh_prefs::Prefs;
use dh_store::Shelf;

use crate::build::OtherBuild;

/// One server of a scenario, in the order of making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub u32);

/// What a server is made from.
#[derive(Clone, Debug, Default)]
pub struct ServerSetup {
    /// What it is called in the tree of actors, behind `server-`; `None` takes its number.
    pub name: Option<String>,
    /// Its preferences.
    pub prefs: Prefs,
    /// Where it listens; `None` takes an address of its own in simulation, else any free port of
    /// the loopback.
    pub address: Option<SocketAddr>,
    /// The key it proves itself by; `None` takes one that follows from the seed.
    pub identity: Option<Identity>,
    /// What it may run maps from; the gray box alone without it.
    pub shelf: Option<Shelf>,
    /// The map it starts with; the gray box without one.
    pub map: Option<String>,
    /// The build it is of; this one unless said.
    pub build: Option<OtherBuild>,
}

impl ServerSetup {
    /// Of another build.
    #[must_use]
    pub fn of(self, build: OtherBuild) -> Self {
        Self { build: Some(build), ..self }
    }

    /// With a preference, `KEY=VALUE`.
    ///
    /// # Panics
    /// When it is refused: the scenario is at fault.
    #[must_use]
    pub fn with(mut self, pref: &str) -> Self {
        set(&mut self.prefs, pref);
        self
    }
}

/// Set one preference of a scenario.
#[expect(clippy::panic, reason = "the scenario is at fault and cannot go on")]
pub(crate) fn set(prefs: &mut Prefs, pref: &str) {
    if let Err(error) = prefs.set_argument(pref) {
        panic!("a scenario's preference: {error}");
    }
}
