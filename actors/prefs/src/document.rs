//! The table of preferences as text: for documents and for `dh prefs list`.

use crate::{Prefs, TABLE, environment_name};

/// The table for a document, in markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "| preference | expects | default | applies | environment | what it does |\n\
         |---|---|---|---|---|---|\n",
    );
    for row in TABLE {
        let unit = if row.unit.is_empty() { String::new() } else { format!(" {}", row.unit) };
        let environment = environment_name(row.key);
        text.push_str(&format!(
            "| `{}` | {} | {}{unit} | {} | `{environment}` | {} |\n",
            row.key, row.kind, row.standard, row.applies, row.help
        ));
    }
    text
}

/// The values in force, one line a preference, for a terminal.
#[must_use]
pub fn plain(prefs: &Prefs) -> String {
    let lines: Vec<[String; 5]> = TABLE
        .iter()
        .map(|row| {
            let source = prefs.source(row).name().to_owned();
            let (applies, help) = (row.applies.to_string(), row.help.to_owned());
            [row.key.to_owned(), prefs.shown(row), source, applies, help]
        })
        .collect();
    let width = |column: usize| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
    };
    let widths = [0, 1, 2, 3].map(width);
    let mut text = String::new();
    for [key, value, source, applies, help] in &lines {
        let [key_width, value_width, source_width, applies_width] = widths;
        text.push_str(&format!(
            "{key:key_width$}  {value:value_width$}  {source:source_width$}  \
             {applies:applies_width$}  {help}\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_one_row_a_preference_and_six_cells_in_each() {
        let text = markdown();
        assert_eq!(text.lines().count(), TABLE.len() + 2);
        assert!(text.lines().all(|line| line.matches('|').count() == 7), "{text}");
        let row = "| `server.maxPlayers` | a whole number from 1 to 64 | 16 sessions | live | \
                   `DH_SERVER_MAXPLAYERS` | Sessions at one time. Lowering it ends none. |";
        assert!(text.lines().any(|line| line == row), "{text}");
    }

    #[test]
    fn the_list_shows_values_in_force_and_their_source_in_even_columns() {
        let mut prefs = Prefs::default();
        prefs.set_argument("server.maxPlayers=4").unwrap();
        let text = plain(&prefs);
        let line = text.lines().find(|line| line.starts_with("server.maxPlayers")).unwrap();
        let words: Vec<_> = line.split_whitespace().take(5).collect();
        assert_eq!(words, ["server.maxPlayers", "4", "sessions", "argument", "live"]);
        let help_at: Vec<_> = text
            .lines()
            .zip(TABLE)
            .map(|(line, row)| line.strip_suffix(row.help).unwrap().chars().count())
            .collect();
        assert!(help_at.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}
