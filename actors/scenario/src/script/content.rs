//! Contents: the pallets of a scenario, and the disks its servers and peers keep them on.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use dh_client::ClientContent;
use dh_host::disk::{FaultyDisk, MemoryDisk};
use dh_machine::{Disk as _, DiskError};
use dh_pallet::{About, Writer, pack, xxh128};
use dh_store::load::Core;
use dh_store::{Options, Shelf, Store};
use rand_chacha::rand_core::Rng as _;

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

/// The pallets of a scenario, made once, and the disk of everybody by name.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pallets: BTreeMap<String, Rc<Vec<u8>>>,
    core: Option<Core>,
    disks: BTreeMap<String, Kept>,
}

impl Contents {
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
        let map = Self::barcode(plan, &server.map)?;
        let core = if map.as_deref().is_some_and(|map| map.starts_with("core:")) {
            Some(self.core()?)
        } else {
            None
        };
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

    /// The whole barcode of a map as scripts name it; none for the gray box.
    pub(super) fn barcode(plan: &Plan, map: &str) -> Said<Option<String>> {
        let (id, path) = map.split_once(':').unwrap_or((map, MAP));
        match id {
            "" => Ok(None),
            CORE => Ok(Some(map.to_owned())),
            id if plan.pallets.contains_key(id) => Ok(Some(format!("{id}:{path}"))),
            id => {
                let known: Vec<&str> = plan.pallets.keys().map(String::as_str).collect();
                Err(missing(format!(
                    "there is no map \"{map}\": no pallet \"{id}\" among [{}]; expected one of \
                     `pallets`, core:assets/demo.dh-map, or \"\" for the gray box",
                    known.join(", ")
                )))
            }
        }
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
