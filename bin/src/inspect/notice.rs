//! Notice: where a running process may be looked at, for whoever looks without an address.
//!
//! One file of mode 0600 a process, named by its number, in a folder of this user's alone:
//! `driftholm` in the runtime folder, or `driftholm-UID` among temporary files where there is none.
//! Removed at an orderly end; one of a process that is no more is removed by whoever finds it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use dh_host::inspect::Token;
use dh_host::net::read_private;
use rustix::process::{Pid, geteuid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::output::one_line;

/// Bytes of such a file.
const BYTES_MAX: u64 = 4_096;
/// Processes that are looked for.
const FOUND_MAX: usize = 64;

/// What a process says of itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Notice {
    /// Its number.
    pub(crate) pid: i32,
    /// `server`, `client` or `play`.
    pub(crate) role: String,
    /// Where it answers.
    pub(crate) address: SocketAddr,
    /// What it wants to see.
    token: String,
}

/// A notice that hangs out for as long as this lives.
#[derive(Debug)]
pub(crate) struct Posted(PathBuf);

impl Notice {
    /// The notice of this process.
    pub(crate) fn new(role: &str, address: SocketAddr, token: &Token) -> Self {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        Self { pid, role: role.to_owned(), address, token: token.reveal().to_owned() }
    }

    /// The token it wants to see.
    pub(crate) fn token(&self) -> Option<Token> {
        Token::parse(&self.token)
    }

    /// Its role and its number, as one line.
    pub(crate) fn who(&self) -> String {
        format!("{} {}", one_line(&self.role), self.pid)
    }

    /// Whether its process is who answers at this address.
    pub(crate) fn is_of(&self, address: &SocketAddr) -> bool {
        let own = self.address;
        let is_any = own.ip().is_unspecified() && own.port() == address.port();
        own == *address || is_any && address.ip().is_loopback()
    }

    /// Hang it out.
    pub(crate) fn post(&self) -> io::Result<Posted> {
        self.post_in(&folder()?)
    }

    fn post_in(&self, folder: &Path) -> io::Result<Posted> {
        let path = folder.join(format!("{}.json", self.pid));
        let draft = folder.join(format!(".{}.draft", self.pid));
        // What an earlier process of this number left half done is nobody's.
        let _ = fs::remove_file(&draft);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        fs::rename(&draft, &path)?;
        Ok(Posted(path))
    }

    /// Those of processes that run, by their numbers.
    pub(crate) fn all() -> io::Result<Vec<Self>> {
        Self::all_in(&folder()?)
    }

    fn all_in(folder: &Path) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let Some(pid) = number(&path) else { continue };
            if !is_alive(pid) {
                let _ = fs::remove_file(&path);
                continue;
            }
            // One that cannot be read is being written, or not ours.
            found.extend(Self::read(&path).filter(|notice| notice.pid == pid));
            if found.len() == FOUND_MAX {
                break;
            }
        }
        found.sort_by_key(|notice| (notice.role != "server", notice.pid));
        Ok(found)
    }

    /// What is written in a file of this user's alone; whatever else stands there is none.
    fn read(path: &Path) -> Option<Self> {
        let facts = fs::symlink_metadata(path).ok()?;
        let is_own = facts.is_file() && facts.uid() == geteuid().as_raw();
        let text = is_own.then(|| read_private(path, BYTES_MAX).ok().flatten()).flatten()?;
        serde_json::from_slice(&text).ok()
    }
}

impl Drop for Posted {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl std::fmt::Debug for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notice").field("pid", &self.pid).finish_non_exhaustive()
    }
}

fn folder() -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let path = match runtime.filter(|path| path.is_absolute() && path.is_dir()) {
        Some(runtime) => runtime.join("driftholm"),
        None => std::env::temp_dir().join(format!("driftholm-{}", geteuid().as_raw())),
    };
    closed(&path)?;
    Ok(path)
}

/// Make the folder, or see that it is this user's and closed to all others: whoever could write
/// there could have anybody's token.
fn closed(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => (),
    }
    let facts = fs::symlink_metadata(path)?;
    if facts.is_dir() && facts.uid() == geteuid().as_raw() && facts.mode() & 0o077 == 0 {
        return Ok(());
    }
    let told = format!("{}: expected a folder of this user's with mode 700", path.display());
    Err(io::Error::other(told))
}

