//! What a map switch answers: one map at a time, whole or not at all.

use dh_machine::{Machine, Micros, Outbox};

use std::sync::Arc;

use dh_sim::Solids;

use super::{Effect, Installed, Kept, MapSwitchMsg, Switching};
use crate::roster::ConsoleLine;

fn line(id: u32, text: &str) -> ConsoleLine {
    ConsoleLine { id, text: text.to_owned() }
}

fn tell(machine: &mut Switching, msg: MapSwitchMsg) -> Vec<String> {
    let mut out = Outbox::default();
    machine.handle(Micros(0), msg, &mut out);
    words(&out.drain().collect::<Vec<_>>())
}

/// What the effect says, without what it carries.
fn word(effect: &Effect) -> String {
    match effect {
        Effect::Prepare(_) => "prepare".to_owned(),
        Effect::Step => "step".to_owned(),
        Effect::Commit => "commit".to_owned(),
        Effect::Retire(_) => "retire".to_owned(),
        Effect::Answer(it) => format!("{}: {}", it.id, it.text),
        Effect::Refuse(it) => format!("refuse {}", it.id),
        Effect::Keep(_) => "keep".to_owned(),
    }
}

/// What the effects say, but for what is kept.
fn words(effects: &[Effect]) -> Vec<String> {
    effects.iter().filter(|effect| !matches!(effect, Effect::Keep(_))).map(word).collect()
}

/// The machine that is made in the place of one that panicked after these messages.
fn remade(msgs: impl IntoIterator<Item = MapSwitchMsg>) -> Switching {
    let (mut machine, mut kept) = (Switching::default(), Kept::default());
    for msg in msgs {
        let mut out = Outbox::default();
        machine.handle(Micros(0), msg, &mut out);
        for effect in out.drain() {
            if let Effect::Keep(it) = effect {
                kept = it;
            }
        }
    }
    Switching::resume(kept)
}

fn installed(generation: u32) -> MapSwitchMsg {
    MapSwitchMsg::Installed(Installed { generation, former: Arc::new(Solids::default()) })
}

fn ask(machine: &mut Switching, id: u32) -> Vec<String> {
    tell(machine, MapSwitchMsg::Switch(line(id, "p:assets/a.dh-map")))
}

/// MR-156, MR-159, MR-160
#[test]
fn a_map_is_prepared_piece_by_piece_then_handed_over_once_then_told() {
    let mut machine = Switching::default();
    assert_eq!(ask(&mut machine, 1), ["prepare"]);
    for _ in 0..3 {
        assert_eq!(tell(&mut machine, MapSwitchMsg::More), ["step"]);
    }
    assert_eq!(tell(&mut machine, MapSwitchMsg::Prepared), ["commit"]);
    assert!(tell(&mut machine, MapSwitchMsg::Prepared).is_empty(), "once");
    let stands = "1: map: p:assets/a.dh-map stands (generation 2)";
    assert_eq!(tell(&mut machine, installed(2)), ["retire", stands]);
}

/// MR-163, MR-Q21
#[test]
fn a_second_request_is_turned_down_until_the_first_has_ended_and_is_not_remembered() {
    let mut machine = Switching::default();
    ask(&mut machine, 1);
    for told in [MapSwitchMsg::More, MapSwitchMsg::Prepared] {
        assert_eq!(ask(&mut machine, 2), ["refuse 2"]);
        tell(&mut machine, told);
    }
    let ended = tell(&mut machine, installed(2));
    assert!(ended.len() == 2 && ended[1].starts_with("1: "), "nothing else happens: {ended:?}");
    assert_eq!(ask(&mut machine, 3), ["prepare"]);
}

/// MR-156: whatever fails, the former map stands and the asker is told why.
#[test]
fn a_map_that_cannot_be_made_ready_is_told_and_the_next_may_be_asked_for() {
    let mut machine = Switching::default();
    ask(&mut machine, 1);
    tell(&mut machine, MapSwitchMsg::More);
    let told = tell(&mut machine, MapSwitchMsg::Failed("no such file".to_owned()));
    assert_eq!(told, ["1: map: p:assets/a.dh-map was not loaded: no such file"]);
    assert!(tell(&mut machine, MapSwitchMsg::More).is_empty(), "old news");
    assert_eq!(ask(&mut machine, 2), ["prepare"]);
}

#[test]
fn an_order_goes_on_after_a_panic_wherever_it_stood() {
    let order = || MapSwitchMsg::Switch(line(1, "p:assets/a.dh-map"));
    let stands = "1: map: p:assets/a.dh-map stands (generation 2)";
    let mut machine = remade([order(), MapSwitchMsg::More]);
    assert_eq!(tell(&mut machine, MapSwitchMsg::More), ["step"]);
    assert_eq!(ask(&mut machine, 2), ["refuse 2"], "it is still busy");
    assert_eq!(tell(&mut machine, MapSwitchMsg::Prepared), ["commit"]);
    let mut machine = remade([order(), MapSwitchMsg::Prepared]);
    assert!(tell(&mut machine, MapSwitchMsg::More).is_empty(), "the tick has it");
    assert_eq!(tell(&mut machine, installed(2)), ["retire", stands]);
    let mut machine = remade([order(), MapSwitchMsg::Prepared, installed(2)]);
    assert!(tell(&mut machine, MapSwitchMsg::More).is_empty());
    assert_eq!(ask(&mut machine, 3), ["prepare"], "nothing is remembered of what was answered");
}
