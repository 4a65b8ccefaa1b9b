//! Datagrams over a lossy link in simulation: what arrives and how old it is, beside the same run
//! under Cubic, the usual congestion control.
//!
//! Two connections' ends and nothing else: one sends full datagrams every tick as a server sends
//! snapshots, the other a small one as a client sends input.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dh_host::net::{
    Congestion, Connection, DialOptions, Dialed, Endpoint, Identity, Knock, Link, Links,
    ListenOptions, NetEvent, Target, Verdict,
};
use dh_host::{Actor, Context, Performed, Place, Runtime, Simulation, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, TickRate, actor_message};

use super::measure::quantile;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

/// Datagrams a tick, each run on its own.
const LOADS: [usize; 5] = [1, 2, 3, 11, 16];
/// Bytes of a datagram.
const BYTES: usize = 1_100;
/// Bytes of what goes the other way each tick.
const INPUT_BYTES: usize = 90;
const RATE: TickRate = TickRate::DEFAULT;
/// Ticks of a run: a minute.
const TICKS: u32 = 3_600;
/// Each way.
const ONE_WAY: Micros = Micros::from_millis(40);
const LINK: Link = Link { latency: ONE_WAY, loss_ppm: 20_000, ..Link::IDEAL };

const SHARE_MIN: f64 = 97.0;
/// One way and two ticks, milliseconds.
const AGE_MS_MAX: f64 = 73.3;

/// What a run came to.
struct Ran {
    /// Percent of the datagrams that arrived.
    share: f64,
    /// The age that 99 of 100 of those did not exceed, milliseconds.
    age: f64,
}

/// Runs each load under both controllers.
pub(super) fn run() -> Result<Report, Failure> {
    let mut report = Report::new("link");
    for load in LOADS {
        progress(&format!("2 % loss, 80 ms round trip, {load} datagrams a tick"));
        let [ours, cubic] = [Congestion::Bbr, Congestion::Cubic].map(|it| simulated(it, load));
        let (ours, cubic) = (ours?, cubic?);
        let named = |what: &str| format!("{load} a tick, {what}");
        let share = Figure::new(named("delivered"), ours.share, "%");
        report.push(share.beside("Cubic", cubic.share).within(Budget::AtLeast(SHARE_MIN)));
        let age = Figure::new(named("age p99"), ours.age, "ms");
        report.push(age.beside("Cubic", cubic.age).within(Budget::AtMost(AGE_MS_MAX)));
    }
    Ok(report)
}

fn simulated(congestion: Congestion, load: usize) -> Result<Ran, Failure> {
    Simulation::new(1).run(|runtime| async move { course(&runtime, congestion, load).await })
}

/// One minute of ticks.
async fn course(runtime: &Runtime, congestion: Congestion, load: usize) -> Result<Ran, Failure> {
    let told = Arc::<Mutex<Heard>>::default();
    let ends = join(runtime, congestion, &told).await?;
    let start = runtime.now();
    for tick in 1..=TICKS {
        runtime.sleep_until(start + RATE.due(u64::from(tick))).await;
        let now = runtime.now();
        ends.server.send_datagrams((0..load).map(|_| stamped(now, BYTES).into()));
        ends.client.send_datagrams([stamped(now, INPUT_BYTES).into()]);
    }
    runtime.sleep_until(runtime.now() + Micros::from_secs(1)).await;
    let ages = std::mem::take(&mut lock(&told).ages);
    let sent = f64::from(TICKS) * count(load);
    Ok(Ran { share: count(ages.len()) * 100.0 / sent, age: quantile(ages, 0.99) })
}

/// Both ends of a connection.
struct Ends {
    server: Connection,
    client: Connection,
    _endpoint: Endpoint,
}

