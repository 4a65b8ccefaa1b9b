//! Which folder is chosen, and who may look into it.

use super::*;

fn choose(
    flag: Option<&Path>,
    variable: Option<OsString>,
    platform: Option<PathBuf>,
) -> Result<DataFolder, Failure> {
    DataFolder::choose(DataFolder::wanted(flag, variable, platform))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_platform() {
    let home = tempfile::tempdir().unwrap();
    let [flag, variable, platform] = ["flag", "variable", "platform"].map(|n| home.path().join(n));
    let chosen = |flag: Option<&Path>, variable: Option<&Path>| {
        let variable = variable.map(|path| path.as_os_str().to_owned());
        let folder = choose(flag, variable, Some(platform.clone())).unwrap();
        (folder.path.clone(), folder.origin)
    };
    assert_eq!(chosen(Some(&flag), Some(&variable)), (flag.clone(), Origin::Flag));
    assert_eq!(chosen(None, Some(&variable)), (variable.clone(), Origin::Environment));
    assert_eq!(chosen(None, Some(Path::new(""))).1, Origin::Platform);
    assert_eq!(chosen(None, None), (platform.join("driftholm"), Origin::Platform));
}

#[test]
fn a_folder_we_make_is_closed_to_others() {
    let home = tempfile::tempdir().unwrap();
    let folder = choose(Some(&home.path().join("a/b")), None, None).unwrap();
    assert_eq!(mode(&folder.path), OWNER_ONLY);
}

#[test]
fn without_a_home_the_data_is_temporary_and_gone_afterwards() {
    let folder = choose(None, None, None).unwrap();
    let path = folder.path.clone();
    assert_eq!((folder.origin, mode(&path)), (Origin::Temporary, OWNER_ONLY));
    drop(folder);
    assert!(!path.exists());
}

#[test]
fn a_home_that_cannot_be_used_is_replaced_and_a_named_folder_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let folder = choose(None, None, Some(file.clone())).unwrap();
    assert_eq!(folder.origin, Origin::Temporary);
    let refused = choose(Some(&file), None, None).unwrap_err();
    assert_eq!(refused.exit, Exit::CannotCreate);
}

#[test]
fn what_has_to_last_is_refused_where_only_a_temporary_folder_could_hold_it() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    for wanted in [None, Some((file, Origin::Platform))] {
        let refused = DataFolder::choose_lasting(wanted).unwrap_err();
        assert_eq!((refused.exit, refused.remedy.as_deref()), (Exit::CannotCreate, Some(REMEDY)));
    }
}
