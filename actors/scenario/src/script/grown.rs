//! Grown: containers that a script puts something into by its place there. The engine measures what
//! is put in and not what it is put into, so that is measured here whenever it is looked up.

use std::cell::Cell;
use std::collections::BTreeSet;

use rhai::{AST, ASTNode, Dynamic, Engine, EvalAltResult, Expr, Stmt};

use super::Script;
use super::error::{Said, ScriptError, too_large, wrong};
use super::limit::{ARRAY_MAX, MAP_MAX};
use super::nested::Looks;

/// At one of so many looks, everything that is in any variable is measured.
const DEEP_EVERY: u32 = 64;

/// Have every variable measured that the script reaches into, and how deep all of them are.
#[expect(
    deprecated,
    reason = "the only way to see what a variable holds; the library calls it volatile"
)]
pub(super) fn measure(engine: &mut Engine, ast: &AST) {
    let (names, looks, nested) = (reached_into(ast), Cell::new(0_u32), Looks::new());
    engine.on_var(move |name, _, context| {
        nested.look(&context)?;
        if !names.contains(name) {
            return Ok(None);
        }
        context.scope().get(name).map_or(Ok(()), is_in_bounds)?;
        looks.set(looks.get().wrapping_add(1));
        if looks.get().is_multiple_of(DEEP_EVERY) {
            let all = context.scope().iter_raw().map(|(_, _, value)| value);
            for value in all.chain(context.this_ptr()).filter(|it| is_container(it)) {
                context
                    .engine()
                    .ensure_data_size_within_limits(value)
                    .map_err(|error| placed(*error))?;
            }
        }
        Ok(None)
    });
}

/// What is too large, as a complaint that keeps its place; the engine takes that from its own.
fn placed(error: EvalAltResult) -> Box<EvalAltResult> {
    match error {
        EvalAltResult::ErrorDataTooLarge(what, _) => wrong(too_large(&what)),
        other => other.into(),
    }
}

/// Where the script puts something into `this` by its place there: no variable is looked up for it.
pub(super) fn mistakes(script: &Script, ast: &AST) -> Vec<ScriptError> {
    let mut mistakes = Vec::new();
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Assignment(it))) = path.last()
            && let Expr::Index(to, ..) = &it.1.lhs
            && let Expr::ThisPtr(place) = &to.lhs
        {
            let what = "nothing is put into `this` by its place there, as it is not measured; \
                        expected a parameter that is handed back, fn f(it) { it[0] = 1; it }";
            mistakes.push(ScriptError::at(script, *place, what));
        }
        true
    });
    mistakes
}

/// The variables that something in is named of, or called on.
fn reached_into(ast: &AST) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    ast.walk(&mut |path| {
        // Of a whole chain; what stands within it is only read.
        let is_within =
            matches!(path, [.., ASTNode::Expr(Expr::Dot(..) | Expr::Index(..)), ASTNode::Expr(_)]);
        if let Some(ASTNode::Expr(Expr::Dot(it, ..) | Expr::Index(it, ..))) = path.last()
            && let Expr::Variable(it, ..) = &it.lhs
            && !is_within
        {
            names.insert(it.1.to_string());
        }
        true
    });
    names
}

/// Whether it is one that can be looked into now.
fn is_container(value: &Dynamic) -> bool {
    value.as_array_ref().is_ok() || value.as_map_ref().is_ok()
}

fn is_in_bounds(value: &Dynamic) -> Said<()> {
    if value.as_array_ref().is_ok_and(|list| ARRAY_MAX < list.len()) {
        return Err(wrong(too_large("Size of array")));
    }
    if value.as_map_ref().is_ok_and(|map| MAP_MAX < map.len()) {
        return Err(wrong(too_large("Size of object map")));
    }
    Ok(())
}
