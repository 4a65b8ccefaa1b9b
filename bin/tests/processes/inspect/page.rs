//! The page in a browser that nobody sees: `bin/tests/browser/fetch.sh` brings one.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::ready_server;
use crate::process::Process;

const BROWSER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");

/// Whether there is a browser; where there must be one it is a failure if not.
fn has_browser() -> bool {
    let there = Path::new(BROWSER).join("node_modules/puppeteer-core").is_dir();
    let required = std::env::var_os("DH_REQUIRE_BROWSER").is_some();
    assert!(there || !required, "no browser: bin/tests/browser/fetch.sh fetches one");
    if !there {
        eprintln!("skipped: no browser; bin/tests/browser/fetch.sh fetches one");
    }
    there
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

#[test]
fn a_browser_shows_actors_ticks_and_links_and_complains_of_nothing() {
    if !has_browser() {
        return;
    }
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (server, ready) = ready_server(runtime);
    let token = std::fs::read_to_string(server.home().join("inspect.token")).unwrap();
    let (token, address) = (token.trim(), ready["inspect"].as_str().unwrap());
    let at = ready["address"].as_str().unwrap();
    let words = ["client", "--connect", at, "--headless", "--seconds", "60", "--inspect", "off"];
    let _client = Process::start(&[&words[..], &["--name", "<i>eve"]].concat());
    let folder = std::env::var("DH_PICTURES").unwrap_or_else(|_| runtime.to_owned());
    let ran = Command::new("node")
        .args(["drive.mjs", &format!("http://{address}"), token, &folder])
        .current_dir(BROWSER)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said} {}", String::from_utf8_lossy(&ran.stderr));
    let saw: Value = serde_json::from_str(said.trim()).unwrap();
    assert_eq!((texts(&saw["errors"]), texts(&saw["outside"])), (vec![], vec![]), "{saw}");
    assert!(!saw["address"].as_str().unwrap().contains(token), "{saw}");
    let rows = texts(&saw["rows"]);
    assert!(rows.contains(&"server/tick") && rows.contains(&"server/roster"), "{rows:?}");
    let mut turned = texts(&saw["turned"]);
    assert_ne!(rows, turned);
    turned.reverse();
    assert_eq!(rows, turned, "sorted the other way");
    let filtered = texts(&saw["filtered"]);
    assert!(!filtered.is_empty() && filtered.iter().all(|row| row.contains("session")), "{saw}");
    assert!(saw["live"].as_str().unwrap().contains("live"));
    assert!(saw["one"].as_str().unwrap().contains("Restart"), "{saw}");
    let wide = saw["wide"].as_array().unwrap().iter().map(|it| it.as_i64().unwrap());
    assert!(wide.clone().count() > 2 && wide.clone().all(|over| over <= 0), "{saw}");
    assert_eq!(saw["question"], "Restart server/tick?");
    assert!(saw["old"].as_str().unwrap().parse::<f64>().unwrap() < 1.0, "{saw}");
    assert!(saw["ticks"].as_str().unwrap().contains("twice the budget"), "{saw}");
    assert!(saw["ticks"].as_str().unwrap().contains("late p50"), "{saw}");
    assert!(saw["ticks"].as_str().unwrap().contains("lately every 1"), "{saw}");
    assert!(saw["ticks"].as_str().unwrap().contains("Work since the start: "), "{saw}");
    assert!(saw["bars"].as_u64().unwrap() > 1, "{saw}");
    let usage = saw["usage"].as_str().unwrap();
    assert!(usage.contains("memory ") && usage.contains("files "), "{saw}");
    assert!(saw["links"].as_str().unwrap().contains("Varies"), "{saw}");
    assert_eq!(saw["drawn"], true, "the strip of ticks");
    assert!(saw["linksWide"].as_i64().unwrap() <= 0, "{saw}");
    let links = saw["links"].as_str().unwrap();
    for part in ["127.0.0.1", "<i>eve", "server ", "/session", "Silent for \u{2193}"] {
        assert!(links.contains(part), "{part}: {saw}");
    }
    let limits = texts(&saw["limits"]);
    assert!(
        ["server.players", "builds", "roster.data"].iter().all(|it| limits.contains(it)),
        "{limits:?}"
    );
    assert_eq!(saw["set"], "server.maxPlayers = 5");
    assert!(saw["refused"].as_str().unwrap().starts_with("400: "), "{saw}");
}
