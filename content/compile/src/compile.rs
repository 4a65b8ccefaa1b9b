//! The passes of a build, from a tree of sources to entries in a spool.
//!
//! Used by `build`. A pass that finds mistakes does not hide those of the next ones.

use crate::about::{self, Source};
use crate::bundled::core_about;
use crate::gltf::Around;
use crate::images::{Images, unspooled};
use crate::maps::{self, Beside};
use crate::models;
use crate::notes;
use crate::plan::{Kind, Plan};
use crate::progress::Tell;
use crate::spool::{Spool, Unkept};
use crate::tree::Tree;
use dh_map::Problem;
use dh_pallet::About;
use std::collections::BTreeMap;

/// A file that travels as it is may have so many bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// `pallet.dh` may have so many bytes.
const ABOUT_BYTES_MAX: u64 = 1 << 20;

/// What a pallet says of itself, what it was made of, and what was left out of it.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) about: About,
    /// The files that travel as they are.
    pub(crate) files: Vec<String>,
    pub(crate) plan: Plan,
    pub(crate) notes: Vec<Problem>,
}

impl Compiled {
    /// Whether a file of the tree was read for this pallet.
    pub(crate) fn reads(&self, path: &str) -> bool {
        let listed = self.files.iter().any(|file| file == path);
        path == about::FILE || Kind::of(path) != Kind::Other || listed
    }
}

/// Compiles a tree into the spool, or tells everything that is wrong with it.
pub(crate) fn compile(
    tree: &dyn Tree,
    spool: &Spool,
    tell: Tell<'_>,
) -> Result<Compiled, Vec<Problem>> {
    let listing = tree.list()?;
    let sized = listing.files.iter().map(|file| (file.path.as_str(), file.bytes));
    let paths: BTreeMap<&str, u64> = sized.collect();
    let mut problems = Vec::new();
    let plan = Plan::of(&listing.files, &mut problems);
    let source = kept(read_about(tree, &paths), &mut problems);
    if plan.maps.is_empty() && plan.models.is_empty() && plan.images.is_empty() {
        let text = "no map, model or picture under assets/";
        problems.push(Problem::of_file("assets", text, "add assets/NAME.dh-map"));
    }
    let images = kept(Images::compile(tree, &plan.images, spool, tell), &mut problems);
    // Without the pictures every model would tell that it misses them.
    let notes = images.as_ref().and_then(|images| {
        let around = Around { tree, paths: &paths, images, spool };
        kept(models::compile(&plan.models, around, tell), &mut problems)
    });
    let pallet = source.as_ref().map_or("", |source| source.about.id.as_str());
    let beside = Beside { tree, pallet, paths: &paths, images: images.as_ref(), spool };
    let of_maps = kept(maps::compile(&plan.maps, &beside, tell), &mut problems);
    if let Some(source) = &source {
        kept(put_files(tree, source, spool), &mut problems);
    }
    match (source, notes) {
        (Some(Source { about, files }), Some(mut notes)) if problems.is_empty() => {
            notes.extend(of_maps.into_iter().flatten());
            notes.extend(notes::of_tree(&listing, &plan, &files));
            notes.sort();
            Ok(Compiled { about, files, plan, notes })
        }
        _ => {
            problems.sort();
            problems.dedup();
            Err(problems)
        }
    }
}

fn read_about(tree: &dyn Tree, paths: &BTreeMap<&str, u64>) -> Result<Source, Vec<Problem>> {
    if !paths.contains_key(about::FILE) {
        let text = "is not there";
        let remedy = "write { \"id\": \"...\", \"displayName\": \"...\", \"version\": \"1.0\" }";
        return Err(vec![Problem::of_file(about::FILE, text, remedy)]);
    }
    let bytes = tree.read(about::FILE, ABOUT_BYTES_MAX).map_err(|problem| vec![problem])?;
    let is_core = bytes == core_about();
    let text = String::from_utf8(bytes);
    let text = text
        .map_err(|_| vec![Problem::of_file(about::FILE, "is no UTF-8 text", "save it as UTF-8")])?;
    about::read(&text, paths, is_core)
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
