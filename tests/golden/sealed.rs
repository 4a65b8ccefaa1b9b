//! Folders that are written once and then only read: older sets of packets, and the frame.
//!
//! `DH_WIRE_FIXTURES=freeze` writes those that are not there yet. Never: a file of a folder that is.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dh_messages::Hash128;

use crate::fixture::{Files, load, mode, write};

/// The file with the hash of all the others.
pub(crate) const SEAL: &str = "seal.txt";

/// The files of a folder without its seal; made of these first if it is not there and that was
/// asked for.
///
/// # Panics
///
/// If the folder is not there, or not what it was when it was sealed.
pub(crate) fn sealed(folder: &Path, fresh: impl FnOnce() -> Files) -> Files {
    if !folder.exists() && mode("freeze") {
        let mut files = fresh();
        files.insert(SEAL.to_owned(), seal(&files));
        write(folder, &files);
    }
    let told = folder.display();
    let wanted = "DH_WIRE_FIXTURES=freeze writes what is not there";
    assert!(folder.exists(), "{told} is missing: {wanted}");
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
