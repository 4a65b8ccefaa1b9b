//! Preparing: finds the pallet of a map on this machine and makes the map ready, piece by piece.

use dh_messages::{MapAdvert, Str16};
use dh_pallet::{Barcode, Pallet, PalletError, closure_hash};
use dh_sim::Ground;
use dh_store::load::{AnySource, Core, Loading, Step};
use dh_store::{Found, Shelf, Store};

use super::PreparedMap;
use crate::library::Held;

/// A map on its way.
#[derive(Debug)]
pub(super) struct Preparing {
    loading: Loading,
    advert: MapAdvert,
    closure: Vec<Held>,
}

/// Make a map ready at once, before there is anybody to wait for it.
pub(crate) fn prepare_whole(shelf: Option<&Shelf>, map: &str) -> Result<PreparedMap, String> {
    let mut preparing = Preparing::begin(shelf, map)?;
    loop {
        if let Some(map) = preparing.step()? {
            return Ok(map);
        }
    }
}

impl Preparing {
    /// Validate what is asked for and open its pallet: headers and tables of contents are read,
    /// nothing else.
    pub(super) fn begin(shelf: Option<&Shelf>, map: &str) -> Result<Self, String> {
        let map = Barcode::parse(map).map_err(|error| error.to_string())?;
        let shelf = shelf.ok_or("this server has no content")?;
        let mut closure = Vec::new();
        let (content, pallet) = if map.pallet == Core::ID {
            let core = shelf.core.as_ref().ok_or("this program carries no core pallet")?;
            (core.content(), None)
        } else {
            let (found, pallet) = open(&shelf.store, &map.pallet)?;
            let content = found.content;
            closure.push(Held { found, pallet: map.pallet.clone() });
            (content, Some(pallet))
        };
        let name = map.to_string();
        let advert = MapAdvert {
            name: Str16::clipped(&name),
            pallet: content,
            closure_hash: closure_hash(&name, &content, &[]),
            generation: 0,
        };
        let loading = shelf.load(map, pallet, None);
        let loading = loading.map_err(|error| format!("the core pallet: {error}"))?;
        Ok(Self { loading, advert, closure })
    }

    /// A piece of the work; the map when that was the last.
    pub(super) fn step(&mut self) -> Result<Option<PreparedMap>, String> {
        match self.loading.step().map_err(|error| error.to_string())? {
            Step::More => Ok(None),
            Step::Done(loaded) => Ok(Some(PreparedMap {
                advert: self.advert.clone(),
                ground: Ground::of(&loaded.map, &loaded.worlds, loaded.triangles),
                closure: std::mem::take(&mut self.closure),
            })),
        }
    }
}

/// The first pallet of this id that is good as far as its tables tell; bad ones are passed over.
fn open(store: &Store, id: &str) -> Result<(Found, Pallet<AnySource>), String> {
    for found in store.by_id(id) {
        let file = store.open_file(&found).map_err(|error| error.to_string())?;
        let source: AnySource = Box::new(file);
        match Pallet::open(source, Some(&found.content)) {
            Ok(pallet) => return Ok((found, pallet)),
            Err(PalletError::Disk(error)) => return Err(error.to_string()),
            Err(error) => store.reject(&found, error),
        }
    }
    let mut text = format!(
        "no pallet '{id}' among the {} given; name its file or folder with --content",
        store.given().len()
    );
    for (path, why) in store.refused() {
        let name = path.rsplit('/').next().unwrap_or(&path);
        text.push_str(&format!("; {name}: {why}"));
    }
    Err(text)
}
