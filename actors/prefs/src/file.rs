//! Preferences as TOML text: reading it, and changing one value with every comment kept.
//!
//! A key may be nested (`[client.net]` with `marginMax`), dotted or quoted, in any mixture. A
//! preference whose name begins with another's (`client.interp.autoMargin` and `client.interp`) is
//! written quoted, since a TOML value can have nothing under it.

use toml_edit::{Document, DocumentMut, Item, Table, TableLike};

use crate::prefs::{Entry, Source};
use crate::{Kind, Place, PrefError, Preference, Prefs, Problem, TABLE, Value, find};

impl Prefs {
    /// Takes the values of a file; `name` is what the user calls it.
    ///
    /// # Errors
    /// Everything wrong in it. Lines that are right are taken all the same.
    pub fn load_file(&mut self, name: &str, text: &str) -> Result<(), Vec<PrefError>> {
        let mut read = Reading { name, text, found: Vec::new(), errors: Vec::new() };
        match Document::parse(text) {
            Ok(document) => read.table("", document.as_table()),
            Err(error) => {
                let message = error.message().replace('\n', ", ");
                read.refuse(error.span().map(|span| span.start), Problem::Syntax { message });
            }
        }
        for (row, value) in read.found {
            self.put(row, Source::File, Some(value));
        }
        if read.errors.is_empty() { Ok(()) } else { Err(read.errors) }
    }
}

/// The text of the file `name` with `preference` set to `value`; everything else stays as it is,
/// and the result reads back without a fault. A wrong value that stood there is put right.
///
/// # Errors
/// Everything else that is wrong in the file: nothing is added to what a start would refuse.
pub fn with_value(
    name: &str,
    text: &str,
    preference: &Preference,
    value: &Value,
) -> Result<String, Vec<PrefError>> {
    let mends =
        |problem: &Problem| matches!(problem, Problem::Value { key, .. } if *key == preference.key);
    let mut document = sound(name, text, mends)?;
    let path = path_of(document.as_table(), preference.key);
    match path.and_then(|path| follow(document.as_table_mut(), &path)) {
        Some(item) => replace(item, value),
        None => insert(document.as_table_mut(), preference.key, value),
    }
    read_back(name, document.to_string())
}

/// The text of the file `name` without `preferences`, which are then at their standard values.
///
/// # Errors
/// Everything that is wrong in the file and does not go with them.
pub fn without_values(
    name: &str,
    text: &str,
    preferences: &[&Preference],
) -> Result<String, Vec<PrefError>> {
    let mends = |problem: &Problem| match problem {
        Problem::Value { key, .. } | Problem::Twice { key } => {
            preferences.iter().any(|preference| preference.key == *key)
        }
        _ => false,
    };
    let mut document = sound(name, text, mends)?;
    for preference in preferences {
        while let Some(path) = path_of(document.as_table(), preference.key) {
            remove(document.as_table_mut(), &path);
        }
    }
    read_back(name, document.to_string())
}

/// The document of a file in which nothing is wrong but what the change `mends`.
fn sound(
    name: &str,
    text: &str,
    mends: impl Fn(&Problem) -> bool,
) -> Result<DocumentMut, Vec<PrefError>> {
    let mut errors = Prefs::default().load_file(name, text).err().unwrap_or_default();
    errors.retain(|error| !mends(&error.problem));
    if errors.is_empty() { parse(name, text).map_err(|error| vec![error]) } else { Err(errors) }
}

/// The text, if a start would read it.
fn read_back(name: &str, text: String) -> Result<String, Vec<PrefError>> {
    Prefs::default().load_file(name, &text).map(|()| text)
}

struct Reading<'a> {
    name: &'a str,
    text: &'a str,
    found: Vec<Entry>,
    errors: Vec<PrefError>,
}

impl Reading<'_> {
    fn table(&mut self, prefix: &str, table: &dyn TableLike) {
        for (segment, item) in table.iter() {
            let key = join(prefix, segment);
            if let Some(nested) = item.as_table_like() {
                self.table(&key, nested);
                continue;
            }
            match self.read(&key, item) {
                Ok(entry) => self.found.push(entry),
                Err(problem) => {
                    let span = match &problem {
                        Problem::Value { .. } | Problem::NoTable { .. } => item.span(),
                        _ => table.get_key_value(segment).and_then(|(key, _)| key.span()),
                    };
                    self.refuse(span.map(|span| span.start), problem);
                }
            }
        }
    }

    fn read(&self, key: &str, item: &Item) -> Result<Entry, Problem> {
        let row = TABLE.iter().position(|row| row.key == key);
        let row = row.ok_or_else(|| match is_group(key) {
            true => Problem::NoTable { key: key.to_owned(), found: item.to_string() },
            false => Problem::unknown(key),
        })?;
        let preference = &TABLE[row];
        if self.found.iter().any(|(found, _)| *found == row) {
            return Err(Problem::Twice { key: preference.key });
        }
        let written = item.to_string();
        let value = from_toml(preference.kind, item);
        value.map(|value| (row, value)).ok_or_else(|| Problem::value(preference, written.trim()))
    }

    fn refuse(&mut self, at: Option<usize>, problem: Problem) {
        let place = place(self.name, self.text, at);
        self.errors.push(PrefError { place, problem });
    }
}

