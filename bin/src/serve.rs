//! The role that serves a world until it is asked to stop.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use dh_host::net::{Links, ListenError};
use dh_host::{RealOptions, Runtime};
use dh_prefs::{DEFAULT_PORT, Prefs, key};
use dh_server::{Observer, Server as Running, ServerEvent, ServerOptions};
use dh_wire::Guid;
use serde_json::json;

use crate::command::{Server, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::front::{Event, Front, FrontMsg};
use crate::{identity, output, settings};

/// Runs the role to its end.
pub(crate) fn run(flags: &Server, shared: &Shared) -> Result<(), Failure> {
    let folder = DataFolder::open(shared.data.as_deref())?;
    let prefs = settings::load(&folder, flags.config.as_deref(), shared)?;
    let identity = identity::load(&folder)?;
    let fingerprint = identity.key().fingerprint();
    let runtime = start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), true)?;
    let options = ServerOptions {
        address: flags.listen.unwrap_or_else(any_address),
        open: true,
        identity,
        prefs,
        name: "server".to_owned(),
        world_id: Guid::from(new_world_id(&runtime)),
        observer: Observer::new(front.port().inlet(FrontMsg::Server), false),
        answers: front.port().inlet(FrontMsg::Answer),
        links: Links::IDEAL,
    };
    let server = Running::start(&runtime.root().child("server"), options).map_err(cannot_listen)?;
    let address = server.address();
    if shared.json {
        output::json(&json!({ "event": "ready", "address": address.to_string(), "map": "",
            "identity": fingerprint.to_string() }))?;
    } else {
        output::line(&format!("ready on {address}, map the gray box, identity {fingerprint}"))?;
    }
    let until = flags.seconds.map(|seconds| Instant::now() + seconds);
    let reason = serve(&runtime, &server, &front, until, shared);
    server.say_goodbye(&format!("server stopped ({reason})"));
    stop(&runtime)?;
    if shared.json {
        output::json(&json!({ "event": "stopped", "reason": reason }))?;
    } else {
        output::line(&format!("stopped: {reason}"))?;
    }
    failed(&runtime)
}

/// Print what happens, pass lines on, until there is a reason to stop.
fn serve(
    runtime: &Runtime,
    server: &Running,
    front: &Front,
    until: Option<Instant>,
    shared: &Shared,
) -> String {
    let mut next_line = 0;
    loop {
        if runtime.failure().is_some() {
            return "an actor failed for good".to_owned();
        }
        match front.next(until) {
            None if until.is_some_and(|until| until <= Instant::now()) => {
                return "its time is over".to_owned();
            }
            None => (),
            Some(Event::Signal(name)) => return name.to_owned(),
            Some(Event::Typed(line)) => {
                next_line += 1;
                server.console(next_line, line);
            }
            Some(Event::Told(FrontMsg::Server(ServerEvent::StopAsked))) => {
                return "asked by the console".to_owned();
            }
            Some(Event::Told(told)) => print(&told, shared),
        }
    }
}

/// Answers and transcript on stdout. A closed stdout does not stop a server.
fn print(told: &FrontMsg, shared: &Shared) {
    let written = match told {
        FrontMsg::Server(ServerEvent::Line(text)) if shared.json => {
            output::json(&json!({ "event": "line", "text": text }))
        }
        FrontMsg::Server(ServerEvent::Line(text)) => output::line(text),
        FrontMsg::Answer(answer) if shared.json => {
            output::json(&json!({ "event": "answer", "line": answer.id, "text": answer.text }))
        }
        FrontMsg::Answer(answer) => output::line(&answer.text),
        FrontMsg::Server(_) | FrontMsg::Client(_) | FrontMsg::Picture(_) => Ok(()),
    };
    if let Err(failure) = written {
        tracing::debug!("{}", failure.cause);
    }
}

/// The runtime of a process, sized as the preferences say.
pub(crate) fn start_runtime(prefs: &Prefs) -> Result<Runtime, Failure> {
    let mut options = RealOptions::for_this_machine();
    if let Some(threads) = prefs.get(key::SESSIONS_THREADS) {
        options.sessions = usize::try_from(threads).unwrap_or(1);
    }
    Runtime::real(options).map_err(|error| {
        Failure::new(Exit::Internal, format!("the system gives no thread: {error}"))
    })
}

/// Stop everything in order, and let last words leave.
pub(crate) fn stop(runtime: &Runtime) -> Result<(), Failure> {
    runtime.root().stop_blocking();
    runtime.block_on(runtime.net().settle());
    let failed = |error| Failure::new(Exit::Internal, format!("an event loop failed: {error}"));
    runtime.stop().map_err(failed)
}

/// Whether the runtime had to give up.
pub(crate) fn failed(runtime: &Runtime) -> Result<(), Failure> {
    match runtime.failure() {
        Some(failure) => Err(Failure::new(Exit::Internal, failure)),
        None => Ok(()),
    }
}

/// What a refused address means to the user.
pub(crate) fn cannot_listen(error: ListenError) -> Failure {
    let failure = match &error {
        ListenError::Bind { .. } => Failure::new(Exit::TryAgain, &error),
        _ => Failure::new(Exit::Internal, &error),
    };
    failure.remedy("dh server --listen ADDR:PORT with a free port, or stop what holds this one")
}

fn any_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), DEFAULT_PORT)
}

fn new_world_id(runtime: &Runtime) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&runtime.seeds().bytes("world")[..16]);
    id
}
