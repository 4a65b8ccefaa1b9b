//! Loading: a map out of its pallet, step by step: read and proved, cooked or found in the cache.
//!
//! Used by the server's map switch and the client's map loader, each on a thread of its own. One
//! step is bounded work on one entry, so that a newer wish is heard between two. Never touches a
//! world or a picture: it hands over what both are made from.

mod cache;
mod core;
mod solid;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use dh_cook::{CookError, Cooked};
use dh_map::{Image, Map, Mesh, Problem, World};
use dh_pallet::{Barcode, Pallet, PalletError, Source, printable};

pub use self::cache::{CookCache, CookedFiles};
pub use self::core::Core;

/// Bytes of a map's text.
const MAP_BYTES_MAX: u64 = 32 << 20;
/// Bytes of the meshes of a map together: one of 4 million triangles with everything a vertex can
/// have, or many smaller ones.
const MESHES_BYTES_MAX: u64 = 1 << 30;
/// Bytes of one picture as it is stored.
const PICTURE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of the pixels of a map's pictures together.
const PIXELS_BYTES_MAX: u64 = 1 << 30;

/// Where a pallet's bytes come from.
pub type AnySource = Box<dyn Source + Send + Sync>;

/// What to load, and from where.
#[derive(Debug)]
pub struct Request {
    /// The map.
    pub map: Barcode,
    /// The pallet that holds it, then those it may name.
    pub pallets: Vec<Pallet<AnySource>>,
    /// The longest side of pictures, pixels; none are read without it.
    pub picture_side_max: Option<u32>,
    /// Where cooked collision is kept.
    pub cache: Option<CookCache>,
}

/// A map, ready to be stood in and to be drawn.
#[derive(Debug, Default)]
pub struct LoadedMap {
    /// The map itself.
    pub map: Map,
    /// Where each of its objects stands, by index.
    pub worlds: Vec<World>,
    /// Its models, by the reference that the map makes.
    pub meshes: BTreeMap<String, Arc<Mesh>>,
    /// Its pictures, by the reference that map or mesh makes.
    pub pictures: BTreeMap<String, Arc<Image>>,
    /// What of its models is solid; none where nothing is.
    pub triangles: Option<Arc<Cooked>>,
}

/// How far a load is.
#[derive(Debug)]
pub enum Step {
    /// There is more to do.
    More,
    /// It is whole.
    Done(Box<LoadedMap>),
}

/// Why a map cannot be loaded.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadError {
    /// None of the pallets is the one that is named.
    NoPallet(String),
    /// The pallet holds no such map; those it holds.
    NoMap {
        /// The barcode asked for.
        map: String,
        /// The maps there are.
        maps: Vec<String>,
    },
    /// A part of a pallet cannot be read.
    Pallet(PalletError),
    /// The map breaks a rule.
    Map(Vec<Problem>),
    /// An entry is not what its name says.
    Entry {
        /// Its path.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Its geometry cannot be cooked.
    Cook(CookError),
    /// All of a kind together are more than a map may have.
    TooMuch {
        /// The kind.
        what: &'static str,
        /// Bytes that a map may have of it.
        bytes_max: u64,
    },
}

/// A load that runs.
#[derive(Debug)]
pub struct Loading {
    request: Request,
    loaded: Box<LoadedMap>,
    /// What is left to read.
    meshes: Vec<String>,
    pictures: BTreeSet<String>,
    /// Bytes that may still come of each.
    meshes_left: u64,
    pixels_left: u64,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Map,
    Meshes,
    Pictures,
    Cook,
}

impl Loading {
    /// Begin; nothing is read yet.
    #[must_use]
    pub fn new(request: Request) -> Self {
        let loaded = Box::default();
        Self {
            request,
            loaded,
            meshes: Vec::new(),
            pictures: BTreeSet::new(),
            meshes_left: MESHES_BYTES_MAX,
            pixels_left: PIXELS_BYTES_MAX,
            stage: Stage::Map,
        }
    }

    /// The next bounded piece of work.
    ///
    /// # Errors
    /// When the map cannot be loaded; nothing more comes of this load then.
    pub fn step(&mut self) -> Result<Step, LoadError> {
        match self.stage {
            Stage::Map => self.read_map()?,
            Stage::Meshes => match self.meshes.pop() {
                Some(reference) => self.read_mesh(reference)?,
                None => self.stage = Stage::Pictures,
            },
            Stage::Pictures => match self.pictures.pop_first() {
                Some(reference) => self.read_picture(reference)?,
                None => self.stage = Stage::Cook,
            },
            Stage::Cook => {
                self.cook()?;
                return Ok(Step::Done(std::mem::take(&mut self.loaded)));
            }
        }
        Ok(Step::More)
    }

    fn read_map(&mut self) -> Result<(), LoadError> {
        let Barcode { pallet, path } = &self.request.map;
        let held = self.pallet(pallet)?;
        if !self.request.map.is_map() || held.manifest().entry(path).is_none() {
            let maps = held.manifest().maps().map(|map| map.to_string()).collect();
            return Err(LoadError::NoMap { map: self.request.map.to_string(), maps });
        }
        let text = self.text(pallet, path)?;
        let map = Map::parse(&text, path).map_err(LoadError::Map)?;
        let models = map.objects.iter().filter_map(|object| object.components.model.as_ref());
        let models: BTreeSet<&str> = models.map(|model| model.model.as_str()).collect();
        self.meshes = models.into_iter().rev().map(str::to_owned).collect();
        let textures = map.materials.values().filter_map(|material| material.texture.as_ref());
        self.pictures = textures.map(|texture| texture.as_str().to_owned()).collect();
        self.loaded.worlds = map.worlds();
        self.loaded.map = map;
        self.stage = Stage::Meshes;
        Ok(())
    }

