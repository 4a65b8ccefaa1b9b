//! Enumerations of authored files: each member is one word.
//!
//! Used by components and records of other crates.

/// Declares an enumeration that is written as one of a few words.
#[macro_export]
macro_rules! choice {
    (
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$each:meta])* $member:ident = $word:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$each])* $member,)+ }

        impl $name {
            const WORDS: &'static [(&'static str, $name)] = &[$(($word, $name::$member),)+];
        }

        impl $crate::record::Written for $name {
            fn read(
                node: &$crate::jsonc::Node<'_>,
                field: &$crate::record::Field,
                report: &mut $crate::jsonc::Report<'_>,
            ) -> Option<Self> {
                let text = <String as $crate::record::Written>::read(node, field, report)?;
                let found = Self::WORDS.iter().find(|(word, _)| *word == text);
                if found.is_none() {
                    let words = Self::WORDS.iter().map(|(word, _)| *word);
                    report.tell_unknown(node.at, field.name, &text, words);
                }
                found.map(|(_, member)| *member)
            }

            fn write(&self, out: &mut String) {
                let found = Self::WORDS.iter().find(|(_, member)| member == self);
                out.push('"');
                out.push_str(found.map_or("", |(word, _)| word));
                out.push('"');
            }

            fn describe(_: &$crate::record::Field) -> String {
                let words: Vec<String> =
                    Self::WORDS.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                format!("{{\"enum\":[{}]}}", words.join(","))
            }
        }
    };
}
