//! The role that serves a world until it is asked to stop.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use dh_host::net::{Fingerprint, Links, ListenError};
use dh_host::{KnownBuilds, RealOptions, Runtime};
use dh_prefs::{DEFAULT_PORT, Prefs, Side, key};
use dh_server::{MapError, Observer, Server as Running, ServerEvent, ServerOptions, StartError};
use dh_wire::Guid;
use serde_json::{Value, json};

use crate::command::{Server, Shared};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::front::{Event, Front, FrontMsg};
use crate::inspect::{Shown, Waiting};
use crate::{content, identity, output, prefs, settings};

/// What the world of a server without a map is called.
const GRAY_BOX: &str = "the gray box";

/// What helps where an address is none of this machine's.
const OWN_ADDRESS: &str = "--listen with an address of this machine, as in 0.0.0.0:27015";

/// Runs the role to its end.
pub(crate) fn run(flags: &Server, shared: &Shared) -> Result<(), Failure> {
    let folder = DataFolder::open(shared.data.as_deref())?;
    let prefs = settings::load(&folder, flags.config.as_deref(), shared)?;
    let identity = identity::load(&folder)?;
    let fingerprint = identity.key().fingerprint();
    let runtime = start_runtime(&prefs)?;
    let front = Front::start(&runtime.root().child("front"), true)?;
    let settings = front.port().inlet(FrontMsg::Set);
    let shown = Shown::start(&runtime, &folder, "server", flags.inspect, settings)?;
    let shelf = content::shelf(&flags.content, &folder)?;
    let map = content::map(flags.map.as_deref(), &shelf)?;
    let options = ServerOptions {
        address: listening(flags.listen, any_address())?,
        open: true,
        identity,
        prefs,
        name: "server".to_owned(),
        world_id: Guid::from(new_world_id(&runtime)),
        builds: KnownBuilds::of_this_build(),
        observer: Observer::new(front.port().inlet(FrontMsg::Server), false),
        answers: front.port().inlet(FrontMsg::Answer),
        shelf: Some(shelf),
        map,
        links: Links::IDEAL,
    };
    let server = Running::start(&runtime.root().child("server"), options)
        .map_err(|error| cannot_start(&error))?;
    shown.ready();
    ready(&server, &fingerprint, &shown, shared);
    let until = flags.seconds.map(|seconds| Instant::now() + seconds);
    let reason = serve(&runtime, &server, &front, until, (flags, shared));
    let lateness = lateness(&runtime);
    server.say_goodbye(&format!("server stopped ({reason})"));
    stop(&runtime)?;
    let facts = json!({ "reason": reason, "tickLateness": lateness });
    output::event(shared.json, "stopped", &facts, &format!("stopped: {reason}"));
    failed(&runtime)
}

/// Says where the server is, what it runs, and who it is.
pub(crate) fn ready(server: &Running, identity: &Fingerprint, shown: &Shown, shared: &Shared) {
    let (address, map) = (server.address(), server.directory().advert().name);
    let map = Some(map.as_str()).filter(|map| !map.is_empty());
    let facts = json!({ "address": address.to_string(), "map": map,
        "identity": identity.to_string(),
        "inspect": shown.address().map(|address| address.to_string()) });
    let seen = shown.address().map(|at| format!(", inspect at http://{at}")).unwrap_or_default();
    let map = map.unwrap_or(GRAY_BOX);
    let text = format!("ready on {address}, map {map}, identity {identity}{seen}");
    output::event(shared.json, "ready", &facts, &text);
}

/// Print what happens, pass lines on, until there is a reason to stop.
fn serve(
    runtime: &Runtime,
    server: &Running,
    front: &Front,
    until: Option<Instant>,
    (flags, shared): (&Server, &Shared),
) -> String {
    let (mut next_line, mut settings) = (0, Waiting::default());
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
            Some(Event::Told(FrontMsg::Typed(line))) => {
                next_line += 1;
                runtime.block_on(server.type_line(next_line, line));
            }
            Some(Event::Told(FrontMsg::Server(ServerEvent::StopAsked))) => {
                return "asked by the console".to_owned();
            }
            Some(Event::Told(FrontMsg::Server(ServerEvent::Keep(change)))) => {
                prefs::keep(flags.config.as_deref(), shared, &change);
            }
            Some(Event::Told(FrontMsg::Set(setting))) if setting.side() == Side::Server => {
                let (number, line) = settings.type_in(setting);
                runtime.block_on(server.type_line(number, line));
            }
            Some(Event::Told(FrontMsg::Set(setting))) => {
                setting.refused("it is a client's, and this process is a server");
            }
            Some(Event::Told(FrontMsg::Answer(answer)))
                if settings.answered(answer.id, &answer.text) => {}
            Some(Event::Told(told)) => print(&told, shared),
        }
    }
}

/// How late ticks started, microseconds.
fn lateness(runtime: &Runtime) -> Value {
    let reports = runtime.registry().reports();
    let tick = reports.iter().find(|report| report.kind == "tick");
    tick.map_or(Value::Null, |tick| {
        let micros = |ns| Duration::from_nanos(ns).as_secs_f64() * 1e6;
        json!({ "p50": micros(tick.late.p50_ns), "p99": micros(tick.late.p99_ns),
            "max": micros(tick.late.max_ns) })
    })
}