    fn read_mesh(&mut self, reference: String) -> Result<(), LoadError> {
        // What an entry unpacks to is known before it is read.
        let (pallet, path) = self.place(&reference);
        let entry = self.pallet(pallet)?.manifest().entry(path);
        let unpacked = entry.map_or(0, |entry| entry.raw_bytes);
        let left = self.meshes_left.checked_sub(unpacked);
        let too_much = LoadError::TooMuch { what: "meshes", bytes_max: MESHES_BYTES_MAX };
        self.meshes_left = left.ok_or(too_much)?;
        let bytes = self.entry(&reference, MESHES_BYTES_MAX)?;
        let mesh = Mesh::decode(&bytes).map_err(|error| LoadError::Entry {
            path: reference.clone(),
            why: error.to_string(),
        })?;
        // A mesh names its pictures by path alone: they lie in its own pallet.
        let prefix = reference.split_once(':').map_or(String::new(), |(id, _)| format!("{id}:"));
        let named = mesh.materials.iter().filter_map(|surface| surface.base_image.as_ref());
        self.pictures.extend(named.map(|path| format!("{prefix}{path}")));
        self.loaded.meshes.insert(reference, Arc::new(mesh));
        Ok(())
    }

    fn read_picture(&mut self, reference: String) -> Result<(), LoadError> {
        let Some(side_max) = self.request.picture_side_max else { return Ok(()) };
        let bytes = self.entry(&reference, PICTURE_BYTES_MAX)?;
        let picture = dh_map::image::decode(&bytes, side_max).map_err(|error| {
            LoadError::Entry { path: reference.clone(), why: error.to_string() }
        })?;
        let pixels = u64::try_from(picture.rgba.len()).unwrap_or(u64::MAX);
        let left = self.pixels_left.checked_sub(pixels);
        let too_much = LoadError::TooMuch { what: "pictures", bytes_max: PIXELS_BYTES_MAX };
        self.pixels_left = left.ok_or(too_much)?;
        self.loaded.pictures.insert(reference, Arc::new(picture));
        Ok(())
    }

    fn cook(&mut self) -> Result<(), LoadError> {
        let parts = solid::parts(&self.loaded);
        if parts.is_empty() {
            return Ok(());
        }
        let content = self.pallet(&self.request.map.pallet)?.content();
        let cache = self.request.cache.as_ref();
        let known = cache.and_then(|cache| cache.find(&self.request.map, &content));
        let triangles = match known {
            Some(cooked) => cooked,
            None => {
                let cooked = dh_cook::cook(&parts).map_err(LoadError::Cook)?;
                if let Some(cache) = cache {
                    cache.keep(&self.request.map, &content, &cooked);
                }
                cooked
            }
        };
        drop(parts);
        self.loaded.triangles = Some(Arc::new(triangles));
        Ok(())
    }

    fn text(&self, pallet: &str, path: &str) -> Result<String, LoadError> {
        let bytes = self.pallet(pallet)?.read(path, MAP_BYTES_MAX).map_err(LoadError::Pallet)?;
        String::from_utf8(bytes).map_err(|_| LoadError::Entry {
            path: path.to_owned(),
            why: "it is not UTF-8 text".to_owned(),
        })
    }

    fn entry(&self, reference: &str, bytes_max: u64) -> Result<Vec<u8>, LoadError> {
        let (pallet, path) = self.place(reference);
        self.pallet(pallet)?.read(path, bytes_max).map_err(LoadError::Pallet)
    }

    /// The pallet and the path that a reference names.
    fn place<'a>(&'a self, reference: &'a str) -> (&'a str, &'a str) {
        reference.split_once(':').unwrap_or((&self.request.map.pallet, reference))
    }

    fn pallet(&self, id: &str) -> Result<&Pallet<AnySource>, LoadError> {
        let held = self.request.pallets.iter().find(|held| held.manifest().about.id == id);
        held.ok_or_else(|| LoadError::NoPallet(id.to_owned()))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPallet(id) => write!(f, "pallet '{}' is not here", printable(id)),
            Self::NoMap { map, maps } if maps.is_empty() => {
                write!(f, "there is no map {}: the pallet holds none", printable(map))
            }
            Self::NoMap { map, maps } => {
                let (map, maps) = (printable(map), printable(&maps.join(", ")));
                write!(f, "there is no map {map}; the pallet holds {maps}")
            }
            Self::Pallet(error) => error.fmt(f),
            Self::Map(problems) => {
                let first = problems.first().map(ToString::to_string).unwrap_or_default();
                match problems.len() {
                    0 | 1 => f.write_str(&first),
                    many => write!(f, "{first} (and {} more)", many - 1),
                }
            }
            Self::Entry { path, why } => write!(f, "{}: {why}", printable(path)),
            Self::Cook(error) => write!(f, "its collision cannot be cooked: {error}"),
            Self::TooMuch { what, bytes_max } => {
                let mebibytes = bytes_max >> 20;
                write!(f, "its {what} are more than {mebibytes} MiB together: use fewer or smaller")
            }
        }
    }
}

impl std::error::Error for LoadError {}
