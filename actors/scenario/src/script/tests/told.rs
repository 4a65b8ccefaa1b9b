//! What scripts get wrong is told in their own words, with what was expected.

use std::time::Instant;

use super::*;

#[test]
fn what_the_language_refuses_is_told_in_the_words_of_scripts() {
    let hidden = ["anon$", "dh_scenario", "`()`", "() ``"];
    for (text, told) in [
        ("dice(ada);", "3:1: dice: expected a whole number, found a peer"),
        ("dice(|| 1);", "3:1: dice: expected a whole number, found a callback"),
        ("every((), || 1);", "3:1: every: expected a number, found nothing"),
        ("dice([]);", "3:1: dice: expected a whole number, found an array"),
        ("ada.link(server(\"main\"));", "3:5: link: expected an object map #{...}, found a server"),
        ("at(1, |a, b| 1);", "3:1: this callback takes other parameters; expected || ..., or |te"),
        ("never(\"x\", |a| false);", "3:1: this callback takes other parameters; expected || ..."),
        ("never(\"x\", || ada);", "3:1: expected a condition, true or false, found a peer"),
        ("let x = ada + 1;", "3:13: + takes no (a peer, a whole number)"),
        ("at(1, || throw ada);", "3:10: it throws a peer"),
        ("fn f(n) { f(n + 1) } at(1, || f(0));", "functions call each other 32 deep; expected le"),
        ("let s = \"x\"; loop { s += s; }", "Length of string too large; expected at mos"),
        ("let a = []; loop { a.push([a]); }", "too large; expected at most 16384 elements"),
        ("fn f() { ada.leave() } at(1, || f());", "no variable is called ada in here: a function"),
        ("at(1, || nobody.leave());", "Variable not found: nobody"),
        ("import \"os\" as os;", "3:1: there are no modules; expected all of it in this file"),
        ("at(1, || ada.look(1e300, 0));", "3:14: yaw: expected at most 1000000 degrees either w"),
        ("at(1, || ada.look(0, -2000000));", "3:14: pitch: expected at most 1000000 degrees eit"),
    ] {
        let (mistake, _) = mistake(&format!("{ADA}{text}"));
        assert!(mistake.starts_with("it.rhai:3:") && mistake.contains(told), "{text}: {mistake}");
        assert!(!hidden.iter().any(|it| mistake.contains(it)), "{text}: {mistake}");
    }
}

#[test]
fn a_name_that_no_line_could_hold_is_a_mistake() {
    let long = "x".repeat(65);
    for name in ["", " ", "a/b", "a ", "\\u0007", "\\x1b[31m", &long] {
        let (told, _) = mistake(&format!("{ADA}peer(\"{name}\", #{{}});"));
        assert!(told.starts_with("it.rhai:3:1: \""), "{told}");
        assert!(told.contains("is no name of a peer; expected 1 to 64 characters"), "{told}");
        for whose in ["peer", "server"] {
            let text =
                format!("scenario(#{{ seconds: 1,\n {whose}s: #{{ \"{name}\": #{{}} }} }});");
            let (told, _) = mistake(&text);
            assert!(told.starts_with("it.rhai:2:"), "{told}");
            assert!(told.contains(&format!("is no name of a {whose}; expected")), "{told}");
        }
    }
    let text = format!("{ADA}peer(\"Zo\u{eb} 2\", #{{}});");
    assert_eq!(failures(&text), [""; 0]);
}

#[test]
fn many_callbacks_that_wait_cost_each_the_same() {
    let began = Instant::now();
    let text = "for n in 0..16000 { at(1, || 1); } at(1.5, || expect(\"x\", true));";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
    assert!(began.elapsed().as_secs() < 5);
}

#[test]
fn a_pallet_id_that_names_none_is_a_mistake_with_its_place() {
    let (told, _) = mistake("scenario(#{ seconds: 1, pallets: #{\n \"a b/\": #{} } });");
    let (core, _) = mistake("scenario(#{ seconds: 1, pallets: #{\n core: #{} } });");
    assert!(core.starts_with("it.rhai:2:2: pallets.core: core is the program's own"), "{core}");
    assert!(told.starts_with("it.rhai:2:2: pallets: \"a b/\" is no pallet id: a-z, 0-9"), "{told}");
}

#[test]
fn a_peer_is_itself_and_nobody_else() {
    let text =
        "peer(\"bob\", #{}); at(1, || { let bob = peer(\"bob\"); let main = server(\"main\");
        expect(\"itself\", ada == peer(\"ada\") && main == server(\"main\"));
        expect(\"among\", [bob, ada].contains(ada) && ![bob].contains(ada));
        expect(\"nobody else\", ada != bob && !(ada == bob) && !(main != server(\"main\"))); });";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
}
