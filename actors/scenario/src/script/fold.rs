//! Fold: a script as it reads once everything is worked out that is written out in it: constants,
//! conditions of them, what a switch chooses, loops over nothing. It is read, and never run.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use rhai::{
    AST, ASTFlags, ASTNode, Array, Dynamic, Engine, Expr, Module, OptimizationLevel, Position,
    Scope, Stmt,
};

use super::review::declared;

/// The script without what its constants keep from ever being reached. Places stay as they are.
pub(super) fn folded(engine: &Engine, ast: &AST) -> AST {
    // Once for the values of constants, and again for those they are values of.
    let once = engine.optimize_ast(&Scope::new(), ast.clone(), OptimizationLevel::Simple);
    let (names, changed) = (declared(ast), changed(ast));
    let is_constant = |stmt: &&Stmt| match stmt {
        Stmt::Var(it, how, _) => {
            let name = it.0.name.as_str();
            let is_plain = matches!(
                it.1,
                Expr::BoolConstant(..) | Expr::IntegerConstant(..) | Expr::FloatConstant(..)
            );
            let stays = how.contains(ASTFlags::CONSTANT) || is_plain && !changed.contains(name);
            stays && it.1.is_constant() && names.iter().filter(|it| *it == name).count() == 1
        }
        _ => false,
    };
    let mut scope = Scope::new();
    for stmt in once.statements().iter().filter(is_constant) {
        if let Stmt::Var(it, ..) = stmt
            && let Some(value) = it.1.get_literal_value(None)
        {
            scope.push_constant_dynamic(it.0.name.as_str(), value);
        }
    }
    let rest = once.statements().iter().filter(|stmt| !is_constant(stmt)).cloned();
    let rest = AST::new(rest, once.shared_lib().clone());
    engine.optimize_ast(&scope, rest, OptimizationLevel::Simple)
}

/// What a condition comes to whatever the rest of it says.
pub(super) fn decided(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::BoolConstant(holds, _) => Some(*holds),
        Expr::And(all, _) if all.iter().any(|it| decided(it) == Some(false)) => Some(false),
        Expr::Or(all, _) if all.iter().any(|it| decided(it) == Some(true)) => Some(true),
        _ => None,
    }
}

/// Whether a loop over this goes round no time, as is written out.
pub(super) fn is_nothing(iterated: &Expr) -> bool {
    let Some(value) = iterated.get_literal_value(None) else { return false };
    let is_empty = |value: &Dynamic| {
        let list = value.as_array_ref().is_ok_and(|list: _| Array::is_empty(&list));
        list || value.is_string() && value.to_string().is_empty()
    };
    is_empty(&value)
        || value.clone().try_cast::<Range<i64>>().is_some_and(|it| it.is_empty())
        || value.try_cast::<RangeInclusive<i64>>().is_some_and(|it| it.is_empty())
}

/// What a switch over something that is written out does not choose. The engine itself is asked
/// what it chooses.
pub(super) fn passed_over<'a>(engine: &Engine, switch: &'a Stmt) -> Vec<&'a Expr> {
    let Stmt::Switch(it, _) = switch else { return Vec::new() };
    let is_always = |condition: &Expr| matches!(condition, Expr::BoolConstant(true, _));
    if !it.0.is_constant() || !it.1.expressions.iter().all(|it| is_always(&it.lhs)) {
        return Vec::new();
    }
    let mut asked = it.clone();
    for (nth, block) in (0..).zip(&mut asked.1.expressions) {
        block.rhs = Expr::IntegerConstant(nth, Position::NONE);
    }
    let asked = AST::new([Stmt::Switch(asked, Position::NONE)], Module::new());
    let chosen = engine.eval_ast::<Dynamic>(&asked).ok().and_then(|nth| nth.as_int().ok());
    let all = (0..).zip(&it.1.expressions);
    all.filter(|(nth, _)| Some(*nth) != chosen).map(|(_, block)| &block.rhs).collect()
}

/// The variables that something is assigned to, or to a part of.
fn changed(ast: &AST) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Assignment(it))) = path.last() {
            names.extend(root(&it.1.lhs));
        }
        true
    });
    names
}

fn root(place: &Expr) -> Option<String> {
    match place {
        Expr::Variable(it, ..) => Some(it.1.to_string()),
        Expr::Dot(it, ..) | Expr::Index(it, ..) => root(&it.lhs),
        _ => None,
    }
}
