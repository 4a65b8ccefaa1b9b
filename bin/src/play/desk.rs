//! Desk: preferences that are set through the inspector while a world plays without a window.

use dh_prefs::{Prefs, Side};
use dh_scenario::{PeerId, ServerId, World};

use crate::inspect::Setting;

/// Where they are set, and what waits for the server's console.
#[derive(Debug)]
pub(super) struct Desk {
    server: ServerId,
    local: PeerId,
    /// Those of the local player.
    prefs: Prefs,
    /// By the number of the line on the console.
    typed: Vec<(u32, Setting)>,
    /// Answers of the console that were read.
    read: usize,
}

impl Desk {
    pub(super) fn new(server: ServerId, local: PeerId, prefs: Prefs) -> Self {
        Self { server, local, prefs, typed: Vec::new(), read: 0 }
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
                    self.typed.push((number, setting));
                }
            }
        }
        let records = world.records();
        let answers = &records.server(self.server).answers;
        for (number, text) in answers.iter().skip(self.read) {
            let place = self.typed.iter().position(|(typed, _)| typed == number);
            if let Some(place) = place {
                self.typed.remove(place).1.answered(text);
            }
        }
        self.read = answers.len();
    }
}
