//! What a file of preferences gives, refuses and keeps when one is changed.

use proptest::prelude::*;

use super::*;
use crate::key;

fn loaded(text: &str) -> Prefs {
    let mut prefs = Prefs::default();
    prefs.load_file("config.toml", text).unwrap();
    prefs
}

fn lines(text: &str) -> Vec<String> {
    let errors = Prefs::default().load_file("config.toml", text).unwrap_err();
    errors.iter().map(ToString::to_string).collect()
}

fn set(text: &str, key: &str, typed: &str) -> String {
    let preference = find(key).unwrap();
    let value = Value::read(preference.kind, typed).unwrap();
    with_value("config.toml", text, preference, &value).unwrap()
}

#[test]
fn nested_dotted_inline_and_quoted_keys_all_name_their_preference() {
    for text in [
        "server.maxPlayers = 4",
        "[server]\nmaxPlayers = 4",
        "\"server.maxPlayers\" = 4",
        "server = { maxPlayers = 4 }",
    ] {
        let prefs = loaded(text);
        assert_eq!(prefs.get(key::MAX_PLAYERS), 4, "{text}");
        assert_eq!(prefs.source(find("server.maxPlayers").unwrap()), Source::File);
    }
}

#[test]
fn a_preference_under_another_is_read_beside_it_or_below_its_table() {
    let prefs = loaded("[client]\ninterp = 0.05\n\"interp.bufferTicks\" = 8");
    assert_eq!(prefs.get(key::INTERP_BUFFER_TICKS), 8);
    assert!(prefs.get(key::INTERP).is_some_and(|it| (it - 0.05).abs() < 1e-6));
    assert_eq!(loaded("[client.interp]\nbufferTicks = 9").get(key::INTERP_BUFFER_TICKS), 9);
}

#[test]
fn every_kind_is_read_and_a_whole_number_serves_as_a_float() {
    let prefs = loaded(
        "client.name = \"Edda\"\nclient.seedColour = \"#4fa3d1\"\nserver.timerPeriod = false\n\
         world.timeScale = 2\nserver.identity = \"name\"",
    );
    assert_eq!(prefs.get(key::CLIENT_NAME).as_deref(), Some("Edda"));
    assert_eq!(prefs.get(key::CLIENT_SEED_COLOUR), Some(0x004f_a3d1));
    assert_eq!(
        loaded("client.seedColour = 0x4fa3d1").get(key::CLIENT_SEED_COLOUR),
        Some(0x004f_a3d1)
    );
    assert!(!prefs.get(key::TIMER_PERIOD));
    assert!((prefs.get(key::TIME_SCALE) - 2.0).abs() < 1e-6);
    assert_eq!(prefs.get(key::SERVER_IDENTITY), "name");
}

#[test]
fn every_mistake_is_told_with_its_line_and_the_rest_is_taken() {
    let text = "# mine\n[server]\nmaxPlayers = \"many\"\nmaxPlayer = 3\nname = \"Isle\"\n\
                [world]\ntimeScale = 11.0\n";
    assert_eq!(
        lines(text),
        [
            "config.toml:3:14: server.maxPlayers: expected a whole number from 1 to 64, found \
             `\\\"many\\\"`; correct the line or remove it",
            "config.toml:4:1: no preference is called `server.maxPlayer`; did you mean \
             server.maxPlayers?",
            "config.toml:7:13: world.timeScale: expected a number from 0.05 to 10, found `11.0`; \
             correct the line or remove it",
        ]
    );
    let mut prefs = Prefs::default();
    prefs.load_file("config.toml", text).unwrap_err();
    assert_eq!(prefs.get(key::SERVER_NAME), "Isle");
}

#[test]
fn a_key_given_twice_and_a_text_that_is_no_toml_are_told() {
    let twice = lines("\"server.name\" = \"a\"\n[server]\nname = \"b\"");
    assert_eq!(
        twice,
        ["config.toml:3:1: server.name is given twice; correct the line or remove it"]
    );
    let broken = lines("server.name = \"a\"\nserver.maxPlayers =\n");
    assert!(broken.len() == 1 && broken[0].starts_with("config.toml:2:"), "{broken:?}");
    assert!(!broken[0].contains('\n'));
}

#[test]
fn setting_a_value_keeps_every_comment_blank_and_other_line() {
    let text = "# my server\n\n[server]   # here\nname = \"Isle\"\n# not too many\n\
                maxPlayers = 4   # was 8\n\n[client.net]\nmarginMax = 3.0\n";
    let written = set(text, "server.maxPlayers", "12");
    assert_eq!(written, text.replace("maxPlayers = 4 ", "maxPlayers = 12 "));
    let removed = without_values("config.toml", &written, &[find("server.name").unwrap()]).unwrap();
    assert_eq!(removed, written.replace("name = \"Isle\"\n", ""));
}

