//! Stage: what the words of one running script share: its plan, its world, what waits to be called,
//! and what was done so far.
//!
//! While the script's own statements run there is no world yet: what they ask for is kept and done
//! at the start. After that everything happens in callbacks, one at a time.

use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use dh_host::net::Hostile;
use dh_machine::Micros;
use rand_chacha::ChaCha8Rng;
use rhai::{FnPtr, Position};

use super::checks::Checks;
use super::content::Contents;
use super::deed::{Deed, DeedKind, Told};
use super::error::{Mistake, Said, nobody, wrong};
use super::limit::{DEEDS_MAX, TOLD_MAX, WAITING_MAX};
use super::plan::{PeerPlan, Plan};
use super::printed::Printed;
use super::reads::Reads;
use super::{Conditions, Script};
use crate::happening::{Happening, Whose};
use crate::peer::PeerId;
use crate::roles::{Acting, Role};
use crate::server::ServerId;
use crate::world::World;

/// A peer that was left out of a run.
const NOBODY: PeerId = PeerId(u32::MAX);

/// What all words of one script reach.
#[derive(Clone)]
pub(super) struct Stage(pub(super) Rc<Shared>);

/// The stage of one run, by whoever runs it. Callbacks share the variables of the script, among
/// which are servers and peers, and those lead here again: at the end they are forgotten, as else
/// nothing of a run would ever be freed.
pub(super) struct Held(Stage);

pub(super) struct Shared {
    pub(super) plan: RefCell<Option<Rc<Plan>>>,
    /// What is wrong with the data at the top.
    pub(super) of_data: RefCell<Vec<Mistake>>,
    pub(super) world: RefCell<Option<World>>,
    pub(super) contents: RefCell<Contents>,
    pub(super) servers: RefCell<Vec<Option<ServerId>>>,
    pub(super) peers: RefCell<Vec<Player>>,
    /// What waits, by its time and then by when it was asked for.
    pub(super) queue: RefCell<BTreeMap<(Micros, u64), Due>>,
    pub(super) handlers: RefCell<Vec<Handler>>,
    pub(super) checks: RefCell<Checks>,
    pub(super) reads: RefCell<Reads>,
    /// The text that runs.
    pub(super) script: Script,
    /// Where the word stands that runs, or ran last.
    pub(super) place: Cell<Position>,
    pub(super) stopping: RefCell<Vec<(ServerId, dh_host::Scope)>>,
    /// Panics that were planned.
    pub(super) strikes: RefCell<Vec<Strike>>,
    /// What is hostile until the end.
    pub(super) raids: RefCell<Vec<Hostile>>,
    pub(super) rng: RefCell<ChaCha8Rng>,
    pub(super) seeds: dh_host::Seeds,
    /// What was printed, in order.
    pub(super) prints: RefCell<Vec<Printed>>,
    /// Preferences of everybody, `KEY=VALUE`, over those that the script says.
    pub(super) prefs: Vec<String>,
    /// What was done, in order.
    pub(super) done: RefCell<Vec<Deed>>,
    /// The last of what happened, in order.
    pub(super) told: RefCell<VecDeque<Told>>,
    /// How often each thing was done.
    counts: RefCell<BTreeMap<String, u32>>,
    /// What is left out of this run; by the key of each deed.
    pub(super) without: BTreeSet<String>,
    /// After this everything is.
    quiet_after: Option<Micros>,
    pub(super) now: Cell<Micros>,
    next_order: Cell<u64>,
}

/// One peer of the script.
pub(super) struct Player {
    pub(super) plan: PeerPlan,
    /// Once the world has it.
    pub(super) id: Option<PeerId>,
    pub(super) acting: Option<Acting>,
    /// How often it looks at the world, and when next.
    pub(super) frames: Option<(Micros, Micros)>,
    /// Where it was made; nowhere if by the data at the top.
    pub(super) place: Position,
}

/// Something to call at a time.
pub(super) struct Due {
    pub(super) at: Micros,
    pub(super) what: What,
    pub(super) place: Position,
}

/// What is called.
#[derive(Clone)]
pub(super) enum What {
    /// A callback, once.
    Call(FnPtr),
    /// A callback, again after each span.
    Every(Micros, FnPtr),
    /// Something of a word.
    Do(Rc<Act>),
}

/// What a word does to the world, now or later.
type Act = dyn Fn(&Stage) -> Said<()>;

/// A panic that was planned, and must have come by the end.
pub(super) struct Strike {
    /// Where the actor stands in the tree.
    pub(super) path: String,
    /// At which of its messages it panics.
    pub(super) nth: u64,
    /// What it is called in the script.
    pub(super) actor: String,
    pub(super) place: Position,
}

