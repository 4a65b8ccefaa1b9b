//! What is wrong before time passes is told alike by whoever reads a script and whoever runs it.

use super::*;

/// Somebody, two servers of which one has another pallet, and half a minute.
const TOP: &str = "scenario(#{ seconds: 35, pallets: #{ hill: #{}, hall: #{} },
    servers: #{ main: #{ pallets: [\"hill\"] }, next: #{ starts: false } },
    peers: #{ ada: #{} } });
let ada = peer(\"ada\"); let main = server(\"main\");\n";

/// Everything that is told of a script without running it. Running it tells the first of it.
fn mistakes(text: &str) -> Vec<String> {
    let script = Script::new("it.rhai", text);
    let read = script.mistakes();
    let ran = match script.simulate(&Conditions::default()) {
        Err(mistake) => Some(mistake),
        Ok(ran) => ran.mistake,
    };
    assert_eq!(read.first(), ran.as_ref(), "{text}");
    read.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_run_refuses_is_refused_by_a_check_in_the_same_words_and_the_other_way_round() {
    for (text, told) in [
        ("at(99, || 1);", "5:1: at: the scenario ends at 35 s, so 99 s never comes"),
        ("at(1, || at(99, || 1));", "5:13: at: the scenario ends at 35 s, so 99 s never comes"),
        ("let late = 99; at(late, || 1);", "5:16: at: the scenario ends at 35 s, so 99 s"),
        ("every(40, || 1);", "5:1: every: the scenario ends at 35 s, so 40 s never comes"),
        ("let late = 40; every(late, || 1);", "5:16: every: the scenario ends at 35 s, so 40 s"),
        ("at(1, || every(40, || 1));", "5:16: every: the scenario ends at 35 s, so 40 s never"),
        ("after(40, || 1);", "5:1: after: the scenario ends at 35 s, so 40 s never comes"),
        ("expect_within(36, \"x\", || true);", "5:1: expect_within: the scenario ends at 35 s"),
        ("at(1, || expect_within(36, \"x\", || true));", "5:24: expect_within: the scenario ends"),
        ("main.map(\"\");", "5:6: map: a server only starts with the gray box; expected one of"),
        ("at(1, || main.map(\"\"));", "5:19: map: a server only starts with the gray box; exp"),
        ("at(1, || main.map(\"hall\"));", "5:19: there is no map \"hall\": no pallet \"hall\" amo"),
        ("at(1, || server(\"main\").map(\"hall\"));", "5:29: there is no map \"hall\": no pallet"),
        ("at(1, || ada.jmp());", "5:14: no word is called \"jmp\"; did you mean \"jump\"?"),
        ("at(1, || peer(\"bob\").jump(true));", "5:15: no peer is called \"bob\""),
        ("ada.join(server(\"next\"));", "5:5: ada joins server next, which has not been started"),
        ("at(0, || nobody);", "5:10: "),
        ("main.start();", "5:6: server main runs already"),
        ("peer(\"bob\", #{ joins: 99 });", "5:1: joins: the scenario ends at 35 s, so 99 s"),
        ("if false { never(\"x\", || true) }", "5:12: this check can never be evaluated: a `retu"),
    ] {
        let all = mistakes(&format!("{TOP}{text}"));
        assert_eq!(all.len(), 1, "{text}: {all:?}");
        assert!(all[0].starts_with(&format!("it.rhai:{told}")), "{text}: {all:?}");
    }
    for lawful in [
        "at(1, || main.map(\"hill\"));",
        "at(1, || server(\"next\").start()); at(2, || server(\"next\").map(\"hall\"));",
        "at(35, || 1); every(35, || 1);",
    ] {
        assert_eq!(mistakes(&format!("{TOP}{lawful}")), [""; 0]);
    }
}

#[test]
fn no_mistake_of_the_data_hides_another() {
    let text = "scenario(#{ second: 3,
            seconds: 5, size: \"huge\", transport: \"tcp\",
            links: #{ home: #{ loss: 101, lose: 1,
                mtu: -1 }, wide: #{ up: #{ rate: \"x\" } }, flat: 3 },
            pallets: #{ core: #{}, hill: #{ floor: 9999,
                bytes: -1 } },
            servers: #{ main: #{ map: \"hall\",
                pallets: [\"nope\"], prefs: #{ \"server.nam\": 1, \"x\": 2 } } },
            peers: #{ ada: #{ role: \"waker\", link: \"hom\", joins: 9,
                server: \"mian\" }, bob: 1 } });
        at(1, || peer(\"ada\").link(\"home\"));
        at(1, || peer(\"eve\").jump(true));";
    let all = mistakes(text);
    let places: Vec<&str> = all.iter().map(|it| it.strip_prefix("it.rhai:").unwrap()).collect();
    let told = [
        "1:13: no entry of scenario is called \"second\"; did you mean \"seconds\"?",
        "2:25: size: no size is called \"huge\"",
        "2:39: transport: no transport is called \"tcp\"",
        "3:32: links.home.loss: expected 0 to 100, found 101",
        "3:43: links.home: no entry of a link is called \"lose\"; did you mean \"loss\"?",
        "4:17: links.home.mtu: expected 0 to 65535, found -1",
        "4:44: links.wide.up.rate: expected a number",
        "4:59: links.flat: link: expected an object map",
        "5:25: pallets.core: core is the program's own pallet",
        "5:45: pallets.hill.floor: expected -1000 to 1000 metres",
        "6:17: pallets.hill.bytes: expected 0 to",
        "7:34: servers.main.map: there is no map \"hall\"",
        "8:17: servers.main.pallets: no pallet is called \"nope\"",
        "8:46: servers.main.prefs.server.nam: no preference",
        "8:63: servers.main.prefs.x: no preference",
        "9:31: peers.ada.role: no role is called \"waker\"",
        "9:46: peers.ada.link: no link is called \"hom\"",
        "9:59: peers.ada.joins: the scenario ends at 5 s, so 9 s never comes",
        "10:17: peers.ada.server: no server is called \"mian\"",
        "10:35: peers.bob: a peer: expected an object map",
        "12:23: no peer is called \"eve\"",
    ];
    for (nth, told) in told.iter().enumerate() {
        let found = places.get(nth).copied().unwrap_or_default();
        assert!(found.starts_with(told), "{told}: {places:#?}");
    }
    assert_eq!(places.len(), told.len(), "{places:#?}");
    let many: Vec<String> = (0..50).map(|nth| format!("p{nth}: #{{ role: \"x\" }}")).collect();
    let many =
        mistakes(&format!("scenario(#{{ seconds: 1, peers: #{{ {} }} }});", many.join(", ")));
    assert_eq!(many.len(), limit::MISTAKES_MAX);
}
