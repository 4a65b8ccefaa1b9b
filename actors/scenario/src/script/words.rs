//! The vocabulary: every word of the language, registered with what it means, so that the list that
//! people read is the one that scripts are held to.

pub(super) mod actors;
mod chaos;
mod checks;
mod faults;
pub(super) mod peers;
mod reading;
pub(super) mod servers;
pub(super) mod takes;
pub(super) mod time;
pub(super) mod told;

use rhai::{
    Dynamic, Engine, FuncRegistration, Module, NativeCallContext, RhaiFunc, RhaiNativeFunc, Shared,
};

use super::build;
use super::error::Said;
use super::plan;
use super::review::ENTRIES;
use super::stage::{Held, Stage};
use super::value::{LINK, WAYS};
use super::{Conditions, Script};
use crate::happening::{ENDINGS, PEER_EVENTS, SERVER_EVENTS};
use crate::roles::Role;

/// One word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it is about.
    pub group: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// The words of the language, in the order of the documents.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    /// Every word.
    pub words: Vec<Word>,
    /// An example for each group of words, by the group.
    pub examples: Vec<(&'static str, &'static str)>,
}

/// A server, as scripts hold it.
#[derive(Clone)]
pub(super) struct ServerHandle {
    pub(super) stage: Stage,
    pub(super) at: usize,
}

/// A peer, as scripts hold it.
#[derive(Clone)]
pub(super) struct PeerHandle {
    pub(super) stage: Stage,
    pub(super) at: usize,
}

/// Registers words and keeps what they mean.
pub(super) struct Words {
    module: Module,
    pub(super) stage: Stage,
    group: &'static str,
    list: Vec<Word>,
    examples: Vec<(&'static str, &'static str)>,
}

/// Register every word.
pub(super) fn register(engine: &mut Engine, stage: &Stage) -> Vocabulary {
    engine.register_type_with_name::<ServerHandle>("server");
    engine.register_type_with_name::<PeerHandle>("peer");
    let same = |it: &mut ServerHandle, other: ServerHandle| it.at == other.at;
    let other = |it: &mut ServerHandle, other: ServerHandle| it.at != other.at;
    engine.register_fn("==", same).register_fn("!=", other);
    let same = |it: &mut PeerHandle, other: PeerHandle| it.at == other.at;
    let other = |it: &mut PeerHandle, other: PeerHandle| it.at != other.at;
    engine.register_fn("==", same).register_fn("!=", other);
    let module = Module::new();
    let (list, examples) = (Vec::new(), Vec::new());
    let mut words = Words { module, stage: stage.clone(), group: "", list, examples };
    time::register(&mut words);
    servers::register(&mut words);
    peers::register(&mut words);
    reading::register(&mut words);
    faults::register(&mut words);
    chaos::register(&mut words);
    checks::register(&mut words);
    engine.register_global_module(words.module.into());
    Vocabulary { words: words.list, examples: words.examples }
}

/// Every word, in the order of the documents.
#[must_use]
pub fn list() -> Vec<Word> {
    vocabulary().words
}

/// Everything that is registered.
#[must_use]
pub fn vocabulary() -> Vocabulary {
    let stage = Held::new(&Script::new("", ""), &Conditions::default());
    register(&mut Engine::new_raw(), &stage)
}

/// Names, and what each means.
pub type Entries = &'static [(&'static str, &'static str)];

/// What surprises whoever comes from another language, or from another simulator.
const NOTES: Entries = &[
    ("language", "rhai, https://rhai.rs/book/language, without modules, files, clocks and eval"),
    ("closures", "share their variables: in a loop call a function that makes them, fn f(it) { }"),
    (
        "functions",
        "see their parameters and no variable around them: fn f(it) { it.leave() }, f(ada); a \
         closure || ada.leave() sees what is around it",
    ),
    (
        "this",
        "nothing is put into it by its place there, as in this[0] = 1, since it is not measured: \
         take a parameter and hand that back, fn f(it) { it[0] = 1; it }",
    ),
    ("seeds", "random(), dice() and pick() follow from the seed, and nothing else is by chance"),
    ("checks", "that stand under no `if` must be reached in every run"),
    ("unreached", "checks under an `if` that no run reached are told at the end, and fail nothing"),
    ("names", "peers made by spawn() are called ROLE-N, N counting all peers"),
    ("order", "servers and peers of the data at the top are there in the order of their names"),
    ("joining", "join() of a peer that plays ends its session first: `ended` says Quiet"),
    ("coming back", "no peer does so by itself: on(it, \"lost\", || after(1, || it.join()))"),
    (
        "time out",
        "a path that carries nothing for 10 s ends; an attempt after client.net.connectTimeout",
    ),
    (
        "console",
        "whom a command is about is told by #SLOT, as in \"kick #0 why\", or by an identity",
    ),
    ("print", "print(it) and debug(it) are shown of a run with one seed"),
];