fn number(path: &Path) -> Option<i32> {
    path.file_name()?.to_str()?.strip_suffix(".json")?.parse().ok()
}

fn is_alive(pid: i32) -> bool {
    let Some(pid) = Some(pid).filter(|pid| *pid > 0).and_then(Pid::from_raw) else { return false };
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::process::Command;

    use super::*;

    fn notice() -> Notice {
        let token = Token::parse(&"ab".repeat(32)).unwrap();
        Notice::new("server", "127.0.0.1:9".parse().unwrap(), &token)
    }

    #[test]
    fn a_notice_is_found_while_its_process_runs_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let posted = notice().post_in(folder.path()).unwrap();
        assert_eq!(fs::metadata(&posted.0).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Notice::all_in(folder.path()).unwrap(), [notice()]);
        drop(posted);
        assert_eq!(Notice::all_in(folder.path()).unwrap(), []);
    }

    #[test]
    fn a_notice_of_a_process_that_is_no_more_is_removed_and_junk_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new("true").spawn().unwrap();
        let gone = i32::try_from(child.id()).unwrap();
        child.wait().unwrap();
        let stale = Notice { pid: gone, ..notice() }.post_in(folder.path()).unwrap();
        for (name, text) in [("x.json", "{}"), ("1.json", "no"), ("-1.json", "{}"), ("1.txt", "")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(Notice::all_in(folder.path()).unwrap(), []);
        assert!(!stale.0.exists() && folder.path().join("1.json").exists());
    }

    #[test]
    fn what_is_no_file_of_this_users_alone_is_no_notice_and_nobody_waits_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let posted = notice().post_in(folder.path()).unwrap();
        let text = fs::read(&posted.0).unwrap();
        let one = folder.path().join("1.json");
        let found = || Notice::all_in(folder.path()).unwrap();
        let made = Command::new("mkfifo").arg(&one).status().unwrap();
        assert!(made.success());
        assert_eq!(found(), [notice()]);
        let replaced = |with: &dyn Fn()| {
            fs::remove_file(&one).unwrap();
            with();
            assert_eq!(found(), [notice()]);
        };
        replaced(&|| symlink("/dev/zero", &one).unwrap());
        replaced(&|| symlink(&posted.0, &one).unwrap());
        replaced(&|| fs::write(&one, vec![b' '; 1 << 20]).unwrap());
        replaced(&|| fs::write(&one, &text).unwrap());
        fs::set_permissions(&one, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(found(), [notice()], "it is of another process than it says");
        fs::set_permissions(&posted.0, fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(found(), [], "others could read it");
    }

    #[test]
    fn however_much_else_lies_there_a_notice_is_found() {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..FOUND_MAX * 3 {
            fs::write(folder.path().join(format!("{at}.txt")), "").unwrap();
            fs::write(folder.path().join(format!("{}.json", i32::MAX - 1)), "{}").unwrap();
        }
        let _posted = notice().post_in(folder.path()).unwrap();
        assert_eq!(Notice::all_in(folder.path()).unwrap(), [notice()]);
    }

    #[test]
    fn a_process_that_answers_everywhere_answers_on_this_machine() {
        let at = |address: &str| Notice { address: address.parse().unwrap(), ..notice() };
        let asked = "127.0.0.1:9".parse().unwrap();
        assert!(at("127.0.0.1:9").is_of(&asked) && at("0.0.0.0:9").is_of(&asked));
        for other in ["127.0.0.2:9", "0.0.0.0:8", "127.0.0.1:8"] {
            assert!(!at(other).is_of(&asked), "{other}");
        }
        assert!(!at("0.0.0.0:9").is_of(&"192.0.2.1:9".parse().unwrap()));
    }

    #[test]
    fn a_folder_that_others_may_enter_or_that_is_a_link_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (made, open, link) =
            (home.path().join("a"), home.path().join("b"), home.path().join("c"));
        closed(&made).unwrap();
        closed(&made).unwrap();
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(closed(&open).unwrap_err().to_string().contains("mode 700"));
        symlink(&made, &link).unwrap();
        assert!(closed(&link).is_err());
    }

    #[test]
    fn no_debug_text_of_a_notice_holds_its_token() {
        assert!(!format!("{:?}", notice()).contains("abab"));
    }
}
