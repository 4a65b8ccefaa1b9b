//! Checks: what a script expects, and what became of it.

use std::collections::BTreeSet;

use dh_machine::Micros;
use rhai::{AST, ASTNode, Expr, FnPtr, Position, Stmt};

use super::error::{Said, of_words, wrong};
use super::limit::WAITING_MAX;
use super::reach::usage;

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
    /// Where the script calls a word that checks something.
    written: BTreeSet<Position>,
    /// Where something was checked at least once.
    reached: BTreeSet<Position>,
}

impl Checks {
    /// Of this script.
    pub(super) fn are_of(&mut self, ast: &AST) {
        ast.walk(&mut |path| {
            self.written.extend(path.last().and_then(check_at));
            true
        });
    }

    /// One more condition, by this word.
    pub(super) fn open(&mut self, word: &str, check: Check) -> Said<()> {
        if WAITING_MAX <= self.open.len() {
            return Err(wrong(format!("expected at most {WAITING_MAX} checks that wait")));
        }
        self.reach(word, check.place)?;
        self.open.push(check);
        Ok(())
    }

    /// The check at this place was evaluated. One that is called by a name that was worked out is
    /// written nowhere, so nobody would notice if it were not evaluated.
    pub(super) fn reach(&mut self, word: &str, place: Position) -> Said<()> {
        if !self.written.contains(&place) {
            let usage = usage(word);
            return Err(of_words(format!(
                "{word} is called through a function pointer; expected {usage}"
            )));
        }
        self.reached.insert(place);
        Ok(())
    }

    /// How many were looked at, each place of the script counted once.
    pub(super) fn count(&self) -> usize {
        self.reached.len()
    }

    /// Where the script checks something and the run did not come.
    pub(super) fn passed_by(&self) -> impl Iterator<Item = Position> {
        self.written.difference(&self.reached).copied()
    }

    /// The checks of a script that nothing ever evaluated and that stand under no condition.
    pub(super) fn unreached(&self, ast: &AST) -> Vec<Position> {
        let mut unreached = Vec::new();
        ast.walk(&mut |path| {
            if let Some(place) = path.last().and_then(check_at)
                && !path.windows(2).any(is_conditional)
                && !self.reached.contains(&place)
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
pub(super) fn check_at(node: &ASTNode<'_>) -> Option<Position> {
    let (call, place) = match node {
        ASTNode::Expr(Expr::FnCall(call, place)) | ASTNode::Stmt(Stmt::FnCall(call, place)) => {
            (call, *place)
        }
        _ => return None,
    };
    WORDS.contains(&call.name.as_str()).then_some(place)
}

/// Whether the second of two nodes, which stands in the first, need not be reached.
fn is_conditional(nodes: &[ASTNode<'_>]) -> bool {
    match nodes {
        [ASTNode::Stmt(Stmt::TryCatch(it, _)), ASTNode::Stmt(within)] => {
            it.branch.iter().any(|it| std::ptr::eq(it, *within))
        }
        [
            ASTNode::Stmt(Stmt::If(..) | Stmt::Switch(..) | Stmt::For(..) | Stmt::While(..))
            | ASTNode::Expr(Expr::And(..) | Expr::Or(..) | Expr::Coalesce(..)),
            _,
        ] => true,
        _ => false,
    }
}
