//! A map, or a pallet, that is not there is missing, wherever a script names it.

use super::*;

#[test]
fn a_map_that_is_not_there_is_missing_and_nothing_is_started() {
    let text = "scenario(#{ seconds: 2, servers: #{ main: #{ map: \"nowhere\" } } });";
    let (mistake, missing) = mistake(text);
    assert!(mistake.contains("there is no map \"nowhere\"") && missing, "{mistake}");
    assert!(Script::new("it.rhai", text).plan().unwrap_err().missing);
}

#[test]
fn a_map_that_no_pallet_of_a_server_holds_is_missing_written_out_or_worked_out() {
    let top = "scenario(#{ seconds: 2, pallets: #{ hill: #{}, lake: #{} },
        servers: #{ main: #{}, next: #{ pallets: [\"lake\"] } } });\n";
    let whole = "hill:assets/main.dh-map";
    for (map, told) in [
        ("hill:nope.dh-map", "pallet \"hill\" holds hill:assets/main.dh-map alone; expected"),
        ("hill:assets/mani.dh-map", "alone; did you mean \"hill:assets/main.dh-map\"?"),
        ("hill:", "alone; did you mean \"hill\"?"),
        ("hil", "no pallet \"hil\" among [hill, lake]; did you mean \"hill\"?"),
        (":hill", "no pallet \"\" among [hill, lake]; did you mean \"hill\"? expected one of"),
        ("core:assets/domo.dh-map", "; did you mean \"core:assets/demo.dh-map\"? expected one"),
        ("core", "; expected one of `pallets`, core:assets/demo.dh-map, core:assets/gray-box"),
    ] {
        let written = format!("{top}at(1, || server(\"main\").map(\"{map}\"));");
        let read = Script::new("it.rhai", &*written).mistakes();
        assert!(read.len() == 1 && read[0].missing, "{map}: {read:?}");
        let made = format!("{top}let map = \"{map}\";\nat(1, || server(\"main\").map(map));");
        let ran = mistake(&made);
        for (at, (mistake, missing)) in [("3:29", (read[0].to_string(), true)), ("4:25", ran)] {
            let start = format!("it.rhai:{at}: there is no map \"{map}\"");
            assert!(mistake.starts_with(&start) && missing, "{mistake}");
            assert!(mistake.contains(told), "{mistake}");
        }
    }
    let text = format!("{top}at(1, || server(\"next\").map(\"hill\"));");
    let (told, missing) = mistake(&text);
    assert!(told.contains("no pallet \"hill\" among [lake]; ") && missing, "{told}");
    let text = "at(0.5, || server(\"main\").map(\"core:assets/gray-box.dh-map\"));
        at(1, || server(\"main\").console(\"map nowhere\"));
        at(1.9, || { let main = server(\"main\");
            expect(\"answer\", main.answers.some(|it| it.contains(\"nowhere\")));
            expect(\"map \" + main.map, main.map == \"core:assets/gray-box.dh-map\"); });";
    assert_eq!(failures(&format!("{top}{text}")), [""; 0]);
    let text = format!("{top}at(0.5, || server(\"main\").map(\"{whole}\"));");
    assert_eq!(failures(&text), [""; 0]);
}

#[test]
fn what_a_server_is_to_change_to_is_never_the_gray_box_whatever_is_wrong_with_the_map() {
    let top = "scenario(#{ seconds: 2, pallets: #{ hill: #{} } });\n";
    for map in ["", "hil"] {
        let told = mistake(&format!("{top}server(\"main\").map(\"{map}\");")).0;
        let (_, remedy) = told.split_once("expected ").unwrap();
        assert!(remedy.starts_with("one of `pallets`, core:assets/demo.dh-map"), "{told}");
        assert!(!remedy.contains("\"\""), "{told}");
    }
}

#[test]
fn a_server_is_given_only_pallets_that_there_are() {
    let text = "scenario(#{ seconds: 2, pallets: #{ hill: #{} },
        servers: #{ main: #{ pallets: [\"hil\"] } } });";
    let told = mistake(text).0;
    let start = "it.rhai:2:30: servers.main.pallets: no pallet is called \"hil\"; did you mean";
    assert!(told.starts_with(start), "{told}");
}
