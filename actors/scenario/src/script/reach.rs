//! Reach: checks that no run can ever evaluate, which shows in the text once it is folded: behind
//! what always leaves, under what never holds, in a function that nothing calls, or called in a way
//! that hides them.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{
    AST, ASTFlags, ASTNode, Dynamic, Engine, Expr, FnCallExpr, FnPtr, Position, Stmt, Token,
};

use super::checks::{WORDS, check_at};
use super::error::ScriptError;
use super::source::key;
use super::words::{self, Word};
use super::{Script, fold};

/// A function by its name and the number of its parameters.
type Key = (String, usize);

/// What can be called: the script's own statements, or one function of it.
#[derive(Default)]
struct Part {
    /// Its checks that nothing in it keeps from being reached.
    live: BTreeSet<(usize, usize)>,
    /// What it calls, and with how many arguments.
    calls: BTreeSet<Key>,
    /// Every name it may hand on to be called by.
    names: BTreeSet<String>,
    /// Whether it calls by names that are worked out.
    calls_any: bool,
}

/// The checks of a script that nothing can evaluate, and what would hide them, in order.
pub(super) fn mistakes(script: &Script, engine: &Engine, ast: &AST) -> Vec<ScriptError> {
    let mut mistakes = hidden(script, ast);
    mistakes.extend(shadowed(script, engine));
    let folded = fold::folded(engine, ast);
    let read = read(&folded);
    let part = |of: &AST| Part::of(engine, of, &read);
    let own = part(&own(&folded));
    let mut functions: BTreeMap<Key, Vec<Part>> = BTreeMap::new();
    for (key, alone) in functions_of(&folded) {
        functions.entry(key).or_default().push(part(&alone));
    }
    let called = called(&own, &functions);
    let mut live: BTreeSet<(usize, usize)> = own.live.clone();
    live.extend(called.iter().flat_map(|key| &functions[*key]).flat_map(|it| &it.live));
    let mut tell = |of: &AST, function: Option<&Key>| {
        for place in checks_of(of).into_iter().filter(|it| !live.contains(&key(*it))) {
            let uncalled = function.filter(|it| !called.contains(it) && !it.0.starts_with("anon$"));
            let why = uncalled.map_or_else(|| IN_ITS_WAY.to_owned(), |it| no_call(it, &functions));
            let what = format!("this check can never be evaluated: {why}");
            mistakes.push(ScriptError::at(script, place, what));
        }
    };
    tell(&self::own(ast), None);
    functions_of(ast).iter().for_each(|(key, alone)| tell(alone, Some(key)));
    mistakes.sort_by_key(|it| (it.line, it.column));
    mistakes
}

const IN_ITS_WAY: &str = "a `return`, `throw`, `break`, endless loop, loop over nothing or a \
                          condition that never holds is always in its way, or nothing calls the \
                          closure it is in; expected it before that, or a call";

/// Why nothing in a function that nothing calls is ever reached.
fn no_call((name, params): &Key, functions: &BTreeMap<Key, Vec<Part>>) -> String {
    let is_one_of_several = functions.keys().filter(|it| it.0 == *name).count() > 1;
    let with = if is_one_of_several { format!(" with {params} arguments") } else { String::new() };
    format!("nothing calls {name}{with}; expected a call of it")
}

/// Check words called as methods and through pointers.
fn hidden(script: &Script, ast: &AST) -> Vec<ScriptError> {
    let mut mistakes = Vec::new();
    ast.walk(&mut |path| {
        let (name, how, place) = match path.last() {
            Some(ASTNode::Expr(Expr::MethodCall(call, place))) => {
                (call.name.as_str(), "as a method", *place)
            }
            Some(
                ASTNode::Expr(Expr::FnCall(call, place)) | ASTNode::Stmt(Stmt::FnCall(call, place)),
            ) => match pointed(call) {
                Some(Expr::StringConstant(name, _)) => {
                    (name.as_str(), "through a function pointer", *place)
                }
                _ => return true,
            },
            _ => return true,
        };
        if WORDS.contains(&name) {
            let what = format!("{name} is called {how}; expected {}", usage(name));
            mistakes.push(ScriptError::of_words(script, place, what));
        }
        true
    });
    mistakes
}

