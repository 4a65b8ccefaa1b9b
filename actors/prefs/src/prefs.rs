//! Prefs: the values in force, and where each comes from.
//!
//! Owned by bin, read by everybody it hands it to.

use crate::preference::{Key, Preference, Typed};
use crate::table::TABLE;
use crate::{Applies, Place, PrefError, Problem, Value};

/// The values of all preferences, in layers: standard values, file, environment, arguments,
/// console. The last layer that gives a value wins.
#[derive(Clone, Debug)]
pub struct Prefs {
    rows: Vec<[Option<Value>; Source::LAYERS]>,
}

/// Where a value comes from, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The table.
    Default,
    /// `config.toml`.
    File,
    /// An environment variable.
    Environment,
    /// `--set KEY=VALUE`, or an argument that stands for one.
    Argument,
    /// The console of the running process.
    Console,
}

/// A value that was set at the console.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its row.
    pub preference: &'static Preference,
    /// What it is now.
    pub value: Value,
}

/// A row's number in the table, and a value it allows.
pub(crate) type Entry = (usize, Value);

impl Prefs {
    /// The value in force.
    ///
    /// # Panics
    /// Never: that every row fits the type of its key is held by a test.
    #[must_use]
    pub fn get<T: Typed>(&self, key: Key<T>) -> T {
        T::typed(self.value(&TABLE[key.row()])).expect("the type of a key fits its row")
    }

    /// The value in force, untyped; `None` where its reader works it out.
    #[must_use]
    pub fn value(&self, preference: &Preference) -> Option<&Value> {
        self.row(preference)?.iter().rev().flatten().next()
    }

    /// Where the value in force comes from.
    #[must_use]
    pub fn source(&self, preference: &Preference) -> Source {
        let given = self.row(preference).and_then(|row| row.iter().rposition(Option::is_some));
        given.map_or(Source::Default, |layer| Source::ALL[layer])
    }

    /// Takes `KEY=VALUE` from the command line.
    ///
    /// # Errors
    /// When there is no such preference, or it does not allow the value.
    pub fn set_argument(&mut self, text: &str) -> Result<(), PrefError> {
        let refuse = |problem| PrefError { place: Place::Argument, problem };
        let Some((key, value)) = text.split_once('=') else {
            return Err(refuse(Problem::NoValue { found: text.to_owned() }));
        };
        let (row, value) = entry(key.trim(), value).map_err(refuse)?;
        self.put(row, Source::Argument, Some(value));
        Ok(())
    }

    /// Sets a value from the console, for as long as the process runs.
    ///
    /// # Errors
    /// When there is no such preference, or it does not allow the value.
    pub fn set_console(&mut self, key: &str, text: &str) -> Result<Change, PrefError> {
        let refuse = |problem| PrefError { place: Place::Console, problem };
        let (row, value) = entry(key, text).map_err(refuse)?;
        self.put(row, Source::Console, Some(value.clone()));
        Ok(Change { preference: &TABLE[row], value })
    }

    /// The line that answers a preference's name at the console:
    /// `server.maxPlayers = 16 sessions (default; a whole number from 1 to 64; live)`.
    #[must_use]
    pub fn show(&self, preference: &Preference) -> String {
        let Preference { key, kind, applies, .. } = preference;
        let value = self.shown(preference);
        let source = self.source(preference).name();
        format!("{key} = {value} ({source}; {kind}; {applies})")
    }

    /// The value as it prints with its unit, or in brackets what it is worked out from.
    #[must_use]
    pub fn shown(&self, preference: &Preference) -> String {
        match (self.value(preference), preference.unit) {
            (None, _) => preference.standard.to_string(),
            // Only where an empty text stands for the standard.
            (Some(Value::Text(text)), _) if text.is_empty() => preference.standard.to_string(),
            (Some(value), "") => value.to_string(),
            (Some(value), unit) => format!("{value} {unit}"),
        }
    }

    pub(crate) fn put(&mut self, row: usize, source: Source, value: Option<Value>) {
        self.rows[row][source as usize] = value;
    }

    fn row(&self, preference: &Preference) -> Option<&[Option<Value>; Source::LAYERS]> {
        let row = TABLE.iter().position(|row| row.key == preference.key)?;
        self.rows.get(row)
    }
}

/// Every preference at its standard value.
impl Default for Prefs {
    fn default() -> Self {
        let standard = |row: &Preference| {
            let mut layers = [const { None }; Source::LAYERS];
            layers[Source::Default as usize] = row.standard.value();
            layers
        };
        Self { rows: TABLE.iter().map(standard).collect() }
    }
}

impl Source {
    const LAYERS: usize = Self::ALL.len();
    const ALL: [Self; 5] =
        [Self::Default, Self::File, Self::Environment, Self::Argument, Self::Console];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::Argument => "argument",
            Self::Console => "console",
        }
    }
}

