//! The shelf of a role: the cache of pallets, those that were given, the core pallet, and where
//! cooked collision lies.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dh_compile::ABOUT_FILE;
use dh_host::disk::RealDisk;
use dh_pallet::printable;
use dh_store::load::{CookCache, Core};
use dh_store::{Options, Shelf, Store, StoreError};

use crate::data::DataFolder;
use crate::exit::{Exit, Failure, say};

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
    for (path, why) in store.refused() {
        say(&format!("{}: {why}; it is passed over", printable(&path)));
    }
    Ok(Shelf { store, core: Some(core()?), cook: Some(cook(folder)?) })
}

/// The map to run: the one that was asked for, or that of the only pallet that was given. None
/// where nothing was asked for and no pallet given.
pub(crate) fn map(asked: Option<&str>, shelf: &Shelf) -> Result<Option<String>, Failure> {
    if let Some(map) = asked {
        return Ok(Some(map.to_owned()));
    }
    let ids = shelf.store.ids();
    match &ids[..] {
        [] | [_] => Ok(ids.into_iter().next()),
        many => {
            let cause = format!("--content gives {} pallets: {}", many.len(), many.join(", "));
            Err(Failure::new(Exit::Usage, cause).remedy("--map ID, or --map ID:assets/NAME.dh-map"))
        }
    }
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

/// Where cooked collision is kept in this data folder.
pub(super) fn cook(folder: &DataFolder) -> Result<CookCache, Failure> {
    Ok(CookCache::new(Arc::new(RealDisk), text(&folder.file(COOK))?))
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
    if !fs::metadata(path).map_err(missing)?.is_dir() {
        return Ok(());
    }
    fs::read_dir(path).map_err(missing)?;
    if !path.join(ABOUT_FILE).is_file() {
        return Ok(());
    }
    let shown = path.display();
    let cause = format!("--content {shown}: a folder of sources, expected pallets");
    Err(Failure::new(Exit::Missing, cause).remedy(format!("dh build {shown} --out FILE")))
}

/// Paths of content are text: they are compared, sorted and told.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        let cause = format!("{}: expected a path in UTF-8", path.display());
        Failure::new(Exit::Usage, cause)
    })
}
