//! A pallet that is larger than either end may hold in memory.

use std::fs;
use std::path::Path;

use dh_pallet::{About, Writer, pack, xxh128};
use rustix::process::Signal;

use crate::content::noise;
use crate::process::Process;
use crate::session::server_with;

/// Bytes of the pallet.
const BYTES: usize = 48 << 20;
/// What either end may grow by while it moves, in a build that is made for tests.
const GROWTH_MAX: u64 = 8 << 20;

const MAP: &str = r#"{ "objects": [ { "id": "floor", "components": { "dh.box": {} } } ] }"#;

fn pallet(folder: &Path) -> String {
    let mut writer = Writer::new(About { id: "large".to_owned(), ..About::default() }).unwrap();
    for (path, file) in [("assets/a.dh-map", MAP.as_bytes()), ("files/noise", &noise(BYTES))] {
        writer.put(path, pack(file).in_memory()).unwrap();
    }
    let mut bytes = Vec::new();
    writer.write(&mut bytes, xxh128, &mut |_, _| {}).unwrap();
    let path = folder.join("large.pallet").display().to_string();
    fs::write(&path, bytes).unwrap();
    path
}

/// MR-49, MR-129
#[test]
fn neither_end_holds_a_pallet_in_memory_while_it_moves() {
    let home = tempfile::tempdir().unwrap();
    let path = pallet(home.path());
    let (server, address) = server_with(&["--content", &path]);
    let before = server.resident();
    let words = ["client", "--connect", &address, "--headless", "--json", "--seconds", "20"];
    let mut ada = Process::start(&words);
    ada.line_with("\"informed\"");
    let joined = ada.resident();
    ada.line_with("\"loaded\"");
    let grown = [(ada.resident(), joined), (server.resident(), before)];
    for (now, before) in grown {
        assert!(now < before + GROWTH_MAX, "{before} bytes, then {now}");
    }
    ada.signal(Signal::TERM);
    assert!(ada.end().status.success());
}