/// Answers and transcript on stdout.
fn print(told: &FrontMsg, shared: &Shared) {
    match told {
        FrontMsg::Server(ServerEvent::Line(text)) => {
            output::event(shared.json, "line", &json!({ "text": text }), text);
        }
        FrontMsg::Answer(answer) => {
            let facts = json!({ "line": answer.id, "text": answer.text });
            output::event(shared.json, "answer", &facts, &answer.text);
        }
        FrontMsg::Server(_)
        | FrontMsg::Client(_)
        | FrontMsg::Picture(_)
        | FrontMsg::Typed(_)
        | FrontMsg::Set(_) => (),
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

/// What a server that does not start means to the user.
pub(crate) fn cannot_start(error: &StartError) -> Failure {
    match error {
        StartError::Map(error) => {
            let (exit, remedy) = match error {
                MapError::Missing(_) => {
                    (Exit::Missing, "dh pallet info FILE, which lists the maps of a pallet")
                }
                MapError::Damaged(_) => (Exit::Damaged, "dh pallet verify FILE, then dh build"),
                MapError::Disk(_) => (Exit::Io, "--content FILE, on a disk that works"),
            };
            Failure::new(exit, format!("--map: {error}")).remedy(remedy)
        }
        StartError::Listen(error) => cannot_listen(error),
    }
}

/// The address to listen at: the one that was asked for, where one machine can have it.
pub(crate) fn listening(
    asked: Option<SocketAddr>,
    otherwise: SocketAddr,
) -> Result<SocketAddr, Failure> {
    let address = asked.unwrap_or(otherwise);
    let ip = address.ip().to_canonical();
    let wrong = match (ip, address) {
        // The system binds a socket to these, and then nobody can talk to it.
        (ip, _) if ip.is_multicast() || ip == Ipv4Addr::BROADCAST => "it belongs to many machines",
        (IpAddr::V6(ip), SocketAddr::V6(whole))
            if ip.is_unicast_link_local() && whole.scope_id() == 0 =>
        {
            let cause = format!("cannot listen on {address}: it does not say on which link");
            let remedy = "--listen with the number of its interface, as in [fe80::1%2]:27015";
            return Err(Failure::new(Exit::Config, cause).remedy(remedy));
        }
        _ => return Ok(address),
    };
    let cause = format!("cannot listen on {address}: {wrong}");
    Err(Failure::new(Exit::Config, cause).remedy(OWN_ADDRESS))
}

/// What a refused address means to the user.
fn cannot_listen(error: &ListenError) -> Failure {
    let (exit, remedy) = match &error {
        ListenError::Bind { error, .. } => match error.kind() {
            ErrorKind::AddrInUse => {
                (Exit::TryAgain, "--listen with a free port, or stop what holds this one")
            }
            ErrorKind::AddrNotAvailable => (Exit::Config, OWN_ADDRESS),
            ErrorKind::PermissionDenied => {
                (Exit::Refused, "--listen with a port from 1024 on, as in 0.0.0.0:27015")
            }
            _ => (Exit::Io, "--listen with another address, as in 0.0.0.0:27015"),
        },
        _ => return Failure::new(Exit::Internal, error),
    };
    Failure::new(exit, error).remedy(remedy)
}

fn any_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), DEFAULT_PORT)
}

pub(crate) fn new_world_id(runtime: &Runtime) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&runtime.seeds().bytes("world")[..16]);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_no_single_machine_has_is_a_wrong_configuration() {
        for wrong in ["239.1.2.3:0", "255.255.255.255:1", "[ff02::1]:1", "[::ffff:224.0.0.1]:1"] {
            let refused = listening(Some(wrong.parse().unwrap()), any_address()).unwrap_err();
            assert_eq!(
                (refused.exit, refused.remedy.as_deref()),
                (Exit::Config, Some(OWN_ADDRESS))
            );
        }
        let refused = listening("[fe80::1]:1".parse().ok(), any_address()).unwrap_err();
        assert_eq!(refused.exit, Exit::Config);
        assert!(refused.remedy.unwrap().contains("[fe80::1%2]:27015"));
        for good in ["0.0.0.0:0", "127.0.0.1:1", "[::]:0", "[fe80::1%2]:1"] {
            let good: SocketAddr = good.parse().unwrap();
            assert_eq!(listening(Some(good), any_address()), Ok(good));
        }
        assert_eq!(listening(None, any_address()), Ok(any_address()));
    }

    #[test]
    fn each_reason_why_nobody_can_listen_has_its_exit_code_and_its_remedy() {
        for (kind, exit, remedy) in [
            (ErrorKind::AddrInUse, Exit::TryAgain, "free port"),
            (ErrorKind::AddrNotAvailable, Exit::Config, "address of this machine"),
            (ErrorKind::PermissionDenied, Exit::Refused, "from 1024 on"),
            (ErrorKind::Unsupported, Exit::Io, "another address"),
        ] {
            let error = ListenError::Bind { address: any_address(), error: kind.into() };
            let failure = cannot_listen(&error);
            assert_eq!(failure.exit, exit, "{failure:?}");
            assert!(failure.remedy.as_ref().unwrap().contains(remedy), "{failure:?}");
        }
    }
}
