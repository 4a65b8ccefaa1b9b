//! The passes of a build, from a tree of sources to entries in a spool.
//!
//! Used by `build`. A pass that finds mistakes does not hide those of the next ones.

use crate::about::{self, Source};
use crate::gltf::Around;
use crate::images::{Images, unspooled};
use crate::maps::{self, Beside};
use crate::models;
use crate::plan::{Kind, Plan};
use crate::progress::Tell;
use crate::spool::{Spool, Unkept};
use crate::tree::Tree;
use dh_map::Problem;
use dh_pallet::About;
use std::collections::BTreeSet;

/// A file that travels as it is may have so many bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// `pallet.dh` may have so many bytes.
const ABOUT_BYTES_MAX: u64 = 1 << 20;

/// What a pallet says of itself, and what was left out of it.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) about: About,
    pub(crate) notes: Vec<Problem>,
}

/// Compiles a tree into the spool, or tells everything that is wrong with it.
pub(crate) fn compile(
    tree: &dyn Tree,
    spool: &Spool,
    tell: Tell<'_>,
) -> Result<Compiled, Vec<Problem>> {
    let found = tree.list()?;
    let paths: Vec<&str> = found.iter().map(|file| file.path.as_str()).collect();
    let mut problems = Vec::new();
    let plan = Plan::of(&found, &mut problems);
    let source = kept(read_about(tree, &paths), &mut problems);
    if plan.maps.is_empty() && plan.models.is_empty() && plan.images.is_empty() {
        let text = "no map, model or picture under assets/";
        problems.push(Problem::of_file("assets", text, "add assets/NAME.dh-map"));
    }
    let images = kept(Images::compile(tree, &plan.images, spool, tell), &mut problems);
    let names: BTreeSet<&str> = paths.iter().copied().collect();
    // Without the pictures every model would tell that it misses them.
    let notes = images.as_ref().and_then(|images| {
        let around = Around { tree, paths: &names, images, spool };
        kept(models::compile(&plan.models, around, tell), &mut problems)
    });
    let pallet = source.as_ref().map_or("", |source| source.about.id.as_str());
    let (models, pictures, images) = (&plan.models, &plan.images, images.as_ref());
    let beside = Beside { tree, pallet, models, pictures, images, spool };
    kept(maps::compile(&plan.maps, &beside, tell), &mut problems);
    if let Some(source) = &source {
        kept(put_files(tree, source, spool), &mut problems);
    }
    match (source, notes) {
        (Some(source), Some(notes)) if problems.is_empty() => {
            Ok(Compiled { about: source.about, notes })
        }
        _ => {
            problems.sort();
            problems.dedup();
            Err(problems)
        }
    }
}

fn read_about(tree: &dyn Tree, paths: &[&str]) -> Result<Source, Vec<Problem>> {
    if !paths.contains(&about::FILE) {
        let text = "is not there";
        let remedy = "write { \"id\": \"...\", \"displayName\": \"...\", \"version\": \"1.0\" }";
        return Err(vec![Problem::of_file(about::FILE, text, remedy)]);
    }
    let bytes = tree.read(about::FILE, ABOUT_BYTES_MAX).map_err(|problem| vec![problem])?;
    let text = String::from_utf8(bytes);
    let text = text
        .map_err(|_| vec![Problem::of_file(about::FILE, "is no UTF-8 text", "save it as UTF-8")])?;
    about::read(&text, paths, &|path| Kind::of(path).is_compiled())
}

fn put_files(tree: &dyn Tree, source: &Source, spool: &Spool) -> Result<(), Vec<Problem>> {
    let put = |path: &String| {
        let bytes = tree.read(path, FILE_BYTES_MAX)?;
        spool.put(path, &bytes).map_err(|Unkept| unspooled(path))
    };
    let problems: Vec<Problem> = source.files.iter().filter_map(|path| put(path).err()).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn kept<T>(made: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    made.map_err(|more| problems.extend(more)).ok()
}
