//! The verbs around the wire, as people type them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::process::Process;

/// A snapshot whose every byte is explained elsewhere.
const GOLDEN: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/v2/toClient.snapshot.records.hex");

fn dh(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dh")).args(words).output().unwrap()
}

/// What it prints where all is well.
fn printed(words: &[&str]) -> String {
    let output = dh(words);
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn data(words: &[&str]) -> Value {
    serde_json::from_str(&printed(&[words, &["--json"]].concat())).unwrap()
}

/// A file of the schema with these words in place of others.
fn another(home: &Path, changes: &[(&str, &str)]) -> String {
    let mut text = printed(&["wire", "schema"]);
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replacen(from, to, 1);
    }
    let path = home.join("other.txt");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_schema_is_printed_as_its_text_and_as_data() {
    let text = printed(&["wire", "schema"]);
    assert_eq!(text, dh_messages::schema_text());
    let data = data(&["wire", "schema"]);
    assert_eq!(data["hash"], dh_messages::schema_hash().to_string());
    let rows = dh_messages::MESSAGES.len();
    assert_eq!(data["messages"].as_array().unwrap().len(), rows);
    let first = &data["shapes"]["SnapshotHead"]["fields"][0];
    assert_eq!((&first["name"], &first["type"]), (&"tick".into(), &"u32".into()));
    assert_eq!(data["shapes"]["CloseCode"]["open"], true);
}

#[test]
fn what_two_builds_lose_of_each_other_is_told_both_ways() {
    let home = tempfile::tempdir().unwrap();
    let changes = [
        ("message toServer 55 clientChat stream ClientChat\n", ""),
        ("  tick_rate u16\n", "  tick_rate u32\n  mood str8(20)\n"),
        ("  Leave 3\n", "  Gone 3\n"),
    ];
    let other = another(home.path(), &changes);
    let told = printed(&["wire", "diff", "-", &other]);
    for line in [
        "toServer clientChat of -: is dropped: only the writer has it".to_owned(),
        "  mood holds its default: only the reader has it".to_owned(),
        "  mood is stepped over: only the writer has it".to_owned(),
        "  kind.Leave is read as the default: only the writer has this value".to_owned(),
        "  kind.Gone is read as the default: only the writer has this value".to_owned(),
        format!("toClient serverInfo of {other}"),
    ] {
        assert!(told.lines().any(|it| it == line), "{line} is not in\n{told}");
    }
    let data = data(&["wire", "diff", "-", &other]);
    assert_eq!((&data["same"], data["messages"].as_array().unwrap().len()), (&false.into(), 5));
    assert!(printed(&["wire", "diff", "-", "-"]).ends_with("nothing is lost either way\n"));
}

/// What a diff of this build with one where these words stand in place of others ends with, and
/// prints.
fn diff(changes: &[(&str, &str)]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let output = dh(&["wire", "diff", "-", &another(home.path(), changes)]);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn builds_that_do_not_play_together_are_told_so_first_of_all() {
    let frame = "toServer 1 connectRequest stream frame ConnectRequest";
    let others = [
        ("protocol 2", "protocol 3", "protocol 2 and 3"),
        (
            frame,
            "toServer 2 connectRequest stream frame ConnectRequest",
            "toServer connectRequest has the numbers 1 and 2",
        ),
        (
            frame,
            "toServer 1 connectRequest blob frame ConnectRequest",
            "toServer connectRequest travels by stream and blob",
        ),
        (
            frame,
            "toServer 1 connectRequest stream ConnectRequest",
            "toServer connectRequest is in the frame of one alone",
        ),
        (
            "record ConnectRequest\n",
            "record ConnectRequest\n  more u8\n",
            "toServer connectRequest has two shapes",
        ),
    ];
    for (from, to, why) in others {
        let (code, told) = diff(&[(from, to)]);
        let first = told.lines().next().unwrap_or_default();
        assert_eq!(first, format!("these do not play together ({why})"), "{told}");
        assert_eq!(code, Some(76), "{told}");
    }
    let home = tempfile::tempdir().unwrap();
    let other = another(home.path(), &[("protocol 2", "protocol 3")]);
    let output = dh(&["wire", "diff", "-", &other, "--json"]);
    let data: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&data["plays"], &data["apart"][0]), (&false.into(), &"protocol 2 and 3".into()));
}

#[test]
fn what_travels_another_way_or_does_not_fit_is_told_as_lost() {
    let (code, told) =
        diff(&[(" input datagram ", " input stream "), ("str16(1024)", "str16(512)")]);
    assert_eq!(code, Some(0), "{told}");
    for line in [
        "toServer input of -: is dropped: it travels by datagram, and the reader takes it by \
         stream alone",
        "  avatar holds its default where it is longer than 512 bytes",
    ] {
        assert!(told.lines().any(|it| it.ends_with(line)), "{line} is not in\n{told}");
    }
    let (_, told) = diff(&[("message toServer 55 ", "message toServer 56 ")]);
    assert!(told.ends_with("the schemas differ, and nothing is lost either way\n"), "{told}");
}