impl Change {
    /// The line that answers it: `server.maxPlayers = 4`, and when it will be felt, if not at once.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { preference: Preference { key, applies, .. }, value } = self;
        match applies {
            Applies::Live => format!("{key} = {value}"),
            Applies::NextJoin => format!("{key} = {value} (from the next join on)"),
            Applies::Restart => format!(
                "{key} = {value} (needs a restart: keep it with `dh prefs set {key} {}`)",
                shell_word(&value.to_string())
            ),
        }
    }
}

/// A text as one word of a shell's line.
fn shell_word(text: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-+:/".contains(it);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The row called `key`, and what `text` means there.
pub(crate) fn entry(key: &str, text: &str) -> Result<Entry, Problem> {
    let row = TABLE.iter().position(|row| row.key == key).ok_or_else(|| Problem::unknown(key))?;
    let preference = &TABLE[row];
    let value = Value::read(preference.kind, text);
    value.map(|value| (row, value)).ok_or_else(|| Problem::value(preference, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{find, key};

    fn cap() -> &'static Preference {
        find("server.maxPlayers").unwrap()
    }

    #[test]
    fn each_layer_wins_over_those_before_it_and_is_named() {
        let mut prefs = Prefs::default();
        let state = |prefs: &Prefs| (prefs.get(key::MAX_PLAYERS), prefs.source(cap()));
        assert_eq!(state(&prefs), (16, Source::Default));
        prefs.set_argument("server.maxPlayers=7").unwrap();
        assert_eq!(state(&prefs), (7, Source::Argument));
        prefs.load_file("config.toml", "server.maxPlayers = 5").unwrap();
        let variable = ("DH_SERVER_MAXPLAYERS".to_owned(), "6".to_owned());
        prefs.load_environment([variable]).unwrap();
        assert_eq!(state(&prefs), (7, Source::Argument), "later loads do not climb");
        prefs.set_console("server.maxPlayers", "8").unwrap();
        assert_eq!(state(&prefs), (8, Source::Console));
        let order = [Source::Default, Source::File, Source::Environment, Source::Argument];
        assert!(order.is_sorted() && order.iter().all(|it| *it < Source::Console));
    }

    /// WHO-22, CLK-10
    #[test]
    fn a_live_preference_set_at_the_console_is_read_at_once() {
        let mut prefs = Prefs::default();
        let change = prefs.set_console("server.maxPlayers", "4").unwrap();
        assert_eq!(
            (change.line().as_str(), prefs.get(key::MAX_PLAYERS)),
            ("server.maxPlayers = 4", 4)
        );
        for (key, text) in [
            ("client.net.clockMaxRate", "0.05"),
            ("client.net.holdBacklog", "30"),
            ("client.net.marginGrowth", "1"),
            ("client.net.marginMax", "3"),
            ("client.net.marginDecay", "5"),
        ] {
            let change = prefs.set_console(key, text).unwrap();
            assert_eq!(
                (change.preference.applies, change.line()),
                (Applies::Live, format!("{key} = {text}"))
            );
        }
        assert!((prefs.get(key::CLOCK_MAX_RATE) - 0.05).abs() < 1e-6);
        assert_eq!(prefs.get(key::HOLD_BACKLOG), Some(30));
    }

    #[test]
    fn a_change_that_is_felt_later_says_when() {
        let mut prefs = Prefs::default();
        let later = prefs.set_console("client.interp.bufferTicks", "8").unwrap().line();
        assert!(later.ends_with("(from the next join on)"), "{later}");
        let later = prefs.set_console("server.identity", "name").unwrap().line();
        assert!(later.contains("`dh prefs set server.identity name`"), "{later}");
        let quoted = prefs.set_console("server.name", "It's New").unwrap().line();
        assert!(quoted.contains("`dh prefs set server.name 'It'\\''s New'`"), "{quoted}");
    }

    #[test]
    fn a_refused_value_changes_nothing_and_says_so() {
        let mut prefs = Prefs::default();
        let error = prefs.set_console("server.maxPlayers", "65").unwrap_err();
        assert_eq!(
            error.to_string(),
            "server.maxPlayers: expected a whole number from 1 to 64, found `65`; \
             nothing was changed"
        );
        assert_eq!(prefs.get(key::MAX_PLAYERS), 16);
        let error = prefs.set_argument("server.maxPlayers").unwrap_err();
        assert!(error.to_string().starts_with("--set: expected KEY=VALUE"), "{error}");
    }

    #[test]
    fn what_a_reader_works_out_is_unset_until_somebody_sets_it() {
        let mut prefs = Prefs::default();
        assert_eq!((prefs.get(key::INTERP), prefs.get(key::CLIENT_NAME)), (None, None));
        prefs.set_argument("client.name= Edda the Tall").unwrap();
        assert_eq!(prefs.get(key::CLIENT_NAME).as_deref(), Some("Edda the Tall"));
    }

    #[test]
    fn the_answer_to_a_name_tells_value_source_range_and_when_it_applies() {
        let prefs = Prefs::default();
        assert_eq!(
            prefs.show(cap()),
            "server.maxPlayers = 16 sessions (default; a whole number from 1 to 64; live)"
        );
        assert_eq!(
            prefs.show(find("client.interp").unwrap()),
            "client.interp = (two ticks) (default; a number from 0 to 1; live)"
        );
    }
}
