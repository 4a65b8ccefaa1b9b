//! `pallet.dh`: what a content folder says of itself.
//!
//! Used first by every build; its schema and that of maps are written for editors.

use crate::plan::Kind;
use dh_map::jsonc::{Node, Report, Value};
use dh_map::problem::nearest;
use dh_map::record::{self, Field, Record, Walk, Written};
use dh_map::{Map, Problem, schema as schemas};
use dh_pallet::{
    ABOUT_CHARS_MAX, AUTHORS_MAX, About, CORE_PALLET_ID, PALLET_ID_BYTES_MAX, check_pallet_id,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "pallet.dh";

/// The file as it is written.
#[derive(Debug, Clone, PartialEq, Default)]
struct Text {
    schema: Option<String>,
    id: PalletId,
    display_name: String,
    version: String,
    authors: Vec<String>,
    licence: String,
    files: Vec<String>,
}

impl Record for Text {
    const ABOUT: &'static str = "What a content folder says of itself";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        let line = |name, about| Field::new(name, about).chars(ABOUT_CHARS_MAX);
        walk.optional(Field::new("$schema", "for editors; left out of pallets"), &mut self.schema);
        let id = "the pallet's id: a-z, 0-9, and - _ . between them";
        walk.needed(Field::new("id", id), &mut self.id);
        walk.needed(line("displayName", "the name people read"), &mut self.display_name);
        walk.needed(line("version", "your own version, such as \"1.0\""), &mut self.version);
        let authors = line("authors", "who made it").items(AUTHORS_MAX);
        walk.field(authors, &mut self.authors, Vec::new());
        let licence = line("licence", "under which licence, such as \"CC0-1.0\"");
        walk.field(licence, &mut self.licence, String::new());
        let files = Field::new("files", "paths of files that travel as they are");
        walk.field(files, &mut self.files, Vec::new());
    }
}

/// The id of a pallet.
#[derive(Debug, Clone, PartialEq, Default)]
struct PalletId(String);

impl Written for PalletId {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let text = String::read(node, field, report)?;
        if let Err(error) = check_pallet_id(&text) {
            let most = PALLET_ID_BYTES_MAX;
            let remedy = format!("write 1 to {most} of them, such as \"my-world\"");
            report.tell(node.at, error.to_string(), remedy);
            return None;
        }
        Some(Self(text))
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }

    fn describe(_: &Field) -> String {
        let inner = PALLET_ID_BYTES_MAX - 2;
        let shape = format!("^[a-z0-9]([a-z0-9_.-]{{0,{inner}}}[a-z0-9])?$");
        let devices = "^(con|prn|aux|nul|com[0-9]|lpt[0-9])([.].*)?$";
        let core = format!("{{\"const\":\"{CORE_PALLET_ID}\"}}");
        let not = format!("{{\"anyOf\":[{core},{{\"pattern\":\"{devices}\"}}]}}");
        format!("{{\"type\":\"string\",\"pattern\":\"{shape}\",\"not\":{not}}}")
    }
}

/// What a folder says of itself, and which files travel as they are.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) about: About,
    pub(crate) files: Vec<String>,
}

/// Reads `pallet.dh` beside files of these paths. Only the core pallet's own may have its id.
pub(crate) fn read(
    text: &str,
    paths: &BTreeMap<&str, u64>,
    is_core: bool,
) -> Result<Source, Vec<Problem>> {
    let mut report = Report::new(FILE, text);
    let root = report.parse();
    let written: Option<Text> = root.as_ref().and_then(|r| record::read(r, &mut report));
    if let Some(root) = &root {
        if !is_core {
            refuse_core(root, &mut report);
        }
        check_files(root, &mut report, paths);
    }
    match written {
        Some(written) if report.is_clean() => {
            let about = About {
                id: written.id.0,
                name: written.display_name,
                version: written.version,
                authors: written.authors,
                licence: written.licence,
                dependencies: Vec::new(),
            };
            Ok(Source { about, files: written.files })
        }
        _ => Err(report.into_problems()),
    }
}

fn refuse_core(root: &Node<'_>, report: &mut Report<'_>) {
    let Some(Node { at, value: Value::Text(id) }) = root.get("id") else { return };
    if id == CORE_PALLET_ID {
        let text = format!("\"{CORE_PALLET_ID}\" is the id of the built-in pallet");
        report.tell(*at, text, "choose another");
    }
}

fn check_files(root: &Node<'_>, report: &mut Report<'_>, paths: &BTreeMap<&str, u64>) {
    let Some(Value::List(files)) = root.get("files").map(|node| &node.value) else { return };
    let mut seen = BTreeSet::new();
    for file in files {
        if report.is_full() {
            return report.tell_more();
        }
        let Value::Text(path) = &file.value else { continue };
        if !paths.contains_key(path.as_ref()) {
            let text = format!("there is no file \"{path}\"");
            report.tell(file.at, text, nearest(path, paths.keys().copied()));
        } else if Kind::of(path).is_compiled() {
            report.tell(file.at, format!("\"{path}\" is compiled already"), "take it off the list");
        } else if !seen.insert(path) {
            report.tell(file.at, format!("\"{path}\" is listed twice"), "remove one");
        }
    }
}

/// Writes JSON Schemas of the authored files into a folder, which is made if need be.
pub fn schema(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("pallet.schema.json"), about_schema())?;
    std::fs::write(folder.join("dh-map.schema.json"), Map::schema())
}

/// The JSON Schema of `pallet.dh`.
pub(crate) fn about_schema() -> String {
    schemas::document::<Text>("Driftholm pallet")
}
