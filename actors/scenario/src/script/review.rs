//! Review: what is wrong with a script that shows in its text, without running its callbacks: words
//! and properties that there are none of, and things written out that no word takes.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTNode, Dynamic, Expr, FnCallExpr, FnPtr, Position, Scope, Stmt};

use super::error::{Said, ScriptError, no_such};
use super::source::key;
use super::stage::Stage;
use super::words::{self, Entries, PeerHandle, ServerHandle, Word, takes};
use super::{Script, engine};

/// Entries of the object maps that words hand out.
pub(super) const ENTRIES: Entries = &[
    ("x, y, z", "of a position"),
    ("kind, reason", "of an ending"),
    ("kind, slot, name, text", "of a line of chat"),
];

/// A script as it is written, and everything it may name.
pub(super) struct Review<'a> {
    script: &'a Script,
    stage: &'a Stage,
    words: Vec<Word>,
    /// Functions of the language, and properties it has.
    functions: BTreeSet<String>,
    /// Entries of object maps.
    entries: BTreeSet<String>,
    /// Peers that come while it runs: their names, none where they cannot be told.
    later: Option<BTreeSet<String>>,
    /// Variables that hold a peer or a server, and nothing else anywhere in the script.
    handles: BTreeMap<String, Whose>,
    /// Whose the members at these places are.
    receivers: BTreeMap<(usize, usize), Whose>,
    mistakes: Vec<ScriptError>,
}

/// Whose a word or a property is.
#[derive(Clone, Copy)]
struct Whose {
    /// `peer` or `server`.
    kind: &'static str,
    /// Which server, by its place in the plan, where that is known.
    server: Option<usize>,
}

/// Everything wrong that shows in the text. `scope` is what the script's own statements left.
pub(super) fn review(
    script: &Script,
    ast: &AST,
    stage: &Stage,
    scope: &Scope<'_>,
) -> Vec<ScriptError> {
    let named = engine().collect_fn_metadata(None, |it| Some(it.metadata.name.to_string()), true);
    let mut functions: BTreeSet<String> = named.into_iter().collect();
    functions.extend(ast.iter_functions().map(|it| it.name.to_owned()));
    let words = words::list();
    let handles = handles(ast, scope);
    let mut review = Review {
        script,
        stage,
        words,
        functions,
        entries: entries(ast),
        later: peers_made(ast),
        handles,
        receivers: BTreeMap::new(),
        mistakes: Vec::new(),
    };
    ast.walk(&mut |path| {
        if let Some(node) = path.last() {
            review.look(node);
        }
        true
    });
    review.mistakes
}

