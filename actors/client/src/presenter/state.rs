//! What the presenter decides: which moment is shown, and what stands where in it. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{EntityId, NetKind, PlayerEntry, PlayerList, Snapshot};
use dh_netcode::{KindSet, Moment, RenderClock, Replica, ReplicaStore, TickClock};
use dh_prefs::Prefs;
use dh_sim::fit_settings;
use dh_view::{Camera, Colour, Hud, HudFacts, PlayerView, Scene, View};
use glam::Vec3;

use super::replicas::replicas_of;
use super::{CameraMode, PresenterMsg};
use crate::numbered::Numbered;
use crate::predictor::Predicted;
use crate::prefs;

/// Frames a second where no display sets the pace.
const FRAME_RATE: TickRate = TickRate::DEFAULT;

/// Two frames nearer to each other are one.
const FRAME_MIN: Micros = Micros(1_000);

/// What the presenter wants done.
#[derive(Debug)]
pub enum Effect {
    /// The view that was asked for.
    View(View),
    /// Keep this scene for a restart.
    Scene(Arc<Scene>),
    /// Keep this for a restart.
    Keep(Box<Stage>),
    /// A line for the log.
    Report(String),
}

/// What outlives a panic: the session's facts. Replicas come again with the next snapshot.
#[derive(Clone, Debug)]
pub struct Stage {
    session: Option<Numbered<TickRate>>,
    pawn: Option<EntityId>,
    players: BTreeMap<u8, PlayerEntry>,
    prefs: Arc<Prefs>,
    camera: CameraMode,
    /// The map that is waited for, and shown as that.
    awaited: Option<String>,
}

impl Stage {
    /// Nobody anywhere.
    #[must_use]
    pub fn new(camera: CameraMode, prefs: Arc<Prefs>) -> Self {
        Self { session: None, pawn: None, players: BTreeMap::new(), prefs, camera, awaited: None }
    }

    /// The same stage in another session, or in none: nobody is there yet.
    fn cleared(&self, session: Option<Numbered<TickRate>>) -> Self {
        let awaited = self.awaited.clone();
        Self { session, awaited, ..Self::new(self.camera, Arc::clone(&self.prefs)) }
    }
}

/// Follows the server's timeline and answers with views of it.
#[derive(Debug)]
pub struct Presenter {
    scene: Arc<Scene>,
    stage: Stage,
    show: Option<Show>,
    last_frame: Micros,
    fps: Option<f32>,
}

/// One session's replicas and the clock that reads them.
#[derive(Debug)]
struct Show {
    attempt: u64,
    rate: TickRate,
    clock: RenderClock,
    store: ReplicaStore,
    time_scale: f32,
    moment: Option<Moment>,
    predicted: Option<Predicted>,
    ping: Option<Micros>,
}

impl Presenter {
    /// A presenter of this world.
    #[must_use]
    pub fn new(scene: Arc<Scene>, stage: Stage, now: Micros) -> Self {
        let show = stage.session.as_ref().map(|session| Show::new(session, &stage.prefs));
        Self { scene, stage, show, last_frame: now, fps: None }
    }

    /// What is shown of this attempt's session; nothing once another has begun, or none stands.
    fn show_of(&mut self, attempt: u64) -> Option<&mut Show> {
        self.show.as_mut().filter(|show| show.attempt == attempt)
    }

    fn keep(&self, out: &mut Outbox<Effect>) {
        out.push(Effect::Keep(Box::new(self.stage.clone())));
    }

    fn players(&mut self, list: PlayerList) {
        for slot in &list.removed {
            self.stage.players.remove(slot);
        }
        for entry in list.upserts {
            self.stage.players.insert(entry.slot, entry);
        }
    }

    fn frame(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let elapsed = now.since(self.last_frame);
        if elapsed < FRAME_MIN {
            return;
        }
        self.last_frame = now;
        let Some(show) = &mut self.show else { return };
        show.moment = show.clock.advance(elapsed, show.time_scale);
        if let Some(line) = show.clock.poll_report() {
            out.push(Effect::Report(line));
        }
        self.fps = Some(smooth(self.fps, elapsed));
    }

    fn view(&self, now: Micros) -> View {
        let mut view = View::of(Arc::clone(&self.scene));
        view.loading.clone_from(&self.stage.awaited);
        if let CameraMode::Fixed(camera) = self.stage.camera {
            view.camera = camera;
        }
        let Some(show) = &self.show else { return view };
        let own = self.stage.pawn;
        if let Some(moment) = show.moment {
            let replicas = show.store.sample(moment.ticks);
            let others = replicas.filter(|replica| Some(EntityId(replica.id)) != own);
            view.players.extend(others.map(|replica| self.player(&replica)));
        }
        if let Some(predicted) = &show.predicted {
            self.show_own(now, predicted, &mut view);
        }
        view.hud = self.hud(now, show);
        view
    }

    /// The own pawn: these eyes, or a body like any other.
    fn show_own(&self, now: Micros, predicted: &Predicted, view: &mut View) {
        let drawn = predicted.drawn(now);
        let feet = Vec3::from_array(drawn.feet);
        let [yaw, pitch] = predicted.look;
        match self.stage.camera {
            CameraMode::Eyes => {
                let eye = feet + Vec3::Y * drawn.eye_height;
                view.camera = Camera { eye, yaw, pitch, fov: Camera::FOV };
            }
            CameraMode::Map | CameraMode::Fixed(_) => {
                let body = Body { id: predicted.pawn, feet, yaw, pitch, height: predicted.height };
                view.players.push(self.named(&body));
            }
        }
    }

