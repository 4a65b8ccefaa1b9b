//! Every map of a tree into its entry: what it names must be there, and is named by its entry.
//!
//! Used once in a build, last, so that a map's mistakes are told beside those of its models.

use crate::images::{Images, unspooled};
use crate::notes;
use crate::plan::{Kind, mesh_path};
use crate::progress::{Progress, Stage, Tell};
use crate::spool::{Spool, Unkept};
use crate::tree::{Found, Tree};
use dh_map::problem::nearest;
use dh_map::{Draft, Map, Named, Problem, Reference};
use std::collections::BTreeMap;

/// What maps are checked against.
pub(crate) struct Beside<'a> {
    pub(crate) tree: &'a dyn Tree,
    pub(crate) pallet: &'a str,
    /// All files of the tree, and how many bytes each has.
    pub(crate) paths: &'a BTreeMap<&'a str, u64>,
    /// None when pictures were refused; then nothing is stored anyway.
    pub(crate) images: Option<&'a Images>,
    pub(crate) spool: &'a Spool,
}

/// Compiles the maps; notes of what they lack, in order of path.
pub(crate) fn compile(
    files: &[Found],
    beside: &Beside<'_>,
    tell: Tell<'_>,
) -> Result<Vec<Problem>, Vec<Problem>> {
    let total = u64::try_from(files.len()).unwrap_or(u64::MAX);
    let (mut notes, mut problems) = (Vec::new(), Vec::new());
    for (file, done) in files.iter().zip(1..) {
        match compile_one(&file.path, beside) {
            Ok(note) => notes.extend(note),
            Err(more) => problems.extend(more),
        }
        tell(Progress { stage: Stage::Maps, done, total });
    }
    if problems.is_empty() { Ok(notes) } else { Err(problems) }
}

fn compile_one(path: &str, beside: &Beside<'_>) -> Result<Option<Problem>, Vec<Problem>> {
    let most = u64::try_from(dh_map::jsonc::TEXT_BYTES_MAX).unwrap_or(u64::MAX);
    let bytes = beside.tree.read(path, most).map_err(|problem| vec![problem])?;
    let text = String::from_utf8(bytes)
        .map_err(|_| vec![Problem::of_file(path, "is no UTF-8 text", "save it as UTF-8")])?;
    let mut draft = Draft::read(&text, path);
    for (kind, reference, at) in draft.references() {
        if draft.report.is_full() {
            draft.report.tell_more();
            break;
        }
        if let Err((text, remedy)) = beside.look_up(kind, &reference) {
            draft.report.tell(at, text, remedy);
        }
    }
    let mut map = draft.finish()?;
    beside.rename(&mut map);
    let kept = beside.spool.put(path, map.text().as_bytes());
    kept.map_err(|Unkept| vec![unspooled(path)])?;
    Ok(notes::of_map(path, &map))
}

impl Beside<'_> {
    fn look_up(&self, kind: Named, reference: &Reference) -> Result<(), (String, String)> {
        if let Some(other) = reference.pallet().filter(|pallet| *pallet != self.pallet) {
            let text = format!("\"{other}\" is another pallet");
            let remedy = "copy the file into this folder: a map uses its own pallet only";
            return Err((text, remedy.to_owned()));
        }
        let path = reference.path();
        let (wanted, what, endings) = match kind {
            Named::Model => (Kind::Model, "model", ".gltf or .glb"),
            Named::Texture => (Kind::Image, "picture", "PNG or JPEG"),
        };
        let is_there = self.paths.contains_key(path);
        if is_there && Kind::of(path) == wanted {
            return Ok(());
        }
        if is_there && !path.starts_with("assets/") {
            let text = format!("\"{path}\" lies outside of assets/, where nothing is built");
            return Err((text, "move it into assets/".to_owned()));
        }
        if is_there {
            let text = format!("\"{path}\" is no {endings}, and no other {what} is read");
            return Err((text, format!("save or export it as {endings}")));
        }
        let alike = self.paths.keys().copied().filter(|path| Kind::of(path) == wanted);
        Err((format!("there is no {what} \"{path}\""), nearest(path, alike)))
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