impl Review<'_> {
    fn look(&mut self, node: &ASTNode<'_>) {
        match node {
            ASTNode::Expr(Expr::Dot(it, ..)) => self.receiver(&it.lhs, &it.rhs),
            ASTNode::Expr(Expr::Property(it, place)) => self.property(&it.2, *place),
            ASTNode::Expr(Expr::MethodCall(call, place)) => {
                let whose = self.receivers.get(&key(*place)).copied();
                self.call(call, *place, true, whose);
            }
            ASTNode::Expr(Expr::FnCall(call, place)) | ASTNode::Stmt(Stmt::FnCall(call, place))
                if call.op_token.is_none() =>
            {
                self.call(call, *place, false, None);
            }
            _ => {}
        }
    }

    /// Remember whose the first member behind a dot is, where that is plain.
    fn receiver(&mut self, of: &Expr, member: &Expr) {
        let whose = match of {
            Expr::FnCall(call, _) if call.name == "peer" => Whose { kind: "peer", server: None },
            Expr::FnCall(call, _) if call.name == "server" => {
                let name = call.args.first().and_then(literal).map(|name| name.to_string());
                let plan = self.stage.plan().ok();
                let server = name.and_then(|name| plan?.server(&name).ok());
                Whose { kind: "server", server }
            }
            Expr::Variable(it, ..) => match self.handles.get(it.1.as_str()) {
                Some(whose) => *whose,
                None => return,
            },
            _ => return,
        };
        let first = match member {
            Expr::Dot(it, ..) | Expr::Index(it, ..) => &it.lhs,
            first => first,
        };
        if let Expr::Property(_, place) | Expr::MethodCall(_, place) = first {
            self.receivers.insert(key(*place), whose);
        }
    }

    fn property(&mut self, name: &str, place: Position) {
        let whose = self.receivers.get(&key(place)).map(|it| it.kind);
        let mut read = self.words.iter().filter(|it| !it.is_called());
        let known = match whose {
            Some(_) => read.any(|it| it.name() == name && it.receiver() == whose),
            None => {
                read.any(|it| it.name() == name)
                    || self.entries.contains(name)
                    || self.functions.contains(&format!("get${name}"))
            }
        };
        if !known {
            let kind =
                whose.map_or_else(|| "property".to_owned(), |it| format!("property of a {it}"));
            let read = self.words.iter().filter(|it| !it.is_called());
            let known = read.filter(|it| whose.is_none() || it.receiver() == whose);
            let what = no_such(&kind, name, known.map(Word::name));
            self.mistakes.push(ScriptError::of_words(self.script, place, what));
        }
    }

    fn call(&mut self, call: &FnCallExpr, place: Position, is_method: bool, whose: Option<Whose>) {
        let name = call.name.as_str();
        let is_other = self.functions.contains(name);
        let named: Vec<&Word> =
            self.words.iter().filter(|it| it.is_called() && it.name() == name).collect();
        // A closure that an object holds is called as a method.
        let is_held = is_method && whose.is_none() && self.entries.contains(name);
        if named.is_empty() && (is_other || is_held) || is_of_the_engine(name) {
            return;
        }
        if named.is_empty() {
            let known = self.words.iter().filter(|it| it.is_called());
            let what = no_such("word", name, known.map(Word::name));
            self.mistakes.push(ScriptError::of_words(self.script, place, what));
            return;
        }
        // A word of somebody may also be called with them as its first argument.
        let args = &call.args[..];
        let takes = |it: &&&Word| {
            let receives = usize::from(it.receiver().is_some() && !is_method);
            it.takes().len() + receives == args.len() && (!is_method || it.receiver().is_some())
        };
        let fits = |it: &&&Word| whose.is_none_or(|whose| it.receiver() == Some(whose.kind));
        let usable: Vec<&Word> = named.iter().filter(fits).filter(takes).copied().collect();
        let Some(first) = usable.first() else {
            if !is_other {
                let usages: Vec<&str> = named.iter().map(|it| it.usage).collect();
                let found = if args.len() == 1 { "1 argument" } else { "other arguments" };
                let what = format!("expected {}, found {found}", usages.join(" or "));
                self.mistakes.push(ScriptError::of_words(self.script, place, what));
            }
            return;
        };
        let receives = usize::from(first.receiver().is_some() && !is_method);
        let refusals: Vec<_> =
            usable.iter().map(|word| self.refusal(word, &args[receives..], place, whose)).collect();
        let is_ours = !is_other || whose.is_some();
        if is_ours && let Some(Some(refusal)) = refusals.iter().min_by_key(|it| it.is_some()) {
            self.mistakes.push(refusal.clone());
        }
    }

    /// Whether a peer of this name may come while the script runs.
    fn may_come(&self, name: &str) -> bool {
        let spawned = name.rsplit_once('-');
        let spawned = spawned.filter(|(_, nth)| nth.parse::<u32>().is_ok()).map(|(role, _)| role);
        self.later.as_ref().is_none_or(|later| {
            later.contains(name) || spawned.is_some_and(|role| later.contains(&spawned_as(role)))
        })
    }

    /// Why a word does not take what is written out there.
    fn refusal(
        &self,
        word: &Word,
        args: &[Expr],
        place: Position,
        whose: Option<Whose>,
    ) -> Option<ScriptError> {
        // Without the data at the top there is nobody, and that is told already.
        self.stage.plan().ok()?;
        let server = whose.and_then(|it| it.server);
        word.takes().iter().zip(args).find_map(|(take, arg)| {
            let value = literal(arg)?;
            if word.usage == PEER && self.may_come(&value.to_string()) {
                return None;
            }
            let said: Said<()> = takes::check(self.stage, word, take, &value, server);
            let at = if arg.start_position().is_none() { place } else { arg.start_position() };
            said.err().map(|error| ScriptError::running(self.script, &error, at))
        })
    }
}

/// How the word is written that looks for a peer.
const PEER: &str = "peer(\"name\")";

/// What stands for all peers that are spawned in a role.
fn spawned_as(role: &str) -> String {
    format!("{role}-N")
}

/// The names of the peers that a script makes by words; none where one is not written out.
fn peers_made(ast: &AST) -> Option<BTreeSet<String>> {
    let mut names = Some(BTreeSet::new());
    ast.walk(&mut |path| {
        if let Some(ASTNode::Expr(Expr::FnCall(it, _)) | ASTNode::Stmt(Stmt::FnCall(it, _))) =
            path.last()
        {
            let name = match (it.name.as_str(), &it.args[..]) {
                ("peer", [name, _]) => literal(name).map(|it| it.to_string()),
                ("spawn", [_, role, ..]) => literal(role).map(|it| spawned_as(&it.to_string())),
                _ => return true,
            };
            names = names.take().zip(name).map(|(mut names, name)| {
                names.insert(name);
                names
            });
        }
        true
    });
    names
}

