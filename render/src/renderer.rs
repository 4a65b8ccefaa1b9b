//! The renderer: draws the newest view into a window, and takes pictures of it when asked.
//!
//! Owned by: the loop that pumps it, on the process's main thread. Talks to: whoever asked for a
//! picture, through one inlet. Never: waits for the network, writes a file, changes a view.

mod state;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use dh_host::{Actor, Context, Inlet, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy};
use dh_view::{Answer, NoPicture, Picture, RenderMsg, Shot, Sitting, View};

pub use self::state::{Effect, RendererState};
use crate::gpu::screen::Frame;
use crate::stage::Stage;
use crate::{Screen, Studio};

/// How long a device that was lost is left alone before it is opened again.
const AGAIN: Duration = Duration::from_millis(500);

/// Draws views: into its window, if it has one, and to pictures that are answered with.
///
/// The device is opened at the first of either and again after it was lost, so that a client that
/// never shows anything needs no graphics at all.
#[derive(Debug)]
pub struct Renderer {
    answers: Inlet<Answer>,
    screen: Option<Screen>,
    drawing: Drawing,
    /// Not before this is a lost device opened again.
    again: Instant,
}

/// What a renderer draws with.
#[derive(Debug)]
enum Drawing {
    Nothing,
    Studio(Box<Studio>),
    Stage(Box<Stage>),
}

impl Renderer {
    /// A renderer that answers into `answers`.
    #[must_use]
    pub fn new(answers: Inlet<Answer>) -> Self {
        Self { answers, screen: None, drawing: Drawing::Nothing, again: Instant::now() }
    }

    /// The same, which draws every view it is shown into a window as well.
    #[must_use]
    pub fn on_screen(answers: Inlet<Answer>, screen: Screen) -> Self {
        Self { screen: Some(screen), ..Self::new(answers) }
    }

    /// Draw into the window. One that is lost is opened again, at most twice a second.
    fn paint(&mut self, view: &View, seat: Sitting) {
        let Some(screen) = &self.screen else { return };
        let mut stage = match std::mem::replace(&mut self.drawing, Drawing::Nothing) {
            Drawing::Stage(stage) => stage,
            Drawing::Nothing | Drawing::Studio(_) if Instant::now() < self.again => return,
            Drawing::Nothing | Drawing::Studio(_) => {
                self.again = Instant::now() + AGAIN;
                match Stage::open(screen.clone()) {
                    Ok(stage) => Box::new(stage),
                    Err(error) => return tracing::warn!("the window stays dark: {error}"),
                }
            }
        };
        let shown = catch_unwind(AssertUnwindSafe(|| (stage.show(view, seat), stage)));
        match shown {
            Ok((Frame::Shown | Frame::Skipped, stage)) => self.drawing = Drawing::Stage(stage),
            Ok((Frame::Lost, _)) => {
                tracing::warn!("the graphics device was lost; opening it again");
            }
            Err(_) => tracing::warn!("the graphics driver panicked; opening it again"),
        }
    }

    /// End the device, as a driver that resets would.
    fn drill(&mut self) {
        match &mut self.drawing {
            Drawing::Nothing => (),
            Drawing::Studio(studio) => studio.gpu.destroy(),
            Drawing::Stage(stage) => stage.studio().gpu.destroy(),
        }
    }

    /// The same with a device that is open already.
    #[must_use]
    pub fn opened(self, studio: Studio) -> Self {
        Self { drawing: Drawing::Studio(Box::new(studio)), ..self }
    }

    fn expose(&mut self, view: &View, shot: Shot) -> Result<Picture, NoPicture> {
        let mut drawing = match std::mem::replace(&mut self.drawing, Drawing::Nothing) {
            Drawing::Nothing => {
                let studio = Studio::open();
                let studio = studio.map_err(|error| NoPicture::NoAdapter(error.to_string()))?;
                Drawing::Studio(Box::new(studio))
            }
            open => open,
        };
        // A driver that panics costs this picture and its device, not the renderer.
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let picture = match &mut drawing {
                Drawing::Nothing => Err(NoPicture::NoView),
                Drawing::Studio(studio) => studio.picture(view, shot.width, shot.height),
                Drawing::Stage(stage) => stage.studio().picture(view, shot.width, shot.height),
            };
            (picture, drawing)
        }));
        let Ok((picture, drawing)) = taken else {
            return Err(NoPicture::Device(String::from("the graphics driver panicked")));
        };
        if !matches!(picture, Err(NoPicture::Device(_))) {
            self.drawing = drawing;
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
        RendererState::new(self.screen.is_some())
    }

    /// Drawing is the work of the loop that pumps this actor, so a picture may take its time here.
    fn perform(&mut self, effect: Effect, _cx: &mut Context<'_, RenderMsg>) -> Performed<Effect> {
        match effect {
            Effect::Expose { view, shot } => {
                let picture = self.expose(&view, shot);
                self.answer(shot.id, picture);
                Performed::Done
            }
            Effect::Paint { view, seat } => {
                self.paint(&view, seat);
                Performed::Done
            }
            Effect::Drill => {
                self.drill();
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
