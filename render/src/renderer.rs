//! The renderer: keeps the newest view and takes pictures of it when asked.
//!
//! Owned by: the loop that pumps it, on the process's main thread. Talks to: whoever asked for a
//! picture, through one inlet. Never: waits for the network, writes a file, changes a view.

mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};

use dh_host::{Actor, Context, Inlet, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy};
use dh_view::{Answer, NoPicture, Picture, RenderMsg, Shot, View};

pub use self::state::{Effect, RendererState};
use crate::Studio;

/// Takes pictures and answers with them.
///
/// The device is opened at the first picture and again after it was lost, so that a client that
/// never shows anything needs no graphics at all.
#[derive(Debug)]
pub struct Renderer {
    answers: Inlet<Answer>,
    studio: Option<Studio>,
}

impl Renderer {
    /// A renderer that answers into `answers`.
    #[must_use]
    pub const fn new(answers: Inlet<Answer>) -> Self {
        Self { answers, studio: None }
    }

    /// The same with a device that is open already.
    #[must_use]
    pub fn opened(self, studio: Studio) -> Self {
        Self { studio: Some(studio), ..self }
    }

    fn expose(&mut self, view: &View, shot: Shot) -> Result<Picture, NoPicture> {
        let mut studio = match self.studio.take() {
            Some(studio) => studio,
            None => Studio::open().map_err(|error| NoPicture::NoAdapter(error.to_string()))?,
        };
        // A driver that panics costs this picture and its device, not the renderer.
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let picture = studio.picture(view, shot.width, shot.height);
            (picture, studio)
        }));
        let Ok((picture, studio)) = taken else {
            return Err(NoPicture::Device(String::from("the graphics driver panicked")));
        };
        if !matches!(picture, Err(NoPicture::Device(_))) {
            self.studio = Some(studio);
        }
        picture
    }

    fn answer(&self, id: u32, picture: Result<Picture, NoPicture>) {
        // Refused is counted in the asker's port; closed means that nobody asks any more.
        let _ = self.answers.offer(Answer { id, picture });
    }
}

impl Actor for Renderer {
    type Machine = RendererState;

    const SPEC: Spec = Spec {
        kind: "renderer",
        control_max: 4,
        data_max: 16,
        data_wakes: true,
        restart: Restart { count: 3, window: Micros::from_secs(10) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    /// The device outlives a machine: whatever costs it is caught where it happens.
    fn make(&mut self, _start: Start<'_, RenderMsg>) -> RendererState {
        RendererState::new()
    }

    /// Drawing is the work of the loop that pumps this actor, so a picture may take its time here.
    fn perform(&mut self, effect: Effect, _cx: &mut Context<'_, RenderMsg>) -> Performed<Effect> {
        match effect {
            Effect::Expose { view, shot } => {
                let picture = self.expose(&view, shot);
                self.answer(shot.id, picture);
                Performed::Done
            }
            Effect::Refuse { id, why } => {
                self.answer(id, Err(why));
                Performed::Done
            }
            Effect::End => Performed::Stop,
        }
    }
}

#[cfg(test)]
mod tests;
