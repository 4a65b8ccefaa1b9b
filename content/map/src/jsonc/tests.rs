//! The grammar's edges, and the places of mistakes.

use super::{DEPTH_MAX, PROBLEMS_MAX, Report, Value};

fn problems(text: &str) -> Vec<String> {
    let mut report = Report::new("x.dh", text);
    let node = report.parse();
    assert_eq!(node.is_none(), text.is_empty() || !report.is_clean() && node.is_none());
    report.into_problems().iter().map(ToString::to_string).collect()
}

#[test]
fn comments_and_trailing_commas_are_read() {
    let text = "// first\n{ /* two */ \"a\": [1, 2,], // three\n}";
    let mut report = Report::new("x.dh", text);
    let node = report.parse().unwrap();
    assert_eq!(node.get("a").and_then(|a| a.item(1)).map(|n| &n.value), Some(&Value::Number("2")));
    assert!(report.is_clean());
}

#[test]
fn all_else_that_is_not_json_is_refused_at_its_place() {
    for (text, place) in [
        ("{ a: 1 }", "1:3"),
        ("{ \"a\": 1 \"b\": 2 }", "1:9"),
        ("{ 'a': 1 }", "1:3"),
        ("{ \"a\": 0x10 }", "1:8"),
        ("{ \"a\": +1 }", "1:8"),
        ("{ \"a\": NaN }", "1:8"),
        ("\n\n  {", "3:3"),
        ("{}{}", "1:3"),
        ("", "1:1"),
    ] {
        let told = problems(text);
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        assert!(told[0].starts_with(&format!("x.dh:{place}: ")), "{text}: {told:?}");
    }
}

#[test]
fn a_key_that_stands_twice_is_refused_and_reading_goes_on() {
    let told = problems("{ \"a\": 1,\n \"a\": 2, \"b\": { \"c\": 1, \"c\": 2 } }");
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], "x.dh:2:2: the key \"a\" stands here twice; remove one");
}

#[test]
fn columns_are_counted_in_characters() {
    let told = problems("{ \"\u{e9}\u{e9}\": 1, \"\u{e9}\u{e9}\": 2 }");
    assert!(told[0].starts_with("x.dh:1:12: "), "{told:?}");
}

#[test]
fn deep_nesting_is_refused_without_exhausting_the_stack() {
    for depth in [DEPTH_MAX + 2, 400, 200_000] {
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(problems(&text).len(), 1);
    }
}

#[test]
fn mistakes_beyond_the_limit_are_not_kept() {
    let twice = "\"a\": 1,".repeat(PROBLEMS_MAX + 50);
    assert_eq!(problems(&format!("{{{twice}}}")).len(), PROBLEMS_MAX);
}

#[test]
fn the_nearest_name_is_told() {
    use crate::problem::nearest;
    assert_eq!(nearest("sise", ["color", "size"]), "did you mean \"size\"?");
    assert_eq!(nearest("Size", ["color", "size"]), "did you mean \"size\"?");
    assert_eq!(nearest("banana", ["color", "size"]), "known here: color, size");
    assert_eq!(nearest("x", []), "");
}
