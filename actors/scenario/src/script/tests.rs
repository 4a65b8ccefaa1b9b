//! Scripts that are wrong are refused with their place; others give one course a seed.

mod bounds;
mod first;
mod gone;
mod maps;
mod quiet;
mod reach;
mod reading;
mod told;

use std::collections::BTreeSet;

use super::*;

/// The mistake of a script, as it is told, and whether something is missing.
fn mistake(text: &str) -> (String, bool) {
    let script = Script::new("it.rhai", text);
    let ran = script.simulate(&Conditions::default());
    let mistake = match ran {
        Err(mistake) => mistake,
        Ok(ran) => ran.mistake.unwrap_or_else(|| panic!("no mistake in {text}")),
    };
    (mistake.to_string(), mistake.missing)
}

const ADA: &str = "scenario(#{ seconds: 2, peers: #{ ada: #{} } });\nlet ada = peer(\"ada\");\n";

fn ran(text: &str) -> Ran {
    Script::new("it.rhai", text).simulate(&Conditions::default()).unwrap()
}

fn failures(text: &str) -> Vec<String> {
    let ran = ran(text);
    assert_eq!(ran.mistake, None, "{text}");
    ran.report.failures.iter().map(|failure| failure.what.clone()).collect()
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_was_expected() {
    let cases = [
        ("at(1, || 2);", "it.rhai:1:1: expected `scenario(#{...})` before anything else"),
        ("let a = 1;", "it.rhai: expected `scenario(#{ seconds: N })` at the top"),
        ("scenario(#{ seconds: 2 );", "it.rhai:1:24: Expecting '}' to end this object map"),
        (
            "scenario(#{ second: 2 });",
            "1:13: no entry of scenario is called \"second\"; did you mean \"seconds\"? (",
        ),
        ("scenario(#{ seconds: 61 });", "1:13: seconds: a small scenario runs at most 60"),
        ("scenario(#{ seconds: \"x\" });", "1:13: seconds: expected a number, found string `x`"),
        ("scenario(#{ seconds: 0 });", "1:13: seconds: expected more than 0"),
        (
            "scenario(#{ seconds: 2,\n transport: \"tcp\" });",
            "2:2: transport: no transport is called \"tcp\"; expected one of quic, memory",
        ),
        (
            "scenario(#{ seconds: 2, peers: #{\n a: #{\n role: \"waker\" } } });",
            "3:2: peers.a.role: no role is called \"waker\"; did you mean \"walker\"?",
        ),
        (
            "scenario(#{ seconds: 2, peers: #{\n a: #{ link: #{\n lose: 1 } } } });",
            "3:2: peers.a.link: no entry of a link is called \"lose\"; did you mean \"loss\"?",
        ),
        (
            "scenario(#{ seconds: 2, peers: #{\n a: #{ link: #{ up: #{\n loss: 101 } } } } });",
            "3:2: peers.a.link.up.loss: expected 0 to 100, found 101",
        ),
        (
            "scenario(#{ seconds: 2, links: #{\n home: #{ loss: true } } });",
            "2:11: links.home.loss: expected a number, found bool `true`",
        ),
        (
            "scenario(#{ seconds: 2, peers: #{\n a: #{ link: \"hom\" } } });",
            "2:8: peers.a.link: no link is called \"hom\"; there is none",
        ),
        (
            "scenario(#{ seconds: 2, servers: #{ a: #{ prefs: #{ \"server.nam\": 1 } } } });",
            "1:53: servers.a.prefs.server.nam: no preference is called `server.nam`; did you \
             mean server.name?",
        ),
        (
            "scenario(#{ seconds: 2, servers: #{ a: #{\n prefs: #{ \"server.maxPlayers\": 0 \
             } } } });",
            "2:12: servers.a.prefs.server.maxPlayers: expected a whole number from 1 to 64, \
             found `0`",
        ),
        (
            "scenario(#{ seconds: 2, pallets: #{ a: #{ floor: 9999 } } });",
            "1:43: pallets.a.floor: expected -1000 to 1000 metres",
        ),
        (
            "scenario(#{ seconds: 2, servers: #{ b: #{ starts: false } },\n peers: #{ a: #{} } });",
            "2:12: peers.a: a joins server b, which has not been started; expected \
             server(\"b\").start() before",
        ),
        (
            "let link = #{ loss: 101 };\nscenario(#{ seconds: 2, links: #{ home: link } });",
            "2:35: links.home.loss: expected 0 to 100, found 101",
        ),
    ];
    for (text, told) in cases {
        let (mistake, missing) = mistake(text);
        assert!(mistake.starts_with("it.rhai:") && mistake.contains(told), "{text}: {mistake}");
        assert!(!missing, "{text}");
    }
}

#[test]
fn what_is_asked_of_peers_and_servers_is_told_with_its_place_too() {
    let cases = [
        (
            "on(ada, \"playin\", || 1);",
            "3:1: no event is called \"playin\"; did you mean \"playing\"?",
        ),
        ("peer(\"ada\", #{});", "3:1: two peers are called \"ada\""),
        ("peer(\"bob\");", "3:1: no peer is called \"bob\""),
        ("server(\"mian\");", "3:1: no server is called \"mian\"; did you mean \"main\"?"),
        ("let p = ada.playing;", "3:13: nothing runs yet"),
        ("at(3, || 1);", "3:1: at: the scenario ends at 2 s, so 3 s never comes"),
        ("expect_within(3, \"x\", || true);", "3:1: expect_within: the scenario ends at 2 s"),
        ("at(1, || ada.jmp(true));", "3:14: no word is called \"jmp\"; did you mean \"jump\"?"),
        ("at(1, || ada.jump(3));", "3:19: jump: expected true or false, found i64 `3`"),
        ("at(1, || ada.walk(2, 0));", "3:19: right: expected -1 to 1, found 2"),
        ("never(\"x\", || 3);", "3:1: expected a condition, true or false, found i64"),
        ("at(1, || { loop {} });", "3:1: it does not end within 2000000 operations"),
        ("fn f() { f() } at(1, || f());", "3:"),
        ("at(1, || ada.metric(\"tick\", \"depth\"));", "no actor is called \"tick\""),
        ("at(1, || ada.metric(\"predictor\", \"deth\"));", "did you mean \"depth\"?"),
        ("at(1, || server(\"main\").pref(\"server.nam\"));", "did you mean server.name?"),
        ("at(1, || ada.plaing);", "3:14: no property of a peer is called \"plaing\"; did you mean"),
        ("at(1, || expect(\"a\", 1));", "3:22: expect: expected true or false, found i64 `1`"),
        ("peer(\"bob\", #{\n joins: 9 });", "joins: the scenario ends at 2 s, so 9 s never comes"),
        ("spawn(1, \"idle\", 1, #{ lin: 1 });", "3:24: no entry of a peer is called \"lin\""),
        ("ada.link(#{ loss: 101 });", "3:13: loss: expected 0 to 100, found 101"),
        ("spawn(1, \"idle\", 1, #{ role: \"x\" });", "3:24: role: said before it; expected no"),
        ("spawn(1, \"idle\", 1, #{ joins: 1 });", "3:24: joins: expected false, or none"),
        ("chaos(#{ faults: 1, from: 1, to: 3 });", "to: the scenario ends at 2 s, so 3 s never"),
        ("spawn(9, \"idle\", 0);", "expected at most 8 peers; say `size: \"large\"` for more"),
        ("every(0, || 1);", "every: expected at least 0.001 seconds"),
        ("at(1, || eval(\"1\"));", "eval"),
        ("at(1, || exit());", "3:10: a scenario ends when its `seconds` are over"),
        ("at(1, || exit(3));", "3:10: a scenario ends when its `seconds` are over"),
        ("import \"x\" as x;", "3:"),
    ];
    for (text, told) in cases {
        let (mistake, _) = mistake(&format!("{ADA}{text}"));
        assert!(mistake.starts_with("it.rhai:3") && mistake.contains(told), "{text}: {mistake}");
    }
}

#[test]
fn a_check_that_nothing_reaches_is_a_mistake_and_one_under_a_condition_is_not() {
    let never = "on(ada, \"ended\", |why| {\n    expect(\"kicked\", why == \"\");\n});";
    let (mistake, _) = mistake(&format!("{ADA}{never}"));
    assert!(mistake.starts_with("it.rhai:4:5: this check was never evaluated"), "{mistake}");
    let under = "at(1, || if ada.slot > 70 { expect(\"unreachable\", false); });";
    assert!(failures(&format!("{ADA}{under}")).is_empty());
}

#[test]
fn a_check_in_a_loop_that_goes_round_no_time_is_no_mistake() {
    let text = "at(1, || { for it in ada.endings { expect(\"unreachable\", false); } });";
    assert!(failures(&format!("{ADA}{text}")).is_empty());
}

#[test]
fn each_kind_of_check_fails_when_and_only_when_it_should() {
    let cases = [
        ("at(1, || expect(\"a\", ada.playing));", None),
        ("at(1, || expect(\"a\", !ada.playing));", Some("expected: a")),
        ("expect_within(1, \"b\", || ada.playing);", None),
        ("expect_within(1, \"b\", || ada.spawns == 2);", Some("expected in time: b")),
        ("eventually(\"c\", || ada.playing);", None),
        ("eventually(\"c\", || now() > 3.0);", Some("expected in time: c")),
        ("never(\"d\", || ada.spawns > 1);", None),
        ("never(\"d\", || ada.playing);", Some("expected never: d")),
    ];
    for (text, told) in cases {
        let failures = failures(&format!("{ADA}{text}"));
        assert_eq!(failures.first().map(String::as_str), told, "{text}");
    }
}

#[test]
fn a_check_that_fails_tells_its_place_its_text_and_what_it_found() {
    let cases = [
        (
            "at(1, || expect(\"a\",\n    ada.endings.len() > 0 ||\n    !ada.playing));",
            "at 1.000 s expected: a [it.rhai:3:10: \
             expect(\"a\", ada.endings.len() > 0 || !ada.playing); \
             found ada.endings = [], ada.playing = true]",
        ),
        (
            "let n = 7; expect_within(1, \"b\", || ada.spawns == n);",
            "at 1.001 s expected in time: b [it.rhai:3:12: \
             expect_within(1, \"b\", || ada.spawns == n); found n = 7, ada.spawns = 1]",
        ),
        (
            "never(\"d\", || ada.metric(\"predictor\", \"restarts\") == 0);",
            "at 0.000 s expected never: d [it.rhai:3:1: \
             never(\"d\", || ada.metric(\"predictor\", \"restarts\") == 0); \
             found ada.metric(\"predictor\", \"restarts\") = 0]",
        ),
        (
            "eventually(\"e\", || false);",
            "at 2.000 s expected in time: e [it.rhai:3:1: eventually(\"e\", || false)]",
        ),
    ];
    for (text, told) in cases {
        let ran = ran(&format!("{ADA}{text}"));
        assert_eq!(ran.mistake, None, "{text}");
        assert_eq!(ran.report.failures[0].to_string(), told);
    }
}

#[test]
fn callbacks_come_at_their_times_and_hear_what_happened() {
    let text = "
        let seen = [];
        at(1, || seen.push(\"one\"));
        at(0.5, || after(1, || seen.push(\"half and one\")));
        every(0.8, || seen.push(\"again\"));
        on(ada, \"spawned\", |slot| seen.push(\"slot \" + slot));
        on(ada, \"playing\", || seen.push(\"plays\"));
        eventually(\"in order\", || seen == [
            \"plays\", \"slot 0\", \"again\", \"one\", \"half and one\", \"again\"]);";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
}

#[test]
fn chance_gives_all_that_its_words_promise_and_nothing_else() {
    let text = "at(1, || {
        let rolls = [];
        let picks = [];
        let shares = [];
        for n in 0..200 {
            rolls.push(dice(3));
            picks.push(pick([\"a\", \"b\"]));
            shares.push(random());
        }
        for side in 0..=4 {
            expect(\"1 to 3: \" + side, rolls.contains(side) == (side >= 1 && side <= 3));
        }
        expect(\"each element\", picks.contains(\"a\") && picks.contains(\"b\"));
        for share in shares { expect(\"from 0 up to 1\", share >= 0.0 && share < 1.0); }
    });";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
}

const BUSY: &str = "
    scenario(#{ seconds: 12, transport: \"quic\",
        links: #{ bad: #{ latency: 40, jitter: 10, loss: 4, burst: 3 } },
        pallets: #{ hill: #{ floor: 5, bytes: 100000 } } });
    let main = server(\"main\");
    let crowd = spawn(3, \"jumper\", 1, #{ link: \"bad\" });
    let others = spawn(1, \"chatter\", 1) + spawn(1, \"joiner\", 1) + spawn(1, \"downloader\", 1);
    at(3, || main.map(\"hill\"));
    at(dice(3) + 4, || pick(crowd).cut());
    at(8, || { for peer in crowd { peer.heal(); } });
    at(9, || crowd[0].rebind());
    at(6, || main.panic(\"roster\", main.metric(\"roster\", \"handled\") + dice(20)));
    eventually(\"all play\", || now() > 11 && crowd.filter(|it| it.playing).len() == 3);";

#[test]
fn one_seed_gives_one_course_on_any_thread_and_another_seed_another() {
    let hashes = |seed: u64| {
        let script = Script::new("it.rhai", BUSY);
        let ran = script.simulate(&Conditions { seed, ..Conditions::default() }).unwrap();
        let failures = &ran.report.failures;
        assert!(ran.passed(), "seed {seed}: {failures:?} {:?}", ran.mistake);
        (ran.report.wire.bytes, ran.report.hashes)
    };
    let alone = [1, 2].map(hashes);
    let together = std::thread::scope(|scope| {
        [1, 2].map(|seed| scope.spawn(move || hashes(seed))).map(|it| it.join().unwrap())
    });
    assert_eq!(alone, together);
    assert_ne!(alone[0], alone[1]);
}

#[test]
fn a_run_without_some_of_its_deeds_leaves_them_out_and_keeps_the_keys_of_the_rest() {
    let whole = ran(BUSY);
    let keys: Vec<String> = whole.deeds.iter().map(|deed| deed.key.clone()).collect();
    assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "each key once");
    let without: BTreeSet<String> = keys
        .iter()
        .filter(|key| key.contains("is cut off") || key.starts_with("peer c"))
        .cloned()
        .collect();
    assert!(without.len() >= 2, "{keys:?}");
    let conditions = Conditions { without, ..Conditions::default() };
    let less = Script::new("it.rhai", BUSY).simulate(&conditions).unwrap();
    assert!(less.passed(), "{:?} {:?}", less.report.failures, less.mistake);
    let names: Vec<_> = less.report.records.peers().map(|(_, it)| it.state).collect();
    assert_eq!(names.len() + 1, 6, "the chatter was never there");
}

#[test]
fn the_documents_name_every_word_once_and_say_what_it_does() {
    let list = words::list();
    assert!(60 < list.len());
    let usages: BTreeSet<&str> = list.iter().map(|word| word.usage).collect();
    assert_eq!(usages.len(), list.len());
    for word in &list {
        assert!(word.help.ends_with('.') && !word.group.is_empty(), "{word:?}");
        let name = word.name();
        let is_name = |it: char| it.is_ascii_lowercase() || it == '_';
        assert!(!name.is_empty() && name.chars().all(is_name), "{word:?}");
    }
}

/// Somebody who joined over memory, and a server to be stopped and killed.
const TWO: &str = "scenario(#{ seconds: 6, servers: #{ main: #{}, next: #{ starts: false } },
    peers: #{ ada: #{}, evil: #{ role: \"hostile\", joins: false } } });
let main = server(\"main\"); let ada = peer(\"ada\"); let evil = peer(\"evil\");\n";

#[test]
fn a_fault_that_cannot_come_is_a_mistake() {
    let cases = [
        (
            "ada.panic(\"nonesuch\", 5);",
            "4:11: no actor is called \"nonesuch\"; expected one of connection, downloader, \
             map-loader, predictor, presenter",
        ),
        ("main.panic(\"peer-x/session\", 5);", "4:12: no actor is called \"peer-x/session\""),
        (
            "main.panic(\"peer-7/session\", 5);",
            "4:6: this panic never came: peer-7/session of main is not there at the end, \
             expected 5 of them",
        ),
        ("main.panic(\"chat\", 400);", "4:6: this panic never came: chat of main had 1 message by"),
        (
            "at(3, || ada.panic(\"predictor\", 5));",
            "so message 5 is past; expected a larger number, or none for its next message",
        ),
        ("at(3, || main.panic(\"tick\", 5));", "4:15: panic: tick of main has had "),
        ("at(1, || ada.metric(\"prediktor\", \"depth\"));", "did you mean \"predictor\"?"),
        ("at(1, || main.metric(\"peer-7/blobs\", \"depth\"));", "no peer-7/blobs is there now"),
        ("at(1, || evil.say(\"hu\"));", "4:15: evil is hostile, so no player is behind it"),
        ("evil.panic(\"predictor\", 1);", "4:6: evil is hostile"),
        ("at(1, || evil.join());", "4:15: evil is hostile"),
        ("evil.frames(10);", "4:6: evil is hostile"),
        ("at(1, || main.start());", "4:15: server main runs already; expected one that was"),
        ("main.start();", "4:6: server main runs already"),
        ("at(1, || server(\"next\").kill());", "4:25: server next has not been started"),
    ];
    for (text, told) in cases {
        let (mistake, _) = mistake(&format!("{TWO}{text}"));
        assert!(mistake.starts_with("it.rhai:4:") && mistake.contains(told), "{text}: {mistake}");
    }
}

#[test]
fn a_panic_without_a_number_comes_at_the_next_message() {
    let text = "
        at(2, || ada.panic(\"predictor\"));
        at(3, || { ada.panic(\"predictor\"); main.panic(\"tick\"); });
        at(4, || expect(\"each came\", ada.metric(\"predictor\", \"panics\") == 2
            && main.metric(\"tick\", \"panics\") == 1));";
    assert_eq!(failures(&format!("{TWO}{text}")), [""; 0]);
}

#[test]
fn a_server_that_was_stopped_or_killed_is_empty_and_starts_again_over_either_transport() {
    let text = "
        let ends = [];
        on(ada, \"ended\", |how| ends.push(how));
        on(ada, \"lost\", |how| ends.push(\"lost \" + how));
        at(1, || expect(\"one\", main.players == [\"ada\"] && main.pawns == 1));
        at(1, || main.stop(\"now\"));
        at(1.5, || expect(\"none\", main.players == [] && main.pawns == 0 && main.entities == 0));
        at(2, || { main.start(); ada.join(); });
        at(3, || { expect(\"again\", main.players == [\"ada\"]); main.kill(); });
        at(3.5, || expect(\"none\", main.players == [] && main.pawns == 0));
        at(4, || { main.start(); ada.join(); });
        at(4.5, || { main.stop(\"and\"); main.start(); });
        at(5, || ada.join());
        at(5.9, || expect(\"back\", ada.playing));
        eventually(\"ends\", || ends.len() > 2 && ends[0] == \"ClosedByServer now\"
            && ends[1] == \"lost ClosedByServer now\" && ends.contains(\"Quiet \"));";
    for transport in [Transport::Memory, Transport::Quic] {
        let conditions = Conditions { transport: Some(transport), ..Conditions::default() };
        let ran = Script::new("it.rhai", format!("{TWO}{text}")).simulate(&conditions).unwrap();
        assert!(ran.passed(), "{transport:?} {:?} {:?}", ran.report.failures, ran.mistake);
    }
}

#[test]
fn what_a_callback_asks_for_after_the_end_is_left_undone() {
    let text = "
        let done = 0;
        let late = 9;
        at(1, || { after(1.5, || done += 1); after(0.5, || done += 2); at(late, || done += 4); });
        at(1, || expect_within(1.5, \"not judged\", || false));
        at(1.9, || expect(\"in time\", done == 2));";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
}

#[test]
fn a_preference_is_read_as_its_value() {
    let text = "at(1, || { let main = server(\"main\");
        expect(\"a number\", main.pref(\"server.maxPlayers\") == \"16\");
        main.console(\"server.maxPlayers 7\");
        after(0.5, || expect(\"as it stands\", main.pref(\"server.maxPlayers\") == \"7\")); });";
    assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
}

#[test]
fn each_example_of_the_documents_is_right_and_runs() {
    let vocabulary = words::vocabulary();
    let groups: BTreeSet<&str> = vocabulary.words.iter().map(|word| word.group).collect();
    let shown: BTreeSet<&str> = vocabulary.examples.iter().map(|(group, _)| *group).collect();
    assert_eq!(groups, shown);
    for (group, example) in vocabulary.examples {
        let text = format!(
            "scenario(#{{ seconds: 12, links: #{{ home: #{{ latency: 20 }} }},
                pallets: #{{ hill: #{{ floor: 3 }} }}, peers: #{{ ada: #{{}} }} }});
            let main = server(\"main\"); let ada = peer(\"ada\");\n{example}"
        );
        let script = Script::new("it.rhai", text);
        assert_eq!(script.mistakes(), [], "{group}");
        let ran = script.simulate(&Conditions::default()).unwrap();
        assert!(ran.passed(), "{group}: {:?} {:?}", ran.report.failures, ran.mistake);
    }
}

#[test]
fn the_tables_name_the_actors_there_are_and_nothing_else() {
    let text = "scenario(#{ seconds: 4, pallets: #{ hill: #{ bytes: 1000 } },
        servers: #{ main: #{ map: \"hill\" } }, peers: #{ ada: #{} } });
        let n = 0; eventually(\"ada plays\", || peer(\"ada\").playing);";
    let script = Script::new("it.rhai", text);
    let laid = script.lay(&Conditions::default()).unwrap();
    let names = Simulation::new(1).run(async |runtime| {
        let stage = &laid.stage;
        *stage.0.world.borrow_mut() = Some(World::new(runtime.clone(), 1, Transport::Memory, true));
        let progress = &Progress::default();
        let (engine, ast) = (&laid.engine, &laid.ast);
        let play = Play { engine, ast, stage, hasty: false, until: None, progress };
        play.run(&runtime).await.unwrap();
        let reports = runtime.registry().reports().into_iter().map(|it| it.path);
        reports.collect::<Vec<String>>()
    });
    let of = |above: &str| -> BTreeSet<String> {
        let below = names.iter().filter_map(|path| path.strip_prefix(above));
        below.map(|it| it.replace("peer-0/", "peer-N/")).collect()
    };
    for (above, title) in
        [("server-main/", "actors of a server"), ("peer-ada/", "actors of a peer")]
    {
        let tables = words::tables();
        let (_, table) = tables.iter().find(|(name, _)| *name == title).unwrap();
        let table: BTreeSet<String> = table.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(of(above), table, "{title}: {names:?}");
    }
}

#[test]
fn what_a_script_prints_is_kept_with_its_time_and_within_a_bound() {
    let text = "print(\"top\"); at(1, || { print(ada.playing); debug(\"here\"); });
        at(1.5, || { for n in 0..2000 { print(n); } });";
    let ran = ran(&format!("{ADA}{text}"));
    let lines: Vec<_> = ran.prints.iter().map(|it| (it.at.0, it.text.as_str())).collect();
    assert_eq!(lines[..2], [(0, "top"), (1_000_000, "true")]);
    assert!(lines[2].1.starts_with("it.rhai:3:") && lines[2].1.ends_with("\"here\""), "{lines:?}");
    assert_eq!(lines.len(), limit::PRINTS_MAX + 1);
    assert_eq!(lines[limit::PRINTS_MAX].1, "more was printed than is kept");
}

#[test]
fn preferences_of_the_command_line_win_over_those_of_the_script() {
    let text = "scenario(#{ seconds: 1,
            servers: #{ main: #{
                prefs: #{ \"server.maxPlayers\": 3, \"server.name\": \"x\" } } } });
        at(0.5, || { let it = server(\"main\");
            expect(\"both\", it.pref(\"server.maxPlayers\") == \"5\"
                && it.pref(\"server.name\") == \"x\");
        });";
    let conditions =
        Conditions { prefs: vec!["server.maxPlayers=5".to_owned()], ..Conditions::default() };
    let ran = Script::new("it.rhai", text).simulate(&conditions).unwrap();
    assert!(ran.passed(), "{:?} {:?}", ran.report.failures, ran.mistake);
}

/// sessions OQ-22
#[test]
fn a_path_that_died_is_told_apart_from_a_server_that_ended_the_session() {
    let text = "scenario(#{ seconds: 14, transport: \"quic\", peers: #{ ada: #{}, bob: #{} } });
        let ada = peer(\"ada\"); let bob = peer(\"bob\");
        at(1, || ada.cut());
        at(12.5, || expect(\"cut off\", ada.endings.map(|it| it.kind) == [\"Lost\"]));
        at(13, || server(\"main\").stop(\"so\"));
        eventually(\"told\", || bob.endings.map(|it| it.kind) == [\"ClosedByServer\"]);";
    assert_eq!(failures(text), [""; 0]);
}
