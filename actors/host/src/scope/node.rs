//! Node: a scope's place in the tree, without the runtime, so that the runtime can own the root.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::port::Port;
use crate::registry::{ActorId, Entry};
use crate::supervisor::SupervisorMsg;

/// One scope.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) id: ActorId,
    pub(crate) path: String,
    /// Keeps the way up alive.
    _parent: Option<Arc<Self>>,
    members: Mutex<Vec<Member>>,
    supervisor: Option<Port<SupervisorMsg>>,
}

/// What a scope holds, in the order of its start.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    Actor(Arc<Entry>),
    Scope(Weak<Node>),
}

impl Node {
    pub(crate) fn new(
        id: ActorId,
        path: String,
        parent: Option<&Arc<Self>>,
        supervisor: Option<Port<SupervisorMsg>>,
    ) -> Arc<Self> {
        let members = Mutex::new(Vec::new());
        Arc::new(Self { id, path, _parent: parent.cloned(), members, supervisor })
    }

    /// The path of a new member; a name that is taken gets its number behind it.
    pub(crate) fn path_of(&self, name: &str, id: ActorId) -> String {
        let path =
            if self.path.is_empty() { name.to_owned() } else { self.path.clone() + "/" + name };
        let taken = self.lock().iter().any(|member| match member {
            Member::Actor(entry) => entry.path == path,
            Member::Scope(node) => node.upgrade().is_some_and(|node| node.path == path),
        });
        if taken { format!("{path}~{}", id.0) } else { path }
    }

    pub(crate) fn add(&self, member: Member) {
        let mut members = self.lock();
        members.retain(|member| !matches!(member, Member::Scope(node) if node.strong_count() == 0));
        members.push(member);
    }

    pub(crate) fn remove(&self, id: ActorId) {
        self.lock().retain(|member| !matches!(member, Member::Actor(entry) if entry.id == id));
    }

    /// Every actor in here, the last started first.
    pub(crate) fn last_first(&self) -> Vec<Arc<Entry>> {
        let members = self.lock().clone();
        let mut actors = Vec::new();
        for member in members.iter().rev() {
            match member {
                Member::Actor(entry) => actors.push(Arc::clone(entry)),
                Member::Scope(node) => {
                    actors.extend(node.upgrade().map(|node| node.last_first()).unwrap_or_default());
                }
            }
        }
        actors
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(supervisor) = &self.supervisor {
            // Refused only when the runtime is ending anyway.
            let _ = supervisor.offer(SupervisorMsg::ScopeClosed(self.id));
        }
    }
}
