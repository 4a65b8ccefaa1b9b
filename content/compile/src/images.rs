//! Pictures: each content is stored once, under the first path that has it.
//!
//! Used by models and maps, which learn here under which path a picture lies in the pallet.

use crate::progress::{Progress, Stage, Tell};
use crate::spool::{Spool, Unkept};
use crate::tree::{Found, Tree};
use dh_map::{Problem, image};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

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
    /// Checks the pictures of a tree and stores each content once.
    pub(crate) fn compile(
        tree: &dyn Tree,
        files: &[Found],
        spool: &Spool,
        tell: Tell<'_>,
    ) -> Result<Self, Vec<Problem>> {
        let (done, total) = (AtomicU64::new(0), 2 * u64::try_from(files.len()).unwrap_or(u64::MAX));
        let step = || {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            tell(Progress { stage: Stage::Images, done, total });
        };
        let looked = files.par_iter().map(|file| {
            let hash = look_at(tree, &file.path);
            step();
            hash
        });
        let looked: Vec<Result<Hash, Problem>> = looked.collect();
        let mut images = Self::default();
        let mut problems = Vec::new();
        for (file, hash) in files.iter().zip(looked) {
            match hash {
                Ok(hash) => {
                    let entry = images.by_content.entry(hash).or_insert_with(|| file.path.clone());
                    images.by_path.insert(file.path.clone(), entry.clone());
                }
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let stored: Result<(), Problem> = files.par_iter().try_for_each(|file| {
            step();
            if images.by_path.get(&file.path) != Some(&file.path) {
                return Ok(());
            }
            let bytes = tree.read(&file.path, IMAGE_BYTES_MAX)?;
            spool.put(&file.path, &bytes).map_err(|Unkept| unspooled(&file.path))
        });
        stored.map_err(|problem| vec![problem])?;
        Ok(images)
    }

    /// The entry that holds the picture of a source path.
    pub(crate) fn entry(&self, path: &str) -> Option<&str> {
        self.by_path.get(path).map(String::as_str)
    }

    /// Stores a picture that came inside a model; the entry that holds it.
    pub(crate) fn embed(&self, bytes: &[u8], spool: &Spool) -> Result<String, String> {
        let probed = image::probe(bytes).map_err(|error| error.to_string())?;
        let hash = blake3::hash(bytes);
        if let Some(path) = self.by_content.get(hash.as_bytes()) {
            return Ok(path.clone());
        }
        let hex = hash.to_hex();
        let path = format!("{EMBEDDED}/{}.{}", &hex[..32], probed.format.ending());
        let mut embedded = self.embedded.lock().unwrap_or_else(PoisonError::into_inner);
        if embedded.insert(path.clone()) {
            drop(embedded);
            spool.put(&path, bytes).map_err(|Unkept| "could not be kept".to_owned())?;
        }
        Ok(path)
    }
}

fn look_at(tree: &dyn Tree, path: &str) -> Result<Hash, Problem> {
    let bytes = tree.read(path, IMAGE_BYTES_MAX)?;
    let probed = image::probe(&bytes);
    let remedy = "save it as PNG or JPEG, at most 8192 x 8192 pixels";
    probed.map_err(|error| Problem::of_file(path, error.to_string(), remedy))?;
    Ok(*blake3::hash(&bytes).as_bytes())
}

/// A problem of the place where compiled entries wait; a build tells what the disk said instead.
pub(crate) fn unspooled(path: &str) -> Problem {
    Problem::of_file(path, "could not be kept", "free some space")
}
