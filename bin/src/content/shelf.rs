//! The shelf of a role: the cache of pallets, those that were given, the core pallet, and where
//! cooked collision lies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dh_host::disk::RealDisk;
use dh_store::load::{CookCache, Core};
use dh_store::{Options, Shelf, Store, StoreError};

use crate::data::DataFolder;
use crate::exit::{Exit, Failure};

/// The folder of received pallets, in the data folder.
const MAPS: &str = "cache/maps";
/// The folder of cooked collision, in the data folder.
const COOK: &str = "cache/cook";

/// What a role with this data folder runs maps from, where it was given these pallets and folders
/// of pallets.
pub(crate) fn shelf(given: &[PathBuf], folder: &DataFolder) -> Result<Shelf, Failure> {
    let store = store(folder)?;
    // Looked at once here, so that a path which is not there is told at the start.
    given.iter().try_for_each(|path| there(path))?;
    store.set_given(given.iter().map(|path| text(path)).collect::<Result<_, _>>()?);
    let cook = CookCache::new(Arc::new(RealDisk), text(&folder.file(COOK))?);
    Ok(Shelf { store, core: Some(core()?), cook: Some(cook) })
}

/// The store in this data folder, with nothing given.
pub(super) fn store(folder: &DataFolder) -> Result<Store, Failure> {
    let cache = text(&folder.file(MAPS))?;
    let store = Store::open(Arc::new(RealDisk), Options::new(&cache));
    store.map_err(|error: StoreError| {
        let cause = format!("the cache of pallets: {error}");
        Failure::new(Exit::CannotCreate, cause)
            .remedy("dh --data DIR, with a folder you may write to")
    })
}

/// The core pallet, compiled from the sources that this program carries.
fn core() -> Result<Core, Failure> {
    let broken = |why: String| Failure::new(Exit::Internal, format!("the core pallet: {why}"));
    let bytes = dh_compile::build_bundled(dh_compile::core_sources())
        .map_err(|error| broken(error.to_string()))?;
    Core::new(bytes).map_err(|error| broken(error.to_string()))
}

/// Whether a pallet or a folder of pallets is where it was said to be.
fn there(path: &Path) -> Result<(), Failure> {
    let missing = |error| {
        let cause = format!("--content {}: {error}", path.display());
        Failure::new(Exit::Missing, cause).remedy("dh build SOURCE_DIR --out FILE")
    };
    if fs::metadata(path).map_err(missing)?.is_dir() {
        fs::read_dir(path).map_err(missing)?;
    }
    Ok(())
}

/// Paths of content are text: they are compared, sorted and told.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let cause = format!("{}: expected a path in UTF-8", path.display());
        Failure::new(Exit::Usage, cause)
    })
}
