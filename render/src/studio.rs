//! Studio: takes pictures of views.
//!
//! Owned by the `renderer` actor, or by a test. Draws nothing itself: scene, text and gpu do, in
//! that order. Never: keeps a view, writes a file.

use std::sync::{Arc, Weak};

use dh_view::{NoPicture, Picture, PictureReport, PlayerBoxes, Scene, Shot, View};

use crate::gpu::Gpu;
use crate::gpu::adapter::{Adapter, NoAdapter};
use crate::scene::DrawList;
use crate::scene::book::Book;
use crate::scene::budget::Limits;
use crate::scene::capsule::Capsule;
use crate::text::Lettering;

/// A device, ready to take pictures. The same view gives the same bytes on the same adapter.
#[derive(Debug)]
pub struct Studio {
    shape: Capsule,
    book: Book,
    /// The scene of which was told that it has more than one frame draws.
    told: Option<Weak<Scene>>,
    pub(crate) gpu: Gpu,
}

impl Studio {
    /// Open the best adapter of this machine.
    ///
    /// # Errors
    /// [`NoAdapter`] where there is nothing to draw with; its text says what to install.
    pub fn open() -> Result<Self, NoAdapter> {
        let shape = Capsule::new();
        let gpu = Gpu::open(&shape)?;
        Ok(Self::of(gpu, shape))
    }

    pub(crate) fn of(gpu: Gpu, shape: Capsule) -> Self {
        let limits = if gpu.adapter.software { Limits::PROCESSOR } else { Limits::CARD };
        Self { shape, book: Book::new(gpu.buffer_max, limits), gpu, told: None }
    }

    /// What is drawn of a view, after about `budget` bytes of what the device lacks were sent.
    pub(crate) fn list(&mut self, view: &View, width: u32, height: u32, budget: u64) -> DrawList {
        self.book.read(&view.scene);
        self.gpu.send(view, &self.book, budget);
        let list = DrawList::new(view, &self.book, &self.shape, width, height);
        if list.over() > 0 {
            self.tell(&view.scene, list.over());
        }
        list
    }

    /// Tell once a scene that it has more than is drawn.
    fn tell(&mut self, scene: &Arc<Scene>, over: u32) {
        let known = self.told.as_ref().is_some_and(|it| it.as_ptr() == Arc::as_ptr(scene));
        if !known {
            self.told = Some(Arc::downgrade(scene));
            tracing::warn!(
                "the map has more than one frame draws: {over} of its boxes and models are left \
                 out, the farthest first"
            );
        }
    }

    /// What draws.
    #[must_use]
    pub const fn adapter(&self) -> &Adapter {
        &self.gpu.adapter
    }

    /// Take one picture, each side 1..=[`Shot::SIDE_MAX`] pixels, with everything of the scene.
    ///
    /// # Errors
    /// [`NoPicture::Size`] outside of that or of what the adapter can do, [`NoPicture::Device`]
    /// where the device was lost or refused the work.
    pub fn picture(&mut self, view: &View, width: u32, height: u32) -> Result<Picture, NoPicture> {
        let side_max = self.gpu.side_max.min(Shot::SIDE_MAX);
        if ![width, height].iter().all(|side| (1..=side_max).contains(side)) {
            return Err(NoPicture::Size { width, height, side_max });
        }
        let list = self.list(view, width, height, u64::MAX);
        let lettering = Lettering::new(&list, &view.hud);
        let report = report(view, &list, &lettering, self.gpu.adapter.to_string());
        let rgba = self.gpu.draw(view, &list, &lettering).map_err(NoPicture::Device)?;
        Ok(Picture { rgba, report })
    }
}

/// What a list and its lettering submit.
fn report(view: &View, list: &DrawList, lettering: &Lettering, adapter: String) -> PictureReport {
    let boxes = list.marks.iter().zip(&lettering.tags).map(|(mark, tag)| PlayerBoxes {
        id: mark.id,
        name: mark.name.clone(),
        visible: mark.visible,
        body: mark.body,
        tag: *tag,
        shadow: mark.shadow,
    });
    PictureReport {
        width: list.lens.width,
        height: list.lens.height,
        camera: view.camera,
        adapter,
        world_triangles: list.world_triangles(),
        models_left_out: list.models.left_out,
        over_budget: list.over(),
        players_drawn: list.players_seen,
        hud_runs: lettering.hud_runs,
        hud: lettering.hud,
        players: boxes.collect(),
    }
}

/// The picture as a PNG file. The same picture gives the same bytes.
#[must_use]
pub fn png_bytes(picture: &Picture) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, picture.report.width, picture.report.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&picture.rgba)?;
        writer.finish()
    });
    // A Vec takes all bytes and the studio made the picture's length fit its size.
    debug_assert!(written.is_ok(), "{written:?}");
    bytes
}
