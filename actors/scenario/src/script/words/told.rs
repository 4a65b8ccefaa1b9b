//! Told: the engine's words for a call or a property that is not there, in the words of scripts.

use super::{PeerHandle, ServerHandle, Word, list};
use crate::script::error::no_such;

/// What was called with something that it does not take, or is no word at all; as the engine has
/// it: `name (type, type)`.
pub(in crate::script) fn call(call: &str) -> String {
    let (name, given) = call.split_once(" (").unwrap_or((call, ""));
    let given: Vec<&str> = split(given.strip_suffix(')').unwrap_or(given));
    let words = list();
    let named: Vec<&Word> = words.iter().filter(|word| word.name() == name).collect();
    if name.starts_with("anon$") {
        return "this callback takes other parameters; expected || ..., or |text| ... where an \
                event is told"
            .to_owned();
    }
    if named.is_empty() && !name.starts_with(|it: char| it.is_alphabetic() || it == '_') {
        let given: Vec<&str> = given.iter().map(|it| type_name(it)).collect();
        return format!("{name} takes no ({})", given.join(", "));
    }
    if named.is_empty() {
        return no_such("word", name, words.iter().map(Word::name));
    }
    let usages: Vec<&str> = named.iter().map(|word| word.usage).collect();
    let given: Vec<&str> = given.iter().map(|it| type_name(it)).collect();
    // The receiver of a method is the first that the engine tells.
    let given = match given.first().copied() {
        Some(receiver @ ("a peer" | "a server")) if usages.iter().all(|it| it.contains('.')) => {
            format!("{} with ({})", receiver, given[1..].join(", "))
        }
        _ => format!("({})", given.join(", ")),
    };
    format!("expected {}, found {given}", usages.join(" or "))
}

/// A property that is not there, as the engine has it.
pub(in crate::script) fn property(told: &str) -> Option<String> {
    let mut parts = told.split('\'');
    let (head, name) = (parts.next()?, parts.next()?);
    let kind = parts.nth(1)?;
    if !head.starts_with("Unknown property") {
        return None;
    }
    let words = list();
    let of_kind = words.iter().filter(|word| word.receiver() == Some(kind) && !word.is_called());
    let known: Vec<&str> = of_kind.map(Word::name).collect();
    Some(match type_name(kind) {
        "a peer" | "a server" => no_such(&format!("property of a {kind}"), name, known.into_iter()),
        other => format!("{other} has no property \"{name}\"; expected a peer or a server"),
    })
}

/// Types between commas; a text is three of them.
fn split(types: &str) -> Vec<&str> {
    types.split(", ").filter(|it| !it.is_empty()).collect()
}

/// What scripts call a type of the engine.
pub(in crate::script) fn type_name(name: &str) -> &'static str {
    match name.trim_start_matches("&mut ") {
        "i64" => "a whole number",
        "f64" => "a number",
        "bool" => "true or false",
        "char" => "a character",
        "()" => "nothing",
        "array" => "an array",
        "map" => "an object map",
        "Fn" => "a callback",
        "timestamp" => "a time",
        "peer" => "a peer",
        "server" => "a server",
        it if it == std::any::type_name::<PeerHandle>() => "a peer",
        it if it == std::any::type_name::<ServerHandle>() => "a server",
        text if text.contains("tring") || text == "&str" => "a text",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_words_become_those_of_scripts() {
        for (said, told) in [
            (
                "expect (&str | ImmutableString | String, i64)",
                "expected expect(\"name\", condition), found (a text, a whole number)",
            ),
            ("jump (peer, i64)", "expected peer.jump(held), found a peer with (a whole number)"),
            ("+ (peer, i64)", "+ takes no (a peer, a whole number)"),
            ("jmp (peer)", "no word is called \"jmp\"; did you mean \"jump\"?"),
        ] {
            assert_eq!(call(said), told);
        }
        let said = "Unknown property 'plaing' - a getter is not registered for type 'peer'";
        let told = property(said).unwrap();
        assert!(told.starts_with("no property of a peer is called \"plaing\"; did you mean"));
        assert_eq!(property("anything else"), None);
    }
}
