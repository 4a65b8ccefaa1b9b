//! Stage: a studio whose pictures go into a window.
//!
//! Owned by the `renderer` actor. It is made anew as a whole when its device or its window's
//! surface is lost. Never: keeps a view, handles input.

use std::time::{Duration, Instant};

use dh_view::{Sitting, View};

use crate::gpu::screen::{Frame, Front};
use crate::gpu::{Gpu, adapter::NoAdapter};
use crate::overlay::{Frames, Overlay};
use crate::scene::capsule::Capsule;
use crate::studio::Studio;
use crate::text::Lettering;
use crate::window::Screen;

/// Bytes of a scene that are sent before each frame.
const BUDGET: u64 = 4 << 20;
/// A pause longer than this is not a frame of the graph: the window was hidden.
const PAUSE: Duration = Duration::from_secs(1);

/// A window with everything that draws into it.
#[derive(Debug)]
pub(crate) struct Stage {
    studio: Studio,
    front: Front,
    /// Where the window's text is laid out, with the glyphs that lie on the device already.
    text: egui::Context,
    frames: Frames,
    last: Option<Instant>,
}

impl Stage {
    /// Open the best adapter that draws into this window.
    pub(crate) fn open(screen: Screen) -> Result<Self, NoAdapter> {
        let shape = Capsule::new();
        let (gpu, front) = Gpu::open_on(&shape, screen)?;
        tracing::info!("the window is drawn by {}", gpu.adapter);
        Ok(Self {
            studio: Studio::of(gpu, shape),
            front,
            text: egui::Context::default(),
            frames: Frames::default(),
            last: None,
        })
    }

    /// Draw this view into the window.
    pub(crate) fn show(&mut self, view: &View, seat: Sitting) -> Frame {
        let Some([width, height]) = self.front.size(self.studio.gpu.side_max) else {
            return Frame::Skipped;
        };
        let list = self.studio.list(view, width, height, BUDGET);
        let facts = self.facts(width, height);
        let overlay = Overlay::new(seat, &self.frames, view, &list, facts);
        let hud = if seat.detail { &view.hud } else { &dh_view::Hud::default() };
        let lettering = Lettering::over(&self.text, &list, hud, &overlay);
        let frame = self.studio.gpu.show(&mut self.front, view, &list, &lettering);
        if frame == Frame::Shown {
            let now = Instant::now();
            let span = self.last.replace(now).map(|last| now - last);
            if let Some(span) = span.filter(|span| *span < PAUSE) {
                self.frames.add(span);
            }
        }
        frame
    }

    /// The studio, for pictures beside the window.
    pub(crate) const fn studio(&mut self) -> &mut Studio {
        &mut self.studio
    }

    fn facts(&self, width: u32, height: u32) -> Vec<String> {
        let waiting = self.studio.gpu.waiting();
        let mut facts = vec![self.studio.adapter().to_string(), format!("{width}x{height}")];
        if waiting > 0 {
            facts.push(format!("uploads waiting {waiting}"));
        }
        facts
    }
}
