//! A check that no run can evaluate is a mistake, and one that a run may pass by is none.

use super::*;

/// The first mistake of a script, by running and by reading it.
fn told(text: &str) -> [String; 2] {
    let script = Script::new("it.rhai", format!("{ADA}{text}"));
    let read = script.mistakes().first().map(ScriptError::to_string);
    let ran = script.simulate(&Conditions::default()).err();
    let ran = ran.unwrap_or_else(|| panic!("nothing refuses {text}"));
    [ran.to_string(), read.unwrap_or_else(|| panic!("nothing is told of {text}"))]
}

#[test]
fn a_check_that_always_has_something_in_its_way_is_a_mistake() {
    for (text, place) in [
        ("return;\nexpect_within(1, \"x\", || false);", "4:1"),
        ("return; at(1, || expect(\"x\", false));", "3:18"),
        ("at(1, || { throw 1;\n expect(\"x\", false); });", "4:2"),
        ("at(1, || { if ada.playing { return; expect(\"x\", false); } });", "3:37"),
        ("at(1, || { for it in 0..2 { continue; expect(\"x\", false); } });", "3:39"),
        ("at(1, || { while ada.playing { break; { expect(\"x\", false); } } });", "3:41"),
        (
            "at(1, || { if ada.playing { return; } else { throw 1; }\n never(\"x\", || true); });",
            "4:2",
        ),
        ("at(1, || { { return; } eventually(\"x\", || false); });", "3:24"),
        ("at(1, || { try { return; } catch { return; } expect(\"x\", false); });", "3:46"),
        ("at(1, || { try { 1 } catch { throw 1; expect(\"x\", false); } });", "3:39"),
        ("at(1, || { loop { ada.jump(true); } expect(\"x\", false); });", "3:37"),
        ("at(1, || { while true { return; } expect(\"x\", false); });", "3:35"),
        ("at(1, || { do { return; expect(\"x\", false); } while true; });", "3:25"),
        ("at(1, || { if false { expect(\"x\", false); } });", "3:23"),
        ("at(1, || { if true { 1 } else { expect(\"x\", false); } });", "3:33"),
        ("at(1, || { while false { expect(\"x\", false); } });", "3:26"),
        ("at(1, || { false && expect(\"x\", false) });", "3:21"),
        ("at(1, || { let n = if false { expect(\"x\", false); 1 } else { 2 }; });", "3:31"),
        ("let n = 1; at(1, || { n += 1; return; expect(\"x\", n == 9); });", "3:39"),
        ("at(1, || { try { 1 } catch { expect(\"x\", false); } });", "3:30"),
        ("at(1, || 1 ?? expect(\"x\", false));", "3:15"),
    ] {
        let start = format!("it.rhai:{place}: this check can never be evaluated: a `return`, ");
        for told in told(text) {
            assert!(told.starts_with(&start) && told.contains("expected it"), "{text}: {told}");
        }
    }
}

