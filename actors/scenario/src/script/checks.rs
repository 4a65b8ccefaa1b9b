//! Checks: what a script expects, and what became of it.

use std::collections::BTreeSet;

use dh_machine::Micros;
use rhai::{AST, ASTNode, Expr, FnPtr, Position, Stmt};

use super::error::{Said, wrong};
use super::limit::WAITING_MAX;
use super::source::key;

/// The words that check something.
pub(super) const WORDS: [&str; 4] = ["expect", "expect_within", "eventually", "never"];

/// What is expected of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It holds at some moment before this one.
    By(Micros),
    /// It holds at no moment.
    Never,
}

/// A condition that is looked at each tick.
#[derive(Clone)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) holds: FnPtr,
    pub(super) place: Position,
}

/// The conditions of a script.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) open: Vec<Check>,
    /// Where something was checked at least once.
    reached: BTreeSet<(usize, usize)>,
}

impl Checks {
    /// One more condition.
    pub(super) fn open(&mut self, check: Check) -> Said<()> {
        if WAITING_MAX <= self.open.len() {
            return Err(wrong(format!("expected at most {WAITING_MAX} checks that wait")));
        }
        self.reach(check.place);
        self.open.push(check);
        Ok(())
    }

    /// The check at this place was evaluated.
    pub(super) fn reach(&mut self, place: Position) {
        self.reached.insert(key(place));
    }

    /// How many were looked at, each place of the script counted once.
    pub(super) fn count(&self) -> usize {
        self.reached.len()
    }

    /// The checks of a script that nothing ever evaluated and that stand under no condition.
    pub(super) fn unreached(&self, ast: &AST) -> Vec<Position> {
        let mut unreached = Vec::new();
        ast.walk(&mut |path| {
            if let Some(place) = path.last().and_then(check_at)
                && !path.iter().any(is_conditional)
                && !self.reached.contains(&key(place))
                && !unreached.contains(&place)
            {
                unreached.push(place);
            }
            true
        });
        unreached
    }
}

/// Where a node calls one of the words that check something.
fn check_at(node: &ASTNode<'_>) -> Option<Position> {
    let (call, place) = match node {
        ASTNode::Expr(Expr::FnCall(call, place)) | ASTNode::Stmt(Stmt::FnCall(call, place)) => {
            (call, *place)
        }
        _ => return None,
    };
    WORDS.contains(&call.name.as_str()).then_some(place)
}

fn is_conditional(node: &ASTNode<'_>) -> bool {
    matches!(
        node,
        ASTNode::Stmt(Stmt::If(..) | Stmt::Switch(..) | Stmt::For(..) | Stmt::While(..))
            | ASTNode::Expr(Expr::And(..) | Expr::Or(..))
    )
}