/// A callback for what happens.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) whose: Target,
    pub(super) event: &'static str,
    pub(super) call: FnPtr,
    pub(super) place: Position,
}

/// A server or a peer of the script, by its place in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Server(usize),
    Peer(usize),
}

impl Held {
    pub(super) fn new(script: &Script, conditions: &Conditions) -> Self {
        Self(Stage::new(script, conditions))
    }
}

impl std::ops::Deref for Held {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Shared { queue, handlers, checks, .. } = &*self.0.0;
        queue.take();
        handlers.take();
        checks.borrow_mut().open.clear();
    }
}

impl Stage {
    fn new(script: &Script, conditions: &Conditions) -> Self {
        let seeds = dh_host::Seeds::new(conditions.seed);
        Self(Rc::new(Shared {
            plan: RefCell::default(),
            of_data: RefCell::default(),
            world: RefCell::default(),
            contents: RefCell::new(Contents::of(&script.text)),
            servers: RefCell::default(),
            peers: RefCell::default(),
            queue: RefCell::default(),
            handlers: RefCell::default(),
            checks: RefCell::default(),
            reads: RefCell::default(),
            script: script.clone(),
            place: Cell::new(Position::NONE),
            stopping: RefCell::default(),
            strikes: RefCell::default(),
            raids: RefCell::default(),
            rng: RefCell::new(seeds.rng("script")),
            seeds,
            prints: RefCell::default(),
            prefs: conditions.prefs.clone(),
            done: RefCell::default(),
            told: RefCell::default(),
            counts: RefCell::default(),
            without: conditions.without.clone(),
            quiet_after: conditions.quiet_after,
            now: Cell::new(Micros(0)),
            next_order: Cell::new(0),
        }))
    }

    /// The data at the top.
    pub(super) fn plan(&self) -> Said<Rc<Plan>> {
        let plan = self.0.plan.borrow().clone();
        plan.ok_or_else(|| wrong("expected `scenario(#{...})` before anything else"))
    }

    /// Whether the world is there already.
    pub(super) fn runs(&self) -> bool {
        self.0.world.borrow().is_some()
    }