/// What else there is to know, a table each.
#[must_use]
pub fn tables() -> Vec<(&'static str, Vec<(String, &'static str)>)> {
    let roles = Role::ALL.iter().map(|(name, _, help)| ((*name).to_owned(), *help));
    let endings = ENDINGS.iter().map(|(kind, help)| (format!("{kind:?}"), *help));
    let named = |list: Entries| -> Vec<(String, &'static str)> {
        list.iter().map(|(name, help)| ((*name).to_owned(), *help)).collect()
    };
    vec![
        ("what usages name", named(takes::MEANINGS)),
        ("entries of scenario", named(plan::SCENARIO)),
        ("entries of a server", named(plan::SERVER)),
        ("entries of a peer", named(plan::PEER)),
        ("changes of a build", named(build::CHANGES)),
        ("entries of a pallet", named(plan::PALLET)),
        ("entries of a link", named(LINK)),
        ("entries of a link whose directions differ", named(WAYS)),
        ("entries of chaos", named(chaos::ENTRIES)),
        ("entries of what is read", named(ENTRIES)),
        ("roles", roles.collect()),
        ("events of a peer", named(PEER_EVENTS)),
        ("events of a server", named(SERVER_EVENTS)),
        ("kinds of endings", endings.collect()),
        ("actors of a server", named(actors::OF_SERVER)),
        ("actors of a peer", named(actors::OF_PEER)),
        ("figures of an actor", named(actors::FIGURES)),
        ("to know", named(NOTES)),
    ]
}

impl Word {
    /// What it is called by.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let head = self.usage.split('(').next().unwrap_or(self.usage);
        head.rsplit('.').next().unwrap_or(head)
    }

    /// Whose word it is, where it is somebody's: `peer` or `server`.
    #[must_use]
    pub fn receiver(&self) -> Option<&'static str> {
        let head = self.usage.split('(').next()?;
        head.split_once('.').map(|(receiver, _)| receiver)
    }

    /// Whether it is called, rather than read.
    #[must_use]
    pub fn is_called(&self) -> bool {
        self.usage.contains('(')
    }
}

impl Words {
    /// The words from here on are about this, and used as in this example.
    fn group(&mut self, group: &'static str, example: &'static str) {
        self.group = group;
        self.examples.push((group, example));
    }

    /// A word that is called.
    fn word<A: 'static, const N: usize, const X: bool, R, const F: bool, Act>(
        &mut self,
        usage: &'static str,
        help: &'static str,
        act: Act,
    ) where
        R: rhai::Variant + Clone,
        Act: RhaiNativeFunc<A, N, X, R, F> + 'static,
    {
        let word = Word { group: self.group, usage, help };
        let act = placed(&self.stage, act.into_rhai_function(true, false));
        let registration = FuncRegistration::new(word.name()).in_global_namespace();
        registration.set_into_module_raw(&mut self.module, Act::param_types(), act);
        if !self.list.contains(&word) {
            self.list.push(word);
        }
    }

    /// A word that is read. What it read is remembered, for a check that fails.
    fn reading<T, R>(
        &mut self,
        usage: &'static str,
        help: &'static str,
        read: impl Fn(&mut T) -> Said<R> + 'static,
    ) where
        T: Handle,
        R: rhai::Variant + Clone,
    {
        let word = Word { group: self.group, usage, help };
        let name = word.name();
        let noted = move |it: &mut T| -> Said<Dynamic> {
            let value = Dynamic::from(read(it)?);
            it.noted(|| name.to_owned(), &value);
            Ok(value)
        };
        let registration = FuncRegistration::new_getter(name).in_global_namespace();
        registration.set_into_module(&mut self.module, noted);
        self.list.push(word);
    }
}

/// A server or a peer, as scripts hold it.
pub(super) trait Handle: rhai::Variant + Clone {
    /// What its words share.
    fn stage(&self) -> &Stage;
    /// What it is called.
    fn name(&self) -> Said<String>;

    /// Something of it was read.
    fn noted(&self, what: impl FnOnce() -> String, value: &Dynamic) {
        let name = || format!("{}.{}", self.name().unwrap_or_default(), what());
        self.stage().0.reads.borrow_mut().note(name, value);
    }
}

impl Handle for ServerHandle {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn name(&self) -> Said<String> {
        self.stage.server_name(self.at)
    }
}

impl Handle for PeerHandle {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn name(&self) -> Said<String> {
        Ok(self.stage.peer_name(self.at))
    }
}

/// A function as the engine calls it.
type Native = dyn Fn(Option<NativeCallContext<'_>>, &mut [&mut Dynamic]) -> Said<Dynamic>;

/// The same function, which says first where it is called.
fn placed(stage: &Stage, act: RhaiFunc) -> RhaiFunc {
    let stage = stage.clone();
    let placed = |func: Shared<Native>| -> Shared<Native> {
        Shared::new(move |cx: Option<NativeCallContext<'_>>, args: &mut [&mut Dynamic]| {
            let place = cx.as_ref().map(NativeCallContext::call_position);
            stage.0.place.set(place.unwrap_or(rhai::Position::NONE));
            func(cx, args)
        })
    };
    match act {
        RhaiFunc::Pure { func, is_pure, is_volatile, .. } => {
            RhaiFunc::Pure { func: placed(func), has_context: true, is_pure, is_volatile }
        }
        RhaiFunc::Method { func, is_pure, is_volatile, .. } => {
            RhaiFunc::Method { func: placed(func), has_context: true, is_pure, is_volatile }
        }
        other => other,
    }
}
