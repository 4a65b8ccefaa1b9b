//! What a client keeps: its cache of pallets, what it was given, the core pallet.

use std::path::PathBuf;
use std::sync::Arc;

use dh_client::ClientContent;
use dh_host::disk::RealDisk;
use dh_store::load::{CookCache, Core};
use dh_store::{Options, Store};

use super::shelf::{COOK, pallets, text};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};

/// The folder of received pallets, in the data folder.
const CACHE: &str = "cache/maps";
/// The longest side of pictures that a client unpacks, pixels.
const PICTURE_SIDE_MAX: u32 = 2_048;

/// The content of a client with this data folder, which was given these pallets and folders.
pub(crate) fn kept(
    given: &[PathBuf],
    folder: &DataFolder,
    core: Core,
    draws: bool,
) -> Result<ClientContent, Failure> {
    let disk = Arc::new(RealDisk);
    let cache = text(&folder.file(CACHE))?;
    let store = Store::open(disk.clone(), Options::new(&cache)).map_err(|error| {
        Failure::new(Exit::CannotCreate, format!("the cache of pallets: {error}"))
            .remedy("dh --data DIR, with a folder you may write to")
    })?;
    let mut files = Vec::new();
    for path in given {
        // Looked at once here, so that a path which is not there is told at the start.
        drop(pallets(path)?);
        files.push(text(path)?);
    }
    store.set_given(files);
    Ok(ClientContent {
        store,
        core: Some(core),
        cook: Some(CookCache::new(disk, text(&folder.file(COOK))?)),
        picture_side_max: draws.then_some(PICTURE_SIDE_MAX),
    })
}
