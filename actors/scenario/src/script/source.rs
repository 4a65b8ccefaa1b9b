//! Source: the text of a script, and what stands at a place of it.

use rhai::{ASTNode, Expr, Position, Stmt};

use super::{Script, engine};
use crate::report::Place;

/// Characters that are shown of one call.
const SHOWN_MAX: usize = 160;

impl Script {
    /// The call that begins at a place, and what was read for it.
    pub(super) fn place(&self, at: Position, found: Vec<(String, String)>) -> Place {
        let (line, column) = key(at);
        let text = call_at(&self.text, line, column);
        Place { file: self.file.clone(), line, column, text, found }
    }

    /// Where an entry stands in the object map that the call at a place is given, by the keys that
    /// lead there: its key, or the last one on the way that is written out there. Without a place
    /// the data at the top is meant.
    pub(super) fn entry(&self, call: Position, path: &[String]) -> Position {
        let Ok(ast) = engine().compile(&self.text) else { return call };
        let mut found = call;
        ast.walk(&mut |nodes| {
            let Some(
                ASTNode::Expr(Expr::FnCall(it, at) | Expr::MethodCall(it, at))
                | ASTNode::Stmt(Stmt::FnCall(it, at)),
            ) = nodes.last()
            else {
                return true;
            };
            let is_meant = if call.is_none() { it.name == "scenario" } else { *at == call };
            if is_meant && let Some(data) = it.args.iter().find(|it| matches!(it, Expr::Map(..))) {
                found = key_in(data, path).unwrap_or(*at);
            }
            !is_meant
        });
        found
    }
}

/// A place as line and column, to look things up by.
pub(super) fn key(place: Position) -> (usize, usize) {
    (place.line().unwrap_or(0), place.position().unwrap_or(0))
}

/// Where the key at the end of a path stands, or the last key before it that is there.
fn key_in(data: &Expr, path: &[String]) -> Option<Position> {
    let (Expr::Map(map, _), [first, rest @ ..]) = (data, path) else { return None };
    let (key, value) = map.0.iter().find(|(key, _)| key.name == *first)?;
    Some(key_in(value, rest).unwrap_or(key.pos))
}

/// The call that begins at this line and column, on one line, as far as it is shown.
fn call_at(text: &str, line: usize, column: usize) -> String {
    let mut lines = text.lines().skip(line.saturating_sub(1));
    let first: String =
        lines.next().unwrap_or_default().chars().skip(column.saturating_sub(1)).collect();
    let mut shown = String::new();
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for line in std::iter::once(first.as_str()).chain(lines) {
        if !shown.is_empty() && !shown.ends_with('(') {
            shown.push(' ');
        }
        for it in line.trim().chars() {
            shown.push(it);
            match it {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            if it == ')' && depth == 0 && !quoted {
                return shown;
            }
            if SHOWN_MAX <= shown.chars().count() {
                shown.push_str("...");
                return shown;
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::call_at;

    #[test]
    fn a_call_is_shown_on_one_line_up_to_its_own_end() {
        let text = "x;\n  expect(\n    \"a ) \\\" b\",\n    f(1) == 2\n  ); y();\n";
        assert_eq!(call_at(text, 2, 3), "expect(\"a ) \\\" b\", f(1) == 2 )");
        assert_eq!(call_at(text, 5, 6), "y()");
        assert_eq!(call_at(text, 9, 9), "");
        let long = format!("f({})", "x".repeat(500));
        assert!(call_at(&long, 1, 1).ends_with("xxx...") && call_at(&long, 1, 1).len() < 200);
    }
}
