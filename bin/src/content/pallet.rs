//! `dh pallet`: what a pallet file is, whether it is whole, what it holds.

use std::path::{Path, PathBuf};

use dh_pallet::{Encoding, Entry, printable, verify, xxh128};
use dh_wire::Content;
use serde_json::{Value, json};

use super::extract;
use super::opened::{self, FilePallet};
use crate::command::{Pallet as What, Shared};
use crate::exit::Failure;
use crate::output;
use crate::output::bar::{Bar, Unit};

/// The version of the format, which every pallet that opens has.
const FORMAT: u32 = 2;

/// Does what is asked with pallets.
pub(super) fn run(what: &What, shared: &Shared) -> Result<(), Failure> {
    match what {
        What::Info { file } => info(&opened::pallet(file)?, shared.json),
        What::Verify { files } => verify_all(files, shared.json),
        What::List { file } => list(&opened::pallet(file)?.manifest().entries, shared.json),
        What::Extract { file, out, force } => {
            extract::run(file, out.as_deref(), *force, shared.json)
        }
    }
}

fn info(pallet: &FilePallet, as_json: bool) -> Result<(), Failure> {
    let (header, manifest) = (pallet.header(), pallet.manifest());
    let about = &manifest.about;
    let Content { fingerprint, root } = header.content;
    let maps: Vec<String> = manifest.maps().map(|map| map.to_string()).collect();
    if as_json {
        return output::json(&json!({
            "format": FORMAT,
            "palletId": about.id,
            "name": about.name,
            "version": about.version,
            "authors": about.authors,
            "licence": about.licence,
            "fingerprint": fingerprint.to_string(),
            "root": root.to_string(),
            "bytes": header.file_bytes,
            "entries": manifest.entries.len(),
            "dependencies": about.dependencies,
            "maps": maps,
        }));
    }
    output::line(&format!("format        {FORMAT}"))?;
    output::line(&format!("id            {}", about.id))?;
    output::line(&format!("name          {}", printable(&about.name)))?;
    output::line(&format!("version       {}", printable(&about.version)))?;
    output::line(&format!("authors       {}", printable(&about.authors.join(", "))))?;
    output::line(&format!("licence       {}", printable(&about.licence)))?;
    output::line(&format!("fingerprint   {fingerprint}"))?;
    output::line(&format!("root          {root}"))?;
    output::line(&format!("bytes         {}", header.file_bytes))?;
    output::line(&format!("entries       {}", manifest.entries.len()))?;
    output::line(&format!("dependencies  {}", about.dependencies.join(", ")))?;
    maps.iter().try_for_each(|map| output::line(&format!("map           {}", printable(map))))
}

/// Checks each file to its last byte; the bad ones are told together at the end, as JSON each in
/// its turn too.
fn verify_all(files: &[PathBuf], as_json: bool) -> Result<(), Failure> {
    let mut bad: Vec<Failure> = Vec::new();
    for file in files {
        match verified(file) {
            Ok(content) if as_json => {
                let (path, fingerprint) = (file.display().to_string(), content.fingerprint);
                output::json(&json!({
                    "path": path, "ok": true,
                    "fingerprint": fingerprint.to_string(), "root": content.root.to_string(),
                }))?;
            }
            Ok(content) => {
                output::line(&format!("ok  {}  {}", content.fingerprint, file.display()))?;
            }
            Err(failure) => {
                if as_json {
                    let (path, error) = (file.display().to_string(), &failure.cause);
                    let code = failure.exit.code();
                    let facts = json!({ "path": path, "ok": false, "error": error, "code": code });
                    output::json(&facts)?;
                }
                bad.push(failure);
            }
        }
    }
    together(bad)
}

fn verified(path: &Path) -> Result<Content, Failure> {
    let bar = Bar::new();
    let name = path.display().to_string();
    let mut show = |done, total| bar.told(&name, Unit::Bytes, done, total);
    let content = verify(opened::file(path)?, None, xxh128, &mut show);
    content.map_err(|error| opened::damaged(path, &error))
}

/// Several failures as one that has a line for each; it ends as the worst does, whose number is
/// the highest.
pub(super) fn together(failures: Vec<Failure>) -> Result<(), Failure> {
    let causes: Vec<String> = failures.iter().map(|failure| failure.cause.clone()).collect();
    // Of equal ones the first.
    match failures.into_iter().rev().max_by_key(|failure| failure.exit.code()) {
        None => Ok(()),
        Some(worst) => Err(Failure { cause: causes.join("\n"), ..worst }),
    }
}

fn list(entries: &[Entry], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let facts = |entry: &Entry| {
            let Entry { path, raw_bytes, stored_bytes, encoding, .. } = entry;
            let (bytes, stored, encoding) = (raw_bytes, stored_bytes, name(*encoding));
            json!({ "path": path, "bytes": bytes, "stored": stored, "encoding": encoding })
        };
        return output::json(&entries.iter().map(facts).collect::<Value>());
    }
    output::line("       bytes       stored  encoding  path")?;
    entries.iter().try_for_each(|entry| {
        let Entry { path, raw_bytes, stored_bytes, encoding, .. } = entry;
        let (how, path) = (name(*encoding), printable(path));
        output::line(&format!("{raw_bytes:>12} {stored_bytes:>12}  {how:<8}  {path}"))
    })
}

const fn name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::AsIs => "as is",
        Encoding::Zstd => "zstd",
    }
}
