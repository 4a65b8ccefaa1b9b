//! What is shown of a problem, and which names are near.

use super::{Problem, near, nearest};
use crate::jsonc::PROBLEMS_MAX;
use dh_pallet::PRINTABLE_CHARS_MAX;

#[test]
fn what_is_shown_is_one_short_line_whatever_the_content_says() {
    let hostile = "\u{1b}[2J\n\u{202e}".repeat(1_000_000);
    let problem = Problem {
        file: hostile.clone(),
        line: 1,
        column: 2,
        text: hostile.clone(),
        remedy: hostile,
    };
    let shown = problem.to_string();
    assert!(shown.starts_with("\\u{1b}[2J\\n\\u{202e}"), "{}", &shown[..40]);
    assert!(shown.chars().count() < 4 * PRINTABLE_CHARS_MAX);
    assert!(!shown.chars().any(|letter| letter.is_control() || letter == '\u{202e}'));
}

#[test]
fn that_there_are_more_names_the_limit_and_is_no_problem_of_its_own() {
    let more = Problem::more("assets/a.dh-map");
    assert!(more.is_more() && more.text.contains(&PROBLEMS_MAX.to_string()));
    assert!(!Problem::of_file("assets/a.dh-map", "is odd", "").is_more());
}

#[test]
fn the_nearest_name_is_told() {
    assert_eq!(nearest("sise", ["color", "size"]), "did you mean \"size\"?");
    assert_eq!(nearest("Size", ["color", "size"]), "did you mean \"size\"?");
    assert_eq!(nearest("banana", ["color", "size"]), "known here: color, size");
    assert_eq!(nearest("x", []), "");
    let many: Vec<String> = (0..20).map(|at| format!("name-{at}")).collect();
    let many = || many.iter().map(String::as_str);
    assert_eq!(nearest("banana", many()), "none of the 20 names known here is like it");
    assert_eq!(nearest("nmae-7", many()), "did you mean \"name-7\"?");
}

#[test]
fn a_name_without_what_stands_before_its_dot_or_slash_is_known() {
    assert_eq!(near("box", ["dh.sky", "dh.box"]), Some("dh.box"));
    assert_eq!(near("tree.glb", ["assets/trek.glb", "assets/tree.glb"]), Some("assets/tree.glb"));
    assert_eq!(near("", ["dh."]), None);
}

#[test]
fn a_search_among_very_many_long_names_looks_at_the_first_only() {
    let names: Vec<String> = (0..65_536).map(|at| format!("{at:0>64}")).collect();
    let mut looked_at = 0;
    let count = names.iter().map(String::as_str).inspect(|_| looked_at += 1);
    assert_eq!(near(&"x".repeat(64), count), None);
    assert!((500..2000).contains(&looked_at), "{looked_at}");
    // A name of a million letters is compared with none.
    assert_eq!(near(&"x".repeat(1_000_000), names.iter().map(String::as_str)), None);
    assert_eq!(near("00", ["x".repeat(1_000_000).as_str()]), None);
}
