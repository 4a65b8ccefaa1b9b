//! Identity: shows, moves and forgets keys.
//!
//! Also used by the roles that join or serve, to load this user's key with the right failure. Makes
//! a key on first use; never prints a private one.

use crate::command::{Identity as What, Shared};
use crate::data::{self, DataFolder};
use crate::exit::{Exit, Failure};
use crate::output;
use dh_host::net::{FileError, Identity, IdentityError, KnownHosts, KnownHostsError};
use serde_json::json;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// This user's private key in the data folder.
pub(crate) const KEY_FILE: &str = "identity.key";
/// The servers' keys in the data folder.
pub(crate) const HOSTS_FILE: &str = "known-hosts";

/// Does what is asked with identities.
pub(crate) fn run(what: &What, shared: &Shared) -> Result<(), Failure> {
    let data = shared.data.as_deref();
    match what {
        What::Show => show(&DataFolder::open(data)?, shared.json),
        What::Forget { host } => forget(&DataFolder::open(data)?, &host.to_string(), shared.json),
        What::Export { file } => export(&DataFolder::open_lasting(data)?, file),
    }
}

/// This user's identity, made on first use.
pub(crate) fn load(folder: &DataFolder) -> Result<Identity, Failure> {
    Identity::load_or_make(&folder.file(KEY_FILE)).map_err(|error| key_failure(&error))
}

/// What a fault of a key file means to the user.
pub(crate) fn key_failure(error: &IdentityError) -> Failure {
    let (exit, remedy) = match error {
        IdentityError::File(error) => return file_failure(error),
        IdentityError::NoKey { path, .. } => (Exit::Damaged, Some(aside(path))),
        IdentityError::NotWritten { .. } => (Exit::CannotCreate, Some(data::REMEDY.to_owned())),
        _ => (Exit::Internal, None),
    };
    Failure { exit, cause: error.to_string(), remedy }
}

/// What a fault of a file that only its owner may read means to the user.
pub(crate) fn file_failure(error: &FileError) -> Failure {
    let (exit, remedy) = match error {
        FileError::OpenToOthers { path, .. } => {
            (Exit::Refused, format!("chmod 600 {}", path.display()))
        }
        FileError::NoFile { path, .. } | FileError::TooLarge { path, .. } => {
            (Exit::Damaged, aside(path))
        }
        _ => (Exit::Io, data::REMEDY.to_owned()),
    };
    Failure::new(exit, error).remedy(remedy)
}

/// The file of known servers.
pub(crate) fn known_hosts(folder: &DataFolder) -> PathBuf {
    folder.file(HOSTS_FILE)
}

/// What a fault of the file of known servers means to the user.
pub(crate) fn hosts_failure(error: &KnownHostsError) -> Failure {
    let (exit, remedy) = match error {
        KnownHostsError::Line { path, line, .. } => {
            (Exit::Damaged, format!("edit {}, line {line}, or {}", path.display(), aside(path)))
        }
        KnownHostsError::File(
            FileError::NoFile { path, .. } | FileError::TooLarge { path, .. },
        ) => (Exit::Damaged, aside(path)),
        KnownHostsError::Name(_) => (Exit::Usage, "dh identity show".to_owned()),
        KnownHostsError::Full(_) => (Exit::CannotCreate, "dh identity forget HOST".to_owned()),
        KnownHostsError::NotWritten { .. } => (Exit::CannotCreate, data::REMEDY.to_owned()),
        _ => (Exit::Io, data::REMEDY.to_owned()),
    };
    Failure::new(exit, error).remedy(remedy)
}

/// How a file is moved out of the way.
pub(crate) fn aside(path: &Path) -> String {
    format!("mv {0} {0}.old", path.display())
}

/// What a client can do whose file of known servers is damaged.
pub(crate) fn mend_hosts(path: &Path) -> String {
    let failure = KnownHosts::load(path).err().map(|error| hosts_failure(&error));
    failure.and_then(|failure| failure.remedy).unwrap_or_else(|| aside(path))
}

fn show(folder: &DataFolder, as_json: bool) -> Result<(), Failure> {
    let key = load(folder)?.key();
    let known = KnownHosts::load(&known_hosts(folder)).map_err(|error| hosts_failure(&error))?;
    let file = folder.file(KEY_FILE);
    if as_json {
        let hosts = known.iter().map(|(name, print)| (name.to_owned(), print.to_string().into()));
        return output::json(&json!({
            "identity": key.to_string(),
            "fingerprint": key.fingerprint().to_string(),
            "file": file.display().to_string(),
            "trusted": serde_json::Value::Object(hosts.collect()),
        }));
    }
    output::line(&format!("identity    {key}\nfingerprint {}", key.fingerprint()))?;
    output::line(&format!("file        {}", file.display()))?;
    known.iter().try_for_each(|(name, print)| output::line(&format!("trusts      {name} {print}")))
}

