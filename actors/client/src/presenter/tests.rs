//! The presenter's decisions: snapshots in, views out.

use std::sync::Arc;

use dh_machine::{Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{EntityId, PlayerEntry, PlayerList, Snapshot, SnapshotHead, Str8};
use dh_netcode::{ReconcileOffset, Stance};
use dh_prefs::Prefs;
use dh_sim::{GrayBox, MoverState};
use dh_view::{Camera, Scene, View};
use glam::Vec3;

use super::state::{Effect, Presenter, Stage};
use super::{CameraMode, PresenterMsg};
use crate::numbered::Numbered;
use crate::predictor::Predicted;

const OWN: EntityId = EntityId(1);
const OTHER: EntityId = EntityId(2);
const RATE: TickRate = TickRate::DEFAULT;

fn gray_box() -> Arc<Scene> {
    Arc::new(Scene::of_boxes(GrayBox::new().boxes()))
}

/// A presenter and what it has kept.
struct Rig {
    presenter: Presenter,
    now: Micros,
    stage: Stage,
}

impl Rig {
    fn new(camera: CameraMode) -> Self {
        let stage = Stage::new(camera, Arc::new(Prefs::default()));
        let presenter = Presenter::new(gray_box(), stage.clone(), Micros(0));
        Self { presenter, now: Micros(0), stage }
    }

    /// In a session as `OWN`, with `OTHER` known as bob.
    fn playing(camera: CameraMode) -> Self {
        let mut rig = Self::new(camera);
        rig.tell(PresenterMsg::Joined(Numbered::new(1, RATE)));
        rig.tell(PresenterMsg::Spawned(OWN));
        rig.tell(PresenterMsg::Players(PlayerList {
            upserts: vec![entry(0, OWN, "ada"), entry(1, OTHER, "bob")].into(),
            ..PlayerList::default()
        }));
        rig
    }

    fn tell(&mut self, msg: PresenterMsg) -> Vec<Effect> {
        let mut out = Outbox::default();
        self.presenter.handle(self.now, msg, &mut out);
        self.kept(out)
    }

    fn kept(&mut self, mut out: Outbox<Effect>) -> Vec<Effect> {
        let effects: Vec<Effect> = out.drain().collect();
        for effect in &effects {
            if let Effect::Keep(stage) = effect {
                self.stage = Stage::clone(stage);
            }
        }
        effects
    }

    /// The snapshot of `tick` arrives at the tick's own time, frames being made until then.
    fn hear(&mut self, tick: u32, others: &[(EntityId, Vec3)]) {
        self.pass(RATE.due(u64::from(tick)));
        self.tell(PresenterMsg::Snapshot(Numbered::new(1, snapshot(tick, others))));
    }

    fn pass(&mut self, until: Micros) {
        while let Some(due) = self.presenter.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            let mut out = Outbox::default();
            self.presenter.wake(self.now, &mut out);
            self.kept(out);
            assert!(self.presenter.next_deadline().is_none_or(|next| self.now < next));
        }
        self.now = until;
    }

    fn view(&mut self) -> View {
        match self.tell(PresenterMsg::Present).pop() {
            Some(Effect::View(view)) => view,
            other => panic!("{other:?}"),
        }
    }

    fn names(&mut self) -> Vec<String> {
        self.view().players.into_iter().map(|player| player.name).collect()
    }
}

fn entry(slot: u8, pawn: EntityId, name: &str) -> PlayerEntry {
    PlayerEntry { slot, pawn, name: Str8::clipped(name), colour: 0x10_20_30 + u32::from(slot) }
}

fn snapshot(tick: u32, others: &[(EntityId, Vec3)]) -> Arc<Snapshot> {
    let head = SnapshotHead { tick, ..SnapshotHead::default() };
    let record = |(id, feet): &(EntityId, Vec3)| MoverState::standing(*feet, 0.0).to_record(*id, 0);
    Arc::new(Snapshot::new(head, others.iter().map(record).collect()))
}

fn predicted(feet: [f32; 3]) -> Predicted {
    let stance = Stance { feet, eye_height: 1.64 };
    Predicted {
        pawn: OWN,
        at: Micros(0),
        pace: 60.0,
        before: stance,
        newest: stance,
        offset: ReconcileOffset::default(),
        eased_at: Micros(0),
        look: [0.5, 0.1],
        height: 1.8,
        tick: Tick(1),
        overlay: "buf 2/2.0 rate x1.000".to_owned(),
    }
}

fn fixed() -> CameraMode {
    CameraMode::Fixed(GrayBox::new().viewpoint())
}

#[test]
fn before_any_session_there_is_the_world_and_nobody_in_it() {
    let mut rig = Rig::new(fixed());
    assert_eq!(rig.presenter.next_deadline(), None);
    let view = rig.view();
    assert_eq!(view.camera, GrayBox::new().viewpoint());
    assert!(!view.scene.boxes.is_empty() && view.players.is_empty() && view.hud.lines.is_empty());
}

