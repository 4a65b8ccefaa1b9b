//! Preparing: finds the pallet of a map on this machine and makes the map ready, piece by piece.

use dh_machine::Disk;
use dh_messages::{MapAdvert, Str16};
use dh_pallet::{Barcode, Pallet, closure_hash, peek_id};
use dh_sim::Ground;
use dh_store::load::{AnySource, CookCache, Core, Loading, Request, Step};

use super::PreparedMap;
use crate::library::{Held, Library};

/// The pallets a server may run maps from.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// Files, in the order in which they are looked at.
    pub files: Vec<String>,
    /// The core pallet, where this build carries one.
    pub core: Option<Core>,
    /// Where cooked collision is kept.
    pub cache: Option<CookCache>,
}

/// A map on its way.
#[derive(Debug)]
pub(super) struct Preparing {
    loading: Loading,
    advert: MapAdvert,
    closure: Vec<Held>,
}

impl Shelf {
    /// Make a map ready at once, before there is anybody to wait for it.
    pub(crate) fn prepare_whole(
        &self,
        map: &str,
        library: &Library,
    ) -> Result<PreparedMap, String> {
        let mut preparing = self.prepare(map, library)?;
        loop {
            if let Some(map) = preparing.step()? {
                return Ok(map);
            }
        }
    }

    /// Validate what is asked for and open its pallet: headers and tables of contents are read,
    /// nothing else.
    pub(super) fn prepare(&self, map: &str, library: &Library) -> Result<Preparing, String> {
        let map = Barcode::parse(map).map_err(|error| error.to_string())?;
        let (pallet, path) = self.open(&map.pallet, library.disk())?;
        let content = pallet.content();
        let advert = MapAdvert {
            name: Str16::clipped(&map.to_string()),
            pallet: content,
            closure_hash: closure_hash(&map.to_string(), &content, &[]),
            generation: 0,
        };
        let held = |path| Held { content, pallet: map.pallet.clone(), path };
        let closure = path.map(held).into_iter().collect();
        let mut pallets = vec![pallet];
        if map.pallet != Core::ID && self.core.is_some() {
            pallets.push(self.core()?);
        }
        let cache = self.cache.clone();
        let request = Request { map, pallets, picture_side_max: None, cache };
        Ok(Preparing { loading: Loading::new(request), advert, closure })
    }

    /// The pallet of this id and where it lies; the core pallet lies nowhere.
    fn open(
        &self,
        id: &str,
        disk: &dyn Disk,
    ) -> Result<(Pallet<AnySource>, Option<String>), String> {
        if id == Core::ID {
            return Ok((self.core()?, None));
        }
        let mut broken = Vec::new();
        for path in &self.files {
            let name = path.rsplit('/').next().unwrap_or(path);
            let file = match disk.open(path) {
                Ok(file) => file,
                Err(error) => {
                    broken.push(error.to_string());
                    continue;
                }
            };
            match peek_id(&*file) {
                Ok(found) if found == id => {
                    let source: AnySource = Box::new(file);
                    let pallet = Pallet::open(source, None);
                    let pallet = pallet.map_err(|error| format!("{name}: {error}"))?;
                    return Ok((pallet, Some(path.clone())));
                }
                Ok(_) => (),
                Err(error) => broken.push(format!("{name}: {error}")),
            }
        }
        let mut text = format!(
            "no pallet '{id}' among the {} given; name its file or folder with --content",
            self.files.len()
        );
        for why in broken {
            text.push_str("; ");
            text.push_str(&why);
        }
        Err(text)
    }

    fn core(&self) -> Result<Pallet<AnySource>, String> {
        let core = self.core.as_ref().ok_or("this program carries no core pallet")?;
        core.open().map_err(|error| format!("the core pallet: {error}"))
    }
}

impl Preparing {
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
