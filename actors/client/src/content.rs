//! What a client keeps content in, and what it is asked to show.

use std::sync::Arc;

use dh_messages::{Content, MapAdvert};
use dh_pallet::Barcode;
use dh_sim::{GrayBox, Solids};
use dh_store::Shelf;
use dh_view::Scene;

/// Where a client's content lies.
#[derive(Clone, Debug)]
pub struct ClientContent {
    /// What it loads maps from, and keeps what it receives in.
    pub shelf: Shelf,
    /// The longest side of pictures that are worth unpacking, pixels; none for who draws nothing.
    pub picture_side_max: Option<u32>,
}

/// A map that a server names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The map.
    pub map: Barcode,
    /// The pallet that holds it.
    pub content: Content,
    /// The generation under which it stands there.
    pub generation: u32,
}

impl Wanted {
    /// What an advert asks for; none for the gray box.
    ///
    /// # Errors
    /// When its name is no map's: no other map is opened in its place.
    pub(crate) fn of(advert: &MapAdvert) -> Result<Option<Self>, String> {
        let name = advert.name.as_str();
        if name.is_empty() {
            return Ok(None);
        }
        let map = Barcode::parse(name).map_err(|error| error.to_string())?;
        if !map.is_map() {
            return Err(format!("`{name}`: expected palletId:assets/name.dh-map"));
        }
        let generation = advert.generation;
        Ok(Some(Self { map, content: advert.pallet, generation }))
    }
}

/// A map that a client has loaded.
#[derive(Clone, Debug)]
pub struct StandingMap {
    /// The generation it was loaded for.
    pub generation: u32,
    /// What the own pawn collides with.
    pub solids: Arc<Solids>,
    /// What is drawn of it.
    pub scene: Arc<Scene>,
}

impl StandingMap {
    /// The world without content.
    #[must_use]
    pub fn gray_box(gray_box: &GrayBox, generation: u32) -> Self {
        let scene = Scene { camera: gray_box.viewpoint(), ..Scene::of_boxes(gray_box.boxes()) };
        Self { generation, solids: gray_box.solids(), scene: Arc::new(scene) }
    }
}
