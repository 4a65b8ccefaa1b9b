//! Messages in, effects out; and once through the shell, with an asker beside it.

use std::sync::{Arc, Mutex};

use dh_host::{Actor, Context, Performed, Simulation, Start, Turn};
use dh_machine::{Machine, Micros, Outbox, Spec, actor_message};
use dh_view::{Answer, NoPicture, RenderMsg, Shot, View};

use super::{Effect, Renderer, RendererState};
use crate::gray_box::yard;

const SHOT: Shot = Shot { id: 9, width: 320, height: 180 };

fn told(state: &mut RendererState, msg: RenderMsg) -> Vec<Effect> {
    let mut out = Outbox::default();
    state.handle(Micros(0), msg, &mut out);
    out.drain().collect()
}

#[test]
fn a_picture_shows_the_newest_view() {
    let mut state = RendererState::new(false);
    let views = [Arc::new(View::empty()), Arc::new(yard())];
    for view in &views {
        assert!(told(&mut state, RenderMsg::Show(Arc::clone(view))).is_empty());
    }
    let effects = told(&mut state, RenderMsg::Take(SHOT));
    let [Effect::Expose { view, shot }] = &effects[..] else { panic!("{effects:?}") };
    assert!(Arc::ptr_eq(view, &views[1]) && *shot == SHOT);
}

#[test]
fn without_a_view_or_with_an_impossible_size_the_asker_is_told_why() {
    let mut state = RendererState::new(false);
    let early = told(&mut state, RenderMsg::Take(SHOT));
    assert!(matches!(early[..], [Effect::Refuse { id: 9, why: NoPicture::NoView }]));
    told(&mut state, RenderMsg::Show(Arc::new(yard())));
    for shot in [Shot { width: 0, ..SHOT }, Shot { height: Shot::SIDE_MAX + 1, ..SHOT }] {
        let wrong = told(&mut state, RenderMsg::Take(shot));
        assert!(matches!(wrong[..], [Effect::Refuse { id: 9, why: NoPicture::Size { .. } }]));
    }
}

#[test]
fn stop_ends_it() {
    let effects = told(&mut RendererState::new(false), RenderMsg::Stop);
    assert!(matches!(effects[..], [Effect::End]));
}

#[test]
fn through_the_shell_every_shot_is_answered_once_with_its_own_number() {
    let answers = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&answers);
    Simulation::new(1).run(|runtime| async move {
        let scope = runtime.root().child("frame");
        let (asker, mut asking) = scope.pumped("asker", Asker(kept));
        let renderer = Renderer::new(asker.inlet(AskerMsg::Answered));
        let (port, mut pump) = scope.pumped("renderer", renderer);
        port.offer(RenderMsg::Take(Shot { id: 1, ..SHOT })).unwrap();
        port.offer(RenderMsg::Show(Arc::new(yard()))).unwrap();
        port.offer(RenderMsg::Take(Shot { id: 2, ..SHOT })).unwrap();
        port.offer(RenderMsg::Take(Shot { id: 3, width: 0, ..SHOT })).unwrap();
        pump.pump(runtime.now(), 16);
        asking.pump(runtime.now(), 16);
        port.offer(RenderMsg::Stop).unwrap();
        assert_eq!(pump.pump(runtime.now(), 16), Turn::Ended);
    });
    let answers = answers.lock().unwrap();
    let [first, second, third] = &answers[..] else { panic!("{} answers", answers.len()) };
    assert_eq!((first.id, second.id, third.id), (1, 2, 3));
    assert_eq!(first.picture, Err(NoPicture::NoView));
    assert!(matches!(third.picture, Err(NoPicture::Size { .. })));
    match &second.picture {
        Ok(picture) => assert_eq!(picture.report.players_drawn, 8),
        // A machine without graphics: it must say what to install.
        Err(why) => assert!(why.to_string().contains("install mesa-vulkan-drivers"), "{why}"),
    }
}

actor_message! {
    /// What the asker is told.
    enum AskerMsg {
        /// One answer.
        Answered(Answer): Data Refuse,
    }
}

/// Keeps the answers it gets.
struct Asker(Arc<Mutex<Vec<Answer>>>);

struct Keep;

impl Machine for Keep {
    type Msg = AskerMsg;
    type Effect = Answer;

    fn handle(&mut self, _now: Micros, msg: AskerMsg, out: &mut Outbox<Answer>) {
        let AskerMsg::Answered(answer) = msg;
        out.push(answer);
    }
}

impl Actor for Asker {
    type Machine = Keep;

    const SPEC: Spec = Spec { kind: "asker", ..Renderer::SPEC };

    fn make(&mut self, _start: Start<'_, AskerMsg>) -> Keep {
        Keep
    }

    fn perform(&mut self, answer: Answer, _cx: &mut Context<'_, AskerMsg>) -> Performed<Answer> {
        self.0.lock().unwrap().push(answer);
        Performed::Done
    }
}
