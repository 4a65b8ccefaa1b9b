//! Every model of a tree into its entry, side by side.
//!
//! Used once in a build, after the pictures. At any moment no more models are in memory than there
//! are threads; what is made goes to the spool at once.

use crate::gltf::{self, Around};
use crate::images::unspooled;
use crate::plan::mesh_path;
use crate::progress::{Progress, Stage, Tell};
use crate::spool::Unkept;
use crate::tree::Found;
use dh_map::Problem;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// Compiles the models; notes of what was left out, in order of path.
pub(crate) fn compile(
    files: &[Found],
    around: Around<'_>,
    tell: Tell<'_>,
) -> Result<Vec<Problem>, Vec<Problem>> {
    let (done, total) = (AtomicU64::new(0), u64::try_from(files.len()).unwrap_or(u64::MAX));
    let each = files.par_iter().with_max_len(1).map(|file| {
        let made = compile_one(&file.path, around);
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        tell(Progress { stage: Stage::Models, done, total });
        made
    });
    let made: Vec<Result<Vec<Problem>, Vec<Problem>>> = each.collect();
    let (mut notes, mut problems) = (Vec::new(), Vec::new());
    for made in made {
        match made {
            Ok(more) => notes.extend(more),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(notes) } else { Err(problems) }
}

fn compile_one(path: &str, around: Around<'_>) -> Result<Vec<Problem>, Vec<Problem>> {
    let model = gltf::read(path, around)?;
    let bytes = model.mesh.encode();
    let kept = around.spool.put(&mesh_path(path), &bytes);
    kept.map_err(|Unkept| vec![unspooled(path)])?;
    Ok(model.notes.into_iter().map(|note| Problem::of_file(path, note, "")).collect())
}
