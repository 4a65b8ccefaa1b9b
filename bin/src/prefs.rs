//! Preferences on the command line: list, get, set, reset, diff.
//!
//! Reads what a role would read; writes only the file in the data folder, whole or not at all, with
//! its comments and order kept.

use crate::command::{Prefs as What, Shared};
use crate::data::{self, DataFolder};
use crate::exit::{Exit, Failure, say};
use crate::{output, settings};
use dh_host::disk::HeldFolder;
use dh_prefs::{Change, Place, PrefError, Preference, Prefs, Problem, Source, TABLE, Value};
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Does what is asked with preferences.
pub(crate) fn run(what: &What, shared: &Shared) -> Result<(), Failure> {
    let data = shared.data.as_deref();
    let folder = match what {
        What::Set { .. } | What::Reset { .. } => DataFolder::open_lasting(data)?,
        What::List | What::Get { .. } | What::Diff => DataFolder::open(data)?,
    };
    let path = settings::file(&folder);
    let load = || settings::load(&folder, None, shared);
    match what {
        What::List => list(&load()?, TABLE.iter().collect(), shared.json),
        What::Get { key } => get(&load()?, row(key)?, shared.json),
        What::Set { key, value } => set(&path, row(key)?, value, shared.json),
        What::Reset { key: Some(key) } => reset(&path, &[row(key)?], shared.json),
        What::Reset { key: None } => reset(&path, &TABLE.iter().collect::<Vec<_>>(), shared.json),
        What::Diff => {
            let prefs = load()?;
            let changed = TABLE.iter().filter(|row| prefs.source(row) != Source::Default);
            list(&prefs, changed.collect(), shared.json)
        }
    }
}

fn list(prefs: &Prefs, rows: Vec<&Preference>, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return output::json(&rows.into_iter().map(|row| facts(prefs, row)).collect());
    }
    for row in rows {
        output::line(&prefs.show(row))?;
        output::line(&format!("    {} Default: {}.", row.help, Prefs::default().shown(row)))?;
    }
    Ok(())
}

fn get(prefs: &Prefs, row: &Preference, as_json: bool) -> Result<(), Failure> {
    if as_json {
        return output::json(&facts(prefs, row));
    }
    // The bare value, without its unit, so that a script can use it.
    let told = prefs.value(row).map_or_else(|| prefs.shown(row), ToString::to_string);
    output::line(&told)
}

fn set(path: &Path, row: &Preference, text: &str, as_json: bool) -> Result<(), Failure> {
    let mut prefs = Prefs::default();
    let change = prefs.set_console(row.key, text).map_err(|fault| settings::failure(&[fault]))?;
    edit(path, |name, old| dh_prefs::with_value(name, old, row, &change.value))?;
    if as_json {
        return output::json(&json!({ "key": row.key, "value": value(Some(&change.value)) }));
    }
    output::line(&format!("{} = {}", row.key, change.value))
}

/// Writes down what was changed at a console and is to hold at the next start too; that it cannot
/// be written ends nothing.
pub(crate) fn keep(config: Option<&Path>, shared: &Shared, change: &Change) {
    let file = || match config {
        Some(path) => Ok(path.to_owned()),
        None => DataFolder::open_lasting(shared.data.as_deref()).map(|it| settings::file(&it)),
    };
    let with =
        |name: &str, old: &str| dh_prefs::with_value(name, old, change.preference, &change.value);
    if let Err(failure) = file().and_then(|path| edit(&path, with)) {
        let key = change.preference.key;
        say(&format!("{key} holds until this server stops: {}", failure.cause));
    }
}

fn reset(path: &Path, rows: &[&Preference], as_json: bool) -> Result<(), Failure> {
    edit(path, |name, old| dh_prefs::without_values(name, old, rows))?;
    let keys: Vec<&str> = rows.iter().map(|row| row.key).collect();
    if as_json {
        return output::json(&json!({ "reset": keys }));
    }
    let defaults = Prefs::default();
    rows.iter().try_for_each(|row| output::line(&format!("{} = {}", row.key, defaults.shown(row))))
}

