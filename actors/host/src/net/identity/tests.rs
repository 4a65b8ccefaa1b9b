//! Keys: kept closed, read carefully, written whole.

use super::*;
use std::os::unix::fs::PermissionsExt;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// OQ-10
#[test]
fn the_first_run_makes_a_key_only_its_owner_can_read_and_later_runs_keep_it() {
    let folder = folder();
    let path = folder.path().join("data/identity.key");
    let first = Identity::load_or_make(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mode = std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "and so is the folder made for it");
    assert_eq!(Identity::load_or_make(&path).unwrap().key(), first.key());
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(entries, 1, "nothing is left beside the key");
}

/// OQ-10
#[test]
fn a_key_that_others_can_read_is_refused_with_the_command_that_mends_it() {
    let folder = folder();
    let path = folder.path().join("identity.key");
    Identity::load_or_make(&path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Identity::load_or_make(&path).unwrap_err();
    assert!(matches!(refused, IdentityError::File(FileError::OpenToOthers { mode: 0o640, .. })));
    assert!(refused.to_string().contains("chmod 600"));
}

#[test]
fn a_file_that_is_no_key_is_refused_and_left_as_it_is() {
    let folder = folder();
    let path = folder.path().join("identity.key");
    for junk in [&b"not a key"[..], b"", &[0xff; 20_000]] {
        std::fs::write(&path, junk).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Identity::load_or_make(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), junk);
    }
}

#[test]
fn whatever_stands_in_place_of_a_key_ends_in_one_line_that_says_what_is_wrong() {
    let folder = folder();
    let path = folder.path().join("identity.key");
    let told = |path: &Path| Identity::load_or_make(path).unwrap_err().to_string();
    std::os::unix::fs::symlink("nowhere", &path).unwrap();
    assert!(told(&path).contains("expected a file, found a link to nothing; move it away"));
    assert!(std::fs::symlink_metadata(&path).unwrap().is_symlink(), "nothing is touched");
    assert!(told(folder.path()).contains("expected a file, found a folder; move it away"));
    let holds = folder.path().join("other.key");
    let found: [(&[u8], &str); 3] =
        [(b"", "an empty file"), (&[0xff], "bytes that are no text"), (b"a", "other text")];
    for (bytes, found) in found {
        std::fs::write(&holds, bytes).unwrap();
        std::fs::set_permissions(&holds, std::fs::Permissions::from_mode(0o600)).unwrap();
        let told = told(&holds);
        assert!(told.contains(&format!("Ed25519 key in PEM, found {found}; move")), "{told}");
        assert!(!told.contains('\n'));
    }
}

#[test]
fn an_export_is_a_whole_key_of_its_own_or_nothing() {
    let folder = folder();
    let [path, copy] = ["identity.key", "copy.key"].map(|name| folder.path().join(name));
    assert!(matches!(Identity::export(&path, &copy), Err(IdentityError::File(_))));
    let identity = Identity::load_or_make(&path).unwrap();
    Identity::export(&path, &copy).unwrap();
    assert_eq!(Identity::load_or_make(&copy).unwrap().key(), identity.key());
    assert!(matches!(
        Identity::export(&path, &copy),
        Err(IdentityError::NotWritten { error, .. })
            if error.kind() == io::ErrorKind::AlreadyExists
    ));
    assert!(Identity::export(&path, &folder.path().join("none/copy.key")).is_err());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn the_same_secret_gives_the_same_certificate_bytes() {
    let [a, b] = [Identity::from_secret(&[5; 32]), Identity::from_secret(&[5; 32])];
    assert_eq!(a.certified().cert, b.certified().cert);
    assert_ne!(a.key(), Identity::from_secret(&[6; 32]).key());
}
