//! Words for peers.

use std::rc::Rc;

use dh_machine::Micros;
use rhai::{Array, Dynamic, Map};

use super::time::in_time;
use super::{PeerHandle, ServerHandle, Words, faults};
use crate::peer::PeerSetup;
use crate::roles::{Acting, Role};
use crate::script::content::owner_of_peer;
use crate::script::deed::DeedKind;
use crate::script::error::{Said, Under as _, wrong};
use crate::script::limit::{DEGREES_MAX, PEERS_MAX};
use crate::script::plan::{PeerPlan, SMALL_PEERS_MAX, Size};
use crate::script::stage::{Player, Stage, What};
use crate::script::value::{called, integer, micros, number, role as read_role};
use crate::server::set;
use crate::world::World;

pub(super) fn register(words: &mut Words) {
    words.group(
        "peers",
        "let crowd = spawn(3, \"walker\", 1, #{ link: \"home\" });\n\
         let eve = peer(\"eve\", #{ role: \"chatter\", joins: 2 });\n\
         at(3, || { for it in crowd { it.say(\"hello\"); } });",
    );
    let stage = words.stage.clone();
    words.word("peer(\"name\")", "The peer of this name.", move |name: &str| {
        let at = stage.peer_called(name)?;
        Ok::<_, Box<rhai::EvalAltResult>>(PeerHandle { stage: stage.clone(), at })
    });
    let stage = words.stage.clone();
    words.word(
        "peer(\"name\", #{ role, link, prefs, server, joins, inside, build })",
        "One more peer, as in the data at the top.",
        move |name: &str, data: Map| {
            let plan = PeerPlan { name: name.to_owned(), ..PeerPlan::default() };
            let plan = plan.read(&Dynamic::from_map(data), &*stage.plan()?)?;
            enter(&stage, plan)
        },
    );
    let stage = words.stage.clone();
    words.word(
        "spawn(n, \"role\", seconds)",
        "So many peers of one role, who join one after the other within this time; an array.",
        move |n: Dynamic, role: &str, over: Dynamic| spawn(&stage, &n, role, &over, Map::new()),
    );
    let stage = words.stage.clone();
    words.word(
        "spawn(n, \"role\", seconds, #{ link, prefs, server, joins, inside, build })",
        "The same, with these entries of a peer; role is said already, and of joins only false is \
         taken: they join within the seconds, or not before join().",
        move |n: Dynamic, role: &str, over: Dynamic, data: Map| {
            spawn(&stage, &n, role, &over, data)
        },
    );
    sessions(words);
    steering(words);
}

fn sessions(words: &mut Words) {
    words.word("peer.join()", "Joins its server.", |peer: &mut PeerHandle| {
        let server = home(peer)?;
        let server = ServerHandle { stage: peer.stage.clone(), at: server };
        join(peer, &server)
    });
    words.word(
        "peer.join(server)",
        "Joins a server.",
        |peer: &mut PeerHandle, server: ServerHandle| join(peer, &server),
    );
    words.word("peer.leave()", "Leaves, or gives up joining.", |peer: &mut PeerHandle| {
        peer.stage.to_peer(DeedKind::Event, peer.at, "leaves", World::disconnect)
    });
    words.word(
        "peer.say(\"line\")",
        "Says a line to everybody.",
        |peer: &mut PeerHandle, line: &str| peer_says(peer, line.to_owned()),
    );
    words.word(
        "peer.console(\"line\")",
        "Has the server's console run a line, if it lets this peer; the answer comes as an event \
         `answer`.",
        |peer: &mut PeerHandle, line: &str| {
            let (what, line) = (format!("console: {line}"), line.to_owned());
            peer.stage.to_peer(DeedKind::Event, peer.at, &what, move |world, id| {
                world.peer_console(id, &line);
            })
        },
    );
    words.word(
        "peer.role(\"role\")",
        "Behaves in another way from now on.",
        |peer: &mut PeerHandle, role: &str| {
            let (at, role) = (peer.at, read_role(role)?);
            let manner = role.manner();
            peer.stage.to_peer(DeedKind::Event, at, "takes another role", move |world, id| {
                world.fly(id, manner);
            })?;
            if peer.stage.runs() {
                take_role(&peer.stage, at, role);
            } else {
                peer.stage.0.peers.borrow_mut()[at].plan.role = role;
            }
            Ok::<_, Box<rhai::EvalAltResult>>(())
        },
    );
}

