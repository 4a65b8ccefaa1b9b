//! What a renderer decides: which view a picture shows, and that it is answered once.

use std::sync::Arc;

use dh_machine::{Machine, Micros, Outbox};
use dh_view::{NoPicture, RenderMsg, Shot, Sitting, View};

/// The newest view, if there is one.
#[derive(Debug, Default)]
pub struct RendererState {
    newest: Option<Arc<View>>,
    /// Whether there is a window to draw every view into.
    on_screen: bool,
    seat: Sitting,
}

/// What a renderer wants done.
#[derive(Debug)]
pub enum Effect {
    /// Draw this view into the window.
    Paint {
        /// What it shows.
        view: Arc<View>,
        /// How its user looks at it.
        seat: Sitting,
    },
    /// Lose the device.
    Drill,
    /// Take this picture of this view and answer with it.
    Expose {
        /// What it shows.
        view: Arc<View>,
        /// Its size and number.
        shot: Shot,
    },
    /// Answer that there is no picture.
    Refuse {
        /// The asker's number.
        id: u32,
        /// Why.
        why: NoPicture,
    },
    /// Let go of everything and end.
    End,
}

impl RendererState {
    /// Nothing shown yet, with a window or without.
    #[must_use]
    pub fn new(on_screen: bool) -> Self {
        Self { on_screen, ..Self::default() }
    }

    fn take(&self, shot: Shot, out: &mut Outbox<Effect>) {
        let (id, width, height) = (shot.id, shot.width, shot.height);
        let sized = [width, height].iter().all(|side| (1..=Shot::SIDE_MAX).contains(side));
        out.push(match &self.newest {
            _ if !sized => {
                let side_max = Shot::SIDE_MAX;
                Effect::Refuse { id, why: NoPicture::Size { width, height, side_max } }
            }
            None => Effect::Refuse { id, why: NoPicture::NoView },
            Some(view) => Effect::Expose { view: Arc::clone(view), shot },
        });
    }
}

impl Machine for RendererState {
    type Msg = RenderMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: RenderMsg, out: &mut Outbox<Effect>) {
        match msg {
            RenderMsg::Show(view) => {
                if self.on_screen {
                    out.push(Effect::Paint { view: Arc::clone(&view), seat: self.seat });
                }
                self.newest = Some(view);
            }
            RenderMsg::Sit(seat) => self.seat = seat,
            RenderMsg::Drill => out.push(Effect::Drill),
            RenderMsg::Take(shot) => self.take(shot, out),
            RenderMsg::Stop => out.push(Effect::End),
        }
    }
}
