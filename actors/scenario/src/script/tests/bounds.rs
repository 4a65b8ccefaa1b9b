//! What a script can use up, and how it is ended.

use std::time::Instant;

use super::*;

/// The mistake that ended a script.
fn ended(text: &str) -> String {
    let ran = Script::new("it.rhai", text).simulate(&Conditions::default());
    let mistake = ran.map_or_else(Some, |ran| ran.mistake);
    mistake.unwrap_or_else(|| panic!("nothing ended {text}")).to_string()
}

const TOP: &str = "scenario(#{ seconds: 3, peers: #{ ada: #{} } });\n";

#[test]
fn closures_and_containers_that_hold_each_other_without_end_are_told_and_break_no_stack() {
    let nested = [
        "let f = || 1; loop { let g = f; f = || g; }",
        "let a = [0]; loop { let b = a; a = [0, || b]; }",
        "let f = || 1; loop { let g = 0; let h = || g; g = f; f = h; }",
        "fn f() { loop { let g = 0; let h = [|| g, { g = this; 0 }]; this = h; } }\n\
         let a = [0]; a.f();",
        "let all = [|| 1]; loop { let g = all[all.len() - 1]; all.push(|| g); }",
        "let a = []; loop { a = [a]; }",
        "let m = #{}; loop { m = #{ m: m }; }",
    ];
    for text in nested {
        let told = ended(&format!("{TOP}{text}"));
        assert!(told.contains("lie within each other more than 64 deep"), "{text}: {told}");
    }
    let unseen = "fn f() { loop { this.push(this.drain(0, 1)); } }\nlet a = [[]]; a.f();";
    let run = move || ended(&format!("{TOP}{unseen}"));
    let roomy = std::thread::Builder::new().stack_size(limit::STACK_BYTES);
    roomy.spawn(run).unwrap().join().unwrap();
}

/// A closure may hold itself, and others that many hold.
#[test]
fn closures_that_hold_what_others_hold_are_no_mistake() {
    let text = "let all = []; let one = || 1; let own = 0;\n\
                for n in 0..200 { let here = one; all.push(|| here.call() + own); own += 1; }\n\
                let again = 0; again = || again; let list = [again, again, all];\n\
                at(1, || expect(\"all of them\", all.len() == 200 && list.len() == 3));";
    assert_eq!(failures(&format!("{TOP}{text}")), [""; 0]);
}

#[test]
fn callbacks_that_call_each_other_at_one_moment_end_with_the_place() {
    let text = format!("{TOP}fn again() {{ after(0, || again()) }}\nat(1, || again());");
    let told = ended(&text);
    assert!(told.starts_with("it.rhai:2:14: more than 65536 callbacks at one moment"), "{told}");
}

#[test]
fn only_so_many_callbacks_and_checks_wait_at_one_time() {
    for asks in ["after(1, || 1)", "never(\"x\", || false)"] {
        let told = ended(&format!("{TOP}at(1, || for n in 0..20000 {{ {asks}; }});"));
        assert!(told.starts_with("it.rhai:2:"), "{told}");
        assert!(told.contains("expected at most 16384 ") && told.contains(" that wait"), "{told}");
    }
}

#[test]
fn nothing_a_script_says_stops_the_clock_of_the_world_it_runs_in() {
    let began = Instant::now();
    for text in ["sleep(100000);".to_owned() + TOP, format!("{TOP}at(1, || sleep(100.0));")] {
        let told = ended(&text);
        assert!(told.starts_with("it.rhai:"), "{told}");
    }
    assert!(began.elapsed().as_secs() < 5);
}

#[test]
fn few_operations_that_are_long_end_as_many_short_ones_do() {
    let long = "let a = []; a.pad(16000, 1); loop { a.index_of(2); }";
    let told = ended(&format!("{TOP}{long}"));
    assert!(told.contains("does not end within 5 s"), "{told}");
    let told = ended(&format!("{TOP}at(1, || {{ loop {{ }} }});"));
    assert!(told.contains("does not end within 2000000 operations"), "{told}");
}

