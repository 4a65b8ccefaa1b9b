//! `known-hosts`: which key each server showed when it was first met.
//!
//! One line a server, `NAME SHA256:...`; lines that start with `#` and empty lines are kept out
//! of the way and lost on the next write. The file is the user's, so whatever it holds, reading
//! it ends in a table or in an error that names the line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use super::file::{self, FileError};
use super::key::{Fingerprint, PeerKey};
use crate::disk::HeldFolder;

/// The servers that are known by key, in order of name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownHosts {
    hosts: BTreeMap<String, Fingerprint>,
}

/// Why the file is not used.
#[derive(Debug)]
#[non_exhaustive]
pub enum KnownHostsError {
    /// A line is not `NAME SHA256:...`, or names a server again.
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is found in it.
        found: &'static str,
    },
    /// A name that no line can hold.
    Name(String),
    /// There are more servers than a file may hold.
    Full(PathBuf),
    /// The file could not be read: see [`FileError`].
    File(FileError),
    /// The file could not be written.
    NotWritten {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

impl KnownHosts {
    /// The servers known in `path`; none when there is no file.
    ///
    /// # Errors
    /// When a line is malformed or the file cannot be read.
    pub fn load(path: &Path) -> Result<Self, KnownHostsError> {
        let bytes = file::read(path, FILE_MAX).map_err(KnownHostsError::File)?;
        Self::read(&bytes.unwrap_or_default()).map_err(|(line, found)| KnownHostsError::Line {
            path: path.to_owned(),
            line,
            found,
        })
    }

    /// The key a server showed.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<PeerKey> {
        self.hosts.get(&canonical(name)).map(|print| print.0)
    }

    /// Every server and its fingerprint, in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Fingerprint)> {
        self.hosts.iter().map(|(name, print)| (name.as_str(), *print))
    }

    /// Remember a server. The file is read again while nobody else writes it, so that clients at
    /// once lose nothing.
    ///
    /// # Errors
    /// When the name cannot be held, the file is full, or it cannot be read or written.
    pub fn pin(path: &Path, name: &str, key: PeerKey) -> Result<(), KnownHostsError> {
        let name = canonical(name);
        if !is_name(&name) {
            return Err(KnownHostsError::Name(name));
        }
        Self::change(path, |known| {
            known.hosts.insert(name, key.fingerprint());
            match known.hosts.len() {
                0..=HOSTS_MAX => Ok(true),
                _ => Err(KnownHostsError::Full(path.to_owned())),
            }
        })
        .map(drop)
    }

    /// Forget a server; whether it was known.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn forget(path: &Path, name: &str) -> Result<bool, KnownHostsError> {
        if !path.exists() {
            // Nothing is made to forget something.
            return Self::load(path).map(|_| false);
        }
        Self::change(path, |known| Ok(known.hosts.remove(&canonical(name)).is_some()))
    }

    /// Read, change and write, where nobody else writes meanwhile; whether it was changed.
    fn change(
        path: &Path,
        change: impl FnOnce(&mut Self) -> Result<bool, KnownHostsError>,
    ) -> Result<bool, KnownHostsError> {
        let not_written = |error| KnownHostsError::NotWritten { path: path.to_owned(), error };
        file::make_folder(path).map_err(not_written)?;
        let _held = HeldFolder::of(path).map_err(not_written)?;
        let mut known = Self::load(path)?;
        let is_changed = change(&mut known)?;
        if is_changed {
            let lines = known.iter().map(|(name, print)| format!("{name} {print}\n"));
            file::replace(path, lines.collect::<String>().as_bytes()).map_err(not_written)?;
        }
        Ok(is_changed)
    }

    fn read(bytes: &[u8]) -> Result<Self, (usize, &'static str)> {
        let mut known = Self::default();
        for (line, number) in bytes.split(|byte| *byte == b'\n').zip(1..) {
            let text = str::from_utf8(line).map_err(|_| (number, "what is not UTF-8"))?;
            let text = text.trim_ascii();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let (name, print) = text.split_once(' ').ok_or((number, "one word"))?;
            let print = print.trim_ascii().parse();
            let print = print.map_err(|_| (number, "no fingerprint"))?;
            let name = canonical(name);
            if !is_name(&name) {
                return Err((number, "a name that no server can have"));
            }
            if known.hosts.insert(name, print).is_some() {
                return Err((number, "a server a second time"));
            }
            if known.hosts.len() > HOSTS_MAX {
                return Err((number, "one server too many"));
            }
        }
        Ok(known)
    }
}

impl fmt::Display for KnownHostsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line { path, line, found } => write!(
                f,
                "{} line {line}: expected NAME SHA256:..., found {found}; \
                 mend or remove that line",
                path.display()
            ),
            Self::Name(name) => write!(f, "no server can be called {name:?}"),
            Self::Full(path) => {
                write!(f, "{}: holds {HOSTS_MAX} servers already", path.display())
            }
            Self::File(error) => error.fmt(f),
            Self::NotWritten { path, error } => {
                write!(f, "{}: cannot be written: {error}", path.display())
            }
        }
    }
}