#[test]
fn a_check_that_constants_keep_from_being_reached_is_a_mistake() {
    for (text, place) in [
        ("const NO = false; if NO { never(\"x\", || true) }", "3:27"),
        ("const NO = 2 < 1; at(1, || if NO { expect(\"x\", false) });", "3:36"),
        (
            "const NO = !true; fn f(no) { if no { 1 } }\nat(1, || if NO { expect(\"x\", false) });",
            "4:18",
        ),
        ("const A = 1; const B = A + 1; at(1, || if A == B { expect(\"x\", false) });", "3:52"),
        ("let no = false; at(1, || if no { expect(\"x\", false) });", "3:34"),
        ("let no = false; if no { never(\"x\", || true) }", "3:25"),
        ("at(1, || { const NO = false; if !NO { 1 } else { expect(\"x\", false) } });", "3:50"),
        ("at(1, || if 1 > 2 { expect(\"x\", false) });", "3:21"),
        ("at(1, || if ada.playing && false { expect(\"x\", false) });", "3:36"),
        ("at(1, || if ada.playing || true { 1 } else { expect(\"x\", false) });", "3:46"),
        ("at(1, || { while ada.playing && 1 > 2 { expect(\"x\", false) } });", "3:41"),
        ("at(1, || { for it in [] { expect(\"x\", false) } });", "3:27"),
        ("at(1, || { for it in 3..3 { expect(\"x\", false) } });", "3:29"),
        ("at(1, || { for it in 1..=0 { expect(\"x\", false) } });", "3:30"),
        ("at(1, || { for it in \"\" { expect(\"x\", false) } });", "3:27"),
        ("const NONE = []; at(1, || { for it in NONE { expect(\"x\", false) } });", "3:46"),
        ("at(1, || switch 1 { 2 => expect(\"x\", false), _ => 3 });", "3:26"),
        ("at(1, || switch 1 { 1 => 2, _ => expect(\"x\", false) });", "3:34"),
        ("at(1, || switch \"a\" { \"b\" | \"c\" => expect(\"x\", false) });", "3:36"),
        ("const N = 7; at(1, || switch N { 1..5 => expect(\"x\", false), _ => 3 });", "3:42"),
        ("at(1, || if ada.playing { let f = || expect(\"x\", false); });", "3:38"),
        ("let n = 1; let f = || expect(\"x\", n == 2); n += 1;", "3:23"),
        ("at(1, || { let f = || expect(\"x\", false); ada.jump(true); });", "3:23"),
    ] {
        let start = format!("it.rhai:{place}: this check can never be evaluated: a `return`, ");
        for told in told(text) {
            assert!(told.starts_with(&start) && told.contains("expected it"), "{text}: {told}");
        }
    }
}

#[test]
fn a_check_in_a_function_that_nothing_calls_is_a_mistake() {
    for (text, place, name) in [
        ("fn f() { expect(\"x\", false); }", "3:10", "f"),
        ("fn f() { g(); }\nfn g() { if now() > 1.0 { expect(\"x\", false); } }", "4:27", "g"),
        ("fn f() { at(1, || f()); never(\"x\", || true); }", "3:25", "f"),
        ("fn f() { expect(\"x\", false); }\nat(1, || { return; f(); });", "3:10", "f"),
        (
            "const NO = false; fn f() { expect(\"x\", false); }\nat(1, || if NO { f() });",
            "3:28",
            "f",
        ),
        (
            "fn f(a) { expect(\"x\", true); } fn f() { expect(\"y\", false); }\nat(1, || f(1));",
            "3:41",
            "f with 0 arguments",
        ),
    ] {
        let start = format!("it.rhai:{place}: this check can never be evaluated: nothing calls ");
        for told in told(text) {
            let end = format!("{name}; expected a call of it");
            assert!(told.starts_with(&start) && told.ends_with(&end), "{text}: {told}");
        }
    }
}

#[test]
fn a_check_that_is_called_in_a_hidden_way_is_a_mistake() {
    for (text, place, how) in [
        ("at(1, || \"x\".expect(false));", "3:14", "expect is called as a method"),
        ("at(1, || ada.name.expect(false));", "3:19", "expect is called as a method"),
        ("if false { \"x\".never(|| true) }", "3:16", "never is called as a method"),
        ("at(1, || Fn(\"expect\").call(\"x\", false));", "3:10", "expect is called through"),
        ("let f = Fn(\"expect\"); at(1, || f.call(\"x\", false));", "3:9", "expect is called thr"),
        ("let f = Fn(\"never\");", "3:9", "never is called through a function pointer"),
        ("fn expect(name, holds) { }", "3:4", "expect is a word of scenarios; expected another"),
        ("fn server(name) { name }", "3:4", "server is a word of scenarios; expected another"),
    ] {
        for told in told(text) {
            let start = format!("it.rhai:{place}: {how}");
            assert!(told.starts_with(&start) && told.contains("; expected "), "{text}: {told}");
        }
    }
    let text = "let f = Fn(\"exp\" + \"ect\"); at(1, || f.call(\"x\", false));";
    let (told, _) = mistake(&format!("{ADA}{text}"));
    assert!(told.contains("expect is called through a function pointer; expected"), "{told}");
    assert!(told.starts_with("it.rhai:3:"), "{told}");
}

