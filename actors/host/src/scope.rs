//! Scope: a supervised group of actors, and the only place actors are started from.
//!
//! Used by whoever wires a role together, and by actors that start others. Scopes form a tree;
//! stopping one stops everything in it, in the reverse order of its start.

mod node;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dh_machine::{ActorMessage, Micros, Restart};

pub(crate) use self::node::{Member, Node};

use crate::actor::{Actor, MsgOf};
use crate::driver::{self, Pump};
use crate::port::{Command, Port};
use crate::registry::{ActorId, Entry};
use crate::runtime::Runtime;
use crate::shell::Life;
use crate::supervisor::{Exhausted, ScopePolicy};

/// Where an actor runs. In the simulated runtime every place is a task of the one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The thread of the endpoint and all connections.
    Net,
    /// One of the session threads, taken in turn.
    Sessions,
    /// The thread for files.
    Io,
    /// The thread of everything else that is light.
    Control,
    /// A thread of its own, of this name.
    Thread(&'static str),
}

impl Place {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Net => "net",
            Self::Sessions => "sessions",
            Self::Io => "io",
            Self::Control => "control",
            Self::Thread(name) => name,
        }
    }
}

/// A group in the actor tree. Cheap to clone.
#[derive(Clone)]
pub struct Scope {
    node: Arc<Node>,
    runtime: Runtime,
}

impl Scope {
    /// How long one actor may take to stop before it is killed.
    pub const STOP_MAX: Micros = Micros::from_secs(5);

    pub(crate) fn new(node: Arc<Node>, runtime: Runtime) -> Self {
        Self { node, runtime }
    }

    /// A group whose failure is its parent's failure: when one of its actors is past its restart
    /// budget all of the group is remade, at most three times in ten seconds; after that the parent
    /// is.
    #[must_use]
    pub fn child(&self, name: impl Into<String>) -> Self {
        let restart = Restart { count: 3, window: Micros::from_secs(10) };
        self.open(name.into(), ScopePolicy { restart, exhausted: Exhausted::Escalate })
    }

    /// A group whose failure stays inside: when one of its actors is past its restart budget the
    /// group is ended, and nobody else notices but through [`Actor::ended`].
    #[must_use]
    pub fn contained(&self, name: impl Into<String>) -> Self {
        let restart = Restart { count: 0, window: Micros(0) };
        self.open(name.into(), ScopePolicy { restart, exhausted: Exhausted::Contain })
    }

    /// Start an actor.
    pub fn spawn<A: Actor>(
        &self,
        place: Place,
        name: impl Into<String>,
        actor: A,
    ) -> Port<MsgOf<A>> {
        let life = self.enter(place, name.into(), actor);
        let port = life.port().clone();
        driver::start(&self.runtime, place, life);
        port
    }

    /// Start an actor that runs only while its owner pumps it, from any thread it likes. Stopping
    /// the scope waits for it, so the owner goes on pumping until it has ended, or drops the pump.
    pub fn pumped<A: Actor>(&self, name: impl Into<String>, actor: A) -> (Port<MsgOf<A>>, Pump<A>) {
        let life = self.enter(Place::Thread("pumped"), name.into(), actor);
        (life.port().clone(), Pump::new(life))
    }

    /// The runtime all this runs in.
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Where this group stands in the tree; the root's path is empty.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.node.path
    }

    /// Stop everything in here in the reverse order of its start, each when the one before has
    /// ended. An actor that takes longer than [`Scope::STOP_MAX`] is killed.
    pub async fn stop(&self) {
        let clock = self.runtime.clock();
        let mut told = BTreeSet::new();
        while let Some(entry) = self.last_but(&mut told) {
            entry.face.command(Command::STOP);
            let until = clock.instant(clock.now() + Self::STOP_MAX);
            if tokio::time::timeout_at(until, entry.ended()).await.is_err() {
                give_up(&entry);
            }
        }
    }

    /// [`Scope::stop`] for a thread that may block: never one of the runtime's own.
    pub fn stop_blocking(&self) {
        let mut told = BTreeSet::new();
        while let Some(entry) = self.last_but(&mut told) {
            entry.face.command(Command::STOP);
            if !entry.ended_within(Duration::from_micros(Self::STOP_MAX.0)) {
                give_up(&entry);
            }
        }
    }

    /// Drop everything in here as if its process had died: no last words, nothing waited for.
    pub fn kill(&self) {
        for entry in self.node.last_first() {
            entry.face.command(Command::KILL);
        }
    }

    /// The actor started last of those not told yet; what starts during a stop is told as well.
    fn last_but(&self, told: &mut BTreeSet<ActorId>) -> Option<Arc<Entry>> {
        self.node.last_first().into_iter().find(|entry| told.insert(entry.id))
    }

    fn open(&self, name: String, policy: ScopePolicy) -> Self {
        let id = self.runtime.registry().next_id();
        let path = self.node.path_of(&name, id);
        let node = Node::new(id, path, Some(&self.node), self.runtime.supervisor());
        self.node.add(Member::Scope(Arc::downgrade(&node)));
        self.runtime.scope_opened(id, self.node.id, policy);
        Self { node, runtime: self.runtime.clone() }
    }

    fn enter<A: Actor>(&self, place: Place, name: String, actor: A) -> Life<A> {
        let port = Port::new(&A::SPEC, self.runtime.clock());
        let id = self.runtime.registry().next_id();
        let path = self.node.path_of(&name, id);
        port.core.owned_by(id, &path);
        let face = Arc::clone(&port.core);
        let entry = Arc::new(Entry::new(id, path, A::SPEC, place, face));
        self.runtime.flight().enter(&entry, MsgOf::<A>::KINDS);
        self.runtime.registry().enter(Arc::clone(&entry));
        self.node.add(Member::Actor(Arc::clone(&entry)));
        self.runtime.actor_started(id, self.node.id, A::SPEC.strategy);
        Life::new(actor, port, entry, self.clone())
    }

    /// An actor of this group has ended.
    pub(crate) fn leave(&self, entry: &Entry) {
        self.node.remove(entry.id);
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&self.node.path).finish()
    }
}

fn give_up(entry: &Entry) {
    tracing::warn!(actor = entry.path, "did not stop in time and is killed");
    entry.face.command(Command::KILL);
}