fn steering(words: &mut Words) {
    words.word(
        "peer.walk(right, ahead)",
        "Holds its stick, each from -1 to 1, until it is told otherwise.",
        |peer: &mut PeerHandle, right: Dynamic, ahead: Dynamic| {
            let (right, ahead) = (stick("right", &right)?, stick("ahead", &ahead)?);
            peer.stage.to_peer(DeedKind::Event, peer.at, "walks", move |world, id| {
                world.walk(id, right, ahead);
            })
        },
    );
    words.word(
        "peer.look(yaw, pitch)",
        "Turns its view, in degrees.",
        |peer: &mut PeerHandle, yaw: Dynamic, pitch: Dynamic| {
            let (yaw, pitch) = (radians("yaw", &yaw)?, radians("pitch", &pitch)?);
            peer.stage.to_peer(DeedKind::Event, peer.at, "looks", move |world, id| {
                world.look(id, yaw, pitch);
            })
        },
    );
    words.word(
        "peer.frames(fps)",
        "Looks at the world so many times a second from now on; 0 for never.",
        |peer: &mut PeerHandle, fps: Dynamic| {
            let fps = number("frames", &fps)?;
            if !(0.0..=240.0).contains(&fps) {
                return Err(wrong(format!("frames: expected 0 to 240, found {fps}")));
            }
            peer.stage.is_player(peer.at)?;
            peer.stage.is_there(peer.at)?;
            let every = (fps > 0.0).then(|| Micros::from_secs_f64(1.0 / fps));
            let next = peer.stage.0.now.get();
            peer.stage.0.peers.borrow_mut()[peer.at].frames = every.map(|every| (every, next));
            Ok(())
        },
    );
    words.word(
        "peer.jump(held)",
        "Presses or releases jump.",
        |peer: &mut PeerHandle, held: bool| {
            peer.stage.to_peer(DeedKind::Event, peer.at, "jumps", move |world, id| {
                world.jump(id, held);
            })
        },
    );
}

/// A number of -1 to 1 as the wire has it.
#[expect(clippy::cast_possible_truncation, reason = "it is in range")]
fn stick(what: &str, value: &Dynamic) -> Said<i8> {
    let value = number(what, value)?;
    if !(-1.0..=1.0).contains(&value) {
        return Err(wrong(format!("{what}: expected -1 to 1, found {value}")));
    }
    Ok((value * 127.0).round() as i8)
}

#[expect(clippy::cast_possible_truncation, reason = "an angle needs no more")]
fn radians(what: &str, value: &Dynamic) -> Said<f32> {
    let degrees = number(what, value)?;
    if DEGREES_MAX < degrees.abs() {
        return Err(wrong(format!("{what}: expected at most {DEGREES_MAX} degrees either way")));
    }
    Ok(degrees.to_radians() as f32)
}

fn peer_says(peer: &PeerHandle, line: String) -> Said<()> {
    peer.stage.to_peer(DeedKind::Event, peer.at, "says a line", move |world, id| {
        world.say(id, &line);
    })
}

/// The server a peer belongs to.
fn home(peer: &PeerHandle) -> Said<usize> {
    home_of(&peer.stage, peer.at)
}

pub(super) fn home_of(stage: &Stage, at: usize) -> Said<usize> {
    let server = stage.0.peers.borrow()[at].plan.server.clone();
    server.map_or(Ok(0), |name| stage.plan()?.server(&name))
}

fn join(peer: &PeerHandle, server: &ServerHandle) -> Said<()> {
    let (at, to) = (peer.at, server.at);
    peer.stage.is_player(at)?;
    let name = peer.stage.peer_name(at);
    let home = peer.stage.server_name(to)?;
    peer.stage.deed(DeedKind::Event, format!("{name} joins {home}"), move |stage| {
        let server = stage.server(to).map_err(|_| {
            wrong(format!(
                "{name} joins server {home}, which has not been started; expected \
                 server(\"{home}\").start() before"
            ))
        })?;
        stage.is_there(at)?;
        stage.with_peer(at, |world, peer| world.join(peer, server))
    })
}

fn spawn(stage: &Stage, n: &Dynamic, role: &str, over: &Dynamic, data: Map) -> Said<Array> {
    let (n, over) = (integer("spawn", n)?, micros("spawn", over)?);
    let n = u32::try_from(n).map_err(|_| wrong("spawn: expected how many peers"))?;
    let plan = stage.plan()?;
    if data.contains_key("role") {
        return Err(wrong("said before it; expected no entry `role` here").under("role"));
    }
    if data.get("joins").is_some_and(|it| !matches!(it.as_bool(), Ok(false))) {
        let what = "expected false, or none: who is spawned joins within the seconds before it";
        return Err(wrong(what).under("joins"));
    }
    let template = PeerPlan { role: read_role(role)?, ..PeerPlan::default() };
    let template = template.read(&Dynamic::from_map(data), &plan)?;
    let begin = stage.0.now.get();
    let mut handles = Array::new();
    for nth in 0..n {
        let taken = stage.0.peers.borrow().len();
        let name = format!("{role}-{}", taken + 1);
        let joins = begin + Micros(over.0 * u64::from(nth) / u64::from(n.max(1)));
        let joins = template.joins.map(|_| joins);
        let peer = PeerPlan { name, joins, ..template.clone() };
        handles.push(Dynamic::from(enter(stage, peer)?));
    }
    Ok(handles)
}

