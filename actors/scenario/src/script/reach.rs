//! Reach: checks that no run can ever evaluate, which shows in the text: behind what always leaves,
//! under what never holds, in a function that nothing calls, or called in a way that hides them.

use std::collections::{BTreeMap, BTreeSet};

use rhai::{AST, ASTFlags, ASTNode, Engine, Expr, FnCallExpr, FnPtr, Position, Stmt, Token};

use super::Script;
use super::checks::{WORDS, check_at};
use super::error::ScriptError;
use super::words::{self, Word};

/// What can be called: the script's own statements, or one function of it.
#[derive(Default)]
struct Part {
    /// Its checks, and whether something in it keeps them from ever being reached.
    checks: Vec<(Position, bool)>,
    /// Every name it may call something by.
    calls: BTreeSet<String>,
    /// Whether it calls by names that are worked out.
    calls_any: bool,
}

/// The checks of a script that nothing can evaluate, and what would hide them, in order.
pub(super) fn mistakes(script: &Script, engine: &Engine, ast: &AST) -> Vec<ScriptError> {
    let mut mistakes = hidden(script, ast);
    mistakes.extend(shadowed(script, engine));
    let (own, functions) = parts(ast);
    let called = called(&own, &functions);
    for (name, part) in std::iter::once((None, &own)).chain(functions.iter().flat_map(named)) {
        let is_called = name.is_none_or(|name| called.contains(name));
        for (place, is_dead) in &part.checks {
            let why = match name {
                Some(name) if !is_called && !name.starts_with("anon$") => {
                    format!("nothing calls {name}; expected a call of it")
                }
                _ if !is_called || *is_dead => "a `return`, `throw`, `break`, endless loop or a \
                     condition that never holds is always in its way; expected it before that"
                    .to_owned(),
                _ => continue,
            };
            let what = format!("this check can never be evaluated: {why}");
            mistakes.push(ScriptError::at(script, *place, what));
        }
    }
    mistakes.sort_by_key(|it| (it.line, it.column));
    mistakes
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

/// The script's own statements, and its functions by their names; some are of one name.
fn parts(ast: &AST) -> (Part, BTreeMap<String, Vec<Part>>) {
    let mut own = ast.clone();
    own.clear_functions();
    let mut functions: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for it in ast.iter_functions() {
        let (name, params) = (it.name, it.params.len());
        let mut alone = ast.clone();
        let is_it = |other: &str, taken| other == name && taken == params;
        alone.retain_functions(|_, _, other, taken| is_it(other, taken)).clear_statements();
        functions.entry(name.to_owned()).or_default().push(Part::of(&alone));
    }
    (Part::of(&own), functions)
}

fn named<'a>(
    (name, parts): (&'a String, &'a Vec<Part>),
) -> impl Iterator<Item = (Option<&'a str>, &'a Part)> {
    parts.iter().map(|part| (Some(name.as_str()), part))
}

/// The functions that something may call, from the script's own statements on.
fn called<'a>(own: &'a Part, functions: &'a BTreeMap<String, Vec<Part>>) -> BTreeSet<&'a str> {
    let mut called = BTreeSet::new();
    let mut waiting = vec![own];
    while let Some(part) = waiting.pop() {
        for (name, parts) in functions {
            if (part.calls_any || part.calls.contains(name)) && called.insert(name.as_str()) {
                waiting.extend(parts);
            }
        }
    }
    called
}

impl Part {
    fn of(ast: &AST) -> Self {
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
            if let Some(node) = path.last() {
                part.checks.extend(check_at(node).map(|place| (place, is_dead)));
                if !is_dead {
                    bury(node, &mut dead);
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
                self.calls.insert(call.name.to_string());
                let is_plain = |it: &Expr| matches!(it, Expr::StringConstant(..));
                self.calls_any |= pointed(call).is_some_and(|name| !is_plain(name));
            }
            // The name of a function stands for a pointer to it.
            ASTNode::Expr(Expr::Variable(it, ..)) => drop(self.calls.insert(it.1.to_string())),
            ASTNode::Expr(Expr::StringConstant(text, _)) => {
                self.calls.insert(text.to_string());
            }
            ASTNode::Expr(Expr::DynamicConstant(value, _)) => {
                let function = value.clone().try_cast::<FnPtr>();
                self.calls.extend(function.map(|it| it.fn_name().to_owned()));
            }
            _ => {}
        }
    }
}

/// What tells one node of a tree from any other.
fn address<T>(node: &T) -> *const () {
    std::ptr::from_ref(node).cast()
}

/// Remember what of a node can never be reached, other than itself.
fn bury(node: &ASTNode<'_>, dead: &mut BTreeSet<*const ()>) {
    let mut list = |block: &[Stmt], is_reached: bool| {
        let behind = block.iter().position(ends).map_or(block.len(), |at| at + 1);
        let from = if is_reached { behind } else { 0 };
        dead.extend(block[from..].iter().map(address));
    };
    match node {
        ASTNode::Stmt(Stmt::If(it, _)) => {
            let holds = literal(&it.expr);
            list(it.body.statements(), holds != Some(false));
            list(it.branch.statements(), holds != Some(true));
        }
        ASTNode::Stmt(Stmt::While(it, _)) => {
            list(it.body.statements(), literal(&it.expr) != Some(false));
        }
        ASTNode::Stmt(Stmt::Do(it, ..)) => list(it.body.statements(), true),
        ASTNode::Stmt(Stmt::For(it, _)) => list(it.2.body.statements(), true),
        ASTNode::Stmt(Stmt::TryCatch(it, _)) => {
            list(it.body.statements(), true);
            list(it.branch.statements(), true);
        }
        ASTNode::Stmt(Stmt::Block(it)) | ASTNode::Expr(Expr::Stmt(it)) => {
            list(it.statements(), true);
        }
        ASTNode::Expr(Expr::And(it, _) | Expr::Or(it, _)) => {
            let decides = matches!(node, ASTNode::Expr(Expr::Or(..)));
            let decided = it.iter().position(|it| literal(it) == Some(decides));
            dead.extend(it.iter().skip(decided.map_or(it.len(), |at| at + 1)).map(address));
        }
        _ => {}
    }
}

/// A condition that is written out.
fn literal(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::BoolConstant(holds, _) => Some(*holds),
        _ => None,
    }
}

/// Whether what follows a statement in its block is never reached.
fn ends(stmt: &Stmt) -> bool {
    let any = |block: &[Stmt]| block.iter().any(ends);
    match stmt {
        Stmt::Return(..) | Stmt::BreakLoop(..) => true,
        Stmt::Block(it) => any(it.statements()),
        Stmt::Expr(it) => matches!(&**it, Expr::Stmt(it) if any(it.statements())),
        Stmt::TryCatch(it, _) => any(it.body.statements()) && any(it.branch.statements()),
        Stmt::If(it, _) => match literal(&it.expr) {
            Some(true) => any(it.body.statements()),
            Some(false) => any(it.branch.statements()),
            None => any(it.body.statements()) && any(it.branch.statements()),
        },
        Stmt::While(it, _) => {
            let is_endless = matches!(it.expr, Expr::Unit(_)) || literal(&it.expr) == Some(true);
            is_endless && !has_break(stmt)
        }
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
