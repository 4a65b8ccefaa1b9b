//! Contents: the pallets of a scenario, and the disks its servers and peers keep them on.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use dh_client::ClientContent;
use dh_host::disk::{FaultyDisk, MemoryDisk};
use dh_machine::{Disk as _, DiskError};
use dh_pallet::{About, Writer, pack, xxh128};
use dh_store::load::Core;
use dh_store::{Options, Shelf, Store};
use rand_chacha::rand_core::Rng as _;
use xxhash_rust::xxh3::xxh3_64;

use super::error::{Said, missing, wrong};
use super::plan::{PalletPlan, Plan, ServerPlan};

/// Where a disk holds the pallets that were given.
const GIVEN: &str = "given";
/// Where a disk holds the pallets that were received.
const CACHE: &str = "cache/maps";
/// The id of the core pallet.
const CORE: &str = "core";
/// Where a pallet that is made up has its map.
const MAP: &str = "assets/main.dh-map";

/// What a server or a peer keeps content on: a disk in memory that outlives its actors, and the
/// same disk as they see it, which fails on purpose.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    memory: MemoryDisk,
    pub(super) faulty: FaultyDisk,
}

/// A pallet that was made up, as a file.
#[derive(Clone)]
pub struct MadePallet {
    /// What its file is called: its id, and what tells it from any other of that id.
    pub file: String,
    /// Its bytes.
    pub bytes: Rc<Vec<u8>>,
}

/// The pallets of a scenario, made once, and the disk of everybody by name.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pallets: BTreeMap<String, Rc<Vec<u8>>>,
    core: Option<Core>,
    /// Whether the script speaks of the core pallet.
    names_core: bool,
    disks: BTreeMap<String, Kept>,
}

impl Contents {
    /// Those of this script.
    pub(super) fn of(text: &str) -> Self {
        Self { names_core: text.contains(CORE), ..Self::default() }
    }

    /// The disk of a server or a peer.
    pub(super) fn disk(&mut self, owner: &str) -> &mut Kept {
        self.disks.entry(owner.to_owned()).or_insert_with(Kept::new)
    }

    /// What a server runs maps from, and the barcode of the one it starts with.
    pub(super) fn server(
        &mut self,
        plan: &Plan,
        server: &ServerPlan,
    ) -> Said<(Shelf, Option<String>)> {
        let ids = match &server.pallets {
            Some(ids) => ids.clone(),
            None => plan.pallets.keys().cloned().collect(),
        };
        let disk = self.disk(&owner_of_server(&server.name)).clone();
        let mut given = Vec::new();
        for id in ids {
            let Some(pallet) = plan.pallets.get(&id) else {
                let all = plan.pallets.keys().map(String::as_str);
                return Err(super::error::nobody("pallet", &id, all));
            };
            let bytes = self.pallet(&id, *pallet)?;
            let path = format!("{GIVEN}/{id}.pallet");
            put(&disk.memory, &path, &bytes).map_err(|error| wrong(format!("a disk: {error}")))?;
            given.push(path);
        }
        let store = disk.store()?;
        store.set_given(given);
        let map = Self::barcode(plan, Some(server), &server.map)?;
        let core = if self.names_core { Some(self.core()?) } else { None };
        Ok((Shelf { core, ..Shelf::of(store) }, map))
    }

    /// Where a peer keeps content.
    pub(super) fn peer(&mut self, name: &str) -> Said<ClientContent> {
        let store = self.disk(&owner_of_peer(name)).store()?;
        Ok(ClientContent {
            shelf: Shelf { core: self.core.clone(), ..Shelf::of(store) },
            picture_side_max: None,
        })
    }

    /// The whole barcode of the map that a server starts with, as scripts name it; none for the
    /// gray box.
    pub(super) fn barcode(
        plan: &Plan,
        server: Option<&ServerPlan>,
        map: &str,
    ) -> Said<Option<String>> {
        if map.is_empty() {
            return Ok(None);
        }
        Self::named(plan, server, map, ", or \"\" for the gray box").map(Some)
    }

    /// The whole barcode of a map that this server has, or any server where none is told; what else
    /// might be said in its place comes `besides`.
    fn named(plan: &Plan, server: Option<&ServerPlan>, map: &str, besides: &str) -> Said<String> {
        let (id, path) = map.split_once(':').unwrap_or((map, MAP));
        let has = server.and_then(|it| it.pallets.as_ref());
        let is_had = |it: &&str| has.is_none_or(|has| has.iter().any(|had| had == it));
        let ids: Vec<&str> = plan.pallets.keys().map(String::as_str).filter(is_had).collect();
        let of_core = core_maps();
        let is_there = match id {
            CORE => of_core.iter().any(|it| it == map),
            id => ids.contains(&id) && path == MAP,
        };
        if is_there {
            return Ok(format!("{id}:{path}"));
        }
        let why = match id {
            CORE => String::new(),
            id if ids.contains(&id) => format!(": pallet \"{id}\" holds {id}:{MAP} alone"),
            id => format!(": no pallet \"{id}\" among [{}]", ids.join(", ")),
        };
        let whole = ids.iter().map(|id| format!("{id}:{MAP}")).chain(of_core.iter().cloned());
        let whole: Vec<String> = whole.collect();
        let known = ids.iter().copied().chain(whole.iter().map(String::as_str));
        let near = dh_prefs::nearest(map, known);
        let hint = near.map(|it| format!("did you mean \"{it}\"? ")).unwrap_or_default();
        Err(missing(format!(
            "there is no map \"{map}\"{why}; {hint}expected one of `pallets`, {}{besides}",
            of_core.join(", ")
        )))
    }