/// One more peer of the script.
fn enter(stage: &Stage, plan: PeerPlan) -> Said<PeerHandle> {
    called("peer", &plan.name)?;
    let mut peers = stage.0.peers.borrow_mut();
    if peers.iter().any(|player| player.plan.name == plan.name) {
        let name = &plan.name;
        return Err(wrong(format!("two peers are called \"{name}\"; expected names of their own")));
    }
    let max = if stage.plan()?.size == Size::Small { SMALL_PEERS_MAX } else { PEERS_MAX };
    if max <= peers.len() {
        let hint = "; say `size: \"large\"` for more";
        let hint = if max == SMALL_PEERS_MAX { hint } else { "" };
        return Err(wrong(format!("expected at most {max} peers{hint}")));
    }
    if let Some(joins) = plan.joins {
        in_time(stage, "joins", joins)?;
    }
    let at = peers.len();
    peers.push(Player { plan, id: None, acting: None, frames: None, place: stage.0.place.get() });
    drop(peers);
    if stage.runs() {
        start(stage, at)?;
    }
    Ok(PeerHandle { stage: stage.clone(), at })
}

/// Make a peer of the plan in the world, and have it join when it is time.
pub(in crate::script) fn start(stage: &Stage, at: usize) -> Said<()> {
    let plan = stage.0.peers.borrow()[at].plan.clone();
    let (joins, role) = (plan.joins, plan.role);
    stage.deed(DeedKind::Peer, format!("peer {}", plan.name), move |stage| {
        let content = stage.0.contents.borrow_mut().peer(&plan.name)?;
        let mut setup = PeerSetup::new(plan.name.clone()).over(plan.links);
        setup = setup.flown(plan.role.manner()).keeping(content);
        (setup.inside, setup.build) = (plan.inside, plan.build.clone());
        plan.prefs.iter().chain(&stage.0.prefs).for_each(|pref| set(&mut setup.prefs, pref));
        let id = stage.world()?.peer(setup);
        stage.0.peers.borrow_mut()[at].id = Some(id);
        Ok(())
    })?;
    let Some(when) = joins else { return Ok(()) };
    let place = stage.0.peers.borrow()[at].place;
    if role == Role::Hostile {
        let raid = What::Do(Rc::new(move |stage: &Stage| {
            let server = ServerHandle { stage: stage.clone(), at: home_of(stage, at)? };
            faults::raid_of_chance(stage, at, &server)
        }));
        return stage.call_at(when.max(stage.0.now.get()), raid, place);
    }
    let first = What::Do(Rc::new(move |stage: &Stage| {
        let peer = PeerHandle { stage: stage.clone(), at };
        let server = ServerHandle { stage: stage.clone(), at: home(&peer)? };
        let role = stage.0.peers.borrow()[at].plan.role;
        take_role(stage, at, role);
        let joined = join(&peer, &server);
        // One of the data at the top is found by its name there.
        if place.is_none() { joined.under(&stage.peer_name(at)).under("peers") } else { joined }
    }));
    stage.call_at(when.max(stage.0.now.get()), first, place)
}

fn take_role(stage: &Stage, at: usize, role: Role) {
    let name = stage.peer_name(at);
    let rng = stage.0.seeds.rng(&format!("role {name}"));
    let acting = Acting::new(role, rng, stage.0.now.get());
    stage.0.peers.borrow_mut()[at].acting = Some(acting);
}

/// Have everybody who looks at the world do so when it is time.
pub(in crate::script) fn look(stage: &Stage) -> Said<()> {
    let now = stage.0.now.get();
    for player in stage.0.peers.borrow_mut().iter_mut() {
        if let (Some(id), Some((every, next))) = (player.id, &mut player.frames)
            && *next <= now
        {
            *next = (*next + *every).max(now);
            stage.world()?.present(id);
        }
    }
    Ok(())
}

/// Have everybody who plays a role do what it is time for.
pub(in crate::script) fn act(stage: &Stage) -> Said<()> {
    use crate::roles::Act;
    let now = stage.0.now.get();
    let count = stage.0.peers.borrow().len();
    for at in 0..count {
        let act = stage.0.peers.borrow_mut()[at].acting.as_mut().and_then(|it| it.act(now));
        let Some(act) = act.filter(|_| !stage.is_gone(at)) else { continue };
        let peer = PeerHandle { stage: stage.clone(), at };
        match act {
            Act::Join => join(&peer, &ServerHandle { stage: stage.clone(), at: home(&peer)? })?,
            Act::Say(lines) => {
                for line in 1..=lines {
                    peer_says(&peer, format!("line {line} of {lines}"))?;
                }
            }
            Act::Leave | Act::LeaveAndForget => {
                stage.to_peer(DeedKind::Event, at, "leaves", World::disconnect)?;
            }
        }
        if act == Act::LeaveAndForget {
            let name = stage.peer_name(at);
            stage.0.contents.borrow_mut().disk(&owner_of_peer(&name)).forget();
        }
    }
    Ok(())
}

/// What the disk of a peer that was not killed is kept under.
pub(super) fn owner(peer: &PeerHandle) -> Said<String> {
    peer.stage.is_there(peer.at)?;
    Ok(owner_of_peer(&peer.stage.peer_name(peer.at)))
}