/// Functions of the script that are called as words are, which would be called in their place.
fn shadowed(script: &Script, engine: &Engine) -> Vec<ScriptError> {
    let mut mistakes = Vec::new();
    let words = words::list();
    let texts = [script.text.as_str()];
    let mut is_function = false;
    let tokens = engine.lex(&texts).0.take_while(|(token, _)| !matches!(token, Token::EOF));
    for (token, place) in tokens {
        if let Token::Identifier(name) = &token
            && is_function
            && words.iter().any(|word| word.is_called() && word.name() == name.as_str())
        {
            let what = format!("{name} is a word of scenarios; expected another name here");
            mistakes.push(ScriptError::of_words(script, place, what));
        }
        is_function = matches!(token, Token::Fn);
    }
    mistakes
}

/// How a word is used.
pub(super) fn usage(name: &str) -> &'static str {
    let words = words::list();
    words.iter().find(|it: &&Word| it.name() == name).map_or("another word", |it| it.usage)
}

/// What a call makes a function pointer of, where it makes one.
fn pointed(call: &FnCallExpr) -> Option<&Expr> {
    call.args.first().filter(|_| call.name == "Fn")
}

/// The script's own statements alone.
fn own(ast: &AST) -> AST {
    let mut own = ast.clone();
    own.clear_functions();
    own
}

/// Its functions, each alone; some are of one name.
fn functions_of(ast: &AST) -> Vec<(Key, AST)> {
    let alone = ast.iter_functions().map(|it| {
        let (name, params) = (it.name, it.params.len());
        let mut alone = ast.clone();
        let is_it = |other: &str, taken| other == name && taken == params;
        alone.retain_functions(|_, _, other, taken| is_it(other, taken)).clear_statements();
        ((name.to_owned(), params), alone)
    });
    alone.collect()
}

/// Where it checks something.
fn checks_of(ast: &AST) -> BTreeSet<Position> {
    let mut places = BTreeSet::new();
    ast.walk(&mut |path| {
        places.extend(path.last().and_then(check_at));
        true
    });
    places
}

/// The variables that something reads, anywhere.
fn read(ast: &AST) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Expr(Expr::Variable(it, ..))) = path.last() {
            names.insert(it.1.to_string());
        }
        true
    });
    names
}

/// The functions that something may call, from the script's own statements on.
fn called<'a>(own: &'a Part, functions: &'a BTreeMap<Key, Vec<Part>>) -> BTreeSet<&'a Key> {
    let mut called = BTreeSet::new();
    let mut waiting = vec![own];
    while let Some(part) = waiting.pop() {
        for (key, parts) in functions {
            if part.may_call(key) && called.insert(key) {
                waiting.extend(parts);
            }
        }
    }
    called
}

impl Part {
    fn of(engine: &Engine, ast: &AST, read: &BTreeSet<String>) -> Self {
        let (mut part, mut dead, mut has_ended) = (Self::default(), BTreeSet::new(), false);
        ast.walk(&mut |path| {
            if let [ASTNode::Stmt(outermost)] = path {
                if has_ended {
                    dead.insert(address(*outermost));
                }
                has_ended |= ends(outermost);
            }
            let is_dead = path.iter().any(|node| match node {
                ASTNode::Stmt(it) => dead.contains(&address(*it)),
                ASTNode::Expr(it) => dead.contains(&address(*it)),
                _ => false,
            });
            if let Some(node) = path.last()
                && !is_dead
            {
                part.live.extend(check_at(node).map(key));
                bury(engine, node, &mut dead);
                if !is_unread(path, read) {
                    part.note(node);
                }
            }
            true
        });
        part
    }

    /// What a node may call.
    fn note(&mut self, node: &ASTNode<'_>) {
        match node {
            ASTNode::Expr(Expr::FnCall(call, _) | Expr::MethodCall(call, _))
            | ASTNode::Stmt(Stmt::FnCall(call, _)) => {
                // Whose method it is may be told as its first argument.
                let is_method = matches!(node, ASTNode::Expr(Expr::MethodCall(..)));
                for params in call.args.len()..=call.args.len() + usize::from(is_method) {
                    self.calls.insert((call.name.to_string(), params));
                }
                let is_plain = |it: &Expr| matches!(it, Expr::StringConstant(..));
                self.calls_any |= pointed(call).is_some_and(|name| !is_plain(name));
            }
            // The name of a function stands for a pointer to it.
            ASTNode::Expr(Expr::Variable(it, ..)) => drop(self.names.insert(it.1.to_string())),
            ASTNode::Expr(Expr::StringConstant(text, _)) => {
                self.names.insert(text.to_string());
            }
            ASTNode::Expr(Expr::DynamicConstant(value, _)) => self.note_value(value),
            _ => {}
        }
    }

