//! Words for servers.

use std::rc::Rc;

use dh_machine::Micros;
use dh_server::StartError;

use super::{ServerHandle, Words};
use crate::script::content::{Contents, owner_of_server};
use crate::script::deed::DeedKind;
use crate::script::error::{Said, wrong};
use crate::script::stage::{Stage, What};
use crate::server::{ServerId, ServerSetup, set};
use crate::world::Standing;

pub(super) fn register(words: &mut Words) {
    words.group(
        "servers",
        "at(2, || main.map(\"hill\"));\n\
         at(4, || main.stop(\"back soon\"));\n\
         at(5, || main.start());",
    );
    let stage = words.stage.clone();
    words.word("server(\"name\")", "The server of this name.", move |name: &str| {
        let at = stage.plan()?.server(name)?;
        Ok::<_, Box<rhai::EvalAltResult>>(ServerHandle { stage: stage.clone(), at })
    });
    words.word(
        "server.start()",
        "Starts a server that was not started with the scenario, or was stopped or killed: the \
         same address, key and disk.",
        |server: &mut ServerHandle| {
            let at = server.at;
            let name = server.stage.server_name(at)?;
            let what = format!("{name} starts");
            server.stage.deed(DeedKind::Event, what, move |stage| start_once(stage, at))
        },
    );
    words.word(
        "server.stop(\"reason\")",
        "Tells everybody why, and stops in order; its disk stays.",
        |server: &mut ServerHandle, reason: &str| {
            let (at, reason) = (server.at, reason.to_owned());
            let name = server.stage.server_name(at)?;
            server.stage.deed(DeedKind::Event, format!("{name} stops"), move |stage| {
                let id = stage.server(at)?;
                let scope = stage.world()?.say_goodbye(id, &reason);
                stage.0.stopping.borrow_mut().push((id, scope));
                Ok(())
            })
        },
    );
    words.word(
        "server.kill()",
        "Ends it as if its process had died: no goodbye; its disk stays.",
        |server: &mut ServerHandle| {
            server.stage.to_server(DeedKind::Fault, server.at, "is killed", |world, id| {
                world.kill_server(id);
            })
        },
    );
    orders(words);
}

/// What a server is told by its console.
fn orders(words: &mut Words) {
    words.word(
        "server.console(\"line\")",
        "Types a line on its console; the answer comes as an event `answer`.",
        |server: &mut ServerHandle, line: &str| {
            let (what, line) = (format!("console: {line}"), line.to_owned());
            server.stage.to_server(DeedKind::Event, server.at, &what, move |world, id| {
                world.console(id, &line);
            })
        },
    );
    words.word(
        "server.map(\"pallet\")",
        "Changes to the map of a pallet, or to core:assets/demo.dh-map. One that is not there is a \
         mistake of the scenario; console(\"map x\") tries one.",
        |server: &mut ServerHandle, map: &str| {
            let plan = server.stage.plan()?;
            let barcode = Contents::change(&plan, plan.servers.get(server.at), map)?;
            let line = format!("map {barcode}");
            server.stage.to_server(DeedKind::Event, server.at, &line.clone(), move |world, id| {
                world.console(id, &line);
            })
        },
    );
}

/// Start a server that does not run; one that is still stopping as soon as it has stopped.
fn start_once(stage: &Stage, at: usize) -> Said<()> {
    let standing = stage.0.servers.borrow()[at];
    let standing = standing.map(|id| stage.world().map(|world| world.standing(id))).transpose()?;
    match standing {
        None | Some(Standing::Ended) => start(stage, at),
        Some(Standing::Stops) => {
            let again = What::Do(Rc::new(move |stage: &Stage| start_once(stage, at)));
            stage.call_at(stage.0.now.get() + Micros::from_millis(1), again, stage.0.place.get())
        }
        Some(Standing::Runs) => {
            let name = stage.server_name(at)?;
            Err(wrong(format!(
                "server {name} runs already; expected one that was stopped or killed, or that \
                 says `starts: false`"
            )))
        }
    }
}

/// Start a server again, unless somebody has done so.
pub(super) fn start_unless_it_runs(stage: &Stage, at: usize) -> Said<()> {
    let id = stage.server(at)?;
    let runs = stage.world()?.standing(id) == Standing::Runs;
    if runs { Ok(()) } else { start_once(stage, at) }
}

/// Start a server of the plan, for the first time or again.
pub(in crate::script) fn start(stage: &Stage, at: usize) -> Said<()> {
    let plan = stage.plan()?;
    let server = &plan.servers[at];
    let standing = stage.0.servers.borrow()[at];
    if let Some(id) = standing {
        return start_again(stage, at, id, START_TRIES);
    }
    let (shelf, map) = stage.0.contents.borrow_mut().server(&plan, server)?;
    let mut setup = ServerSetup {
        name: Some(server.name.clone()),
        shelf: Some(shelf),
        map,
        build: server.build.clone(),
        ..ServerSetup::default()
    };
    server.prefs.iter().chain(&stage.0.prefs).for_each(|pref| set(&mut setup.prefs, pref));
    let started = stage.world()?.try_server(setup);
    let id = started.map_err(|error| wrong(format!("server {}: {error}", server.name)))?;
    stage.0.servers.borrow_mut()[at] = Some(id);
    Ok(())
}

/// Start a server again; a real address may be free only a moment after whoever had it was killed.
fn start_again(stage: &Stage, at: usize, id: ServerId, tries: u32) -> Said<()> {
    let started = stage.world()?.restart_server(id);
    match started {
        Err(StartError::Listen(_)) if tries > 0 && !stage.world()?.runtime().is_simulated() => {
            let again = move |stage: &Stage| start_again(stage, at, id, tries - 1);
            let soon = stage.0.now.get() + START_AGAIN;
            stage.call_at(soon, What::Do(Rc::new(again)), stage.0.place.get())
        }
        started => {
            let name = stage.server_name(at)?;
            started.map_err(|error| wrong(format!("server {name}: {error}")))
        }
    }
}

/// How often and how soon a real address is tried again.
const START_TRIES: u32 = 20;
const START_AGAIN: Micros = Micros::from_millis(200);

/// What a server's disk is kept under.
pub(super) fn owner(server: &ServerHandle) -> Said<String> {
    Ok(owner_of_server(&server.stage.plan()?.servers[server.at].name))
}
