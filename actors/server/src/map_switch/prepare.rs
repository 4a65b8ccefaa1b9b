//! Preparing: finds the pallet of a map on this machine and makes the map ready, piece by piece.

use std::fmt;

use dh_messages::{MapAdvert, Str16};
use dh_pallet::{Barcode, Pallet, PalletError, closure_hash, printable};
use dh_sim::Ground;
use dh_store::load::{AnySource, Core, LoadError, Loading, Step};
use dh_store::{Found, Shelf, Store, StoreError};

use super::PreparedMap;
use crate::library::Held;

/// Why a map cannot be made ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapError {
    /// It is not here, or its name says nothing.
    Missing(String),
    /// It is here and of no use.
    Damaged(String),
    /// The disk failed.
    Disk(String),
}

/// A map on its way.
#[derive(Debug)]
pub(super) struct Preparing {
    loading: Loading,
    advert: MapAdvert,
    closure: Vec<Held>,
}

/// Where a map lies.
struct Place {
    map: Barcode,
    /// Its pallet; none for the core pallet, which lies nowhere.
    pallet: Option<(Found, Pallet<AnySource>)>,
}

/// Make a map ready at once, before there is anybody to wait for it.
pub(crate) fn prepare_whole(shelf: Option<&Shelf>, map: &str) -> Result<PreparedMap, MapError> {
    Preparing::begin(shelf, map)?.finish()
}

/// Make the map ready that an advert names, of exactly the pallet it names, wherever that lies.
pub(crate) fn prepare_exactly(
    shelf: Option<&Shelf>,
    advert: &MapAdvert,
) -> Result<PreparedMap, MapError> {
    let shelf = shelf.ok_or_else(|| MapError::Missing("there is no content".to_owned()))?;
    let map = Barcode::parse(advert.name.as_str());
    let map = map.map_err(|error| MapError::Missing(error.to_string()))?;
    let is_core = shelf.core.as_ref().is_some_and(|core| core.content() == advert.pallet);
    let pallet = match is_core {
        true => None,
        false => shelf.store.pallet(&advert.pallet)?,
    };
    if !is_core && pallet.is_none() {
        let (id, root) = (printable(&map.pallet), advert.pallet.root);
        let what = format!("no pallet '{id}' with root {root}");
        return Err(MapError::absent(&shelf.store, &what));
    }
    let loading = shelf.load(map, pallet, None).map_err(LoadError::Pallet)?;
    Preparing { loading, advert: advert.clone(), closure: Vec::new() }.finish()
}

impl Preparing {
    /// Validate what is asked for and open its pallet: headers and tables of contents are read,
    /// nothing else.
    pub(super) fn begin(shelf: Option<&Shelf>, map: &str) -> Result<Self, MapError> {
        let missing = |why: &str| MapError::Missing(why.to_owned());
        let shelf = shelf.ok_or_else(|| missing("this server has no content"))?;
        let Place { map, pallet } = find(&shelf.store, map)?;
        let core = || shelf.core.as_ref().ok_or_else(|| missing("this program has no core pallet"));
        let content = match &pallet {
            Some((found, _)) => found.content,
            None => core()?.content(),
        };
        let name = map.to_string();
        let advert = MapAdvert {
            name: Str16::clipped(&name),
            pallet: content,
            closure_hash: closure_hash(&name, &content, &[]),
            generation: 0,
        };
        let held = |(found, _): &(Found, _)| Held {
            found: Found::clone(found),
            pallet: map.pallet.clone(),
        };
        let closure = pallet.iter().map(held).collect();
        let loading = shelf.load(map, pallet.map(|(_, pallet)| pallet), None);
        let loading = loading.map_err(LoadError::Pallet)?;
        Ok(Self { loading, advert, closure })
    }

    /// All of the work at once.
    fn finish(mut self) -> Result<PreparedMap, MapError> {
        loop {
            if let Some(map) = self.step()? {
                return Ok(map);
            }
        }
    }

    /// A piece of the work; the map when that was the last.
    pub(super) fn step(&mut self) -> Result<Option<PreparedMap>, MapError> {
        match self.loading.step()? {
            Step::More => Ok(None),
            Step::Done(loaded) => Ok(Some(PreparedMap {
                advert: self.advert.clone(),
                ground: Ground::of(&loaded.map, &loaded.worlds, loaded.triangles),
                closure: std::mem::take(&mut self.closure),
            })),
        }
    }
}

/// The map that is meant: that of a barcode, or the only one of a pallet that is named by its id.
fn find(store: &Store, text: &str) -> Result<Place, MapError> {
    if text.contains(':') {
        let map = Barcode::parse(text).map_err(|error| MapError::Missing(error.to_string()))?;
        let is_core = map.pallet == Core::ID;
        let pallet = if is_core { None } else { Some(open(store, &map.pallet)?) };
        return Ok(Place { map, pallet });
    }
    let (found, pallet) = open(store, text)?;
    let maps: Vec<Barcode> = pallet.manifest().maps().collect();
    match &maps[..] {
        [map] => Ok(Place { map: map.clone(), pallet: Some((found, pallet)) }),
        [] => Err(MapError::Missing(format!("pallet '{text}' holds no map"))),
        many => {
            let names: Vec<String> = many.iter().map(Barcode::to_string).collect();
            let names = printable(&names.join(", "));
            Err(MapError::Missing(format!("pallet '{text}' holds several maps, name one: {names}")))
        }
    }
}

/// The first pallet of this id that is good as far as its tables tell; bad ones are passed over.
fn open(store: &Store, id: &str) -> Result<(Found, Pallet<AnySource>), MapError> {
    let all = store.by_id(id);
    for found in &all {
        match store.open_pallet(found) {
            Ok(pallet) => {
                let others = all.iter().filter(|other| other.content != found.content);
                for other in others {
                    let (used, other) = (&found.path, &other.path);
                    tracing::warn!("two pallets have the id {id}: {used} is used, {other} is not");
                }
                return Ok((found.clone(), pallet));
            }
            Err(PalletError::Disk(error)) => return Err(MapError::Disk(error.to_string())),
            Err(error) => store.reject(found, error),
        }
    }
    Err(MapError::absent(store, &format!("no pallet '{}'", printable(id))))
}

impl MapError {
    /// A pallet is not there, unless it is one of those that cannot be used.
    fn absent(store: &Store, what: &str) -> Self {
        let given = store.given().len();
        let mut text =
            format!("{what} among the {given} given; name its file or folder with --content");
        let refused = store.refused();
        for (path, why) in &refused {
            let name = path.rsplit('/').next().unwrap_or(path);
            text.push_str(&format!("; {}: {why}", printable(name)));
        }
        let is_damaged = refused.iter().any(|(_, why)| !why.is_disk());
        if is_damaged { Self::Damaged(text) } else { Self::Missing(text) }
    }
}

impl From<StoreError> for MapError {
    fn from(error: StoreError) -> Self {
        let text = error.to_string();
        match error {
            StoreError::Pallet(_) => Self::Damaged(text),
            StoreError::Disk(_) | StoreError::NoRoom { .. } => Self::Disk(text),
        }
    }
}

impl From<LoadError> for MapError {
    fn from(error: LoadError) -> Self {
        let text = error.to_string();
        match error {
            LoadError::NoPallet(_) | LoadError::NoMap { .. } => Self::Missing(text),
            LoadError::Pallet(PalletError::Disk(_)) => Self::Disk(text),
            _ => Self::Damaged(text),
        }
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Missing(text) | Self::Damaged(text) | Self::Disk(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for MapError {}