fn parse(name: &str, text: &str) -> Result<DocumentMut, PrefError> {
    let document: Result<Document<&str>, _> = Document::parse(text);
    document.map(Document::into_mut).map_err(|error| PrefError {
        place: place(name, text, error.span().map(|span| span.start)),
        problem: Problem::Syntax { message: error.message().replace('\n', ", ") },
    })
}

fn place(name: &str, text: &str, at: Option<usize>) -> Place {
    let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|it| *it != '\n').count() + 1;
    Place::File { name: name.to_owned(), line, column }
}

fn from_toml(kind: Kind, item: &Item) -> Option<Value> {
    let value = match kind {
        Kind::Bool => Value::Bool(item.as_bool()?),
        Kind::Int { .. } => Value::Int(item.as_integer()?),
        Kind::Float { .. } => match item.as_integer() {
            Some(whole) => Value::Float(f64::from(i32::try_from(whole).ok()?)),
            None => Value::Float(item.as_float()?),
        },
        Kind::Text { .. } | Kind::Choice(_) | Kind::Identities => {
            Value::Text(item.as_str()?.trim().to_owned())
        }
        Kind::Colour => match item.as_integer() {
            Some(number) => Value::Colour(u32::try_from(number).ok()?),
            None => return Value::read(kind, item.as_str()?),
        },
    };
    kind.allows(&value).then_some(value)
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(on) => (*on).into(),
        Value::Int(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Colour(_) => value.to_string().into(),
    }
}

/// The segments under which `key` stands in `table`, where it does.
fn path_of(table: &dyn TableLike, key: &str) -> Option<Vec<String>> {
    if table.get(key).is_some_and(Item::is_value) {
        return Some(vec![key.to_owned()]);
    }
    key.match_indices('.').find_map(|(dot, _)| {
        let (head, rest) = (&key[..dot], &key[dot + 1..]);
        let mut path = path_of(table.get(head)?.as_table_like()?, rest)?;
        path.insert(0, head.to_owned());
        Some(path)
    })
}

fn follow<'a>(table: &'a mut dyn TableLike, path: &[String]) -> Option<&'a mut Item> {
    let (first, rest) = path.split_first()?;
    let item = table.get_mut(first)?;
    if rest.is_empty() { Some(item) } else { follow(item.as_table_like_mut()?, rest) }
}

fn remove(table: &mut dyn TableLike, path: &[String]) {
    match path {
        [] => (),
        [last] => drop(table.remove(last)),
        [first, rest @ ..] => {
            if let Some(below) = table.get_mut(first).and_then(Item::as_table_like_mut) {
                remove(below, rest);
            }
        }
    }
}

/// Puts `value` where another stood, between the same blanks and comments.
fn replace(item: &mut Item, value: &Value) {
    let mut value = to_toml(value);
    if let Some(old) = item.as_value() {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

/// Adds `key` to the deepest table that may hold it, or, where that holds a table of its name, to
/// the root.
fn insert(root: &mut Table, key: &str, value: &Value) {
    if !insert_below(root, "", key, value) {
        root.insert(key, Item::Value(to_toml(value)));
    }
}

/// Adds `rest`, what is left of a key below `prefix`; whether there was room. What is new in a
/// table in braces stands in braces too.
fn insert_below(table: &mut dyn TableLike, prefix: &str, rest: &str, value: &Value) -> bool {
    if let Some((head, below)) = rest.split_once('.') {
        let full = join(prefix, head);
        if table.get(head).is_none() && find(&full).is_none() {
            let mut nested = Table::new();
            nested.set_implicit(true);
            table.insert(head, Item::Table(nested));
        }
        if let Some(nested) = table.get_mut(head).and_then(Item::as_table_like_mut) {
            return insert_below(nested, &full, below, value);
        }
    }
    let room = !table.contains_key(rest);
    if room {
        table.insert(rest, Item::Value(to_toml(value)));
    }
    room
}

/// Whether preferences have names that begin with this one and a dot.
fn is_group(key: &str) -> bool {
    TABLE.iter().any(|row| row.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

fn join(prefix: &str, segment: &str) -> String {
    if prefix.is_empty() { segment.to_owned() } else { format!("{prefix}.{segment}") }
}

#[cfg(test)]
mod tests;