    /// What a value may call that is written out.
    fn note_value(&mut self, value: &Dynamic) {
        if let Some(function) = value.clone().try_cast::<FnPtr>() {
            self.names.insert(function.fn_name().to_owned());
            function.curry().iter().for_each(|value| self.note_value(value));
        } else if let Ok(list) = value.as_array_ref() {
            list.iter().for_each(|value| self.note_value(value));
        } else if let Ok(map) = value.as_map_ref() {
            map.values().for_each(|value| self.note_value(value));
        } else if value.is_string() {
            self.names.insert(value.to_string());
        }
    }

    fn may_call(&self, key: &Key) -> bool {
        self.calls_any || self.names.contains(&key.0) || self.calls.contains(key)
    }
}

/// Whether the last of these nodes is what a variable holds, and nobody reads that.
fn is_unread(path: &[ASTNode<'_>], read: &BTreeSet<String>) -> bool {
    for node in path.iter().rev().skip(1) {
        match node {
            ASTNode::Stmt(Stmt::Var(it, ..)) => return !read.contains(it.0.name.as_str()),
            // A closure with what it shares.
            ASTNode::Expr(Expr::FnCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _))
                if call.name == "curry" => {}
            ASTNode::Expr(Expr::Stmt(_)) | ASTNode::Stmt(Stmt::Expr(_)) => {}
            _ => return false,
        }
    }
    false
}

/// What tells one node of a tree from any other.
fn address<T>(node: &T) -> *const () {
    std::ptr::from_ref(node).cast()
}

/// Remember what of a node can never be reached, other than itself.
fn bury(engine: &Engine, node: &ASTNode<'_>, dead: &mut BTreeSet<*const ()>) {
    let mut list = |block: &[Stmt], is_reached: bool| {
        let behind = block.iter().position(ends).map_or(block.len(), |at| at + 1);
        let from = if is_reached { behind } else { 0 };
        dead.extend(block[from..].iter().map(address));
    };
    match node {
        ASTNode::Stmt(Stmt::If(it, _)) => {
            let holds = fold::decided(&it.expr);
            list(it.body.statements(), holds != Some(false));
            list(it.branch.statements(), holds != Some(true));
        }
        ASTNode::Stmt(Stmt::While(it, _)) => {
            list(it.body.statements(), fold::decided(&it.expr) != Some(false));
        }
        ASTNode::Stmt(Stmt::Do(it, ..)) => list(it.body.statements(), true),
        ASTNode::Stmt(Stmt::For(it, _)) => {
            list(it.2.body.statements(), !fold::is_nothing(&it.2.expr));
        }
        ASTNode::Stmt(Stmt::TryCatch(it, _)) => {
            list(it.body.statements(), true);
            list(it.branch.statements(), true);
        }
        ASTNode::Stmt(Stmt::Block(it)) | ASTNode::Expr(Expr::Stmt(it)) => {
            list(it.statements(), true);
        }
        ASTNode::Stmt(it @ Stmt::Switch(..)) => {
            dead.extend(fold::passed_over(engine, it).into_iter().map(address));
        }
        _ => {}
    }
}

/// Whether what follows a statement in its block is never reached.
fn ends(stmt: &Stmt) -> bool {
    let any = |block: &[Stmt]| block.iter().any(ends);
    match stmt {
        Stmt::Return(..) | Stmt::BreakLoop(..) => true,
        Stmt::Block(it) => any(it.statements()),
        Stmt::Expr(it) => matches!(&**it, Expr::Stmt(it) if any(it.statements())),
        Stmt::If(it, _) | Stmt::TryCatch(it, _) => {
            any(it.body.statements()) && any(it.branch.statements())
        }
        Stmt::While(it, _) => matches!(it.expr, Expr::Unit(_)) && !has_break(stmt),
        _ => false,
    }
}

fn has_break(within: &Stmt) -> bool {
    let mut found = false;
    within.walk(&mut Vec::new(), &mut |path| {
        let node = path.last();
        found |= matches!(node, Some(ASTNode::Stmt(Stmt::BreakLoop(_, how, _)))
            if how.contains(ASTFlags::BREAK));
        !found
    });
    found
}
