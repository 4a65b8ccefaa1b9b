//! Darkroom: takes a picture of a view on the main thread and writes it to a file.

mod theatre;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dh_host::{Port, Pump, Scope};
use dh_render::{NoAdapter, Renderer, Screen, Studio, find_adapter, png_bytes};
use dh_view::{NoPicture, PictureReport, PixelBox, RenderMsg, Shot, View};
use serde_json::{Value, json};

pub(crate) use self::theatre::Theatre;
use crate::exit::{Exit, Failure};
use crate::front::{Event, Front, FrontMsg};
use crate::output::whole;

/// Pixels across and down.
const SIZE: (u32, u32) = (1_280, 720);
/// The longest side of pictures on the things of a world, pixels.
const SIDE_MAX: u32 = 2_048;
/// The same where a processor does the drawing.
const SIDE_MAX_SOFTWARE: u32 = 1_024;
/// How long a picture may take, on the slowest of adapters.
const PICTURE_MAX: Duration = Duration::from_secs(60);

/// The renderer, pumped by the main thread.
pub(crate) struct Darkroom {
    port: Port<RenderMsg>,
    pump: Pump<Renderer>,
}

impl Darkroom {
    /// Open the best adapter and start the renderer with it.
    ///
    /// # Errors
    /// When this machine has nothing to draw with.
    pub(crate) fn open(scope: &Scope, front: &Front) -> Result<Self, NoAdapter> {
        let renderer = Renderer::new(front.port().inlet(FrontMsg::Picture));
        let (port, pump) = scope.pumped("renderer", renderer.opened(Studio::open()?));
        Ok(Self { port, pump })
    }

    /// The same for a renderer that draws into a window too.
    pub(crate) fn on_screen(scope: &Scope, front: &Front, screen: Screen) -> Self {
        let renderer = Renderer::on_screen(front.port().inlet(FrontMsg::Picture), screen);
        let (port, pump) = scope.pumped("renderer", renderer);
        Self { port, pump }
    }

    /// Where the renderer listens.
    pub(crate) fn port(&self) -> &Port<RenderMsg> {
        &self.port
    }

    /// Let it do what was asked of it.
    pub(crate) fn pump(&mut self) {
        self.pump.pump_now(16);
    }

    /// Draw `view` and write it to `path`, whole or not at all; what is on it.
    pub(crate) fn develop(
        &mut self,
        front: &Front,
        view: Arc<View>,
        path: &Path,
    ) -> Result<PictureReport, Failure> {
        drop(self.port.offer(RenderMsg::Show(view)));
        self.take(front, path)
    }

    /// Draw the newest view and write it to `path`, whole or not at all; what is on it.
    pub(crate) fn take(&mut self, front: &Front, path: &Path) -> Result<PictureReport, Failure> {
        let (width, height) = SIZE;
        drop(self.port.offer(RenderMsg::Take(Shot { id: 1, width, height })));
        let until = Instant::now() + PICTURE_MAX;
        while Instant::now() < until {
            self.pump.pump_now(16);
            let soon = Instant::now() + Duration::from_millis(5);
            if let Some(Event::Told(FrontMsg::Picture(answer))) = front.next(Some(soon)) {
                let picture = answer.picture.map_err(|why| no_picture(&why))?;
                whole::write(path, &png_bytes(&picture))?;
                return Ok(picture.report);
            }
        }
        Err(Failure::new(Exit::TimedOut, "the picture was not finished within a minute"))
    }
}

/// Whether a picture can come to this place, asked before anybody waits for one.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if ending.is_some_and(|ending| !ending.eq_ignore_ascii_case("png")) {
        let why = "pictures are PNG files, expected a name that ends in .png";
        let cause = format!("--picture {}: {why}", path.display());
        return Err(Failure::new(Exit::CannotCreate, cause).remedy("--picture NAME.png"));
    }
    whole::check("--picture", path)
}

/// The longest side of pictures that this machine's adapter should draw from; none without one.
pub(crate) fn side_max() -> Option<u32> {
    let adapter = find_adapter().ok()?;
    Some(if adapter.software { SIDE_MAX_SOFTWARE } else { SIDE_MAX })
}

/// What having nothing to draw with means to whoever asked for a picture.
pub(crate) fn no_adapter(none: &NoAdapter) -> Failure {
    // The text says itself what to install.
    Failure::new(Exit::Unavailable, none)
}

/// What is on a picture and where it lies, for people.
pub(crate) fn line(path: &Path, report: &PictureReport) -> String {
    let players = match report.players_drawn {
        1 => "1 player".to_owned(),
        count => format!("{count} players"),
    };
    format!("{}: {players}, drawn by {}", path.display(), report.adapter)
}

/// The same as data, counted from the draw list that was submitted.
pub(crate) fn facts(path: &Path, report: &PictureReport) -> Value {
    let corners = |it: PixelBox| json!([it.left, it.top, it.right, it.bottom]);
    let boxes = |it: Option<PixelBox>| it.map(corners);
    let players = report.players.iter().map(|player| {
        json!({ "id": player.id, "name": player.name, "visible": player.visible,
            "body": boxes(player.body), "tag": boxes(player.tag), "shadow": boxes(player.shadow) })
    });
    json!({
        "file": path.display().to_string(), "width": report.width, "height": report.height,
        "camera": { "eye": report.camera.eye.to_array(), "yaw": report.camera.yaw,
            "pitch": report.camera.pitch },
        "adapter": report.adapter, "worldTriangles": report.world_triangles,
        "modelsLeftOut": report.models_left_out, "overBudget": report.over_budget,
        "playersDrawn": report.players_drawn, "hudRuns": report.hud_runs,
        "hud": boxes(report.hud), "players": players.collect::<Vec<_>>(),
    })
}

fn no_picture(why: &NoPicture) -> Failure {
    Failure::new(Exit::Unavailable, format!("no picture: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_where_no_picture_can_come_is_told_before_it_is_waited_for() {
        let home = tempfile::tempdir().unwrap();
        for good in ["a.png", "a.PNG", "a"] {
            assert_eq!(check(&home.path().join(good)), Ok(()));
        }
        assert_eq!(check(Path::new("a.png")), Ok(()));
        for bad in ["a.jpg", "none/a.png"] {
            assert_eq!(check(&home.path().join(bad)).unwrap_err().exit, Exit::CannotCreate);
        }
    }
}
