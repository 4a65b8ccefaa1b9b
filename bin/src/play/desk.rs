//! Desk: preferences that are set through the inspector while a world plays without a window.

use dh_prefs::{Prefs, Side};
use dh_scenario::{PeerId, ServerId, World};

use crate::inspect::{Setting, Waiting};

/// Where they are set, and what waits for the server's console.
#[derive(Debug)]
pub(super) struct Desk {
    server: ServerId,
    local: PeerId,
    /// Those of the local player.
    prefs: Prefs,
    /// Those that were typed on the server's console.
    typed: Waiting,
    /// Answers of the console that were read.
    read: usize,
}

impl Desk {
    pub(super) fn new(server: ServerId, local: PeerId, prefs: Prefs) -> Self {
        Self { server, local, prefs, typed: Waiting::default(), read: 0 }
    }

    /// Set these, and pass on what the console has answered since.
    pub(super) fn work(&mut self, world: &mut World, settings: Vec<Setting>) {
        for setting in settings {
            match setting.side() {
                Side::Client => {
                    if setting.apply(&mut self.prefs) {
                        world.client(self.local).apply(&self.prefs);
                    }
                }
                Side::Server => {
                    let number = world.console(self.server, &setting.line());
                    self.typed.wait(number, setting);
                }
            }
        }
        let records = world.records();
        let answers = &records.server(self.server).answers;
        for (number, text) in answers.iter().skip(self.read) {
            self.typed.answered(*number, text);
        }
        self.read = answers.len();
    }
}
