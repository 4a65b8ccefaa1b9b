//! Limits: what peers of a server run into, by name, for whoever looks at its process.

use dh_host::{Limit, Runtime};

use crate::directory::Directory;
use crate::listener::{UNFINISHED_MAX, UNVALIDATED_MAX};
use crate::prefs::players_max;
use crate::session::Rate;

/// The limits of one runtime's servers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerLimits<'a>(&'a Runtime);

impl<'a> ServerLimits<'a> {
    pub(crate) const fn of(runtime: &'a Runtime) -> Self {
        Self(runtime)
    }

    /// Name all of them, so that they are shown before anybody runs into one.
    pub(crate) fn declare(self, directory: &Directory) {
        self.players(directory);
        self.handshakes();
        self.unproved();
        for rate in [Rate::Chat, Rate::Console, Rate::Datagrams] {
            self.rate(rate);
        }
    }

    /// Sessions at once.
    pub(crate) fn players(self, directory: &Directory) -> Limit {
        self.named("server.players", "sessions", players_max(&directory.prefs()))
    }

    /// Unfinished handshakes of those who have proved their address; one more is not answered.
    pub(crate) fn handshakes(self) -> Limit {
        self.named("server.handshakes", "unfinished", UNFINISHED_MAX)
    }

    /// Unfinished handshakes above which an address must be proved.
    pub(crate) fn unproved(self) -> Limit {
        self.named("server.unproved", "unfinished", UNVALIDATED_MAX)
    }

    /// What one peer may do how often.
    pub(crate) fn rate(self, rate: Rate) -> Limit {
        match rate {
            Rate::Chat => self.named("server.chat", "lines at once", rate.burst()),
            Rate::Console => self.named("server.console", "lines at once", rate.burst()),
            Rate::Datagrams => self.named("server.datagrams", "at once", rate.burst()),
        }
    }

    fn named(self, name: &'static str, unit: &'static str, max: usize) -> Limit {
        self.0.limits().named(name, unit, u64::try_from(max).unwrap_or(u64::MAX))
    }
}
