//! Runtime: what actors run in, real or simulated. The same shells and machines run in both.
//!
//! Made once by whoever owns a process (`bin`) or a simulated world (`scenario`). Real: a thread
//! each for net, io and control, some for sessions, one for every actor that wants its own.
//! Simulated: one thread, a paused clock, one seed.

mod hands;
mod real;
mod seeds;
mod simulated;
mod watched;

use std::fmt;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crossbeam_channel::Sender;
use dh_machine::{Micros, Strategy};
use rand_chacha::ChaCha8Rng;

pub use self::real::RealOptions;
pub use self::seeds::Seeds;
pub use self::simulated::Simulation;

pub(crate) use self::hands::Hands;

use crate::actor::ExitReason;
use crate::barrier::PanicNote;
use crate::clock::Clock;
use crate::flight::Flight;
use crate::limits::Limits;
use crate::net::Net;
use crate::players::Players;
use crate::port::Port;
use crate::registry::{ActorId, Registry};
use crate::scope::{Node, Place, Scope};
use crate::supervisor::{
    Ended, ScopeOpened, ScopePolicy, Started, Supervisor, SupervisorActor, SupervisorMsg,
};
use crate::trace::Trace;
use crate::watchdog::{Ask, Watchdog};

/// A running runtime. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    clock: Clock,
    seeds: Seeds,
    hands: Hands,
    registry: Registry,
    trace: Trace,
    root: Arc<Node>,
    supervisor: OnceLock<Port<SupervisorMsg>>,
    net: OnceLock<Net>,
    last: Mutex<LastResort>,
    flight: Arc<Flight>,
    limits: Limits,
    players: Players,
    watchdog: Mutex<Watchdog>,
    /// How the watchdog's thread is told, where there is one.
    watch: OnceLock<Sender<Ask>>,
    /// A look for rings of waits is due, in simulation.
    armed: AtomicBool,
}

#[derive(Default)]
struct LastResort {
    failure: Option<Failure>,
    told: Option<Box<dyn FnOnce(Failure) + Send>>,
}

/// Why a runtime cannot go on: an actor failed for good, and so did everyone above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The path of the actor that failed.
    pub path: String,
    /// Its last panic.
    pub panic: Option<PanicNote>,
}

impl Runtime {
    fn new(clock: Clock, seeds: Seeds, hands: Hands, trace: Trace, records: bool) -> Self {
        let runtime = Self {
            inner: Arc::new(Inner {
                clock,
                seeds,
                hands,
                registry: Registry::new(),
                trace,
                root: Node::new(Supervisor::ROOT, String::new(), None, None),
                supervisor: OnceLock::new(),
                net: OnceLock::new(),
                last: Mutex::default(),
                flight: Arc::new(Flight::new(clock, records)),
                limits: Limits::new(clock),
                players: Players::default(),
                watchdog: Mutex::default(),
                watch: OnceLock::new(),
                armed: AtomicBool::new(false),
            }),
        };
        // In a scope of its own, so that stopping the root leaves it for last.
        let node = Node::new(runtime.registry().next_id(), String::new(), None, None);
        let alone = Scope::new(node, runtime.clone());
        let supervisor = alone.spawn(Place::Control, "supervisor", SupervisorActor);
        let _ = runtime.inner.supervisor.set(supervisor);
        runtime
    }

    /// Microseconds since the runtime started.
    #[must_use]
    pub fn now(&self) -> Micros {
        self.inner.clock.now()
    }