#[test]
fn a_check_that_a_run_may_pass_by_is_no_mistake() {
    for text in [
        "at(1, || { if !ada.playing { return; } expect(\"x\", true); });",
        "at(1, || { try { ada.name } catch { expect(\"x\", false); } });",
        "at(1, || { loop { if ada.playing { break; } } expect(\"x\", true); });",
        "at(1, || { loop { expect(\"x\", true); break; } });",
        "at(1, || { if ada.playing { return; } else { expect(\"x\", false); } });",
        "at(1, || { switch ada.slot { 70 => { return; } 71 => expect(\"x\", false), _ => 1 } \
         expect(\"y\", true); });",
        "at(1, || { true || false; () ?? expect(\"x\", true); });",
        "fn f(n) { expect(\"x\", n == 1); } at(1, || f(1));",
        "fn f() { expect(\"x\", true); } at(1, f);",
        "fn f() { expect(\"x\", true); } let g = Fn(\"f\"); at(1, || g.call());",
        "fn f() { expect(\"x\", true); } let all = #{ g: Fn(\"f\") }; at(1, || all.g.call());",
        "fn f() { expect(\"x\", true); } let name = \"f\"; at(1, || Fn(name).call());",
        "fn f() { expect(\"x\", this.playing); } at(1, || ada.f());",
        "fn f(a) { expect(\"x\", a == 1); } fn f(a, b) { f(b) } at(1, || f(1, 1));",
        "fn f() { expect(\"x\", true); } fn f(a) { f() } at(1, || [1].for_each(f));",
        "const YES = 1 < 2; at(1, || if YES { expect(\"x\", true) });",
        "let yes = false; at(1, || { yes = true; if yes { expect(\"x\", true) } });",
        "const NO = false; fn f(NO) { if NO { expect(\"x\", true) } } at(1, || f(true));",
        "let all = []; all.push(1); at(1, || { for it in all { expect(\"x\", true) } });",
        "at(1, || switch 1 { 1 if ada.playing => expect(\"x\", true), _ => 2 });",
        "let f = || expect(\"x\", true); at(1, f);",
        "let all = [|| expect(\"x\", true)]; at(1, || { let f = all[0]; f.call() });",
        "let all = #{ f: || expect(\"x\", true) }; at(1, || all.f.call());",
        "at(1, || { let f = if ada.playing { || expect(\"x\", true) } else { || 1 }; f.call() });",
        "fn f() { g(); } fn g() { expect(\"x\", true); } at(1, || [1].map(|it| f()));",
    ] {
        assert_eq!(Script::new("it.rhai", format!("{ADA}{text}")).mistakes(), [], "{text}");
        assert_eq!(failures(&format!("{ADA}{text}")), [""; 0]);
    }
}

#[test]
fn a_check_that_a_condition_asks_for_is_looked_at_as_any_other() {
    let text = "let asked = false;
        eventually(\"it asks\", || {
            if !asked && now() > 1.0 { asked = true; never(\"too late\", || now() > 1.5); }
            asked
        });";
    assert_eq!(failures(&format!("{ADA}{text}")), ["expected never: too late"]);
}

#[test]
fn what_a_run_did_not_check_is_told_by_its_places() {
    let text = "at(1, || {
            if ada.slot > 70 { expect(\"x\", false); } else { expect(\"y\", true); }
        });
        on(ada, \"ended\", |why| if why != \"\" { never(\"z\", || false); });
        eventually(\"plays\", || ada.playing);";
    let ran = ran(&format!("{ADA}{text}"));
    assert!(ran.passed(), "{:?} {:?}", ran.report.failures, ran.mistake);
    let unreached: Vec<String> = ran.unreached.iter().map(ToString::to_string).collect();
    let told = ["it.rhai:4:32: expect(\"x\", false)", "it.rhai:6:47: never(\"z\", || false)"];
    assert_eq!((unreached, ran.checks), (told.map(str::to_owned).to_vec(), 2));
}
