//! What holds in every world is broken by no scenario that is right.

use super::*;

/// The scenario runs well under three seeds, over either transport.
fn is_quiet(text: &str) {
    for (seed, transport) in
        (1..=3).flat_map(|seed| [Transport::Memory, Transport::Quic].map(|it| (seed, it)))
    {
        let transport = Some(transport);
        let conditions = Conditions { seed, transport, ..Conditions::default() };
        let ran = Script::new("it.rhai", text).simulate(&conditions).unwrap();
        let failures = (&ran.report.failures, &ran.mistake);
        assert!(ran.passed(), "{transport:?}, seed {seed}: {failures:?}: {text}");
    }
}

#[test]
fn players_whose_names_are_those_of_other_peers_are_told_apart() {
    is_quiet(
        "scenario(#{ seconds: 8, peers: #{
            ada: #{ role: \"walker\", prefs: #{ \"client.name\": \"zed\" } },
            bob: #{ joins: 2, prefs: #{ \"client.name\": \"ada\" } },
        } });
        at(7, || expect(\"both play\", peer(\"ada\").playing && peer(\"bob\").playing));",
    );
}

#[test]
fn a_line_that_ends_with_its_session_is_missed_by_nobody() {
    let top = "scenario(#{ seconds: 20, servers: #{ a: #{}, b: #{} }, peers: #{
            ada: #{ server: \"a\" }, bob: #{ server: \"a\", link: #{ latency: 25 } } } });
        let ada = peer(\"ada\"); let bob = peer(\"bob\");
        let a = server(\"a\"); let b = server(\"b\");";
    for what in [
        "for it in [ada, bob] { it.say(\"bye\"); it.leave(); it.join(); }",
        "for it in [ada, bob] { it.say(\"before\"); it.join(b); it.say(\"after\"); }",
        "for it in [ada, bob] { it.say(\"x\"); } after(0.01, || a.kill());",
        "a.kill(); after(1, || for it in [ada, bob] { it.say(\"is anybody there?\"); });",
        "for it in [ada, bob] { it.panic(\"connection\"); it.say(\"x\"); }",
        "a.panic(\"chat\"); a.panic(\"roster\"); for it in [ada, bob] { it.say(\"x\"); }",
    ] {
        is_quiet(&format!("{top}\nat(6, || {{ {what} }});"));
    }
}

#[test]
fn a_path_on_which_nobody_could_follow_is_not_taken_for_a_whole_one() {
    for link in [
        "loss: 8, burst: 120",
        "loss: 10, burst: 30",
        "latency: 480",
        "latency: 250, rate: 30, queue: 100",
    ] {
        is_quiet(&format!(
            "scenario(#{{ seconds: 24, peers: #{{
                ada: #{{ role: \"walker\", link: #{{ {link} }} }}, bob: #{{ role: \"walker\" }},
            }} }});"
        ));
    }
}

#[test]
fn the_scenario_that_people_read_first_is_right() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let blocks: Vec<&str> = readme.split("```rhai\n").skip(1).collect();
    assert!(!blocks.is_empty());
    blocks.iter().for_each(|block| is_quiet(block.split("```").next().unwrap()));
}