    /// The clock itself, for those who keep it.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.inner.clock
    }

    /// Whether time and network are simulated.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.inner.clock.is_simulated()
    }

    /// The scope that holds all others.
    #[must_use]
    pub fn root(&self) -> Scope {
        Scope::new(Arc::clone(&self.inner.root), self.clone())
    }

    /// The live actors.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    /// The limits that are kept here, beside those of lanes and of the network.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// How far the peers of its servers have come.
    #[must_use]
    pub fn players(&self) -> &Players {
        &self.inner.players
    }

    /// The network.
    #[must_use]
    pub fn net(&self) -> &Net {
        self.inner.net.get_or_init(|| {
            let (tasks, seed) = (self.net_handle().clone(), self.seeds().seed());
            let flight = Arc::clone(&self.inner.flight);
            match self.hands() {
                Hands::Real(_) => Net::real(tasks, flight, self.clock(), seed),
                Hands::Simulated(_) => Net::simulated(tasks, flight, self.clock(), seed),
            }
        })
    }

    /// The running hashes; off in the real runtime.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.inner.trace
    }

    /// Where all randomness of this runtime comes from.
    #[must_use]
    pub fn seeds(&self) -> Seeds {
        self.inner.seeds
    }

    /// A stream of randomness of its own for each name; in simulation the same for the same seed.
    #[must_use]
    pub fn rng(&self, name: &str) -> ChaCha8Rng {
        self.inner.seeds.rng(name)
    }

    /// Run a task on the net thread; in simulation on the one thread.
    pub fn spawn_net(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.net_handle().spawn(task);
    }

    /// The task runtime of the net thread, for what has to be made inside one.
    #[must_use]
    pub fn net_handle(&self) -> &tokio::runtime::Handle {
        match &self.inner.hands {
            Hands::Real(real) => &real.net_tasks,
            Hands::Simulated(only) => &only.tasks,
        }
    }

    /// Wait until `at`: in a task, or under [`Runtime::block_on`].
    pub async fn sleep_until(&self, at: Micros) {
        tokio::time::sleep_until(self.clock().instant(at)).await;
    }

    /// Drive `future` to its end on this thread, for the process's own thread; its timers are
    /// those of the net thread. A simulated world is driven by [`Simulation::run`] instead.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.net_handle().block_on(future)
    }

    /// Have `told` called once if the runtime cannot go on. The owner then stops it and reports.
    pub fn on_last_resort(&self, told: impl FnOnce(Failure) + Send + 'static) {
        let mut last = self.inner.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.failure.clone() {
            Some(failure) => {
                drop(last);
                told(failure);
            }
            None => last.told = Some(Box::new(told)),
        }
    }

    /// Why the runtime cannot go on, if it cannot.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.inner.last.lock().unwrap_or_else(PoisonError::into_inner).failure.clone()
    }

    pub(crate) fn hands(&self) -> &Hands {
        &self.inner.hands
    }

    pub(crate) fn supervisor(&self) -> Option<Port<SupervisorMsg>> {
        self.inner.supervisor.get().cloned()
    }

    pub(crate) fn scope_opened(&self, scope: ActorId, parent: ActorId, policy: ScopePolicy) {
        self.tell(SupervisorMsg::ScopeOpened(ScopeOpened { scope, parent, policy }));
    }

    pub(crate) fn actor_started(&self, actor: ActorId, scope: ActorId, strategy: Strategy) {
        self.tell(SupervisorMsg::Started(Started { actor, scope, strategy }));
    }

    pub(crate) fn actor_restarted(&self, actor: ActorId) {
        self.tell(SupervisorMsg::Restarted(actor));
    }

    pub(crate) fn actor_exhausted(&self, actor: ActorId) {
        if !self.tell(SupervisorMsg::Exhausted(actor)) {
            // The supervisor itself: there is nobody above it.
            self.last_resort(actor);
            if let Some(entry) = self.registry().get(actor) {
                entry.face.command(crate::port::Command::GIVE_UP);
            }
        }
    }

    pub(crate) fn actor_ended(&self, actor: ActorId, reason: ExitReason) {
        self.tell(SupervisorMsg::Ended(Ended { actor, reason }));
    }

    pub(crate) fn last_resort(&self, actor: ActorId) {
        let entry = self.registry().get(actor);
        let failure = Failure {
            path: entry.as_ref().map_or_else(String::new, |entry| entry.path.clone()),
            panic: entry.and_then(|entry| entry.last_panic()),
        };
        tracing::error!("cannot go on: {failure}");
        let mut last = self.inner.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.failure.is_some() {
            return;
        }
        last.failure = Some(failure.clone());
        let told = last.told.take();
        drop(last);
        if let Some(told) = told {
            told(failure);
        }
    }

    /// Tell the supervisor; false if there is none.
    fn tell(&self, msg: SupervisorMsg) -> bool {
        self.inner.supervisor.get().is_some_and(|port| port.offer(msg).is_ok())
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("now", &self.now()).finish_non_exhaustive()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.panic {
            Some(note) => write!(f, "{} failed for good: {note}", self.path),
            None => write!(f, "{} failed for good", self.path),
        }
    }
}

#[cfg(test)]
mod tests;
