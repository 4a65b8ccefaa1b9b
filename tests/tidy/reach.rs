//! Reach: every Rust file is part of something that is built.

use crate::architecture::packages;
use crate::tree::{Source, assert_clean, root, tree};
use std::collections::BTreeSet;

#[test]
fn every_rust_file_is_reached_by_a_mod() {
    let sample = [
        Source::new("a/src/lib.rs", "mod b;\n// mod c;\n#[path = \"d/e.rs\"]\nmod f;"),
        Source::new("a/src/b.rs", "mod inner;"),
        Source::new("a/src/b/inner.rs", ""),
        Source::new("a/src/d/e.rs", ""),
        Source::new("a/src/c.rs", ""),
    ];
    assert_eq!(unreached(&sample, &["a/src/lib.rs".to_owned()]), ["a/src/c.rs"]);
    assert_clean(&unreached(tree(), &roots()));
}

/// The files cargo starts from, as paths from the root.
fn roots() -> Vec<String> {
    let root = root().canonicalize().expect("the root exists");
    let targets = packages().iter().flat_map(|package| &package.targets);
    let inside = |path: &std::path::Path| {
        path.strip_prefix(&root).expect("targets lie inside").to_string_lossy().into_owned()
    };
    targets.map(|target| inside(target.src_path.as_std_path())).collect()
}

fn unreached(sources: &[Source], roots: &[String]) -> Vec<String> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<String> = roots.to_vec();
    while let Some(path) = open.pop() {
        let Some(source) = sources.iter().find(|source| source.path == path) else { continue };
        if reached.insert(path) {
            let is_root = roots.contains(&source.path);
            open.extend(modules(source, is_root));
        }
    }
    let rust = sources.iter().filter(|source| source.is_rust());
    let dead = rust.filter(|source| !reached.contains(&source.path));
    dead.map(|source| source.path.clone()).collect()
}

/// The files that `source` declares as its modules.
fn modules(source: &Source, is_root: bool) -> Vec<String> {
    let (folder, name) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = name.trim_end_matches(".rs");
    let beside = if is_root { folder.to_owned() } else { format!("{folder}/{stem}") };
    let mut found = Vec::new();
    let mut given = None;
    for (code, text) in source.code.lines().zip(source.text.lines()) {
        if code.trim_start().starts_with("#[path") {
            given = text.split('"').nth(1);
        }
        let declared = code.trim().strip_suffix(';').and_then(|line| line.split_once("mod "));
        let Some((_, module)) = declared else { continue };
        found.push(match given.take() {
            Some(path) => format!("{folder}/{path}"),
            None => format!("{beside}/{}.rs", module.trim()),
        });
    }
    found
}