#[test]
fn what_grows_by_what_is_put_into_it_ends_with_its_place_and_its_bound() {
    let (map, array) = ("object map too large; expected at most 4096 entries", "elements");
    for (text, place, told) in [
        ("let m = #{}; let n = 0; loop { m[\"k\" + n] = n; n += 1; }", "2:", map),
        ("let m = #{}; let n = 0;\nat(1, || loop { m[\"k\" + n] = n; n += 1; });", "3:17", map),
        (
            "let m = #{}; let n = 0;\nevery(0.001, || {\n\
             for it in 0..9 { m[\"\" + n] = n; n += 1; } });",
            "4:18",
            map,
        ),
        ("let m = #{ a: #{} }; let n = 0; loop { m.a[\"k\" + n] = n; n += 1; }", "2:", map),
        (
            "let m = #{}; let s = \"\"; s.pad(9000, 'x'); let n = 0;\n\
             loop { m[\"\" + n] = s; n += 1 }",
            "3:",
            "string too large; expected at most 65536 bytes",
        ),
        (
            "let a = []; a.pad(9000, 0); let big = []; big.pad(9000, 1); let n = 0;\n\
             loop { a[n] = big; n += 1; }",
            "3:",
            array,
        ),
        (
            "let a = []; for n in 0..90 { a.push([]); } let n = 0;\n\
             loop { a[n].pad(16000, 1); n += 1; }",
            "3:8",
            array,
        ),
        (
            "fn f(m) { let n = 0;\n loop { m[\"\" + n] = n; n += 1; } }\nat(1, || f(#{}));",
            "3:9",
            map,
        ),
        (
            "fn f() { this[\"\" + dice(99)] = 1; }\nlet m = #{}; at(1, || loop { m.f() });",
            "2:10",
            "nothing is put into `this` by its place there",
        ),
    ] {
        let ended = ended(&format!("{TOP}{text}"));
        assert!(ended.starts_with(&format!("it.rhai:{place}")), "{text}: {ended}");
        assert!(ended.contains(told), "{text}: {ended}");
    }
    let lawful = "let a = []; a.pad(1000, 0); let m = #{};
        at(1, || { for n in 0..20000 { a[n % 1000] = n; m[\"k\" + n % 4000] = n; } });
        at(2, || expect(\"all\", a[999] == 19999 && m.len() == 4000));";
    assert_eq!(failures(&format!("{TOP}{lawful}")), [""; 0]);
}

#[test]
fn what_is_asked_for_in_parts_is_bounded_in_all() {
    let floods = "at(1, || { for n in 0..65 { server(\"main\").flood(1, 0.1); } });";
    let told = ended(&format!("{TOP}{floods}"));
    assert!(told.contains("expected at most 64 hostile peers and floods"), "{told}");
    let big = "#{ bytes: 67108864 }";
    let five = format!("a: {big}, b: {big}, c: {big}, d: {big}, e: {big}");
    let told = ended(&format!("scenario(#{{ seconds: 1, pallets: #{{ {five} }} }});"));
    assert!(told.contains("expected at most 268435456 in all"), "{told}");
}

#[test]
fn nothing_of_a_run_outlives_it_whatever_its_callbacks_share() {
    let text = "scenario(#{ seconds: 1, peers: #{ ada: #{} } });
        let ada = peer(\"ada\");
        let main = server(\"main\");
        every(0.1, || if ada.playing { main.console(\"players\") });
        on(ada, \"ended\", || ada.join());
        never(\"ada is gone\", || ada.playing && main.pawns == 0);";
    let laid = Script::new("it.rhai", text).lay(&Conditions::default()).unwrap();
    let stage = std::rc::Rc::downgrade(&laid.stage.0);
    drop(laid);
    assert_eq!(stage.strong_count(), 0);
}