#[test]
fn a_server_that_runs_is_asked_for_its_schema_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let mut server = Process::start(&["server", "--listen", "127.0.0.1:0"]);
    let address = server.address();
    let data_folder = ["--data", home.path().to_str().unwrap()];
    let told = printed(&[&["wire", "diff", "-", &address][..], &data_folder].concat());
    let hash = dh_messages::schema_hash().short();
    let lines = format!("{hash}  -\n{hash}  {address}\nnothing is lost either way\n");
    assert_eq!(told, lines);
    let other = another(home.path(), &[("  tick_rate u16\n", "  tick_rate u32\n  mood u8\n")]);
    let told = data(&[&["wire", "diff", &address, &other][..], &data_folder].concat());
    assert_eq!(
        (&told["same"], &told["messages"][0]["name"]),
        (&false.into(), &"serverInfo".into())
    );
    server.type_line("stop");
    server.end();
    let gone = dh(&[&["wire", "diff", "-", &address][..], &data_folder].concat());
    let why = String::from_utf8_lossy(&gone.stderr).into_owned();
    assert_eq!(gone.status.code(), Some(69), "{why}");
    assert!(why.contains(&address) && why.lines().count() <= 2, "{why}");
}

#[test]
fn a_packet_is_shown_as_a_tree_by_the_schema_alone() {
    let as_snapshot = ["wire", "dump", "--as", "toClient.snapshot", GOLDEN];
    let told = printed(&as_snapshot);
    for line in [
        "    0..4        tick = 1234  (u32)",
        "   80..82           flags = grounded|sprinting|jump_held  (PawnFlags)",
        "   89..90             kind = PlayerPawn  (NetKind)",
        "  115..116            rotation = none  (optional(f32x4))",
    ] {
        assert!(told.lines().any(|it| it == line), "{line} is not in\n{told}");
    }
    let told = data(&as_snapshot);
    let fields = told["fields"].as_array().unwrap();
    let head = &fields[0];
    assert_eq!(
        (&head["start"], &head["end"], &head["name"]),
        (&0.into(), &84.into(), &"head".into())
    );
    // A frame of a stream and a datagram name their message themselves.
    for words in [
        &["wire", "dump", "04000000 04 05000000"][..],
        &["wire", "dump", "0405000000"],
        &["wire", "dump", "0x04 0x05:00:00:00"],
    ] {
        let told = printed(words);
        assert!(told.starts_with("toServer 4 clientReady, "), "{told}");
        assert!(told.contains("map_generation = 5  (u32)"), "{told}");
    }
}

#[test]
fn what_cannot_be_shown_says_why_and_ends_with_the_code_for_it() {
    let home = tempfile::tempdir().unwrap();
    let broken =
        another(home.path(), &[("record MapAdvert\n", "record MapAdvert\n  itself MapAdvert\n")]);
    let cases: &[(&[&str], i32, &str)] = &[
        (&["wire", "diff", "-", &broken], 65, ": a shape that holds itself"),
        (&["wire", "diff", "-", "none.txt"], 66, "none.txt: no such file"),
        (&["wire", "dump", "none.hex"], 66, "none.hex: no such file, and not bytes in hex"),
        (&["wire", "dump", ""], 65, "an empty packet"),
        (&["wire", "dump", "39aabb"], 2, "both ends read a message of the number 57"),
        (&["wire", "dump", "040500000"], 66, "two digits for each byte, found 9"),
        (&["wire", "dump", "04050000007f"], 65, "byte 5: 1 byte after the last field"),
        (&["wire", "dump", "--as", "clientReady", "00"], 2, "--as toServer.clientReady"),
        (&["wire", "diff", "-", "127.0.0.1"], 66, "as in 127.0.0.1:27015"),
        (&["wire", "diff", "-", "127.0.0.1:99999"], 66, "a port of 1 to 65535"),
        (&["wire", "dump", "ff"], 65, "the schema has no message of the number 255"),
        (
            &["wire", "dump", "0301"],
            65,
            "byte 1, `snapshot_ack.tick`: expected u32: the bytes end too early, 1 left",
        ),
        (&["wire", "dump", "--as", "toClient.what", "00"], 2, "no such message"),
    ];
    for (words, code, cause) in cases {
        let output = dh(words);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "{words:?}: {told}");
        assert!(told.contains(cause), "{words:?}: {told}");
        // What was read of a packet up to where it is wrong is shown.
        let is_packet = told.contains(": byte ");
        assert_eq!(output.stdout.is_empty(), !is_packet, "{words:?}");
    }
}
