//! Where a pallet may come to, and what stays of a build that is ended.

use super::samples::{ABOUT, gltf, map, square};
use crate::{BuildError, Progress, Stage, abandon, build};
use std::fs;
use std::path::{Path, PathBuf};

/// A home with a folder `src` that builds, made of a file of each kind.
fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("src");
    fs::create_dir_all(folder.join("assets")).unwrap();
    let about = ABOUT.replace("}", ", \"files\": [ \"other.pallet\" ] }");
    fs::write(folder.join("pallet.dh"), about).unwrap();
    fs::write(folder.join("other.pallet"), "DHPALLET of another").unwrap();
    fs::write(folder.join("assets/m.dh-map"), map(r#"{ "id": "a" }"#)).unwrap();
    fs::write(folder.join("assets/s.gltf"), gltf("", "s.bin")).unwrap();
    fs::write(folder.join("assets/s.bin"), square()).unwrap();
    (home, folder)
}

fn taken(folder: &Path, out: &Path) -> String {
    match build(folder, out, &|_| {}).unwrap_err() {
        BuildError::Taken(path, why) => {
            assert!(path.starts_with(out), "{}", path.display());
            why.to_owned()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_build_never_replaces_what_it_is_made_of() {
    let (home, folder) = home();
    let link = home.path().join("link.pallet");
    let sources = ["pallet.dh", "other.pallet", "assets/m.dh-map", "assets/s.gltf", "assets/s.bin"];
    for source in sources {
        let before = fs::read(folder.join(source)).unwrap();
        assert_eq!(taken(&folder, &folder.join(source)), "is a source of this build", "{source}");
        std::os::unix::fs::symlink(folder.join(source), &link).unwrap();
        assert_eq!(taken(&folder, &link), "is a source of this build", "{source}");
        fs::remove_file(&link).unwrap();
        assert_eq!(fs::read(folder.join(source)).unwrap(), before);
    }
}

#[test]
fn only_a_pallet_or_an_empty_file_is_replaced() {
    let (home, folder) = home();
    let out = home.path().join("out");
    for mine in ["my notes", "DHPALLE", "DHPALLEX"] {
        fs::write(&out, mine).unwrap();
        assert_eq!(taken(&folder, &out), "is there and no pallet");
        assert_eq!(fs::read(&out).unwrap(), mine.as_bytes());
    }
    fs::write(&out, "").unwrap();
    build(&folder, &out, &|_| {}).unwrap();
    let first = fs::read(&out).unwrap();
    build(&folder, &out, &|_| {}).unwrap();
    assert!(fs::read(&out).unwrap() == first);
    // Beside its sources a pallet may lie.
    build(&folder, &folder, &|_| {}).unwrap();
    build(&folder, &folder, &|_| {}).unwrap();
}

#[test]
fn a_folder_that_has_the_name_of_the_result_is_named() {
    let (home, folder) = home();
    fs::create_dir(home.path().join("yard.pallet")).unwrap();
    let refused = build(&folder, home.path(), &|_| {}).unwrap_err();
    let BuildError::Taken(path, "is a folder") = refused else { panic!("{refused}") };
    assert_eq!(path, home.path().join("yard.pallet"));
}

#[test]
fn a_build_that_is_abandoned_leaves_nothing() {
    let (home, folder) = home();
    let out = home.path().join("out.pallet");
    let names = || fs::read_dir(home.path()).unwrap().count();
    let (before, mut seen) = (names(), 0);
    let look = std::sync::Mutex::new(&mut seen);
    build(&folder, &out, &|Progress { stage, .. }| {
        if stage == Stage::Writing {
            let mut seen = look.lock().unwrap();
            **seen = names().max(**seen);
            abandon(&out);
            assert_eq!(names(), before);
        }
    })
    .unwrap_err();
    assert_eq!((seen, names()), (before + 1, before));
}
