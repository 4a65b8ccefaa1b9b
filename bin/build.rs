//! Build facts for `dh --version`: the commit, where git tells one, and a hash of the lock file.
//!
//! Run by cargo. Never fails outside a clone, and never looks into a repository that is not ours.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=DH_COMMIT={}", commit(&root).unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo:rustc-env=DH_LOCKFILE={}", lockfile(&root));
    println!("cargo:rustc-env=DH_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// The first twelve digits of the commit that `root` is a clone of.
fn commit(root: &Path) -> Option<String> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = root.join(git(root, &["rev-parse", "--git-path", name])?);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(root, &["rev-parse", "--short=12", "HEAD"])
}

/// What git prints, if there is a git and it succeeds.
fn git(root: &Path, words: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(root).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// XXH3-128 of Cargo.lock, in hex: two programs with the same have the same dependencies.
fn lockfile(root: &Path) -> String {
    let path = root.join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", path.display());
    let bytes = fs::read(path).unwrap_or_default();
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
}