    /// The whole barcode of a map that a server is to change to.
    pub(super) fn change(plan: &Plan, server: Option<&ServerPlan>, map: &str) -> Said<String> {
        if map.is_empty() {
            let what = "map: a server only starts with the gray box; expected one of `pallets`, ";
            return Err(wrong(format!("{what}{}", core_maps().join(", "))));
        }
        Self::named(plan, server, map, "")
    }

    /// The pallets that were made so far.
    pub(super) fn made(&self) -> Vec<MadePallet> {
        let file = |id: &str, bytes: &[u8]| format!("{id}.{:016x}.pallet", xxh3_64(bytes));
        let made = self
            .pallets
            .iter()
            .map(|(id, bytes)| MadePallet { file: file(id, bytes), bytes: Rc::clone(bytes) });
        made.collect()
    }

    fn core(&mut self) -> Said<Core> {
        if self.core.is_none() {
            let bytes = dh_compile::build_bundled(dh_compile::core_sources())
                .map_err(|error| wrong(format!("the core pallet: {error}")))?;
            let core =
                Core::new(bytes).map_err(|error| wrong(format!("the core pallet: {error}")))?;
            self.core = Some(core);
        }
        self.core.clone().ok_or_else(|| wrong("no core pallet"))
    }

    fn pallet(&mut self, id: &str, plan: PalletPlan) -> Said<Rc<Vec<u8>>> {
        if let Some(made) = self.pallets.get(id) {
            return Ok(Rc::clone(made));
        }
        let made = make(id, plan).map_err(|error| wrong(format!("pallet {id}: {error}")))?;
        let made = Rc::new(made);
        self.pallets.insert(id.to_owned(), Rc::clone(&made));
        Ok(made)
    }
}

impl fmt::Debug for MadePallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadePallet").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Kept {
    fn new() -> Self {
        let memory = MemoryDisk::default();
        let faulty = FaultyDisk::over(Arc::new(memory.clone()));
        Self { memory, faulty }
    }

    fn store(&self) -> Said<Store> {
        let store = Store::open(Arc::new(self.faulty.clone()), Options::new(CACHE));
        store.map_err(|error| wrong(format!("a disk: {error}")))
    }

    /// Forget everything that was received.
    pub(super) fn forget(&self) {
        for entry in self.memory.list(CACHE).unwrap_or_default() {
            // What is gone already is forgotten.
            let _ = self.memory.remove(&format!("{CACHE}/{}", entry.name));
        }
    }
}

/// The barcodes of the maps of the core pallet.
fn core_maps() -> Vec<String> {
    let paths = dh_compile::core_sources().0.iter().map(|(path, _)| *path);
    paths.filter(|it| it.ends_with(".dh-map")).map(|it| format!("{CORE}:{it}")).collect()
}

pub(super) fn owner_of_server(name: &str) -> String {
    format!("server {name}")
}

pub(super) fn owner_of_peer(name: &str) -> String {
    format!("peer {name}")
}

fn put(disk: &MemoryDisk, path: &str, bytes: &[u8]) -> Result<(), DiskError> {
    disk.make_dir(GIVEN)?;
    disk.create(path)?.write_at(0, bytes)
}

/// A pallet with one map, a floor with a spawn on it, and noise that no compression makes smaller.
fn make(id: &str, plan: PalletPlan) -> Result<Vec<u8>, dh_pallet::PalletError> {
    let (floor, height) = (plan.floor - 0.5, plan.floor);
    let map = format!(
        r#"{{"objects":[
            {{"id":"floor","transform":{{"position":[0,{floor},0]}},
              "components":{{"dh.box":{{"size":[60,1,60]}}}}}},
            {{"id":"spawn","transform":{{"position":[0,{height},0]}},
              "components":{{"dh.spawn":{{"radius":8}}}}}}]}}"#
    );
    let about = About { id: id.to_owned(), ..About::default() };
    let mut writer = Writer::new(about)?;
    writer.put(MAP, pack(map.as_bytes()).in_memory())?;
    let mut noise = vec![0; usize::try_from(plan.bytes).unwrap_or(usize::MAX)];
    dh_host::Seeds::new(0).rng(id).fill_bytes(&mut noise);
    if !noise.is_empty() {
        writer.put("files/noise", pack(&noise).in_memory())?;
    }
    let mut bytes = Vec::new();
    writer.write(&mut bytes, xxh128, &mut |_, _| {})?;
    Ok(bytes)
}