#[test]
fn others_are_drawn_with_their_names_and_colours() {
    let mut rig = Rig::playing(fixed());
    let (stranger, place) = (EntityId(9), Vec3::new(4.0, 0.5, 2.0));
    for tick in 1..20 {
        rig.hear(tick, &[(OWN, Vec3::ZERO), (OTHER, place), (stranger, place)]);
    }
    let players = rig.view().players;
    let [bob, unknown] = &players[..] else { panic!("{players:?}") };
    assert_eq!((bob.id, bob.name.as_str(), bob.colour.0), (OTHER.0, "bob", 0x10_20_31));
    assert_eq!((bob.feet, bob.height), (place, 1.8));
    assert_eq!((unknown.id, unknown.name.as_str()), (stranger.0, ""), "not in the list yet");

    rig.tell(PresenterMsg::Players(PlayerList {
        removed: vec![1].into(),
        upserts: vec![entry(2, stranger, "cem")].into(),
    }));
    assert_eq!(rig.names(), ["", "cem"]);
}

#[test]
fn the_own_pawn_is_the_eyes_or_a_body_as_it_is_predicted_never_as_it_was_heard() {
    let heard = [(OWN, Vec3::new(1.0, 0.0, 0.0)), (OTHER, Vec3::ZERO)];
    for camera in [CameraMode::Eyes, fixed()] {
        let mut rig = Rig::playing(camera);
        for tick in 1..20 {
            rig.hear(tick, &heard);
        }
        assert_eq!(rig.names(), ["bob"], "not predicted yet");
        rig.tell(PresenterMsg::Predicted(Numbered::new(1, predicted([2.0, 0.0, 0.0]))));
        let view = rig.view();
        if camera == CameraMode::Eyes {
            let eye = Vec3::new(2.0, 1.64, 0.0);
            assert_eq!(view.camera, Camera { eye, yaw: 0.5, pitch: 0.1, fov: Camera::FOV });
            assert_eq!(rig.names(), ["bob"]);
        } else {
            assert_eq!(rig.names(), ["bob", "ada"]);
            assert_eq!(view.players[1].feet, Vec3::new(2.0, 0.0, 0.0));
        }
    }
}

/// REC-04: between the two newest ticks, with the offset as far as it has eased since.
#[test]
fn the_own_pawn_is_drawn_between_its_two_newest_ticks_plus_the_offset() {
    let mut rig = Rig::playing(fixed());
    let mut offset = ReconcileOffset::default();
    let at = |x: f32| Stance { feet: [x, 0.0, 0.0], eye_height: 1.64 };
    offset.correct(at(1.0), at(0.0));
    let (before, newest) = (at(10.0), at(11.0));
    let own = Predicted { before, newest, offset, ..predicted([0.0; 3]) };
    rig.tell(PresenterMsg::Predicted(Numbered::new(1, own)));
    rig.now = Micros(8_333);
    let drawn = rig.view().players[0].feet.x;
    let left = 0.788;
    assert!((drawn - (10.5 + left)).abs() < 1e-3, "{drawn}");
    rig.now = Micros(100_000);
    let held = rig.view().players[0].feet.x;
    assert!((11.0..11.06).contains(&held), "never past the newest tick: {held}");
}

/// INT-06: a lost snapshot is bridged by its neighbours.
#[test]
fn the_pose_at_a_lost_tick_is_the_midpoint_of_its_neighbours() {
    let place = |tick: u32| Vec3::new(tick as f32, (tick * tick) as f32, 0.0);
    let mut poses = Vec::new();
    for lost in [None, Some(31)] {
        let mut rig = Rig::playing(CameraMode::Eyes);
        for tick in (1..60).filter(|tick| Some(*tick) != lost) {
            rig.hear(tick, &[(OTHER, place(tick))]);
            poses.push((lost, rig.view().players.first().map(|player| player.feet)));
        }
    }
    let bridged = poses.iter().filter(|(lost, _)| lost.is_some());
    let near = |pose: &Vec3| (30.0..=32.0).contains(&pose.x);
    let found: Vec<Vec3> = bridged.filter_map(|(_, pose)| pose.filter(near)).collect();
    assert!(!found.is_empty());
    for pose in found {
        let line = 900.0 + (pose.x - 30.0) * 62.0;
        assert!((pose.y - line).abs() < 0.1, "{pose}: on the line from tick 30 to tick 32");
    }
}

/// INT-02
#[test]
fn in_a_world_at_half_speed_others_are_drawn_at_half_speed_and_never_held() {
    let mut rig = Rig::playing(fixed());
    for tick in 1..60_u16 {
        rig.pass(RATE.due(2 * u64::from(tick)));
        let place = Vec3::new(f32::from(tick), 0.0, 0.0);
        let mut slow = snapshot(u32::from(tick), &[(OTHER, place)]);
        Arc::get_mut(&mut slow).unwrap().head.world.time_scale = 0.5;
        rig.tell(PresenterMsg::Snapshot(Numbered::new(1, slow)));
    }
    let before = rig.view().players[0].feet.x;
    rig.pass(rig.now + RATE.due(4));
    let moved = rig.view().players[0].feet.x - before;
    assert!((moved - 2.0).abs() < 0.2, "four frames make two ticks: {moved}");
    let interp = &rig.view().hud.lines[4];
    assert!(interp.contains("held 0 snaps 0"), "{interp}");
}

