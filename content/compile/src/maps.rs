//! Every map of a tree into its entry: what it names must be there, and is named by its entry.
//!
//! Used once in a build, last, so that a map's mistakes are told beside those of its models.

use crate::images::{Images, unspooled};
use crate::plan::mesh_path;
use crate::progress::{Progress, Stage, Tell};
use crate::spool::{Spool, Unkept};
use crate::tree::{Found, Tree};
use dh_map::problem::nearest;
use dh_map::{Draft, Map, Named, Problem, Reference};

/// What maps are checked against.
pub(crate) struct Beside<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) pallet: &'a str,
    pub(crate) models: &'a [Found],
    pub(crate) pictures: &'a [Found],
    /// None when pictures were refused; then nothing is stored anyway.
    pub(crate) images: Option<&'a Images>,
    pub(crate) spool: &'a Spool,
}

/// Compiles the maps.
pub(crate) fn compile(
    files: &[Found],
    beside: &Beside<'_>,
    tell: Tell<'_>,
) -> Result<(), Vec<Problem>> {
    let total = u64::try_from(files.len()).unwrap_or(u64::MAX);
    let mut problems = Vec::new();
    for (file, done) in files.iter().zip(1..) {
        if let Err(more) = compile_one(&file.path, beside) {
            problems.extend(more);
        }
        tell(Progress { stage: Stage::Maps, done, total });
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn compile_one(path: &str, beside: &Beside<'_>) -> Result<(), Vec<Problem>> {
    let most = u64::try_from(dh_map::jsonc::TEXT_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = beside.tree.read(path, most).map_err(|problem| vec![problem])?;
    let text = String::from_utf8(bytes)
        .map_err(|_| vec![Problem::of_file(path, "is no UTF-8 text", "save it as UTF-8")])?;
    let mut draft = Draft::read(&text, path);
    for (kind, reference, at) in draft.references() {
        if let Err((text, remedy)) = beside.look_up(kind, &reference) {
            draft.report.tell(at, text, remedy);
        }
    }
    let mut map = draft.finish()?;
    beside.rename(&mut map);
    let kept = beside.spool.put(path, map.text().as_bytes());
    kept.map_err(|Unkept| vec![unspooled(path)])
}

impl Beside<'_> {
    fn look_up(&self, kind: Named, reference: &Reference) -> Result<(), (String, String)> {
        if let Some(other) = reference.pallet().filter(|pallet| *pallet != self.pallet) {
            let text = format!("\"{other}\" is another pallet");
            let remedy = "copy the file into this folder: a map uses its own pallet only";
            return Err((text, remedy.to_owned()));
        }
        let (there, what) = match kind {
            Named::Model => (self.models, "model"),
            Named::Texture => (self.pictures, "picture"),
        };
        let paths = || there.iter().map(|file| file.path.as_str());
        if paths().any(|path| path == reference.path()) {
            return Ok(());
        }
        let text = format!("there is no {what} \"{}\"", reference.path());
        Err((text, nearest(reference.path(), paths())))
    }

    /// Sources by the names of their entries.
    fn rename(&self, map: &mut Map) {
        for (kind, reference) in map.references_mut() {
            let entry = match kind {
                Named::Model => Some(mesh_path(reference.path())),
                Named::Texture => {
                    let entry = self.images.and_then(|images| images.entry(reference.path()));
                    entry.map(str::to_owned)
                }
            };
            if let Some(entry) = entry.and_then(|entry| Reference::new(&entry).ok()) {
                *reference = entry;
            }
        }
    }
}
