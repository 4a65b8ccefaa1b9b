//! Lints: every crate is under the workspace's lints, and what a crate loosens has a reason.

use crate::tree::{Source, assert_clean, holds, passes, sees, text_of, tree};

/// The line that ends the part which every `.clippy.toml` has alike.
const END_OF_SHARED: &str = "# End of the shared part.";

#[test]
fn the_shared_part_of_every_clippy_toml_is_the_same() {
    let text = format!("a = 1\n{END_OF_SHARED}\nb = 2\n");
    let other = Source::new("x/.clippy.toml", &text.replace("a = 1", "a = 2"));
    assert_eq!(unequal(&text, &[other]).len(), 1);
    assert_eq!(unequal(&text, &[Source::new("x/.clippy.toml", "a = 1\n")]).len(), 1);
    assert_clean(&unequal(text_of(".clippy.toml"), tree()));
}

#[test]
fn every_deviation_of_a_clippy_toml_has_a_reason() {
    sees(unreasoned, &[("x/.clippy.toml", &format!("{END_OF_SHARED}\na = []\n"))]);
    let looser = format!("{END_OF_SHARED}\n# Looser: it reads clocks.\n");
    passes(unreasoned, &[("x/.clippy.toml", &looser)]);
    sees(unreasoned, &[("x/.clippy.toml", &format!("{looser}  {{ path = \"a::b\" }},\n"))]);
    holds(unreasoned);
}

#[test]
fn every_crate_is_under_the_workspaces_lints() {
    sees(unlinted, &[("x/Cargo.toml", "[package]\nname = \"x\"\n")]);
    holds(unlinted);
}

#[test]
fn no_lint_is_allowed_away_without_being_expected() {
    sees(allowed, &[("x.rs", "#![allow(dead_code)]")]);
    sees(allowed, &[("x.rs", "#[expect(clippy::panic)]\nfn x() {}")]);
    passes(allowed, &[("x.rs", "#[expect(clippy::panic, reason = \"told\")]\nfn x() {}")]);
    holds(allowed);
}

fn unequal(root: &str, sources: &[Source]) -> Vec<String> {
    let shared = |text: &str| text.split_once(END_OF_SHARED).map(|(shared, _)| shared.to_owned());
    let configs = sources.iter().filter(|source| source.name() == ".clippy.toml");
    let other = configs.filter(|source| shared(&source.text) != shared(root));
    other.map(|source| format!("{}: its shared part differs", source.path)).collect()
}

fn unreasoned(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.name() == ".clippy.toml") {
        let own = source.text.split_once(END_OF_SHARED).map_or("", |(_, own)| own.trim_start());
        if source.path != ".clippy.toml" && !own.starts_with("# Looser: ") {
            faults.push(format!("{}: does not say why it is looser", source.path));
        }
        let entries = source.text.lines().filter(|line| line.contains("path = "));
        for line in entries.filter(|line| !line.contains("reason = \"")) {
            faults.push(format!("{}: no reason in {}", source.path, line.trim()));
        }
    }
    faults
}

fn unlinted(sources: &[Source]) -> Vec<String> {
    let manifests = sources.iter().filter(|source| source.name() == "Cargo.toml");
    let crates = manifests.filter(|source| source.text.contains("[package]"));
    let bare = crates.filter(|source| !source.text.contains("[lints]\nworkspace = true"));
    bare.map(|source| format!("{}: no workspace lints", source.path)).collect()
}

fn allowed(sources: &[Source]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        for opening in ["#[allow(", "#![allow("] {
            faults.extend(source.code.find(opening).map(|_| format!("{}: {opening}", source.path)));
        }
        let expects = source.code.match_indices("[expect(").map(|(at, _)| at);
        for at in expects {
            let end = source.code[at..].find(")]").map_or(source.code.len(), |end| at + end);
            if !source.code[at..end].contains("reason") {
                faults.push(format!("{}: an expectation without a reason", source.path));
            }
        }
    }
    faults
}
