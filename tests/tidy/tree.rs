//! The project's files as the rules see them, and the two ways a rule is used.
//!
//! Used by every rule. A file is named by its path from the project's root, with forward slashes.

use crate::scan;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// One text file of the project.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path from the root.
    pub(crate) path: String,
    /// What it says.
    pub(crate) text: String,
    /// The same with comments and strings blanked; equal to `text` unless it is Rust.
    pub(crate) code: String,
}

impl Source {
    /// A file of the given text.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let code = if path.ends_with(".rs") { scan::code_of(text) } else { text.to_owned() };
        Self { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether all of it is a test: a `tests.rs`, a file below one, or a file of the tests crate.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.ends_with("/tests.rs")
            || self.path.contains("/tests/")
    }

    /// The last part of its path.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// A house rule: files in, one sentence per fault out.
pub(crate) type Rule = fn(&[Source]) -> Vec<String>;

/// The rule must find fault with this sample of paths and texts, or it is no rule.
pub(crate) fn sees(rule: Rule, sample: &[(&str, &str)]) {
    let sources: Vec<Source> = sample.iter().map(|(path, text)| Source::new(path, text)).collect();
    assert!(!rule(&sources).is_empty(), "the rule is blind to {sample:?}");
}

/// The rule must find no fault with this sample.
pub(crate) fn passes(rule: Rule, sample: &[(&str, &str)]) {
    let sources: Vec<Source> = sample.iter().map(|(path, text)| Source::new(path, text)).collect();
    assert_eq!(rule(&sources), Vec::<String>::new(), "the rule is too strict");
}

/// The project must obey the rule.
pub(crate) fn holds(rule: Rule) {
    assert_clean(&rule(tree()));
}

/// Fails with all faults, one a line.
pub(crate) fn assert_clean(faults: &[String]) {
    assert!(faults.is_empty(), "{} fault(s)\n  {}\n", faults.len(), faults.join("\n  "));
}

/// Every text file of the project, in order of path.
pub(crate) fn tree() -> &'static [Source] {
    static TREE: OnceLock<Vec<Source>> = OnceLock::new();
    TREE.get_or_init(|| {
        let mut sources = Vec::new();
        read_folder(&root(), "", &mut sources);
        sources.sort_by(|a, b| a.path.cmp(&b.path));
        sources
    })
}

/// The text of one file that must exist.
pub(crate) fn text_of(path: &str) -> &'static str {
    let source = tree().iter().find(|source| source.path == path);
    source.map(|source| source.text.as_str()).unwrap_or_else(|| panic!("{path} is missing"))
}

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Whether a folder holds nothing of ours: build output, version control, what a fuzzer found.
fn is_foreign(name: &str) -> bool {
    ["target", "node_modules", "corpus"].contains(&name)
        || (name.starts_with('.') && name != ".ci" && name != ".cargo")
}

fn read_folder(folder: &Path, prefix: &str, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a readable folder") {
        let entry = entry.expect("a readable entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().expect("a known type");
        if kind.is_dir() {
            if !is_foreign(&name) {
                read_folder(&entry.path(), &format!("{path}/"), sources);
            }
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            sources.push(Source::new(&path, &text));
        }
    }
}
