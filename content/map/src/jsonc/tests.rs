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
        ("\n\n  {\n", "3:4"),
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
    let told = problems(&format!("{{{twice}}}"));
    assert_eq!(told.len(), PROBLEMS_MAX + 1);
    assert!(told[PROBLEMS_MAX].contains("more problems than the 100"), "{told:?}");
}

#[test]
fn a_break_of_the_grammar_is_told_in_plain_words_with_what_may_help() {
    for (text, told) in [
        (
            "{ \"a\": 1 \"b\": 2 }",
            "1:9: expected a comma, found a string; \
             a comma or a closing quote may be missing before this place",
        ),
        ("{ \"a\": one }", "1:8: expected a value, found \"one\"; text stands in double quotes"),
        ("{ \"a\": [ 1, }", "1:13: expected a value, found \"}\"; a value or \"]\" may be missing"),
        ("{ a: 1 }", "1:3: expected a key in double quotes, found \"a\"; write \"key\": value"),
        ("{ \"a\" 1 }", "1:7: expected \":\" behind a key, found \"1\"; a colon or a quote may be"),
        ("{} {}", "1:4: expected the end of the file, found \"{\"; a bracket may be closed too"),
        (
            "{ \"a\": [\n 1,\n\n",
            "2:4: the file ends within a list; what was opened at 1:8 is closed with \"]\"",
        ),
        (
            "{ \"a\": {\n \"b\": [] }\n",
            "2:11: the file ends within a record; what was opened at 1:1 is closed with \"}\"",
        ),
        ("{ \"a\": ", "1:7: expected a value, found the end of the file; write \"key\": value"),
        ("{ \"a\": \"x }", "1:8: a string is never closed; write the closing double quote"),
        ("{ \"a\": \"C:\\dir\" }", "1:11: a string has an escape that does not exist; a backs"),
        ("{ /* }", "1:3: a comment is never closed; close it with */"),
        ("{ \"a\": .5 }", "1:8: expected a "),
    ] {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert!(problems[0].starts_with(&format!("x.dh:{told}")), "{text}: {problems:?}\n{told}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let mut report = Report::new("x.dh", "\u{feff}{ \"a\": 1 }");
    assert!(report.parse().is_some() && report.is_clean());
    assert!(problems("\u{feff}{ \"a\": 1,")[0].starts_with("x.dh:1:10: "));
}

#[test]
fn places_are_found_in_long_texts_and_among_long_characters() {
    let line = "\u{e9}".repeat(999) + "\n";
    let text = line.repeat(200);
    let mut report = Report::new("x.dh", &text);
    for number in [199, 0, 64, 65, 130] {
        report.tell(number * line.len() + 2 * number, "", "");
    }
    let told = report.into_problems();
    let places: Vec<(u32, u32)> = told.iter().map(|told| (told.line, told.column)).collect();
    assert_eq!(places, [(1, 1), (65, 65), (66, 66), (131, 131), (200, 200)]);
}