/// SES-02, CLK-13
#[test]
fn what_belongs_to_another_attempt_is_swallowed_and_the_next_session_starts_empty() {
    let mut rig = Rig::playing(fixed());
    for tick in 1..20 {
        rig.hear(tick, &[(OTHER, Vec3::ZERO)]);
    }
    rig.tell(PresenterMsg::Predicted(Numbered::new(1, predicted([0.0; 3]))));
    rig.tell(PresenterMsg::Ping(Numbered::new(1, Micros(42_000))));
    assert_eq!(
        rig.view().hud.lines[1..4],
        ["ping 42.0 ms", "tick 19 at 60 Hz", "buf 2/2.0 rate x1.000"]
    );

    rig.tell(PresenterMsg::Left);
    assert!(rig.names().is_empty() && rig.view().hud.lines.is_empty());
    rig.tell(PresenterMsg::Joined(Numbered::new(3, RATE)));
    for late in [
        PresenterMsg::Snapshot(Numbered::new(1, snapshot(20, &[(OTHER, Vec3::ZERO)]))),
        PresenterMsg::Predicted(Numbered::new(1, predicted([0.0; 3]))),
        PresenterMsg::Ping(Numbered::new(1, Micros(1))),
    ] {
        rig.tell(late);
    }
    rig.pass(rig.now + Micros::from_secs(1));
    assert!(rig.names().is_empty());
    assert_eq!(
        rig.view().hud.lines[1..],
        [
            "ping -",
            "tick 0 at 60 Hz",
            "buf -/2.0 rate x1.000",
            "interp 3 t (+0.0) held 0 snaps 0 burst 0",
        ]
    );
}

#[test]
fn a_restart_keeps_names_and_session_and_shows_replicas_again_with_the_next_snapshots() {
    let mut rig = Rig::playing(fixed());
    for tick in 1..20 {
        rig.hear(tick, &[(OTHER, Vec3::ZERO)]);
    }
    rig.presenter = Presenter::new(gray_box(), rig.stage.clone(), rig.now);
    assert!(rig.names().is_empty());
    for tick in 20..30 {
        rig.hear(tick, &[(OTHER, Vec3::ZERO)]);
    }
    assert_eq!(rig.names(), ["bob"]);
}

/// INT-08: the ring keeps its places until the next session; the rest counts at once.
#[test]
fn knobs_of_interpolation_count_at_once_but_the_ring() {
    let mut rig = Rig::playing(fixed());
    let mut prefs = Prefs::default();
    prefs.set_argument("client.interp=0.1").unwrap();
    prefs.set_argument("client.interp.bufferTicks=6").unwrap();
    rig.tell(PresenterMsg::Prefs(Arc::new(prefs)));
    assert!(rig.view().hud.lines[4].starts_with("interp 7 t"), "{:?}", rig.view().hud.lines);
    rig.tell(PresenterMsg::Joined(Numbered::new(2, RATE)));
    assert!(rig.view().hud.lines[4].starts_with("interp 4 t"), "{:?}", rig.view().hud.lines);
}

/// INT-17
#[test]
fn holds_are_reported_once_an_interval() {
    let mut rig = Rig::playing(fixed());
    rig.hear(1, &[(OTHER, Vec3::ZERO)]);
    let mut reports = 0;
    while rig.now < Micros::from_secs(25) {
        let mut out = Outbox::default();
        rig.now = rig.presenter.next_deadline().unwrap();
        rig.presenter.wake(rig.now, &mut out);
        reports += rig.kept(out).iter().filter(|it| matches!(it, Effect::Report(_))).count();
    }
    assert_eq!(reports, 2);
}

#[test]
fn a_map_that_is_waited_for_is_shown_as_that_until_it_stands_or_will_not_come() {
    let mut rig = Rig::playing(CameraMode::Eyes);
    assert_eq!(rig.view().loading, None);
    for name in ["", "p:assets/a.dh-map"] {
        rig.tell(PresenterMsg::Awaited(Some(name.to_owned())));
        assert_eq!(rig.view().loading.as_deref(), Some(name));
    }
    rig.tell(PresenterMsg::Scene(gray_box()));
    assert_eq!(rig.view().loading, None);
    rig.tell(PresenterMsg::Awaited(Some(String::new())));
    rig.tell(PresenterMsg::Awaited(None));
    assert_eq!(rig.view().loading, None);
}

#[test]
fn a_map_is_waited_for_on_after_a_panic() {
    let mut rig = Rig::new(CameraMode::Map);
    rig.tell(PresenterMsg::Awaited(Some("p:assets/a.dh-map".to_owned())));
    rig.presenter = Presenter::new(gray_box(), rig.stage.clone(), rig.now);
    assert_eq!(rig.view().loading.as_deref(), Some("p:assets/a.dh-map"));
}