impl std::error::Error for KnownHostsError {}

/// Names differ by more than case.
fn canonical(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Whether a line can hold the name: a host name or address, with a port or not.
fn is_name(name: &str) -> bool {
    let fits = |char: char| char.is_ascii_graphic() && char != '#';
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(fits)
}

/// Bytes of a name: the longest host name, brackets, colon and port.
const NAME_MAX: usize = 253 + 8;
/// Servers in a file.
const HOSTS_MAX: usize = 4096;
/// Bytes of a file.
const FILE_MAX: u64 = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(of: u8) -> PeerKey {
        PeerKey::of_public_key(&[of; 32])
    }

    /// OQ-10a
    #[test]
    fn a_pinned_server_is_known_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        KnownHosts::pin(&path, "Play.Example:27015", key(1)).unwrap();
        KnownHosts::pin(&path, "[::1]:4", key(2)).unwrap();
        let known = KnownHosts::load(&path).unwrap();
        assert_eq!(known.get("play.example:27015"), Some(key(1)));
        assert_eq!(known.get("other"), None);
        assert!(KnownHosts::forget(&path, "play.example:27015").unwrap());
        assert!(!KnownHosts::forget(&path, "play.example:27015").unwrap());
        assert_eq!(KnownHosts::load(&path).unwrap().iter().count(), 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    /// OQ-10a
    #[test]
    fn a_malformed_line_is_refused_by_number_and_the_file_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        let good = format!("# a note\nhost {}\n", key(1).fingerprint());
        let twice = format!("{good}HOST {}", key(2).fingerprint());
        let cases = [
            (format!("{good}\nhost"), 4),
            (format!("{good}other SHA256:short"), 3),
            (twice, 3),
            (format!("{good}b\u{7}d {}", key(2).fingerprint()), 3),
            (format!("{good}{} {}", "x".repeat(300), key(2).fingerprint()), 3),
        ];
        for (text, number) in cases {
            std::fs::write(&path, &text).unwrap();
            let refused = KnownHosts::load(&path).unwrap_err();
            assert!(
                matches!(&refused, KnownHostsError::Line { line, .. } if *line == number),
                "{refused}"
            );
            let told = format!("line {number}: expected NAME SHA256:..., found ");
            assert!(refused.to_string().contains(&told), "{refused}");
            assert!(KnownHosts::pin(&path, "new", key(3)).is_err());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn servers_that_many_clients_trust_at_once_are_all_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        std::thread::scope(|scope| {
            for client in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for server in 0..8 {
                        KnownHosts::pin(path, &format!("h{client}-{server}"), key(client)).unwrap();
                    }
                });
            }
        });
        assert_eq!(KnownHosts::load(&path).unwrap().iter().count(), 64);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn forgetting_where_nothing_is_known_makes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!KnownHosts::forget(&folder.path().join("data/known-hosts"), "host").unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn whatever_stands_in_place_of_the_file_is_refused_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        for path in [&path, folder.path()] {
            let refused = KnownHosts::load(path).unwrap_err();
            assert!(matches!(refused, KnownHostsError::File(FileError::NoFile { .. })));
            assert!(KnownHosts::pin(path, "new", key(3)).is_err());
        }
        assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink());
        std::fs::remove_file(&path).unwrap();
        std::fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        let refused = KnownHosts::load(&path).unwrap_err();
        assert!(matches!(refused, KnownHostsError::File(FileError::TooLarge { .. })));
        std::fs::write(&path, [b'a', 0xff]).unwrap();
        let told = KnownHosts::load(&path).unwrap_err().to_string();
        assert!(told.contains("line 1: expected NAME SHA256:..., found what is not UTF-8"));
    }

    #[test]
    fn a_name_that_would_break_the_file_is_not_pinned() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        for name in ["", "two words", "line\nbreak", "#note", &"x".repeat(300)] {
            assert!(matches!(KnownHosts::pin(&path, name, key(1)), Err(KnownHostsError::Name(_))));
        }
        assert!(!path.exists());
    }

    #[test]
    fn a_file_holds_4096_servers_and_not_one_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known-hosts");
        let print = key(1).fingerprint();
        let text: String = (1..4096).map(|n| format!("host{n} {print}\n")).collect();
        std::fs::write(&path, text).unwrap();
        KnownHosts::pin(&path, "last", key(2)).unwrap();
        assert!(matches!(KnownHosts::pin(&path, "more", key(2)), Err(KnownHostsError::Full(_))));
        KnownHosts::pin(&path, "last", key(3)).unwrap();
        assert_eq!(KnownHosts::load(&path).unwrap().iter().count(), 4096);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}more {print}")).unwrap();
        let told = KnownHosts::load(&path).unwrap_err().to_string();
        assert!(told.contains("line 4097: ") && told.contains("one server too many"), "{told}");
    }

    proptest! {
        #[test]
        fn whatever_the_file_holds_it_is_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let _ = KnownHosts::read(&bytes);
        }
    }
}
