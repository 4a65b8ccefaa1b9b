//! The shelf: the pallets that a role was given, the core pallet, and where cooked collision lies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dh_host::disk::RealDisk;
use dh_server::Shelf;
use dh_store::load::{CookCache, Core};

use crate::data::DataFolder;
use crate::exit::{Exit, Failure};

/// The folder of cooked collision, in the data folder.
pub(super) const COOK: &str = "cache/cook";

/// The pallets among `given`, files as they are and folders by their `.pallet` files, in order.
pub(crate) fn shelf(given: &[PathBuf], folder: &DataFolder, core: Core) -> Result<Shelf, Failure> {
    let mut files = Vec::new();
    for path in given {
        files.extend(pallets(path)?.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>()?);
    }
    let cache = text(&folder.file(COOK)).ok().map(|dir| CookCache::new(Arc::new(RealDisk), dir));
    Ok(Shelf { files, core: Some(core), cache })
}

/// The core pallet, compiled from the sources that this program carries: once a run.
pub(crate) fn core() -> Result<Core, Failure> {
    let broken = |why: String| Failure::new(Exit::Internal, format!("the core pallet: {why}"));
    let bytes = dh_compile::build_bundled(dh_compile::core_sources())
        .map_err(|error| broken(error.to_string()))?;
    Core::new(bytes).map_err(|error| broken(error.to_string()))
}

/// The pallets that a path stands for.
pub(super) fn pallets(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    let missing = |error| {
        let cause = format!("--content {}: {error}", path.display());
        Failure::new(Exit::Missing, cause).remedy("dh build SOURCE_DIR --out FILE")
    };
    if !fs::metadata(path).map_err(missing)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(missing)? {
        let path = entry.map_err(missing)?.path();
        if path.extension().is_some_and(|extension| extension == "pallet") && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Paths of content are text: they are compared, sorted and told.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let cause = format!("{}: expected a path in UTF-8", path.display());
        Failure::new(Exit::Usage, cause)
    })
}
