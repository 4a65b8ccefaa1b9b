//! Whole: files that are written whole or not at all, and never over what is no file.

use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::{Exit, Failure};

const REMEDY: &str = "name a file in a folder that exists and may be written to";

/// Whether a file can come to this place, asked before anybody works for it. `flag` is what named
/// it.
pub(crate) fn check(flag: &str, path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let refused = |why: &str| refused(&format!("{flag} {}", path.display()), why);
    if !folder.is_dir() {
        return Err(refused("its folder is not there"));
    }
    if is_no_file(path) {
        return Err(refused(NO_FILE));
    }
    // Only the attempt tells: some folders grant what they then refuse.
    let unfinished = unfinished(path);
    let made = fs::File::create(&unfinished).and_then(|_| fs::remove_file(&unfinished));
    made.map_err(|error| refused(&error.to_string()))
}

/// Puts bytes in place by a rename, so that no reader ever sees half of them.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_no_file(path) {
        return Err(refused(&path.display().to_string(), NO_FILE));
    }
    let unfinished = unfinished(path);
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|error| {
        // It may not even have been begun.
        drop(fs::remove_file(&unfinished));
        refused(&path.display().to_string(), &error.to_string())
    })
}

/// Where a file is written before it is whole.
fn unfinished(path: &Path) -> PathBuf {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    unfinished.into()
}

const NO_FILE: &str = "it is no ordinary file and is left as it is";

/// Devices, pipes, folders and links are left alone: a rename would replace them.
fn is_no_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|facts| !facts.is_file())
}

fn refused(what: &str, why: &str) -> Failure {
    Failure::new(Exit::CannotCreate, format!("{what}: {why}")).remedy(REMEDY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_where_no_file_can_come_is_told_before_anybody_works_for_it() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(check("--report", &home.path().join("a.html")), Ok(()));
        assert_eq!(check("--report", Path::new("a.html")), Ok(()));
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0, "nothing is left of asking");
        let refused = check("--junit", Path::new("/proc/x.xml")).unwrap_err();
        assert!(refused.cause.starts_with("--junit /proc/x.xml: "), "{refused:?}");
        for bad in ["none/a.html", "."] {
            let refused = check("--report", &home.path().join(bad)).unwrap_err();
            assert_eq!(refused.exit, Exit::CannotCreate);
        }
    }

    #[test]
    fn a_file_replaces_a_file_and_nothing_that_is_no_file() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("a"), home.path().join("b"));
        write(&file, b"first").unwrap();
        write(&file, b"second").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(write(&link, b"third").unwrap_err().exit, Exit::CannotCreate);
        assert_eq!(fs::read(&file).unwrap(), b"second");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing unfinished is left");
    }
}
