//! A simulated peer: a whole headless client, its path to servers, and who holds its controls.

use dh_client::{ClientContent, Manner};
use dh_host::net::Links;
use dh_prefs::Prefs;

use crate::build::OtherBuild;
use crate::server::set;

/// One peer of a scenario, in the order of making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

/// What a peer is made from.
#[derive(Clone, Debug)]
pub struct PeerSetup {
    /// Its display name; also the name of its key and of all its draws.
    pub name: String,
    /// What its path does to packets.
    pub links: Links,
    /// Who holds its controls.
    pub manner: Manner,
    /// Its preferences.
    pub prefs: Prefs,
    /// Whether it is the host inside the server's process, whatever the transport.
    pub inside: bool,
    /// Where its content lies; without it it shows the gray box only.
    pub content: Option<ClientContent>,
    /// The build it is of; this one unless said.
    pub build: Option<OtherBuild>,
}

impl PeerSetup {
    /// An idle peer on an ideal path.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            links: Links::IDEAL,
            manner: Manner::Idle,
            prefs: Prefs::default(),
            inside: false,
            content: None,
            build: None,
        }
    }

    /// Over this path.
    #[must_use]
    pub fn over(self, links: Links) -> Self {
        Self { links, ..self }
    }

    /// With a pilot of this manner.
    #[must_use]
    pub fn flown(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    /// Inside the server's process, through memory.
    #[must_use]
    pub fn inside(self) -> Self {
        Self { inside: true, ..self }
    }

    /// Keeping content here.
    #[must_use]
    pub fn keeping(self, content: ClientContent) -> Self {
        Self { content: Some(content), ..self }
    }

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
