//! What is wrong with a script shows by reading it, and what is right is not told of.

use super::*;

/// What is told of a script that is read and not run.
fn mistakes(text: &str) -> Vec<String> {
    let script = Script::new("it.rhai", format!("{ADA}{text}"));
    script.mistakes().iter().map(ScriptError::to_string).collect()
}

#[test]
fn what_needs_no_running_is_told_by_reading() {
    let cases = [
        ("at(1, || server(\"mian\").kill());", "3:17: no server is called \"mian\"; did you mean"),
        ("at(1, || peer(\"bob\").join());", "3:15: no peer is called \"bob\"; expected one of ada"),
        (
            "at(1, || peer(\"ada\").jmup());",
            "3:22: no word is called \"jmup\"; did you mean \"jump\"",
        ),
        ("at(1, || ada.plaing);", "3:14: no property of a peer is called \"plaing\"; did you mean"),
        ("let all = [ada]; at(1, || all[0].plaing);", "no property is called \"plaing\""),
        ("at(1, || ada.pawns);", "3:14: no property of a peer is called \"pawns\""),
        ("at(1, || ada.panic(\"predictor\", 0));", "3:33: panic: expected 1 or more, found 0"),
        (
            "at(1, || ada.panic(\"prediktor\", 1));",
            "no actor is called \"prediktor\"; did you mean",
        ),
        ("at(1, || ada.metric(\"tick\", \"depth\"));", "3:21: no actor is called \"tick\""),
        ("at(1, || ada.metric(\"predictor\", \"deth\"));", "no figure is called \"deth\""),
        ("at(1, || server(\"main\").map(\"nope\"));", "3:29: there is no map \"nope\""),
        ("at(1, || server(\"main\").pref(\"server.nam\"));", "did you mean server.name?"),
        ("at(1, || on(ada, \"playin\", || 1));", "no event is called \"playin\"; did you mean"),
        ("at(1, || ada.role(\"waker\"));", "no role is called \"waker\"; did you mean \"walker\"?"),
        ("at(1, || ada.link(\"home\"));", "no link is called \"home\"; there is none"),
        ("at(1, || ada.walk(2, 0));", "3:19: right: expected -1 to 1, found 2"),
        ("at(1, || after(9, || 1));", "after: the scenario ends at 2 s, so 9 s never comes"),
        (
            "at(1, || expect(\"a\"));",
            "3:10: expected expect(\"name\", condition), found 1 argument",
        ),
        ("at(1, || ada.jump(\"yes\"));", "jump: expected true or false, found string `yes`"),
        ("fn f(it) { it.leaf() } at(1, || f(ada));", "no word is called \"leaf\"; did you mean"),
        ("at(1, || g(ada));", "3:10: no word is called \"g\""),
    ];
    for (text, told) in cases {
        let told_of = mistakes(text);
        assert!(told_of.len() == 1 && told_of[0].contains(told), "{text}: {told_of:?}");
    }
}

#[test]
fn every_mistake_is_told_and_the_one_that_stopped_it_once() {
    let text = "at(1, || ada.jmp(true));\nada.walk(3, 0);\nat(1, || ada.plaing);\n";
    let told = mistakes(text);
    let starts = ["it.rhai:3:14: no word", "it.rhai:4:5: right: ", "it.rhai:5:14: no property"];
    assert_eq!(told.len(), starts.len(), "{told:?}");
    for (told, start) in told.iter().zip(starts) {
        assert!(told.starts_with(start), "{told}");
    }
}

#[test]
fn what_is_right_is_not_told_of() {
    for text in [
        "let seen = #{ at: 0.0 }; at(1, || { seen.at = now(); seen.more = 1; print(seen.more); });",
        "let all = [ada]; at(1, || { for it in all.filter(|it| it.playing) { it.say(\"hu\"); } });",
        "at(1, || { let it = server(\"main\"); it.console(\"say \" + it.players.len()); });",
        "let main = server(\"main\"); on(main, \"joined\", |name| peer(name).jump(true));",
        "at(1, || { spawn(1, \"idle\", 0); peer(\"idle-2\").leave(); });",
        "at(1, || { peer(\"b\", #{}); peer(\"b\").leave(); });",
        "at(1, || { let n = \"c\"; peer(n, #{}); peer(\"c\").leave(); });",
        "fn f(ada) { ada.len() } at(1, || f([1]));",
        "at(1, || print(ada.position.x + ada.endings.map(|it| it.kind).len()));",
        "at(1, || { try { ada.metric(\"presenter\", \"depth\"); } catch {} });",
    ] {
        assert_eq!(mistakes(text), [""; 0], "{text}");
        assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
    }
}

#[test]
fn a_build_that_there_is_none_of_is_told_with_what_was_expected() {
    let cases = [
        ("\"newer-9\"", "ada.build: no build is called \"newer-9\"; did you mean \"newer-"),
        ("3", "expected the name of a build or an array of #{...}, found"),
        ("[#{}]", "expected one of drop, add, remove, place, widen, renumber, rename"),
        ("[#{ drop: \"serverChat\", widen: \"Form\" }]", "expected one of drop, add"),
        ("[#{ drop: \"servrChat\" }]", "no message is called \"servrChat\"; did you mean \"serv"),
        ("[#{ drop: \"schemaHash\" }]", "schemaHash"),
        ("[#{ widen: \"ClientInf.name\" }]", "no shape is called \"ClientInf\"; did you mean \"Cl"),
        ("[#{ widen: \"ClientInfo.nam\" }]", "no part of ClientInfo is called \"nam\"; did you"),
        ("[#{ renumber: \"ChatKin\" }]", "no shape is called \"ChatKin\"; did you mean \"ChatKind"),
        ("[#{ remove: \"Buttons.fsat\" }]", "no part of Buttons is called \"fsat\""),
        ("[#{ remove: \"ClientInfo\" }]", "remove: expected Shape.field, found ClientInfo"),
        ("[#{ add: \"ClientInfo.a\" }]", "add: expected `kind` beside it"),
        ("[#{ add: \"ClientInfo.a\", kind: \"u9\" }]", "add: kind: expected a kind as dh wire"),
        ("[#{ add: \"ClientInfo.a\", kind: \"Nope\" }]", "no shape of this name"),
        ("[#{ add: \"ClientInfo.a\", kind: \"u8\", at: -1 }]", "add: at: expected 0 or more"),
        ("[#{ rename: \"ClientInfo.name\" }]", "rename: expected `to` beside it"),
        ("[#{ drops: \"serverChat\" }]", "no entry of a change is called \"drops\""),
    ];
    for (build, told) in cases {
        let peers = format!("peers: #{{ ada: #{{ build: {build} }} }}");
        let script = Script::new("it.rhai", format!("scenario(#{{ seconds: 2, {peers} }});"));
        let told_of: Vec<String> = script.mistakes().iter().map(ScriptError::to_string).collect();
        assert!(told_of.len() == 1 && told_of[0].contains(told), "{build}: {told_of:?}");
    }
}
