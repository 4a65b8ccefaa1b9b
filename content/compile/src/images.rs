//! Pictures: each content is stored once, under the first path that has it.
//!
//! Used by models and maps, which learn here under which path a picture lies in the pallet.

use crate::progress::{Progress, Stage, Tell};
use crate::spool::{Row, Spool, Unkept, locked};
use crate::tree::{Found, Tree};
use dh_map::{Problem, image};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A picture file may have so many bytes.
pub(crate) const IMAGE_BYTES_MAX: u64 = 256 << 20;
/// Where pictures lie that came inside models; hidden, so that no file of a folder is in the way.
const EMBEDDED: &str = "assets/.images";

type Hash = [u8; 32];

/// The pictures of a pallet.
#[derive(Debug, Default)]
pub(crate) struct Images {
    by_path: BTreeMap<String, String>,
    by_content: BTreeMap<Hash, String>,
    embedded: Mutex<BTreeSet<String>>,
}

impl Images {
    /// Checks the pictures of a tree and stores each content once. Each file is read once, so that
    /// what was checked is what is stored.
    pub(crate) fn compile(
        tree: &dyn Tree,
        files: &[Found],
        spool: &Spool,
        tell: Tell<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let (done, total) = (AtomicU64::new(0), u64::try_from(files.len()).unwrap_or(u64::MAX));
        let taken = Mutex::new(BTreeSet::new());
        let each = files.par_iter().with_max_len(1).map(|file| {
            let kept = keep(tree, &file.path, spool, &taken);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            tell(Progress { stage: Stage::Images, done, total });
            kept
        });
        let kept: Vec<Result<(Hash, Option<Row>), Problem>> = each.collect();
        let mut images = Self::default();
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for (file, kept) in files.iter().zip(kept) {
            match kept {
                Ok((hash, row)) => {
                    let entry = images.by_content.entry(hash).or_insert_with(|| file.path.clone());
                    images.by_path.insert(file.path.clone(), entry.clone());
                    rows.extend(row.map(|row| (entry.clone(), row)));
                }
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        rows.into_iter().for_each(|(path, row)| spool.name(&path, row));
        Ok(images)
    }

    /// The entry that holds the picture of a source path.
    pub(crate) fn entry(&self, path: &str) -> Option<&str> {
        self.by_path.get(path).map(String::as_str)
    }

    /// Stores a picture that came inside a model; the entry that holds it.
    pub(crate) fn embed(&self, bytes: &[u8], spool: &Spool) -> Result<String, String> {
        let hash = blake3::hash(bytes);
        if let Some(path) = self.by_content.get(hash.as_bytes()) {
            return Ok(path.clone());
        }
        let probed = image::probe(bytes).map_err(|error| error.to_string())?;
        let hex = hash.to_hex();
        let path = format!("{EMBEDDED}/{}.{}", &hex[..32], probed.format.ending());
        if locked(&self.embedded).contains(&path) {
            return Ok(path);
        }
        image::check(bytes).map_err(|error| error.to_string())?;
        if locked(&self.embedded).insert(path.clone()) {
            spool.put(&path, bytes).map_err(|Unkept| "could not be kept".to_owned())?;
        }
        Ok(path)
    }
}

/// Checks one picture, and keeps it unless its content is taken; its place in the spool if so.
fn keep(
    tree: &dyn Tree,
    path: &str,
    spool: &Spool,
    taken: &Mutex<BTreeSet<Hash>>,
) -> Result<(Hash, Option<Row>), Problem> {
    let bytes = tree.read(path, IMAGE_BYTES_MAX)?;
    let remedy = "save it anew as PNG or JPEG, at most 8192 x 8192 pixels";
    image::check(&bytes).map_err(|error| Problem::of_file(path, error.to_string(), remedy))?;
    let hash = *blake3::hash(&bytes).as_bytes();
    let is_first = locked(taken).insert(hash);
    let row = is_first.then(|| spool.keep(&bytes)).transpose();
    row.map(|row| (hash, row)).map_err(|Unkept| unspooled(path))
}

/// A problem of the place where compiled entries wait; a build tells what the disk said instead.
pub(crate) fn unspooled(path: &str) -> Problem {
    Problem::of_file(path, "could not be kept", "free some space")
}