#[test]
fn a_new_value_goes_into_the_table_it_belongs_to() {
    assert_eq!(set("", "server.tick.maxSpin", "0.2"), "[server.tick]\nmaxSpin = 0.2\n");
    let text = "[client]\nname = \"Edda\"\n";
    assert_eq!(
        set(text, "client.interp.bufferTicks", "8"),
        "[client]\nname = \"Edda\"\n\"interp.bufferTicks\" = 8\n"
    );
    let braces = "server = { maxPlayers = 4 } # kept\n";
    assert_eq!(
        set(braces, "server.tick.maxSpin", "0.2"),
        "server = { maxPlayers = 4 , tick = { maxSpin = 0.2 } } # kept\n"
    );
    let below = "[client.interp]\nautoMargin = false\n";
    let both = set(&set(below, "client.interp.bufferTicks", "8"), "client.interp", "0.1");
    let prefs = loaded(&both);
    assert_eq!(prefs.get(key::INTERP_BUFFER_TICKS), 8, "{both}");
    assert!(prefs.get(key::INTERP).is_some() && !prefs.get(key::INTERP_AUTO_MARGIN), "{both}");
}

#[test]
fn a_new_value_goes_beside_others_however_they_are_written() {
    for text in [
        "server = { maxPlayers = 4 } # kept\n",
        "client = { net = { marginMax = 3.0 } }\nserver.maxPlayers = 4 # kept\n",
        "# kept\n[server]\nmaxPlayers = 4\ntick = {}\n",
        "# kept\n\"server.maxPlayers\" = 4\n[world]\n",
    ] {
        for preference in TABLE {
            let written = set(text, preference.key, &sample(preference.kind).to_string());
            assert_eq!(loaded(&written).value(preference), Some(&sample(preference.kind)));
            assert_eq!(written.matches("# kept").count(), 1, "{written}");
        }
    }
}

/// What the file is refused for by a start, it is refused for by whoever would change it.
#[test]
fn a_file_that_no_start_would_read_is_not_written_over() {
    let preference = find("server.maxPlayers").unwrap();
    for wrong in [
        "= 3",
        "server = 3",
        "[[server]]\nmaxPlayers = 3",
        "wether = 1",
        "[server]\nmaxPlayer = 3",
        "world.timeScale = 99",
        "server.name = \"a\"\n\"server.name\" = \"b\"",
        "[server.maxPlayers]\nmost = 3",
    ] {
        let refused = with_value("config.toml", wrong, preference, &Value::Int(4)).unwrap_err();
        assert_eq!(
            Prefs::default().load_file("config.toml", wrong),
            Err(refused.clone()),
            "{wrong}"
        );
        assert_eq!(without_values("config.toml", wrong, &[preference]), Err(refused), "{wrong}");
    }
}

#[test]
fn a_tables_name_with_a_value_says_that_a_table_was_expected() {
    assert_eq!(
        lines("server = 3"),
        ["config.toml:1:10: server: expected a table of preferences, found `3`; correct the \
             line or remove it"]
    );
}

#[test]
fn setting_or_resetting_a_preference_mends_what_is_wrong_with_it() {
    assert_eq!(
        set("world.timeScale = 99 # fast", "world.timeScale", "2"),
        "world.timeScale = 2.0 # fast\n"
    );
    let scale = find("world.timeScale").unwrap();
    let twice = "world.timeScale = 99\nserver.name = \"a\" # kept\n\"world.timeScale\" = 2\n";
    let reset = without_values("config.toml", twice, &[scale]).unwrap();
    assert_eq!(loaded(&reset).source(scale), Source::Default);
    assert!(reset.contains("# kept"), "{reset}");
}

proptest! {
    #[test]
    fn whatever_is_written_in_whatever_order_reads_back(
        steps in proptest::collection::vec((0..TABLE.len(), any::<bool>()), 1..40),
        below in any::<bool>(),
    ) {
        let mut text = String::from(if below { "[client.interp] # kept\n" } else { "# kept\n" });
        let mut expected = Prefs::default();
        for (row, given) in steps {
            let preference = &TABLE[row];
            let value = given.then(|| sample(preference.kind));
            text = match &value {
                Some(value) => with_value("c", &text, preference, value),
                None => without_values("c", &text, &[preference]),
            }.unwrap();
            expected.put(row, Source::File, value);
        }
        let mut read = Prefs::default();
        prop_assert_eq!(read.load_file("c", &text), Ok(()), "{}", text);
        for preference in TABLE {
            prop_assert_eq!(read.value(preference), expected.value(preference), "{}", text);
        }
        prop_assert!(text.contains("# kept"), "{}", text);
    }

    #[test]
    fn no_text_makes_it_panic_and_every_error_is_one_line(
        text in "[a-z.=\"\\[\\]{}# 0-9\n]{0,80}"
    ) {
        if let Err(errors) = Prefs::default().load_file("c", &text) {
            prop_assert!(errors.iter().all(|error| !error.to_string().contains('\n')));
        }
    }
}

fn sample(kind: Kind) -> Value {
    match kind {
        Kind::Bool => Value::Bool(true),
        Kind::Int { max, .. } => Value::Int(max),
        Kind::Float { max, .. } => Value::Float(max),
        Kind::Text { .. } => Value::Text("some \"text\"".to_owned()),
        Kind::Choice(names) => Value::Text(names[0].to_owned()),
        Kind::Identities => Value::Text("key:00ff,local:ada".to_owned()),
        Kind::Colour => Value::Colour(0x0012_3456),
    }
}