/// Dials until both ends stand.
async fn join(
    runtime: &Runtime,
    congestion: Congestion,
    told: &Arc<Mutex<Heard>>,
) -> Result<Ends, Failure> {
    let failed = |why: &str| Failure::new(Exit::Internal, format!("the link bench: {why}"));
    let ear = Ear { heard: Arc::clone(told) };
    let port = runtime.root().spawn(Place::Net, "ear", ear);
    let key = |name: &str| Identity::from_secret(&runtime.seeds().bytes(name));
    let address = SocketAddr::from(([10, 0, 0, 1], 27_015));
    let listen = ListenOptions { congestion, ..ListenOptions::new(address, key("server")) };
    let endpoint = runtime
        .net()
        .listen(listen, port.inlet(Told::Knock))
        .map_err(|error| failed(&error.to_string()))?;
    let target = Target::Udp(address, "server".to_owned());
    let dial = DialOptions {
        congestion,
        links: Links::both(LINK),
        ..DialOptions::new(target, key("client"))
    };
    runtime.net().dial(dial, port.inlet(Told::Dialed));
    let patience = runtime.now() + Micros::from_secs(10);
    while runtime.now() < patience {
        runtime.sleep_until(runtime.now() + Micros::from_millis(1)).await;
        let mut heard = lock(told);
        heard.knocks.drain(..).for_each(|id| endpoint.answer(id, Verdict::Accept));
        if let (Some(_), Some(_)) = (&heard.server, &heard.client)
            && let (Some(server), Some(client)) = (heard.server.take(), heard.client.take())
        {
            server.deliver(port.inlet(|_| Told::Input));
            client.deliver(port.inlet(Told::of_server));
            return Ok(Ends { server, client, _endpoint: endpoint });
        }
    }
    Err(failed("nobody connected"))
}

/// A datagram that begins with the time it was sent at.
fn stamped(now: Micros, bytes: usize) -> Vec<u8> {
    let mut datagram = vec![0x55; bytes];
    datagram[..8].copy_from_slice(&now.0.to_le_bytes());
    datagram
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}

/// What the ear has heard.
#[derive(Debug, Default)]
struct Heard {
    knocks: Vec<u64>,
    server: Option<Connection>,
    client: Option<Connection>,
    /// Of each datagram that came to the client, milliseconds.
    ages: Vec<f64>,
}

actor_message! {
    /// Everything the network tells.
    enum Told {
        /// Something arrived at the server's door.
        Knock(Knock): Control Fatal,
        /// A dial goes on.
        Dialed(Dialed): Control Fatal,
        /// A datagram that was sent at this time.
        Datagram(Micros): Data Fatal,
        /// What only keeps the other direction busy.
        Input: Data Coalesce,
    }
}

impl Told {
    fn of_server(event: NetEvent) -> Self {
        match event {
            NetEvent::Datagram(bytes) => match bytes.first_chunk() {
                Some(stamp) => Self::Datagram(Micros(u64::from_le_bytes(*stamp))),
                None => Self::Input,
            },
            NetEvent::Message { .. } | NetEvent::Closed(_) => Self::Input,
        }
    }
}

/// Hears both ends of one connection.
struct Ear {
    heard: Arc<Mutex<Heard>>,
}

/// Passes everything on.
struct Hearing;

impl Machine for Hearing {
    type Msg = Told;
    type Effect = Told;

    fn handle(&mut self, _now: Micros, told: Told, out: &mut Outbox<Told>) {
        out.push(told);
    }
}

impl Actor for Ear {
    type Machine = Hearing;

    const SPEC: Spec = Spec {
        kind: "ear",
        control_max: 64,
        data_max: 4_096,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, Told>) -> Hearing {
        Hearing
    }

    fn perform(&mut self, told: Told, cx: &mut Context<'_, Told>) -> Performed<Told> {
        let mut heard = lock(&self.heard);
        match told {
            Told::Knock(Knock::Incoming(incoming)) => heard.knocks.push(incoming.id),
            Told::Knock(Knock::Arrived { connection, .. }) => heard.server = Some(connection),
            Told::Dialed(Dialed::Connected(connection)) => heard.client = Some(connection),
            Told::Datagram(sent) => heard.ages.push(cx.now().since(sent).as_secs_f64() * 1e3),
            Told::Knock(Knock::Failed(_)) | Told::Dialed(_) | Told::Input => (),
        }
        Performed::Done
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}
