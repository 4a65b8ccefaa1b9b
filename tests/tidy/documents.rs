//! Documents: what README.md and ARCHITECTURE.md name exists.

use crate::architecture::{document, table, ticked};
use crate::tree::{Source, assert_clean, root, text_of, tree};

/// The documents that are held to the tree.
const DOCUMENTS: [&str; 2] = ["README.md", "ARCHITECTURE.md"];

#[test]
fn every_path_named_in_a_document_exists() {
    let exists = |path: &str| path == "a/b.rs";
    assert_eq!(missing("See `a/b.rs`, `a/c.rs`, `dh play` and [x](a/d.rs).", exists).len(), 2);
    let text = "```\n`a/c.rs`\n```\n`--out a/c`, `a/b.rs`";
    assert_eq!(missing(text, exists), Vec::<String>::new());
    for name in DOCUMENTS {
        assert_clean(&missing(text_of(name), |path| root().join(path).exists()));
    }
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let sources = [Source::new("a.rs", "#[test]\nfn it_holds() {}")];
    let document =
        |name: &str| format!("| # | never | held by |\n|---|---|---|\n| 1 | x | {name} |");
    assert_eq!(unheld(&document("`it_holds`"), &sources), Vec::<String>::new());
    assert_eq!(unheld(&document("`it_is_gone`"), &sources).len(), 1);
    assert_eq!(unheld(&document("review"), &sources).len(), 1);
    assert_clean(&unheld(self::document(), tree()));
}

/// Paths that `text` names, in backticks or as link targets, and that do not exist.
fn missing(text: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let prose = prose.concat();
    let linked = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let named = linked.map(str::to_owned).chain(ticked(&prose));
    named.filter(|name| is_path(name) && !exists(name)).collect()
}

/// Whether a word is meant as a path of the project.
fn is_path(word: &str) -> bool {
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b));
    let ending = [".rs", ".md", ".toml", ".lock"].iter().any(|end| word.ends_with(end));
    plain && !word.starts_with('/') && (word.contains('/') || ending)
}

/// Invariants whose last cell names no test of the project.
fn unheld(document: &str, sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for row in table(document, "#") {
        let [number, .., holder] = row.as_slice() else { continue };
        let tests = ticked(holder);
        let exists = |test: &String| {
            let function = format!("fn {test}(");
            sources.iter().any(|source| source.is_rust() && source.code.contains(&function))
        };
        if tests.is_empty() || !tests.iter().all(exists) {
            faults.push(format!("invariant {number} is held by no test: {holder}"));
        }
    }
    faults
}
