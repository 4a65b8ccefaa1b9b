//! Settings: the preferences of this run, merged from file, environment and arguments.
//!
//! Used by every role. All that is wrong is told at once, and nothing starts on half of it.

mod user_file;

use crate::command::Shared;
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use dh_prefs::{Place, PrefError, Prefs};
use std::path::{Path, PathBuf};

/// The preferences' file in the data folder.
pub(crate) const FILE: &str = "config.toml";
/// Bytes of such a file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The preferences in force before a console says otherwise. `config` replaces the data folder's
/// file, and must then exist.
pub(crate) fn load(
    folder: &DataFolder,
    config: Option<&Path>,
    shared: &Shared,
) -> Result<Prefs, Failure> {
    let Some(path) = config else { return load_from(&file(folder), shared) };
    let named = || "dh server --config FILE, with a small file of text";
    match user_file::read(path, FILE_BYTES_MAX).map_err(|failure| failure.or_remedy(named))? {
        Some(text) => merge(path, &text, variables(), &shared.set),
        None => {
            let cause = format!("there is no {}", path.display());
            Err(Failure::new(Exit::Missing, cause).remedy(named()))
        }
    }
}

/// The preferences in force where `path` is the data folder's file; it may be missing.
pub(crate) fn load_from(path: &Path, shared: &Shared) -> Result<Prefs, Failure> {
    merge(path, &read(path)?, variables(), &shared.set)
}

/// The file that `dh prefs` changes.
pub(crate) fn file(folder: &DataFolder) -> PathBuf {
    folder.file(FILE)
}

/// What the data folder's file says; nothing if there is none.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let aside = || format!("mv {0} {0}.old", path.display());
    let text = user_file::read(path, FILE_BYTES_MAX);
    text.map(Option::unwrap_or_default).map_err(|failure| failure.or_remedy(aside))
}

/// All faults of preferences as one failure, a line each.
pub(crate) fn failure(faults: &[PrefError]) -> Failure {
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let failure = Failure::new(Exit::Config, told.join("\n"));
    match faults.first().map(|fault| &fault.place) {
        // As long as that is wrong, `dh prefs list` fails as well.
        Some(Place::File { name, line, .. }) => failure.remedy(format!("edit {name}, line {line}")),
        Some(Place::Environment(name)) => failure.remedy(format!("unset {name}")),
        Some(Place::Argument | Place::Console) | None => failure.remedy("dh prefs list"),
    }
}

fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    })
}

fn merge(
    path: &Path,
    text: &str,
    variables: impl IntoIterator<Item = (String, String)>,
    arguments: &[String],
) -> Result<Prefs, Failure> {
    let mut prefs = Prefs::default();
    let mut faults = prefs.load_file(&path.display().to_string(), text).err().unwrap_or_default();
    faults.extend(prefs.load_environment(variables).err().unwrap_or_default());
    faults.extend(set(&mut prefs, arguments));
    if faults.is_empty() { Ok(prefs) } else { Err(failure(&faults)) }
}

/// Set what arguments say, each `KEY=VALUE`, and hand out what is wrong with them.
pub(crate) fn set(prefs: &mut Prefs, arguments: &[String]) -> Vec<PrefError> {
    arguments.iter().filter_map(|argument| prefs.set_argument(argument).err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dh_prefs::key;

    fn merged(text: &str, variable: &str, argument: &[&str]) -> Result<u32, Failure> {
        let variables = [("DH_SERVER_MAXPLAYERS", variable)].into_iter();
        let variables = variables.filter(|(_, value)| !value.is_empty());
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let arguments: Vec<String> = argument.iter().map(|it| (*it).to_owned()).collect();
        let prefs = merge(Path::new("config.toml"), text, variables, &arguments)?;
        Ok(prefs.get(key::MAX_PLAYERS))
    }

    #[test]
    fn an_argument_wins_over_the_environment_and_that_over_the_file() {
        let text = "server.maxPlayers = 5";
        assert_eq!(merged(text, "", &[]), Ok(5));
        assert_eq!(merged(text, "6", &[]), Ok(6));
        assert_eq!(merged(text, "6", &["server.maxPlayers=7"]), Ok(7));
    }

    #[test]
    fn everything_wrong_is_told_at_once_with_its_place() {
        let failure = merged("server.maxPlayer = 5", "no", &["server.maxPlayers=x"]).unwrap_err();
        assert_eq!(failure.exit, Exit::Config);
        assert_eq!(failure.cause.lines().count(), 3);
        assert!(failure.cause.starts_with("config.toml:1:"), "{}", failure.cause);
        assert!(failure.cause.contains("server.maxPlayers"), "the nearest: {}", failure.cause);
    }

    #[test]
    fn the_remedy_is_one_that_the_same_fault_does_not_stop() {
        for (failure, remedy) in [
            (merged("\nserver.maxPlayer = 5", "", &[]), "edit config.toml, line 2"),
            (merged("", "no", &[]), "unset DH_SERVER_MAXPLAYERS"),
            (merged("", "", &["server.maxPlayers=x"]), "dh prefs list"),
        ] {
            assert_eq!(failure.unwrap_err().remedy.as_deref(), Some(remedy));
        }
    }

    #[test]
    fn a_file_that_is_none_has_a_remedy_wherever_it_was_named() {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(Some(home.path())).unwrap();
        let shared = crate::command::parse(["dh".into()]).unwrap().shared;
        std::fs::create_dir(file(&folder)).unwrap();
        for config in [None, Some(home.path())] {
            let wrong = load(&folder, config, &shared).unwrap_err();
            assert_eq!((wrong.exit, wrong.remedy.is_some()), (Exit::Config, true), "{wrong:?}");
        }
    }

    #[test]
    fn only_the_data_folders_file_may_be_missing() {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(Some(home.path())).unwrap();
        let shared = crate::command::parse(["dh".into()]).unwrap().shared;
        load(&folder, None, &shared).unwrap();
        let missing = load(&folder, Some(&home.path().join("x.toml")), &shared).unwrap_err();
        assert_eq!(missing.exit, Exit::Missing);
    }
}
