//! Settings: the preferences of this run, merged from file, environment and arguments.
//!
//! Used by every role. All that is wrong is told at once, and nothing starts on half of it.

use crate::command::Shared;
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use dh_prefs::{PrefError, Prefs};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The preferences' file in the data folder.
const FILE: &str = "config.toml";
/// Bytes of such a file.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The preferences in force before a console says otherwise. `config` replaces the data folder's
/// file, and must then exist.
pub(crate) fn load(
    folder: &DataFolder,
    config: Option<&Path>,
    shared: &Shared,
) -> Result<Prefs, Failure> {
    let path = config.map_or_else(|| file(folder), Path::to_owned);
    let text = match read(&path)? {
        None if config.is_some() => {
            let cause = format!("there is no {}", path.display());
            return Err(Failure::new(Exit::Missing, cause).remedy("dh prefs list"));
        }
        text => text.unwrap_or_default(),
    };
    let variables = std::env::vars_os();
    let variables = variables.filter_map(|(name, value)| {
        Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
    });
    merge(&path, &text, variables, &shared.set)
}

/// The file that `dh prefs` changes.
pub(crate) fn file(folder: &DataFolder) -> PathBuf {
    folder.file(FILE)
}

/// What the file says, if there is one.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let unreadable = |error| Failure::new(Exit::Io, format!("{}: {error}", path.display()));
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(facts) if facts.len() > FILE_BYTES_MAX => {
            let cause = format!("{} is larger than {FILE_BYTES_MAX} bytes", path.display());
            return Err(Failure::new(Exit::Config, cause));
        }
        facts => facts.map_err(unreadable)?,
    };
    fs::read_to_string(path).map(Some).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => {
            Failure::new(Exit::Config, format!("{} is not UTF-8", path.display()))
        }
        _ => unreadable(error),
    })
}

/// All faults of preferences as one failure, a line each.
pub(crate) fn failure(faults: &[PrefError]) -> Failure {
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    Failure::new(Exit::Config, told.join("\ndh: ")).remedy("dh prefs list")
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
    faults.extend(arguments.iter().filter_map(|argument| prefs.set_argument(argument).err()));
    if faults.is_empty() { Ok(prefs) } else { Err(failure(&faults)) }
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
    fn only_the_data_folders_file_may_be_missing() {
        let home = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(Some(home.path())).unwrap();
        let shared = crate::command::parse(["dh".into()]).unwrap().shared;
        load(&folder, None, &shared).unwrap();
        let missing = load(&folder, Some(&home.path().join("x.toml")), &shared).unwrap_err();
        assert_eq!(missing.exit, Exit::Missing);
    }
}