    fn player(&self, replica: &Replica) -> PlayerView {
        let crouched = replica.flags & Replica::CROUCHING != 0;
        let height = if crouched { PlayerView::CROUCHED } else { PlayerView::STANDING };
        self.named(&Body {
            id: EntityId(replica.id),
            feet: Vec3::from_array(replica.position),
            yaw: replica.yaw,
            pitch: replica.pitch,
            height,
        })
    }

    fn named(&self, body: &Body) -> PlayerView {
        let entry = self.stage.players.values().find(|entry| entry.pawn == body.id);
        let name = entry.map(|entry| entry.name.as_str().to_owned()).unwrap_or_default();
        let colour = entry.map_or(Colour(0x80_80_80), |entry| Colour(entry.colour));
        let Body { id, feet, yaw, pitch, height } = *body;
        PlayerView { id: id.0, name, feet, yaw, pitch, height, colour }
    }

    fn hud(&self, now: Micros, show: &Show) -> Hud {
        let tick = show.store.newest().unwrap_or_default();
        let facts = HudFacts { fps: self.fps, ping: show.ping, tick, rate: show.rate };
        let buf = match &show.predicted {
            Some(predicted) => predicted.overlay.clone(),
            // Nothing was read yet: the line of a clock that knows nothing.
            None => TickClock::new(prefs::clock(&self.stage.prefs, show.rate), show.rate).overlay(),
        };
        let mut hud = Hud::playing(&facts, [buf.as_str(), show.clock.overlay().as_str()]);
        hud.detail = self.detail(now, show);
        hud
    }

    /// What those see who ask for details: the correction that is still easing out, who is known.
    fn detail(&self, now: Micros, show: &Show) -> Vec<String> {
        let eased = show.predicted.as_ref().map_or(0.0, |predicted| predicted.eased(now));
        let (players, entities) = (self.stage.players.len(), show.store.listed().len());
        Vec::from([
            format!("correction {:.1} mm", eased * 1e3),
            format!("players {players}, entities {entities}"),
        ])
    }
}

/// A body to be named and coloured.
struct Body {
    id: EntityId,
    feet: Vec3,
    yaw: f32,
    pitch: f32,
    height: f32,
}

impl Show {
    fn new(session: &Numbered<TickRate>, prefs: &Prefs) -> Self {
        let Numbered { attempt, event: rate } = *session;
        let settings = prefs::interp(prefs, rate);
        let kinds = KindSet::EMPTY.with(NetKind::PlayerPawn.value());
        Self {
            attempt,
            rate,
            clock: RenderClock::new(settings, rate),
            store: ReplicaStore::new(settings.buffer_ticks, kinds),
            time_scale: 1.0,
            moment: None,
            predicted: None,
            ping: None,
        }
    }

    fn receive(&mut self, now: Micros, snapshot: &Snapshot) {
        let tick = Tick(snapshot.head.tick);
        self.time_scale = fit_settings(snapshot.head.world).time_scale;
        self.clock.receive(tick, now);
        self.store.apply(tick, replicas_of(snapshot));
    }
}

impl Machine for Presenter {
    type Msg = PresenterMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: PresenterMsg, out: &mut Outbox<Effect>) {
        match msg {
            PresenterMsg::Joined(session) => {
                self.show = Some(Show::new(&session, &self.stage.prefs));
                self.stage = self.stage.cleared(Some(session));
                self.last_frame = now;
                self.keep(out);
            }
            PresenterMsg::Awaited(map) => {
                self.stage.awaited = map;
                self.keep(out);
            }
            PresenterMsg::Scene(scene) => {
                self.stage.awaited = None;
                self.keep(out);
                self.scene = Arc::clone(&scene);
                out.push(Effect::Scene(scene));
            }
            PresenterMsg::Spawned(pawn) => {
                self.stage.pawn = Some(pawn);
                self.keep(out);
            }
            PresenterMsg::Left => {
                self.show = None;
                self.stage = self.stage.cleared(None);
                self.keep(out);
            }
            PresenterMsg::Players(list) => {
                self.players(list);
                self.keep(out);
            }
            PresenterMsg::Prefs(changed) => {
                if let Some(show) = &mut self.show {
                    show.clock.set_settings(prefs::interp(&changed, show.rate));
                }
                self.stage.prefs = changed;
                self.keep(out);
            }
            PresenterMsg::Camera(camera) => {
                self.stage.camera = camera;
                self.keep(out);
            }
            PresenterMsg::Present => {
                // A display sets a pace of its own: what is shown is of this moment.
                self.frame(now, out);
                out.push(Effect::View(self.view(now)));
            }
            PresenterMsg::Snapshot(Numbered { attempt, event: snapshot }) => {
                if let Some(show) = self.show_of(attempt) {
                    show.receive(now, &snapshot);
                }
            }
            PresenterMsg::Predicted(Numbered { attempt, event: predicted }) => {
                if let Some(show) = self.show_of(attempt) {
                    show.predicted = Some(predicted);
                }
            }
            PresenterMsg::Ping(Numbered { attempt, event: ping }) => {
                if let Some(show) = self.show_of(attempt) {
                    show.ping = Some(ping);
                }
            }
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        self.frame(now, out);
    }

    fn next_deadline(&self) -> Option<Micros> {
        self.show.as_ref().map(|_| self.last_frame + FRAME_RATE.due(1))
    }

    fn digest(&self, digest: &mut Digest) {
        let shown = self.show.as_ref().map_or(0, |show| show.store.listed().len());
        digest.word(shown as u64);
    }
}

/// Frames a second, smoothed over about twenty frames.
#[expect(clippy::cast_possible_truncation, reason = "a frame rate needs no more than f32")]
fn smooth(before: Option<f32>, elapsed: Micros) -> f32 {
    let now = (1.0 / elapsed.as_secs_f64()) as f32;
    before.map_or(now, |before| before + (now - before) * 0.05)
}