/// Changes the file's text, if the change makes a difference.
fn edit(
    path: &Path,
    change: impl FnOnce(&str, &str) -> Result<String, Vec<PrefError>>,
) -> Result<(), Failure> {
    let unwritable = |error| {
        let cause = format!("cannot write {}: {error}", path.display());
        Failure::new(Exit::CannotCreate, cause).remedy(data::REMEDY)
    };
    // Whoever changes another at the same time waits, and reads what was written here.
    let _held = HeldFolder::of(path).map_err(unwritable)?;
    let old = settings::read(path)?;
    let new = change(&path.display().to_string(), &old);
    let new = new.map_err(|faults| settings::failure(&faults))?;
    if new == old {
        return Ok(());
    }
    replace(path, &new).map_err(unwritable)
}

/// Puts the text in place by a rename, so that no reader ever sees half of it.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension(format!("toml.{}", std::process::id()));
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    let written = written.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, path)).inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// The row of that name, or a failure that names the nearest.
fn row(key: &str) -> Result<&'static Preference, Failure> {
    dh_prefs::find(key).ok_or_else(|| {
        let problem = Problem::unknown(key);
        settings::failure(&[PrefError { place: Place::Console, problem }])
    })
}

/// Everything about one preference, for programs.
fn facts(prefs: &Prefs, row: &Preference) -> serde_json::Value {
    json!({
        "key": row.key,
        "value": value(prefs.value(row)),
        "default": value(Prefs::default().value(row)),
        "unit": row.unit,
        "allows": row.kind.to_string(),
        "source": prefs.source(row).name(),
        "applies": row.applies.to_string(),
        "help": row.help,
    })
}

/// A value in JSON; null where its reader works it out.
fn value(value: Option<&Value>) -> serde_json::Value {
    match value {
        None => serde_json::Value::Null,
        Some(Value::Bool(on)) => json!(on),
        Some(Value::Int(number)) => json!(number),
        Some(Value::Float(number)) => json!(number),
        Some(text @ (Value::Text(_) | Value::Colour(_))) => json!(text.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A file of preferences with a comment, in a folder that lasts as long as the first value.
    fn file() -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        fs::write(&path, "# mine\n[server]\nmaxPlayers = 4 # four\n").unwrap();
        (home, path)
    }

    #[test]
    fn a_value_is_set_and_reset_with_every_comment_kept() {
        let (home, path) = file();
        let cap = row("server.maxPlayers").unwrap();
        set(&path, cap, "9", false).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n[server]\nmaxPlayers = 9 # four\n");
        set(&path, row("world.timeScale").unwrap(), "2", false).unwrap();
        reset(&path, &TABLE.iter().collect::<Vec<_>>(), false).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# mine\n") && !text.contains('='), "{text}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn a_value_out_of_range_changes_nothing() {
        let (_home, path) = file();
        let before = fs::read(&path).unwrap();
        let failure = set(&path, row("server.maxPlayers").unwrap(), "999", false).unwrap_err();
        assert_eq!((failure.exit, fs::read(&path).unwrap()), (Exit::Config, before));
    }

    #[test]
    fn a_file_that_no_role_would_start_from_is_refused_and_stays_as_it_is() {
        let (home, path) = file();
        for wrong in ["server = 3\n", "wether = 1\n", "[world]\ntimeScale = 99\n", "= 3\n"] {
            fs::write(&path, wrong).unwrap();
            let failure = set(&path, row("server.maxPlayers").unwrap(), "9", false).unwrap_err();
            assert_eq!(failure.exit, Exit::Config, "{wrong}");
            let place = format!("{}:", path.display());
            assert!(failure.cause.starts_with(&place), "{}", failure.cause);
            assert_eq!(fs::read_to_string(&path).unwrap(), wrong);
        }
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "no draft is left");
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest() {
        let failure = row("server.maxplayer").unwrap_err();
        assert_eq!(failure.exit, Exit::Config);
        assert!(failure.cause.contains("did you mean server.maxPlayers?"), "{}", failure.cause);
    }

    #[test]
    fn programs_are_told_value_default_and_source() {
        let mut prefs = Prefs::default();
        prefs.set_argument("server.maxPlayers=7").unwrap();
        let told = facts(&prefs, row("server.maxPlayers").unwrap());
        assert_eq!((&told["value"], &told["default"]), (&json!(7), &json!(16)));
        assert_eq!(told["source"], "argument");
        assert_eq!(facts(&prefs, row("client.name").unwrap())["value"], json!(null));
    }
}
