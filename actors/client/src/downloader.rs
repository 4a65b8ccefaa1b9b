//! Downloader actor: has the pallet of a map on this disk, from wherever it can be had.
//!
//! Owned by: the client's scope. Talks to: the store, the connection, the map loader. Never: opens
//! a map, trusts a byte before it is proved, or fetches what is here.

mod meter;
mod state;
#[cfg(test)]
mod tests;

use dh_host::net::{BlobEvent, InMessage};
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_store::load::Core;
use dh_store::{Found, Transfer};

pub use self::meter::Progress;
pub use self::state::{Downloading, Effect};
use crate::connection::ConnectionMsg;
use crate::content::{ClientContent, Wanted};
use crate::event::{ClientEvent, Observer};
use crate::map_loader::{Load, MapLoaderMsg, Source};
use crate::numbered::Numbered;
use crate::ways::Ways;

/// The promise of the downloader. Its data lane holds a window of chunks.
pub const SPEC: Spec = Spec {
    kind: "downloader",
    control_max: 64,
    data_max: 256,
    data_wakes: true,
    restart: Restart { count: 5, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

/// The largest pallet that is taken in, bytes.
const PALLET_BYTES_MAX: u64 = 32 << 30;

actor_message! {
    /// Everything the downloader can be told.
    pub enum DownloaderMsg {
        /// Have this here; whatever was wanted before is wanted no longer.
        Want(Numbered<Wanted>): Control Refuse,
        /// Nothing is wanted any more.
        Forget: Control Coalesce,
        /// It is here.
        Found(Numbered<Wanted>): Control Refuse,
        /// It is not here.
        Missing(Numbered<Wanted>): Control Refuse,
        /// Its partial is open.
        Begun(Numbered<Wanted>): Control Refuse,
        /// It cannot be had, and why.
        Failed(Numbered<Failure>): Control Refuse,
        /// A frame of the stream of blobs.
        Frame(Numbered<InMessage>): Data Wait,
    }
}

/// Why a pallet cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was wanted.
    pub wanted: Wanted,
    /// Why, for people.
    pub reason: String,
}

/// Performs what the downloader decides.
#[derive(Debug)]
pub struct DownloaderActor {
    /// None for a client that shows the gray box only.
    content: Option<ClientContent>,
    ways: Ways,
    observer: Observer,
    transfer: Option<Transfer>,
    /// What was wanted last, for a restart.
    wanted: Option<Numbered<Wanted>>,
    source: Option<Source>,
}

impl DownloaderActor {
    pub(crate) fn new(content: Option<ClientContent>, ways: Ways, observer: Observer) -> Self {
        Self { content, ways, observer, transfer: None, wanted: None, source: None }
    }

    fn find(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, String> {
        self.wanted = Some(it.clone());
        let wanted = &it.event;
        let content = self.content.as_ref().ok_or("this client keeps no content")?;
        if wanted.map.pallet == Core::ID {
            let core = content.shelf.core.as_ref().ok_or("this program carries no core pallet")?;
            if core.content() != wanted.content {
                return Err("the built-in content differs; install the server's build".to_owned());
            }
            self.source = Some(Source::Core);
            return Ok(DownloaderMsg::Found(it.clone()));
        }
        let resolved = content.shelf.store.resolve(&wanted.content);
        for twin in resolved.twins {
            tracing::warn!("{twin}: fingerprint equal, content digest differs; passed over");
        }
        Ok(match resolved.found {
            Some(found) => self.found(it, found),
            None => DownloaderMsg::Missing(it.clone()),
        })
    }

    fn found(&mut self, it: &Numbered<Wanted>, found: Found) -> DownloaderMsg {
        self.source = Some(Source::File(found));
        DownloaderMsg::Found(it.clone())
    }

    fn begin(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, String> {
        let store = &self.content.as_ref().ok_or("this client keeps no content")?.shelf.store;
        let begun = store.try_begin(&it.event.content, PALLET_BYTES_MAX);
        let transfer = begun.map_err(|error| error.to_string())?;
        self.transfer = Some(transfer.ok_or("it is being fetched already")?);
        Ok(DownloaderMsg::Begun(it.clone()))
    }

    /// Take a slice. What a partial holds from before is sent again and passed over.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let Some(transfer) = &mut self.transfer else { return Ok(()) };
        let known = usize::try_from(transfer.taken().saturating_sub(offset)).unwrap_or(usize::MAX);
        let fresh = bytes.get(known..).unwrap_or_default();
        if fresh.is_empty() {
            return Ok(());
        }
        transfer.take(fresh).map_err(|error| error.to_string())
    }

    fn commit(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, String> {
        let transfer = self.transfer.take().ok_or("its transfer is over")?;
        let verified = transfer.verify(&mut |_, _| {}).map_err(|error| error.to_string())?;
        verified.commit().map_err(|error| error.to_string())?;
        let store = &self.content.as_ref().ok_or("this client keeps no content")?.shelf.store;
        let found = store.resolve(&it.event.content).found;
        let found = found.ok_or("it is gone from the cache already")?;
        Ok(self.found(it, found))
    }

    fn deliver(&mut self, it: Numbered<Wanted>) {
        let Some(source) = self.source.take() else { return };
        let load = Numbered::new(it.attempt, Load { wanted: it.event, source });
        self.ways.to_map_loader(MapLoaderMsg::Load(load));
    }

    /// Frames of the stream of blobs, as the downloader is told of them.
    pub(crate) fn ear(attempt: u64, event: BlobEvent) -> DownloaderMsg {
        match event {
            BlobEvent::Frame(frame) => DownloaderMsg::Frame(Numbered::new(attempt, frame)),
            // A client sends no blobs, so nothing of it ever leaves.
            BlobEvent::Room => DownloaderMsg::Forget,
        }
    }
}

impl Actor for DownloaderActor {
    type Machine = Downloading;
    const SPEC: Spec = SPEC;

    /// After a panic what was wanted is wanted again; its partial is a head start.
    fn make(&mut self, start: Start<'_, DownloaderMsg>) -> Downloading {
        self.transfer = None;
        if start.restarts > 0
            && let Some(wanted) = self.wanted.clone()
        {
            drop(start.port.offer(DownloaderMsg::Want(wanted)));
        }
        Downloading::default()
    }

    fn perform(
        &mut self,
        effect: Effect,
        cx: &mut Context<'_, DownloaderMsg>,
    ) -> Performed<Effect> {
        let failed = |it: Numbered<Wanted>, reason| {
            let failure = Failure { wanted: it.event, reason };
            DownloaderMsg::Failed(Numbered::new(it.attempt, failure))
        };
        let told = match effect {
            Effect::Find(it) => Some(self.find(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Begin(it) => Some(self.begin(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Commit(it) => Some(self.commit(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Write { it, offset, bytes } => {
                self.write(offset, &bytes).err().map(|why| failed(it, why))
            }
            Effect::Ask(request) => {
                self.ways.to_connection(ConnectionMsg::AskBlob(request));
                None
            }
            Effect::Close => {
                self.transfer = None;
                None
            }
            Effect::Deliver(it) => {
                self.wanted = None;
                self.deliver(it);
                None
            }
            Effect::GiveUp(why) => {
                self.wanted = None;
                self.ways.to_connection(ConnectionMsg::LoadFailed(why));
                None
            }
            Effect::Tell(progress) => {
                self.observer.tell(ClientEvent::Downloading(progress));
                None
            }
            Effect::Detail(line) => {
                tracing::debug!("{line}");
                None
            }
        };
        if let Some(told) = told {
            drop(cx.port().offer(told));
        }
        Performed::Done
    }
}