fn forget(folder: &DataFolder, host: &str, as_json: bool) -> Result<(), Failure> {
    let file = known_hosts(folder);
    let was_known = KnownHosts::forget(&file, host).map_err(|error| hosts_failure(&error))?;
    if !was_known {
        let cause = format!("{host} is not among the known servers");
        return Err(Failure::new(Exit::Missing, cause).remedy("dh identity show"));
    }
    if as_json {
        return output::json(&json!({ "forgotten": host }));
    }
    output::line(&format!("forgot the key of {host}"))
}

fn export(folder: &DataFolder, target: &Path) -> Result<(), Failure> {
    load(folder)?;
    // A key is never written over anything, nor where others may read it.
    Identity::export(&folder.file(KEY_FILE), target).map_err(|error| match &error {
        IdentityError::NotWritten { error: why, .. } => {
            let failure = Failure::new(Exit::CannotCreate, &error);
            match why.kind() {
                ErrorKind::AlreadyExists => {
                    failure.remedy("dh identity export FILE, with a new name")
                }
                _ => failure.remedy("dh identity export FILE, in a folder you may write to"),
            }
        }
        _ => key_failure(&error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn folder(home: &tempfile::TempDir) -> DataFolder {
        DataFolder::open(Some(&home.path().join("data"))).unwrap()
    }

    #[test]
    fn an_exported_key_is_the_same_identity_and_closed_to_others() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home);
        let other = DataFolder::open(Some(&home.path().join("other"))).unwrap();
        export(&folder, &other.file(KEY_FILE)).unwrap();
        assert_eq!(load(&other).unwrap().key(), load(&folder).unwrap().key());
        let mode = fs::metadata(other.file(KEY_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn an_export_never_writes_over_a_file() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("taken");
        fs::write(&target, "mine").unwrap();
        assert_eq!(export(&folder(&home), &target).unwrap_err().exit, Exit::CannotCreate);
        assert_eq!(fs::read(&target).unwrap(), b"mine");
    }

    #[test]
    fn a_key_that_others_may_read_is_refused_with_the_command_that_mends_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home);
        load(&folder).unwrap();
        fs::set_permissions(folder.file(KEY_FILE), fs::Permissions::from_mode(0o644)).unwrap();
        let refused = load(&folder).unwrap_err();
        assert_eq!(refused.exit, Exit::Refused);
        assert!(refused.remedy.unwrap().starts_with("chmod 600 "));
    }

    #[test]
    fn a_damaged_file_of_known_servers_is_told_with_what_mends_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home);
        let path = known_hosts(&folder);
        fs::write(&path, "\nhalf\n").unwrap();
        let mended = format!("edit {0}, line 2, or mv {0} {0}.old", path.display());
        for refused in [show(&folder, false), forget(&folder, "a:1", false)] {
            let refused = refused.unwrap_err();
            assert_eq!((refused.exit, refused.remedy), (Exit::Damaged, Some(mended.clone())));
        }
        assert_eq!(mend_hosts(&path), mended);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(mend_hosts(&path), aside(&path));
    }

    #[test]
    fn a_file_of_known_servers_that_cannot_be_written_is_told_with_another_folder() {
        let (path, error) = ("known-hosts".into(), ErrorKind::StorageFull.into());
        let failure = hosts_failure(&KnownHostsError::NotWritten { path, error });
        assert_eq!(
            (failure.exit, failure.remedy.as_deref()),
            (Exit::CannotCreate, Some(data::REMEDY))
        );
    }

    #[test]
    fn forgetting_an_unknown_server_says_so_and_a_known_one_is_gone() {
        let home = tempfile::tempdir().unwrap();
        let folder = folder(&home);
        let key = load(&folder).unwrap().key();
        KnownHosts::pin(&known_hosts(&folder), "a.example:27015", key).unwrap();
        let host = dh_prefs::Address::read("a.example").unwrap().to_string();
        forget(&folder, &host, false).unwrap();
        assert_eq!(forget(&folder, &host, false).unwrap_err().exit, Exit::Missing);
    }
}
