//! ARCHITECTURE.md as data, and cargo's view of the same project.
//!
//! Used by the rules about layers, purity and reach. The document's tables are the rules' only
//! source: what it says and what is built cannot drift apart.

use crate::tree::{Source, root, text_of};
use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use std::sync::OnceLock;

/// One row of the ranks table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranked {
    /// Imports go from a higher rank to a lower one only.
    pub(crate) rank: u32,
    /// The crate's folder from the root.
    pub(crate) folder: String,
    /// What kind of crate it is.
    pub(crate) ring: Ring,
}

/// What a crate may do at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ring {
    /// Pure, and without the standard library.
    Bare,
    /// Pure.
    Core,
    /// Runs cores: threads, clocks, sockets, files.
    Runtime,
    /// Actors: pure states behind shells that perform effects through the runtime.
    Shell,
    /// Puts the others together: the program and the tests.
    Wiring,
}

/// One row of the dependencies table.
#[derive(Debug, Clone)]
pub(crate) struct Permitted {
    /// The package.
    pub(crate) name: String,
    /// Folders of the crates that may name it; `dev` for the tests of any crate.
    pub(crate) users: Vec<String>,
}

/// One crate of the project, as cargo sees it.
#[derive(Debug)]
pub(crate) struct Built {
    /// Its package name.
    pub(crate) name: String,
    /// Its folder from the root.
    pub(crate) folder: String,
    /// The packages it names.
    pub(crate) uses: Vec<Use>,
}

/// One dependency of a crate.
#[derive(Debug)]
pub(crate) struct Use {
    /// The package.
    pub(crate) name: String,
    /// Whether only its tests use it.
    pub(crate) dev: bool,
    /// Whether it lies in this project.
    pub(crate) ours: bool,
}

/// The ranks table.
pub(crate) fn ranks(text: &str) -> Vec<Ranked> {
    let rows = table(text, "rank").into_iter();
    rows.map(|row| Ranked {
        rank: row[0].parse().unwrap_or_else(|_| panic!("rank {} is no number", row[0])),
        folder: ticked(&row[1]).first().cloned().unwrap_or_default(),
        ring: ring(&row[2]),
    })
    .collect()
}

/// The ring of the crate that a source lies in.
pub(crate) fn ring_of(ranks: &[Ranked], source: &Source) -> Option<Ring> {
    let home = |ranked: &&Ranked| {
        source.path.strip_prefix(&ranked.folder).is_some_and(|rest| rest.starts_with('/'))
    };
    ranks.iter().find(home).map(|ranked| ranked.ring)
}

/// The dependencies table.
pub(crate) fn permitted(text: &str) -> Vec<Permitted> {
    let rows = table(text, "dependency").into_iter();
    let each = rows.flat_map(|row| {
        let users = ticked(&row[1]);
        ticked(&row[0]).into_iter().map(move |name| Permitted { name, users: users.clone() })
    });
    each.collect()
}

/// Cells of the table whose first heading is `heading`; none if there is no such table.
pub(crate) fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let start = format!("| {heading} |");
    let lines = text.lines().skip_while(|line| !line.starts_with(&start)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// The words of a text that stand between backticks.
pub(crate) fn ticked(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// ARCHITECTURE.md.
pub(crate) fn document() -> &'static str {
    text_of("ARCHITECTURE.md")
}

/// The manifests that cargo starts from: the workspace, and what is built apart from it.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "tests/fuzz/Cargo.toml"];

/// What cargo says about every package of the project, dependencies unresolved.
pub(crate) fn packages() -> &'static [Package] {
    static PACKAGES: OnceLock<Vec<Package>> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let of = |manifest: &str| {
            let mut command = MetadataCommand::new();
            command.manifest_path(root().join(manifest)).no_deps();
            command.other_options(["--offline".to_owned()]).exec().expect("cargo metadata").packages
        };
        MANIFESTS.into_iter().flat_map(of).collect()
    })
}

/// The crates of the project.
pub(crate) fn built() -> Vec<Built> {
    let root = root().canonicalize().expect("the root exists");
    let folder = |package: &Package| {
        let path = package.manifest_path.parent().expect("a manifest lies in a folder");
        let inside = path.as_std_path().strip_prefix(&root).expect("crates lie inside");
        inside.to_string_lossy().into_owned()
    };
    packages()
        .iter()
        .map(|package| Built {
            name: package.name.to_string(),
            folder: folder(package),
            uses: package.dependencies.iter().map(used).collect(),
        })
        .collect()
}

fn used(dependency: &cargo_metadata::Dependency) -> Use {
    Use {
        name: dependency.name.clone(),
        dev: dependency.kind == DependencyKind::Development,
        ours: dependency.path.is_some(),
    }
}

fn ring(word: &str) -> Ring {
    match word {
        "bare core" => Ring::Bare,
        "core" => Ring::Core,
        "runtime" => Ring::Runtime,
        "shells" => Ring::Shell,
        "wiring" => Ring::Wiring,
        other => panic!("ring {other} is not known"),
    }
}

#[test]
fn tables_are_read_from_the_document() {
    let text =
        "x\n| rank | crate | ring |\n|---|---|---|\n| 3 | `a/b` | core |\n\n| 4 | no | no |\n";
    let row = Ranked { rank: 3, folder: "a/b".to_owned(), ring: Ring::Core };
    assert_eq!(ranks(text), [row]);
    let text = "| dependency | who | why |\n|---|---|---|\n| `p` `q` | `a/b`, `dev` | so |\n";
    let rows = permitted(text);
    assert_eq!((rows[1].name.as_str(), rows[1].users.len()), ("q", 2));
}
