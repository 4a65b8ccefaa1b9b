//! Preferences as environment variables: `DH_SERVER_MAXPLAYERS` is `server.maxPlayers`.

use crate::prefs::{Entry, Source, entry};
use crate::{Place, PrefError, Prefs, Problem, TABLE};

/// What a preference is called in the environment.
#[must_use]
pub fn environment_name(key: &str) -> String {
    format!("DH_{}", key.replace('.', "_").to_ascii_uppercase())
}

impl Prefs {
    /// Takes the preferences among environment variables. Variables of other programs, and those
    /// of ours that are no preferences, are passed over.
    ///
    /// # Errors
    /// All variables that look like a preference and are none, or hold a wrong value; the others
    /// are taken.
    pub fn load_environment(
        &mut self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), Vec<PrefError>> {
        let mut errors = Vec::new();
        for (name, text) in variables {
            if !is_ours(&name) {
                continue;
            }
            match read(&name, &text) {
                Ok((row, value)) => self.put(row, Source::Environment, Some(value)),
                Err(problem) => {
                    errors.push(PrefError { place: Place::Environment(name), problem });
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Whether a variable begins like those of preferences: `DH_CLIENT_`, `DH_SERVER_`, `DH_WORLD_`.
fn is_ours(name: &str) -> bool {
    TABLE.iter().any(|row| {
        let group = row.key.split('.').next().unwrap_or_default();
        name.strip_prefix(&environment_name(group)).is_some_and(|rest| rest.starts_with('_'))
    })
}

fn read(name: &str, text: &str) -> Result<Entry, Problem> {
    let row = TABLE.iter().find(|row| environment_name(row.key) == name);
    let Some(row) = row else {
        let key = name.trim_start_matches("DH_").replace('_', ".").to_ascii_lowercase();
        return Err(Problem::unknown(&key));
    };
    entry(row.key, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn names_are_derived_from_keys() {
        assert_eq!(environment_name("server.maxPlayers"), "DH_SERVER_MAXPLAYERS");
        assert_eq!(environment_name("client.interp.bufferTicks"), "DH_CLIENT_INTERP_BUFFERTICKS");
    }

    #[test]
    fn preferences_are_taken_and_other_variables_passed_over() {
        let mut prefs = Prefs::default();
        let given = [("DH_SERVER_MAXPLAYERS", "4"), ("DH_DATA", "/x"), ("SERVER_MAXPLAYERS", "9")];
        assert_eq!(prefs.load_environment(variables(&given)), Ok(()));
        assert_eq!(prefs.get(key::MAX_PLAYERS), 4);
    }

    #[test]
    fn a_wrong_value_and_an_unknown_name_are_both_told_and_the_rest_is_taken() {
        let mut prefs = Prefs::default();
        let given = [
            ("DH_SERVER_MAXPLAYERS", "0"),
            ("DH_CLIENT_INTERP_BUFFERTICK", "9"),
            ("DH_WORLD_TIMESCALE", "0.5"),
        ];
        let errors = prefs.load_environment(variables(&given)).unwrap_err();
        let lines: Vec<_> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "environment variable DH_SERVER_MAXPLAYERS: server.maxPlayers: expected a whole \
                 number from 1 to 64, found `0`; correct the variable or unset it",
                "environment variable DH_CLIENT_INTERP_BUFFERTICK: no preference is called \
                 `client.interp.buffertick`; did you mean client.interp.bufferTicks?",
            ]
        );
        assert!((prefs.get(key::TIME_SCALE) - 0.5).abs() < 1e-6);
    }
}
