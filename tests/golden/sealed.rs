//! Folders that are written once and then only read: older sets of packets, and the frame.
//!
//! Never: a file of a folder that is there.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dh_messages::Hash128;

use crate::fixture::{Files, load, write};

/// The file with the hash of all the others.
pub(crate) const SEAL: &str = "seal.txt";

/// Makes a folder of these files and their seal, if it is not there.
pub(crate) fn freeze(folder: &Path, mut files: Files) {
    if !folder.exists() {
        files.insert(SEAL.to_owned(), seal(&files));
        write(folder, &files);
    }
}

/// The files of a folder without its seal.
///
/// # Panics
///
/// If the folder is not what it was when it was sealed.
pub(crate) fn sealed(folder: &Path) -> Files {
    let told = folder.display();
    let mut files = load(folder);
    let found = files.remove(SEAL);
    assert_eq!(found, Some(seal(&files)), "{told} was frozen and has changed since: restore it");
    files
}

/// The line that a change of any of these files changes.
pub(crate) fn seal(files: &Files) -> String {
    let mut whole = String::new();
    for (name, text) in files {
        write!(whole, "{name} {}\n{text}", text.len()).unwrap();
    }
    format!("{}\n", Hash128::of(whole.as_bytes()))
}

/// A folder beside that of the current packets.
pub(crate) fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}
