//! Whoever was killed is gone: nothing is heard of them, and nothing reads as if they were there.

use dh_host::{RealOptions, Runtime};

use super::*;

/// Two who play until one of them is killed, and nobody has noticed two seconds later.
const KILLED: &str = "scenario(#{ seconds: 4, peers: #{ ada: #{}, bob: #{} } });
    let ada = peer(\"ada\"); let bob = peer(\"bob\"); let main = server(\"main\");
    expect_within(2, \"both play\", || ada.playing && bob.playing);
    at(2, || ada.kill());
    at(2.1, || expect(\"she is gone\", !ada.playing && ada.state == \"gone\"));
    at(4, || { expect(\"nobody heard of it: \" + main.left, main.left == []);
               expect(\"her pawn stands\", main.pawns == 2 && !ada.playing); });";

/// Her server misses her when nothing came for as long as a path may carry nothing.
const MISSED: &str = "scenario(#{ seconds: 16, peers: #{ ada: #{} } });
    let ada = peer(\"ada\"); let main = server(\"main\");
    at(2, || ada.kill());
    at(11, || expect(\"not yet: \" + main.left, main.left == []));
    at(15, || expect(\"by the clock: \" + main.left, main.left == [\"Timeout\"]));";

#[test]
fn a_peer_that_is_killed_says_no_goodbye_on_any_transport() {
    for text in [KILLED, MISSED] {
        for transport in [Transport::Memory, Transport::Quic] {
            let conditions = Conditions { transport: Some(transport), ..Conditions::default() };
            let ran = Script::new("it.rhai", text).simulate(&conditions).unwrap();
            let failures = (&ran.report.failures, &ran.mistake);
            assert!(ran.passed(), "{transport:?}: {failures:?}");
        }
    }
    let runtime = Runtime::real(RealOptions::for_this_machine()).unwrap();
    let script = Script::new("it.rhai", KILLED);
    let conditions = Conditions::default();
    let ran = runtime.block_on(script.perform(runtime.clone(), &conditions)).unwrap();
    runtime.stop().unwrap();
    assert!(ran.passed(), "{:?} {:?}", ran.report.failures, ran.mistake);
}

#[test]
fn what_a_peer_is_told_once_it_was_killed_is_a_mistake_with_its_place() {
    for order in [
        "join()",
        "join(server(\"main\"))",
        "say(\"x\")",
        "leave()",
        "kill()",
        "jump(true)",
        "role(\"walker\")",
        "frames(60)",
        "cut()",
        "disk_fail(1)",
        "disk_room(0)",
        "disk_free()",
        "panic(\"predictor\")",
    ] {
        let (told, _) = mistake(&format!("{ADA}at(1, || ada.kill());\nat(1.5, || ada.{order});"));
        let expected = "it.rhai:4:16: ada was killed, and stays so; expected this before, or";
        assert!(told.starts_with(expected), "{order}: {told}");
    }
    let told = mistake(&format!("{ADA}ada.kill(); ada.join();")).0;
    assert!(told.starts_with("it.rhai:3:17: ada was killed, and stays so"), "{told}");
}

#[test]
fn a_role_and_a_storm_ask_nothing_of_a_peer_that_was_killed() {
    let text = "scenario(#{ seconds: 20, peers: #{ ada: #{ role: \"joiner\" },
            eve: #{ role: \"chatter\" } } });
        at(3, || { peer(\"ada\").kill(); peer(\"eve\").kill(); });
        chaos(#{ faults: 40, from: 3, to: 15 });
        eventually(\"gone\", || now() > 19 && peer(\"ada\").state == \"gone\");";
    assert_eq!(failures(text), [""; 0]);
}

#[test]
fn a_figure_of_a_server_that_is_down_is_none_and_a_wrong_name_is_a_mistake_then_too() {
    let text = "let main = server(\"main\");
        at(0.5, || main.kill());
        at(1, || { expect(\"count\", main.metric(\"roster\", \"handled\") == 0);
                   expect(\"time\", main.metric(\"tick\", \"late_ms\") == 0.0); });
        at(1.2, || { main.start(); ada.join(); });
        at(1.7, || { expect(\"anew\", main.metric(\"roster\", \"handled\") > 0); ada.kill(); });
        at(1.9, || expect(\"peer\", ada.metric(\"predictor\", \"handled\") == 0));";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
    for (actor, figure, told) in [
        ("rosta", "depth", "no actor is called \"rosta\"; expected one of listener"),
        ("roster", "deth", "no figure is called \"deth\"; did you mean \"depth\"?"),
    ] {
        let text = format!(
            "{ADA}let main = server(\"main\"); let names = [\"{actor}\", \"{figure}\"];
            at(0.5, || main.kill()); at(1, || main.metric(names[0], names[1]));"
        );
        let (mistake, _) = mistake(&text);
        assert!(mistake.contains(told), "{mistake}");
    }
}
