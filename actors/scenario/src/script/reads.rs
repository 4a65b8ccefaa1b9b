//! Reads: what a callback or a condition read last, so that a check that fails can tell what it
//! found.

use rhai::{Array, Dynamic, Map};

use super::limit::{READS_MAX, SHOWN_MAX};

/// What was read since it was last forgotten: how it is written, and what it was.
#[derive(Debug, Default)]
pub(super) struct Reads(Vec<(String, String)>);

impl Reads {
    /// Begin anew.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Something was read; where it was read before, it is what it is now.
    pub(super) fn note(&mut self, name: impl FnOnce() -> String, value: &Dynamic) {
        if self.0.len() < READS_MAX {
            let name = name();
            self.0.retain(|(other, _)| *other != name);
            self.0.push((name, shown(value)));
        }
    }

    /// All of it, in the order it was read in, and begin anew.
    pub(super) fn take(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.0)
    }
}

/// A value in a few words.
pub(super) fn shown(value: &Dynamic) -> String {
    if let Ok(list) = value.as_array_ref() {
        return list_shown(&list);
    }
    if let Ok(map) = value.as_map_ref() {
        return map_shown(&map);
    }
    let text = match value.as_float() {
        // More than a millionth is nothing that anybody compares with.
        Ok(number) => ((number * 1e6).round() / 1e6).to_string(),
        Err(_) => value.to_string(),
    };
    let text = if value.is_string() { format!("{text:?}") } else { text };
    shortened(&text)
}

fn list_shown(list: &Array) -> String {
    let all: Vec<String> = list.iter().take(4).map(shown).collect();
    let all = shortened(&all.join(", "));
    match list.len() {
        0..=4 => format!("[{all}]"),
        more => format!("[{all}, ... {more} in all]"),
    }
}

fn map_shown(map: &Map) -> String {
    let all: Vec<String> =
        map.iter().take(4).map(|(key, value)| format!("{key}: {}", shown(value))).collect();
    shortened(&format!("#{{ {} }}", all.join(", ")))
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN_MAX).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_in_a_few_words() {
        let list = |n: i64| Dynamic::from((0..n).map(Dynamic::from).collect::<Array>());
        for (value, told) in [
            (Dynamic::from(true), "true"),
            (Dynamic::from(-1.500_000_04), "-1.5"),
            (Dynamic::from("x\"y"), "\"x\\\"y\""),
            (list(0), "[]"),
            (list(3), "[0, 1, 2]"),
            (list(9), "[0, 1, 2, 3, ... 9 in all]"),
        ] {
            assert_eq!(shown(&value), told);
        }
        assert!(shown(&Dynamic::from("x".repeat(1_000))).len() < 100);
    }

    #[test]
    fn what_was_read_is_remembered_once_and_within_a_bound() {
        let mut reads = Reads::default();
        reads.note(|| "a".to_owned(), &Dynamic::from(1));
        (0..100).for_each(|nth| reads.note(|| nth.to_string(), &Dynamic::from(nth)));
        reads.note(|| "a".to_owned(), &Dynamic::from(2));
        let all = reads.take();
        assert_eq!((all.len(), all[0].clone()), (READS_MAX, ("a".to_owned(), "1".to_owned())));
        assert!(reads.take().is_empty());
    }
}
