//! `pallet.dh`: what a content folder says of itself.
//!
//! Used first by every build; its schema and that of maps are written for editors.

use dh_map::jsonc::{Node, Report, Value};
use dh_map::problem::nearest;
use dh_map::record::{self, Field, Record, Walk};
use dh_map::value::Id;
use dh_map::{Map, Problem, schema as schemas};
use dh_pallet::{About, check_pallet_id};
use std::io;
use std::path::Path;

/// The name of the file.
pub(crate) const FILE: &str = "pallet.dh";

/// The file as it is written.
#[derive(Debug, Clone, PartialEq, Default)]
struct Written {
    schema: Option<String>,
    id: Id,
    display_name: String,
    version: String,
    authors: Vec<String>,
    licence: String,
    files: Vec<String>,
}

impl Record for Written {
    const ABOUT: &'static str = "What a content folder says of itself";

    fn walk<W: Walk>(&mut self, walk: &mut W) {
        walk.optional(Field::new("$schema", "for editors; left out of pallets"), &mut self.schema);
        let id = "the pallet's id: a-z, 0-9, and - _ . between them";
        walk.needed(Field::new("id", id), &mut self.id);
        walk.needed(Field::new("displayName", "the name people read"), &mut self.display_name);
        walk.needed(Field::new("version", "your own version, such as \"1.0\""), &mut self.version);
        walk.field(Field::new("authors", "who made it"), &mut self.authors, Vec::new());
        let licence = Field::new("licence", "under which licence, such as \"CC0-1.0\"");
        walk.field(licence, &mut self.licence, String::new());
        let files = Field::new("files", "paths of files that travel as they are");
        walk.field(files, &mut self.files, Vec::new());
    }
}

/// What a folder says of itself, and which files travel as they are.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) about: About,
    pub(crate) files: Vec<String>,
}

/// Reads `pallet.dh`. `exists` says which files there are, `compiled` which of them are compiled.
pub(crate) fn read(
    text: &str,
    paths: &[&str],
    compiled: &dyn Fn(&str) -> bool,
) -> Result<Source, Vec<Problem>> {
    let mut report = Report::new(FILE, text);
    let root = report.parse();
    let written: Option<Written> = root.as_ref().and_then(|r| record::read(r, &mut report));
    if let Some(root) = &root {
        check_id(root, &mut report);
        check_files(root, &mut report, paths, compiled);
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

fn check_id(root: &Node<'_>, report: &mut Report<'_>) {
    let Some(Node { at, value: Value::Text(id) }) = root.get("id") else { return };
    if let (true, Err(error)) = (Id::is_valid(id), check_pallet_id(id)) {
        report.tell(*at, error.to_string(), "");
    }
}

fn check_files(
    root: &Node<'_>,
    report: &mut Report<'_>,
    paths: &[&str],
    compiled: &dyn Fn(&str) -> bool,
) {
    let Some(Value::List(files)) = root.get("files").map(|node| &node.value) else { return };
    let mut seen = std::collections::BTreeSet::new();
    for file in files {
        let Value::Text(path) = &file.value else { continue };
        if !paths.contains(&path.as_ref()) {
            let text = format!("there is no file \"{path}\"");
            report.tell(file.at, text, nearest(path, paths.iter().copied()));
        } else if compiled(path) {
            report.tell(file.at, format!("\"{path}\" is compiled already"), "take it off the list");
        } else if !seen.insert(path.clone()) {
            report.tell(file.at, format!("\"{path}\" is listed twice"), "remove one");
        }
    }
}

/// Writes JSON Schemas of the authored files into a folder, which is made if need be.
pub fn schema(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let pallet = schemas::document::<Written>("Driftholm pallet");
    std::fs::write(folder.join("pallet.schema.json"), pallet)?;
    std::fs::write(folder.join("dh-map.schema.json"), Map::schema())
}
