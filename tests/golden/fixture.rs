//! The files: what the samples give, what is checked in, and how one becomes the other.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dh_messages::{ClientReady, MESSAGES, MessageRow, frame, schema_text};

use crate::samples::{Sample, samples};

/// Texts by file name.
pub(crate) type Files = BTreeMap<String, String>;

/// The file with the canonical text of the schema.
pub(crate) const SCHEMA: &str = "schema.txt";
/// The file with one message in its frame.
pub(crate) const ENVELOPE: &str = "envelope.hex";

const BYTES_PER_LINE: usize = 16;

/// The checked-in files, rewritten first if that was asked for.
pub(crate) fn checked_in() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        if mode("write") {
            write(&folder(), &built());
        }
        load(&folder())
    })
}

/// Whether `DH_WIRE_FIXTURES` asks for this.
pub(crate) fn mode(asked: &str) -> bool {
    std::env::var_os("DH_WIRE_FIXTURES").is_some_and(|mode| mode == asked)
}

/// The files that the samples and the schema give.
pub(crate) fn built() -> Files {
    let mut files = Files::new();
    for sample in samples() {
        let row = row_of(&sample);
        let shown = row.show(&sample.body).unwrap();
        assert!(files.insert(file_of(&sample), text(&shown, &sample.body)).is_none());
    }
    let mut framed = Vec::new();
    frame(&mut ClientReady { map_generation: 3 }, &mut framed).unwrap();
    files.insert(ENVELOPE.to_owned(), text("clientReady in its frame\n", &framed));
    files.insert(SCHEMA.to_owned(), schema_text());
    files
}

/// What differs between two sets of files, in words.
pub(crate) fn differences(old: &Files, new: &Files) -> Vec<String> {
    let mut found = Vec::new();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        found.push(format!("{name} belongs to no sample"));
    }
    for (name, text) in new {
        match old.get(name) {
            None => found.push(format!("{name} is missing")),
            Some(known) if known != text => found.push(format!("{name} differs")),
            Some(_) => {}
        }
    }
    found
}

/// Makes the folder hold exactly these files.
pub(crate) fn write(folder: &Path, files: &Files) {
    fs::create_dir_all(folder).unwrap();
    for name in load(folder).keys().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(folder.join(name)).unwrap();
    }
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Reads every file of the folder.
pub(crate) fn load(folder: &Path) -> Files {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The registry's row of a sample's message.
pub(crate) fn row_of(Sample { message, direction, .. }: &Sample) -> &'static MessageRow {
    MESSAGES.iter().find(|row| (row.name, row.direction) == (*message, *direction)).unwrap()
}

/// The name of a sample's file: direction, message and branch.
pub(crate) fn file_of(Sample { message, direction, branch, .. }: &Sample) -> String {
    let direction = direction.word();
    let dot = if branch.is_empty() { "" } else { "." };
    format!("{direction}.{message}{dot}{branch}.hex")
}

/// The bytes of a file: everything but its comments.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let digits = lines.flat_map(str::split_whitespace);
    digits.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// The checked-in packet of a sample.
pub(crate) fn packet_of(sample: &Sample) -> Vec<u8> {
    let name = file_of(sample);
    let text = checked_in().get(&name);
    bytes_of(text.unwrap_or_else(|| panic!("{name} is missing")))
}

/// The folder of the current packets.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/v2")
}

/// The value as comments, so that a review reads what changed; then the bytes.
pub(crate) fn text(shown: &str, bytes: &[u8]) -> String {
    let mut out = String::new();
    for line in shown.lines() {
        writeln!(out, "# {}", line.escape_default()).unwrap();
    }
    for line in bytes.chunks(BYTES_PER_LINE) {
        let digits: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(out, "{}", digits.join(" ")).unwrap();
    }
    out
}
