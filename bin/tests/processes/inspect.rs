//! A running process, looked at from another.

mod live;
mod orders;
mod page;
mod picture;
mod pty;
mod setting;

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::process::Process;

/// The answer to one request, as it came.
fn get(address: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let text = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n{headers}\r\n");
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn inspect(words: &[&str], runtime: &str) -> Output {
    let mut dh = Command::new(env!("CARGO_BIN_EXE_dh"));
    dh.arg("inspect").args(words).env("XDG_RUNTIME_DIR", runtime).output().unwrap()
}

/// A server that shows itself, and what it said when it was ready.
fn ready_server(runtime: &str) -> (Process, Value) {
    let words = ["server", "--listen", "127.0.0.1:0", "--json", "-vvv"];
    let mut server = Process::start_with(&words, &[("XDG_RUNTIME_DIR", runtime)]);
    let ready = serde_json::from_str(&server.line_with("\"ready\"")).unwrap();
    (server, ready)
}

/// A server that shows itself, where, and its token.
fn server(runtime: &str) -> (Process, String, String) {
    let (server, ready) = ready_server(runtime);
    let token = fs::read_to_string(server.home().join("inspect.token")).unwrap();
    (server, ready["inspect"].as_str().unwrap().to_owned(), token.trim().to_owned())
}

#[test]
fn a_process_is_found_while_it_runs_and_its_token_is_told_to_nobody() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (mut server, address, token) = server(runtime);
    let notices = || fs::read_dir(format!("{runtime}/driftholm")).unwrap().collect::<Vec<_>>();
    let notice = notices().pop().unwrap().unwrap();
    assert_eq!(notice.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let file = server.home().join("inspect.token");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);

    let found = inspect(&["--json"], runtime);
    assert!(found.status.success(), "{found:?}");
    let snapshot: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(snapshot["process"]["role"], "server");
    let paths = snapshot["actors"].as_array().unwrap().iter().map(|row| row["path"].as_str());
    let paths: BTreeSet<_> = paths.map(Option::unwrap).collect();
    for path in ["server/tick", "server/roster", "supervisor", "inspect/inspector"] {
        assert!(paths.contains(path), "{paths:?}");
    }
    let again = inspect(&["--json", "--seq", &snapshot["seq"].to_string()], runtime);
    assert_eq!(again.stdout, found.stdout);

    for headers in ["", "authorization: Bearer 0\r\n", &format!("authorization: Basic {token}\r\n")]
    {
        assert!(get(&address, "/snapshot", headers).contains(" 401 "));
    }
    let link = inspect(&["--url"], runtime);
    let link = String::from_utf8(link.stdout).unwrap();
    assert_eq!(link, format!("http://{address}/?token={token}\n"));
    let swapped = get(&address, &format!("/?token={token}"), "");
    let (_, cookie) = swapped.split_once("set-cookie: ").unwrap();
    let (cookie, _) = cookie.split_once(';').unwrap();
    assert!(swapped.contains(" 303 ") && !swapped.contains(&token), "{swapped}");
    assert!(get(&address, "/", &format!("cookie: {cookie}\r\n")).contains(" 200 "));

    server.signal(Signal::TERM);
    let ended = server.end();
    assert!(ended.status.success());
    let said = ended.out.iter().chain(&ended.err);
    assert!(said.clone().count() > 2 && said.clone().all(|line| !line.contains(&token)));
    assert_eq!(notices().len(), 0);
    assert_eq!(inspect(&["--json"], runtime).status.code(), Some(69));
}

#[test]
fn a_process_that_does_not_show_itself_is_not_found_and_health_needs_no_token() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let words = ["server", "--listen", "127.0.0.1:0", "--json", "--inspect", "off"];
    let mut hidden = Process::start_with(&words, &[("XDG_RUNTIME_DIR", runtime)]);
    let ready: Value = serde_json::from_str(&hidden.line_with("\"ready\"")).unwrap();
    assert_eq!(ready["inspect"], Value::Null);
    assert_eq!(inspect(&[], runtime).status.code(), Some(69));
    let (_server, address, _token) = server(runtime);
    for path in ["/healthz", "/readyz"] {
        let answer = get(&address, path, "");
        assert!(answer.contains(" 200 ") && answer.ends_with("\r\n\r\n"), "{answer}");
    }
}