/// A number, a text or a truth that is written out.
fn literal(arg: &Expr) -> Option<Dynamic> {
    match arg {
        Expr::IntegerConstant(..)
        | Expr::FloatConstant(..)
        | Expr::BoolConstant(..)
        | Expr::StringConstant(..) => arg.get_literal_value(None),
        _ => None,
    }
}

/// Functions that are part of the language's grammar.
fn is_of_the_engine(name: &str) -> bool {
    const NAMES: [&str; 9] = [
        "Fn",
        "call",
        "curry",
        "type_of",
        "print",
        "debug",
        "is_def_var",
        "is_def_fn",
        "is_shared",
    ];
    NAMES.contains(&name)
}

/// Every name that may be an entry of an object map: those of maps that are written out or added
/// to, other than what words are given, and those of maps that words hand out.
fn entries(ast: &AST) -> BTreeSet<String> {
    let of_words = ENTRIES.iter().flat_map(|(names, _)| names.split(", ")).map(str::to_owned);
    let mut entries: BTreeSet<String> = of_words.collect();
    ast.walk(&mut |path| {
        let is_data = |node: &ASTNode<'_>| {
            matches!(node, ASTNode::Expr(Expr::FnCall(it, _)) | ASTNode::Stmt(Stmt::FnCall(it, _))
                if ["scenario", "peer", "spawn", "chaos"].contains(&it.name.as_str()))
        };
        match path.last() {
            Some(ASTNode::Expr(Expr::Map(map, _))) if !path.iter().any(is_data) => {
                entries.extend(map.0.iter().map(|(key, _)| key.name.to_string()));
            }
            Some(ASTNode::Stmt(Stmt::Assignment(it))) => {
                if let Expr::Dot(to, ..) = &it.1.lhs {
                    assigned(&to.rhs, &mut entries);
                }
            }
            _ => {}
        }
        true
    });
    entries
}

fn assigned(member: &Expr, entries: &mut BTreeSet<String>) {
    match member {
        Expr::Property(it, _) => drop(entries.insert(it.2.to_string())),
        Expr::Dot(it, ..) | Expr::Index(it, ..) => {
            assigned(&it.lhs, entries);
            assigned(&it.rhs, entries);
        }
        _ => {}
    }
}

/// The variables that hold a peer or a server at the end, and are declared once.
fn handles(ast: &AST, scope: &Scope<'_>) -> BTreeMap<String, Whose> {
    let declared = declared(ast);
    let once = |name: &str| declared.iter().filter(|it| *it == name).count() == 1;
    let held = scope.iter().filter(|(name, ..)| once(name));
    let held = held.filter_map(|(name, _, value)| {
        let value = value.flatten();
        let whose = if let Some(server) = value.clone().try_cast::<ServerHandle>() {
            Whose { kind: "server", server: Some(server.at) }
        } else {
            value.try_cast::<PeerHandle>()?;
            Whose { kind: "peer", server: None }
        };
        Some((name.to_owned(), whose))
    });
    held.collect()
}

/// The name of every variable and parameter, as often as one is declared by it.
pub(super) fn declared(ast: &AST) -> Vec<String> {
    let (mut declared, mut captures) = (Vec::new(), BTreeMap::new());
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Var(it, ..))) => declared.push(it.0.name.to_string()),
            Some(ASTNode::Stmt(Stmt::For(it, _))) => {
                declared.push(it.0.name.to_string());
                declared.extend(it.1.iter().map(|it| it.name.to_string()));
            }
            Some(ASTNode::Stmt(Stmt::TryCatch(it, _))) => {
                if let Expr::Variable(it, ..) = &it.expr {
                    declared.push(it.1.to_string());
                }
            }
            Some(ASTNode::Expr(Expr::FnCall(it, _))) if it.name == "curry" => {
                if let Some(Expr::DynamicConstant(function, _)) = it.args.first()
                    && let Some(function) = function.clone().try_cast::<FnPtr>()
                {
                    captures.insert(function.fn_name().to_owned(), it.args.len() - 1);
                }
            }
            _ => {}
        }
        true
    });
    // What a closure shares comes before its own parameters.
    for function in ast.iter_functions() {
        let shared = captures.get(function.name).copied().unwrap_or(0);
        declared.extend(function.params.iter().skip(shared).map(|it| (*it).to_owned()));
    }
    declared
}