    /// The world, for a moment.
    pub(super) fn world(&self) -> Said<RefMut<'_, World>> {
        RefMut::filter_map(self.0.world.borrow_mut(), Option::as_mut).map_err(|_| {
            wrong("nothing runs yet: expected this inside at(), every(), on() or a check")
        })
    }

    /// Call something at a time; at once where that has passed.
    pub(super) fn call_at(&self, at: Micros, what: What, place: Position) -> Said<()> {
        let mut queue = self.0.queue.borrow_mut();
        if WAITING_MAX <= queue.len() {
            return Err(wrong(format!("expected at most {WAITING_MAX} callbacks that wait")));
        }
        let order = self.0.next_order.get();
        self.0.next_order.set(order + 1);
        queue.insert((at, order), Due { at, what, place });
        Ok(())
    }

    /// The next thing that is due by now.
    pub(super) fn take_due(&self, now: Micros) -> Option<Due> {
        let mut queue = self.0.queue.borrow_mut();
        let first = queue.first_entry().filter(|it| it.key().0 <= now)?;
        Some(first.remove())
    }

    /// When something is due next.
    pub(super) fn next_due(&self) -> Option<Micros> {
        self.0.queue.borrow().first_key_value().map(|((at, _), _)| *at)
    }

    /// Remember what happened to a server or a peer, for whoever asks why a run failed.
    pub(super) fn tell(&self, target: Target, happening: &Happening) {
        // These come by the hundred, and say nothing of why.
        if matches!(happening.name, "downloading" | "corrected") {
            return;
        }
        let whose = self.name_of(target).unwrap_or_default();
        let mut told = self.0.told.borrow_mut();
        if TOLD_MAX <= told.len() {
            told.pop_front();
        }
        let (name, text) = (happening.name, happening.text.clone());
        told.push_back(Told { at: self.0.now.get(), whose, name, text });
    }

    /// Do something to the world: now, or at its start. It is written down, and left out where
    /// this run is to go without it.
    pub(super) fn deed(
        &self,
        kind: DeedKind,
        what: String,
        act: impl Fn(&Self) -> Said<()> + 'static,
    ) -> Said<()> {
        let mut counts = self.0.counts.borrow_mut();
        let nth = counts.entry(what.clone()).or_default();
        *nth += 1;
        let key = format!("{what} #{nth}");
        drop(counts);
        let mut done = self.0.done.borrow_mut();
        let is_late = self.0.quiet_after.is_some_and(|after| after < self.0.now.get());
        let is_left_out = is_late || self.0.without.contains(&key);
        if DEEDS_MAX <= done.len() {
            return Err(wrong(format!("expected at most {DEEDS_MAX} deeds in one run")));
        }
        done.push(Deed { at: self.0.now.get(), kind, what, key });
        drop(done);
        if is_left_out {
            return Ok(());
        }
        if self.runs() {
            return act(self);
        }
        self.call_at(Micros(0), What::Do(Rc::new(act)), self.0.place.get())
    }

    /// The server of the world, once it was started.
    pub(super) fn server(&self, at: usize) -> Said<ServerId> {
        let id = self.0.servers.borrow().get(at).copied().flatten();
        let name = || self.server_name(at).unwrap_or_default();
        id.ok_or_else(|| {
            let name = name();
            wrong(format!(
                "server {name} has not been started; expected server(\"{name}\").start() before"
            ))
        })
    }

    /// The peer of the world; nobody, of whom nothing was told, where it was left out of this run.
    pub(super) fn peer(&self, at: usize) -> PeerId {
        self.0.peers.borrow().get(at).and_then(|player| player.id).unwrap_or(NOBODY)
    }

    /// What a server is called.
    pub(super) fn server_name(&self, at: usize) -> Said<String> {
        Ok(self.plan()?.servers[at].name.clone())
    }

    /// The peer of this name.
    pub(super) fn peer_called(&self, name: &str) -> Said<usize> {
        let peers = self.0.peers.borrow();
        let names = peers.iter().map(|player| player.plan.name.as_str());
        let at = names.clone().position(|it| it == name);
        at.ok_or_else(|| nobody("peer", name, names))
    }

    /// What a server or a peer is called.
    pub(super) fn name_of(&self, target: Target) -> Said<String> {
        match target {
            Target::Server(at) => self.server_name(at),
            Target::Peer(at) => Ok(self.peer_name(at)),
        }
    }

    /// What a peer is called.
    pub(super) fn peer_name(&self, at: usize) -> String {
        self.0.peers.borrow()[at].plan.name.clone()
    }

    /// Whether a peer was killed.
    pub(super) fn is_gone(&self, at: usize) -> bool {
        self.0.world.borrow().as_ref().is_some_and(|world| world.is_gone(self.peer(at)))
    }

    /// Refuse what a peer is told that was killed.
    pub(super) fn is_there(&self, at: usize) -> Said<()> {
        if !self.is_gone(at) {
            return Ok(());
        }
        let name = self.peer_name(at);
        Err(wrong(format!(
            "{name} was killed, and stays so; expected this before, or another peer"
        )))
    }

    /// Do something to one peer now, and write nothing down; nothing where it was left out or
    /// killed.
    pub(super) fn with_peer(&self, at: usize, act: impl FnOnce(&mut World, PeerId)) -> Said<()> {
        let peer = self.peer(at);
        if peer != NOBODY && !self.is_gone(at) {
            act(&mut *self.world()?, peer);
        }
        Ok(())
    }

    /// Refuse what is asked of a peer that is no player.
    pub(super) fn is_player(&self, at: usize) -> Said<()> {
        let peers = self.0.peers.borrow();
        let plan = &peers[at].plan;
        if plan.role != Role::Hostile {
            return Ok(());
        }
        let name = &plan.name;
        Err(wrong(format!("{name} is hostile, so no player is behind it; expected another role")))
    }

    /// Do something to one peer; nothing where it was left out.
    pub(super) fn to_peer(
        &self,
        kind: DeedKind,
        at: usize,
        what: &str,
        act: impl Fn(&mut World, PeerId) + 'static,
    ) -> Said<()> {
        self.is_player(at)?;
        let name = self.peer_name(at);
        self.deed(kind, format!("{name} {what}"), move |stage| {
            stage.is_there(at)?;
            stage.with_peer(at, &act)
        })
    }

    /// Do something to one server.
    pub(super) fn to_server(
        &self,
        kind: DeedKind,
        at: usize,
        what: &str,
        act: impl Fn(&mut World, ServerId) + 'static,
    ) -> Said<()> {
        let name = self.server_name(at)?;
        self.deed(kind, format!("{name} {what}"), move |stage| {
            let server = stage.server(at)?;
            act(&mut *stage.world()?, server);
            Ok(())
        })
    }

    /// Whose happening a script would know it as.
    pub(super) fn target(&self, whose: Whose) -> Option<Target> {
        match whose {
            Whose::Server(id) => {
                let servers = self.0.servers.borrow();
                servers.iter().position(|it| *it == Some(id)).map(Target::Server)
            }
            Whose::Peer(id) => {
                let peers = self.0.peers.borrow();
                peers.iter().position(|it| it.id == Some(id)).map(Target::Peer)
            }
        }
    }
}