#[test]
fn without_a_runtime_folder_a_process_is_found_among_temporary_files() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let with = [("XDG_RUNTIME_DIR", ""), ("TMPDIR", folder)];
    let words = ["server", "--listen", "127.0.0.1:0", "--json"];
    let mut server = Process::start_with(&words, &with);
    server.line_with("\"ready\"");
    let own = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let own = own.filter(|it| it.file_name().to_str().unwrap().starts_with("driftholm-"));
    let modes: Vec<u32> = own.map(|it| it.metadata().unwrap().permissions().mode()).collect();
    assert_eq!(modes.iter().map(|mode| mode & 0o777).collect::<Vec<_>>(), [0o700]);
    let mut dh = Command::new(env!("CARGO_BIN_EXE_dh"));
    let found = dh.args(["inspect", "--json"]).envs(with).output().unwrap();
    let snapshot: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert_eq!(snapshot["process"]["pid"], server.id());
}

/// Every name of a metric in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_lowercase() && letter != '_');
    let is_name = |word: &&str| word.starts_with("dh_") || word.starts_with("process_");
    words.filter(is_name).collect()
}

#[test]
fn the_dashboard_names_metrics_that_there_are() {
    let runtime = tempfile::tempdir().unwrap();
    let (_server, address, token) = server(runtime.path().to_str().unwrap());
    std::thread::sleep(Duration::from_millis(300));
    let metrics = get(&address, "/metrics", &format!("authorization: Bearer {token}\r\n"));
    let told = names(&metrics);
    let dashboard =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/grafana.json")).unwrap();
    let read: Value = serde_json::from_str(&dashboard).unwrap();
    let panels = read["panels"].as_array().unwrap();
    assert!(panels.len() > 10);
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let shown = targets.map(|target| target["expr"].as_str().unwrap());
    for expression in shown {
        let named = names(expression);
        assert!(!named.is_empty(), "{expression}");
        for name in named {
            let family = name.trim_end_matches("_bucket");
            assert!(told.contains(name) || told.contains(family), "{name} in {expression}");
        }
    }
}

#[test]
fn a_link_says_which_end_it_is_who_holds_it_who_plays_over_it_and_how_long_it_is_silent() {
    let runtime = tempfile::tempdir().unwrap();
    let runtime = runtime.path().to_str().unwrap();
    let (_server, ready) = ready_server(runtime);
    let at = ready["address"].as_str().unwrap();
    let words = ["client", "--connect", at, "--headless", "--seconds", "60", "--name", "<b>\"ada"];
    let mut client = Process::start_with(&words, &[("XDG_RUNTIME_DIR", runtime)]);
    client.line_with("playing as ");
    let told = inspect(&["--json"], runtime).stdout;
    let told: Vec<Value> = told
        .split(|byte| *byte == b'\n')
        .filter_map(|it| serde_json::from_slice(it).ok())
        .collect();
    let roles: Vec<_> = told.iter().map(|it| it["process"]["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["server", "client"]);
    for (snapshot, (end, holder)) in
        told.iter().zip([("server", "/session"), ("client", "client/connection")])
    {
        let [link] = snapshot["links"].as_array().unwrap().as_slice() else { panic!("{snapshot}") };
        assert_eq!((&link["end"], &link["player"]), (&end.into(), &"<b>\"ada".into()), "{link}");
        assert!(link["silentUs"].as_u64().unwrap() < 5_000_000, "{link}");
        let actors = snapshot["actors"].as_array().unwrap();
        let reader = actors.iter().find(|row| row["id"] == link["actor"]).unwrap();
        assert!(reader["path"].as_str().unwrap().ends_with(holder), "{reader}");
    }
}
