//! Words of time: when something is done.

use rhai::{Array, Dynamic, FnPtr, Map, Position};

use super::{PeerHandle, ServerHandle, Words};
use crate::happening::{PEER_EVENTS, SERVER_EVENTS};
use crate::script::error::{Said, again, unknown, wrong};
use crate::script::gathered::Gathered;
use crate::script::limit::{MISTAKES_MAX, WAITING_MAX};
use crate::script::plan::Plan;
use crate::script::stage::{Handler, Player, Stage, Target, What};
use crate::script::value::{micros, ordinal};
use dh_machine::Micros;
use rand_chacha::rand_core::Rng as _;

pub(super) fn register(words: &mut Words) {
    words.group(
        "time",
        "at(1, || ada.walk(0, 1));\n\
         every(0.5, || { if dice(2) == 1 { ada.jump(true); } });\n\
         on(ada, \"lost\", |how| after(1, || ada.join()));",
    );
    let stage = words.stage.clone();
    words.word(
        "scenario(#{ size, seconds, transport, links, pallets, servers, peers })",
        "The data at the top: what it costs, how long it runs, and who is there.",
        move |data: Map| begin(&stage, &data),
    );
    let stage = words.stage.clone();
    words.word(
        "at(seconds, || ...)",
        "Calls something at this time of the scenario.",
        move |when: Dynamic, call: FnPtr| once(&stage, "at", micros("at", &when)?, call),
    );
    let stage = words.stage.clone();
    words.word(
        "after(seconds, || ...)",
        "Calls something so much later; never, where the scenario ends before.",
        move |span: Dynamic, call: FnPtr| {
            let at = stage.0.now.get() + micros("after", &span)?;
            once(&stage, "after", at, call)
        },
    );
    let stage = words.stage.clone();
    words.word(
        "every(seconds, || ...)",
        "Calls something again and again, first after one such span.",
        move |span: Dynamic, call: FnPtr| {
            let span = micros("every", &span)?;
            if span < Micros::from_millis(1) {
                return Err(wrong("every: expected at least 0.001 seconds"));
            }
            let at = stage.0.now.get() + span;
            in_time(&stage, "every", at)?;
            stage.call_at(at, What::Every(span, call), stage.0.place.get())
        },
    );
    handlers(words);
    chance(words);
}

/// Words for what happens.
fn handlers(words: &mut Words) {
    let stage = words.stage.clone();
    words.word(
        "on(peer, \"event\", |text| ...)",
        "Calls something each time that happens to a peer.",
        move |peer: PeerHandle, event: &str, call: FnPtr| {
            let event = known_event(PEER_EVENTS, event)?;
            let (whose, place) = (Target::Peer(peer.at), stage.0.place.get());
            on(&stage, Handler { whose, event, call, place })
        },
    );
    let stage = words.stage.clone();
    words.word(
        "on(server, \"event\", |text| ...)",
        "Calls something each time that happens to a server.",
        move |server: ServerHandle, event: &str, call: FnPtr| {
            let event = known_event(SERVER_EVENTS, event)?;
            let (whose, place) = (Target::Server(server.at), stage.0.place.get());
            on(&stage, Handler { whose, event, call, place })
        },
    );
}

/// Words of chance, which the seed decides.
fn chance(words: &mut Words) {
    let stage = words.stage.clone();
    words.word("now()", "Seconds since the scenario began.", move || {
        stage.0.now.get().as_secs_f64()
    });
    let stage = words.stage.clone();
    words.word("random()", "A number from 0 up to 1, from the scenario's seed.", move || {
        unit(&stage)
    });
    let stage = words.stage.clone();
    words.word(
        "dice(n)",
        "A whole number from 1 to n, from the scenario's seed.",
        move |sides: Dynamic| {
            let sides = ordinal("dice", &sides)?;
            let drawn = stage.0.rng.borrow_mut().next_u64() % sides;
            Ok::<_, Box<rhai::EvalAltResult>>(i64::try_from(drawn).unwrap_or(i64::MAX - 1) + 1)
        },
    );
    let stage = words.stage.clone();
    words.word(
        "pick(array)",
        "One element of an array, from the scenario's seed.",
        move |array: Array| -> Said<Dynamic> {
            let drawn = stage.0.rng.borrow_mut().next_u64();
            let at = usize::try_from(drawn).unwrap_or(0) % array.len().max(1);
            array.get(at).cloned().ok_or_else(|| wrong("pick: expected an array with elements"))
        },
    );
}

fn begin(stage: &Stage, data: &Map) -> Said<()> {
    if stage.runs() || stage.0.plan.borrow().is_some() {
        return Err(wrong("scenario: expected once, before anything else"));
    }
    let mut told = Gathered::default();
    let plan = Plan::read(data, &mut told);
    stage.0.servers.borrow_mut().resize(plan.servers.len(), None);
    let players = plan.peers.iter().cloned();
    let players = players.map(|plan| Player {
        plan,
        id: None,
        acting: None,
        frames: None,
        place: Position::NONE,
    });
    stage.0.peers.borrow_mut().extend(players);
    *stage.0.plan.borrow_mut() = Some(std::rc::Rc::new(plan));
    let mut mistakes = told.all();
    mistakes.truncate(MISTAKES_MAX);
    let first = mistakes.first().map(|it| again(it));
    *stage.0.of_data.borrow_mut() = mistakes;
    first.map_or(Ok(()), Err)
}

/// Have something called at a time.
fn once(stage: &Stage, word: &str, at: Micros, call: FnPtr) -> Said<()> {
    in_time(stage, word, at)?;
    stage.call_at(at, What::Call(call), stage.0.place.get())
}

/// Whether something that is to happen then can happen at all. What a callback asks for while the
/// scenario runs may come too late for it: that is then left undone, and nobody's mistake.
pub(super) fn in_time(stage: &Stage, word: &str, at: Micros) -> Said<()> {
    let span = stage.plan()?.span;
    if at <= span || stage.runs() {
        return Ok(());
    }
    Err(never_comes(word, at, span))
}

/// The mistake of a time after the end.
pub(in crate::script) fn never_comes(
    word: &str,
    at: Micros,
    span: Micros,
) -> Box<rhai::EvalAltResult> {
    let (at, span) = (at.as_secs_f64(), span.as_secs_f64());
    wrong(format!("{word}: the scenario ends at {span} s, so {at} s never comes"))
}

/// An event by its name.
pub(super) fn known_event(
    known: &'static [(&'static str, &'static str)],
    event: &str,
) -> Said<&'static str> {
    let names = known.iter().map(|(name, _)| *name);
    let name = names.clone().find(|name| *name == event);
    name.ok_or_else(|| unknown("event", event, names))
}

fn on(stage: &Stage, handler: Handler) -> Said<()> {
    let mut handlers = stage.0.handlers.borrow_mut();
    if WAITING_MAX <= handlers.len() {
        return Err(wrong(format!("on: expected at most {WAITING_MAX} handlers")));
    }
    handlers.push(handler);
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "53 bits are exact")]
fn unit(stage: &Stage) -> f64 {
    (stage.0.rng.borrow_mut().next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
