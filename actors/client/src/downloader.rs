//! Downloader actor: has the pallet of a map on this disk, from wherever it can be had.
//!
//! Owned by: the client's scope. Talks to: the store, the connection, the map loader. Never: opens
//! a map, trusts a byte before it is proved, or fetches what is here. After a panic: goes on with
//! the next chunk. What breaks it twice is told as a map that cannot be had; its partial is a head
//! start.

mod meter;
mod state;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use dh_host::net::{BlobEvent, InMessage};
use dh_host::{Actor, Context, Performed, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{Channel, Dialect, Scratch};
use dh_store::load::Core;
use dh_store::{Found, Store, StoreError, Transfer};

pub use self::meter::Progress;
pub use self::state::{Downloading, Effect, Kept};
use crate::connection::ConnectionMsg;
use crate::content::{ClientContent, Wanted};
use crate::ending::EndKind;
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
    #[derive(Clone)]
    pub enum DownloaderMsg {
        /// Have this here; whatever was wanted before is wanted no longer.
        Want(Numbered<Wanted>): Control Refuse,
        /// Nothing is wanted any more.
        Forget: Control Coalesce,
        /// It is here.
        Found(Numbered<Wanted>): Control Refuse,
        /// It is not here.
        Missing(Numbered<Wanted>): Control Refuse,
        /// Its partial is open, and lacks something.
        Begun(Numbered<Wanted>): Control Refuse,
        /// Its partial is open, and lacks nothing.
        Whole(Numbered<Wanted>): Control Refuse,
        /// It cannot be had, and why.
        Failed(Numbered<Failure>): Control Refuse,
        /// The stream of blobs has room, for a client that never sends on it.
        Room: Control Coalesce,
        /// A frame of the stream of blobs.
        Frame(Numbered<InMessage>): Data Wait,
    }
}

/// Why a pallet cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was wanted.
    pub wanted: Wanted,
    /// Which ending that is for a join.
    pub kind: EndKind,
    /// Why, for people.
    pub reason: String,
}

/// Why the store, or this program, did not do its part.
struct Refusal {
    kind: EndKind,
    reason: String,
}

impl Refusal {
    fn of_this_build(reason: &str) -> Self {
        Self { kind: EndKind::ContentDiffers, reason: reason.to_owned() }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let kind = match error {
            StoreError::Disk(_) | StoreError::NoRoom { .. } => EndKind::DiskFailed,
            StoreError::Pallet(_) => EndKind::MapTransferFailed,
        };
        Self { kind, reason: error.to_string() }
    }
}

/// Performs what the downloader decides.
#[derive(Debug)]
pub struct DownloaderActor {
    /// None for a client that shows the gray box only.
    content: Option<ClientContent>,
    ways: Ways,
    observer: Observer,
    transfer: Option<Transfer>,
    source: Option<Source>,
    /// What a remade machine starts from, and the chunk that it goes on with.
    kept: Kept,
    next: u32,
}

impl DownloaderActor {
    pub(crate) fn new(content: Option<ClientContent>, ways: Ways, observer: Observer) -> Self {
        let kept = Kept::default();
        Self { content, ways, observer, transfer: None, source: None, kept, next: 0 }
    }

    fn find(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, Refusal> {
        let wanted = &it.event;
        if wanted.map.pallet == Core::ID {
            let core = self.content.as_ref().and_then(|content| content.shelf.core.as_ref());
            if core.map(Core::content) != Some(wanted.content) {
                let why = "the built-in content differs; install the server's build";
                return Err(Refusal::of_this_build(why));
            }
            self.source = Some(Source::Core);
            return Ok(DownloaderMsg::Found(it.clone()));
        }
        let resolved = self.store()?.resolve(&wanted.content);
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

    /// A partial that lacks nothing is not fetched again.
    fn begin(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, Refusal> {
        let transfer = self.store()?.try_begin(&it.event.content, PALLET_BYTES_MAX)?;
        let busy = "it is being fetched already, by another client of this program";
        let kind = EndKind::DiskFailed;
        let transfer = transfer.ok_or_else(|| Refusal { kind, reason: busy.to_owned() })?;
        let is_whole = transfer.is_whole();
        self.next = 0;
        self.transfer = Some(transfer);
        let it = it.clone();
        Ok(if is_whole { DownloaderMsg::Whole(it) } else { DownloaderMsg::Begun(it) })
    }

    fn store(&self) -> Result<&Store, Refusal> {
        let why = "this client keeps no content";
        let content = self.content.as_ref().ok_or_else(|| Refusal::of_this_build(why))?;
        Ok(&content.shelf.store)
    }

    /// Take the slice of a chunk. What a partial holds from before is sent again and passed over.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let Some(transfer) = &mut self.transfer else { return Ok(()) };
        let known = usize::try_from(transfer.taken().saturating_sub(offset)).unwrap_or(usize::MAX);
        let fresh = bytes.get(known..).unwrap_or_default();
        if fresh.is_empty() {
            return Ok(());
        }
        Ok(transfer.take(fresh)?)
    }

    fn commit(&mut self, it: &Numbered<Wanted>) -> Result<DownloaderMsg, Refusal> {
        let gone = |reason: &str| Refusal { kind: EndKind::DiskFailed, reason: reason.to_owned() };
        let transfer = self.transfer.take().ok_or_else(|| gone("its transfer is over"))?;
        transfer.verify(&mut |_, _| {})?.commit()?;
        let found = self.store()?.resolve(&it.event.content).found;
        let found = found.ok_or_else(|| gone("it is gone from the cache already"))?;
        Ok(self.found(it, found))
    }

    fn deliver(&mut self, it: Numbered<Wanted>) {
        let Some(source) = self.source.take() else { return };
        let load = Numbered::new(it.attempt, Load { wanted: it.event, source });
        self.ways.to_map_loader(MapLoaderMsg::Load(load));
    }

    /// What was lost for good is told as a map that cannot be had.
    fn give_up(&mut self, lost: DownloaderMsg) {
        let wanted = std::mem::take(&mut self.kept).wanted();
        let wanted = if let DownloaderMsg::Want(it) = lost { Some(it) } else { wanted };
        (self.transfer, self.source) = (None, None);
        if let Some(Numbered { attempt, event: wanted }) = wanted {
            let (kind, pallet) = (EndKind::ClientFailed, &wanted.map.pallet);
            let reason = format!("pallet '{pallet}': fetching it failed; the log has more");
            let failure = Failure { wanted, kind, reason };
            self.ways.to_connection(ConnectionMsg::LoadFailed(Numbered::new(attempt, failure)));
        }
    }

    /// Frames of the stream of blobs, as the downloader is told of them: in this build's shapes,
    /// whatever build the server is of.
    pub(crate) fn ear(attempt: u64, dialect: Option<&Dialect>, event: BlobEvent) -> DownloaderMsg {
        match (event, dialect) {
            // A client sends no blobs, so nothing of it ever leaves.
            (BlobEvent::Room, _) => DownloaderMsg::Room,
            (BlobEvent::Frame(frame), None | Some(Dialect::Same)) => {
                DownloaderMsg::Frame(Numbered::new(attempt, frame))
            }
            (BlobEvent::Frame(InMessage { id, body }), Some(dialect)) => {
                let mut scratch = Scratch::default();
                let (id, body) = match dialect.rewrite(Channel::Blob, id, &body, &mut scratch) {
                    Ok(Some((id, body))) => (id, Bytes::copy_from_slice(body)),
                    // This client has no name for it.
                    Ok(None) => return DownloaderMsg::Room,
                    // What cannot be rewritten cannot be read either, and is told as such.
                    Err(_) => (id, Bytes::new()),
                };
                DownloaderMsg::Frame(Numbered::new(attempt, InMessage { id, body }))
            }
        }
    }
}

impl Actor for DownloaderActor {
    type Machine = Downloading;
    const SPEC: Spec = SPEC;

    /// After a panic what is wanted goes on with the chunk that comes next, unless it is what
    /// breaks this.
    fn make(&mut self, start: Start<'_, DownloaderMsg>) -> Downloading {
        if let Some(lost) = start.lost {
            self.give_up(lost);
        }
        Downloading::resume(self.kept.clone(), self.next, start.now)
    }

    fn spare(msg: &DownloaderMsg) -> Option<DownloaderMsg> {
        Some(msg.clone())
    }

    fn perform(
        &mut self,
        effect: Effect,
        cx: &mut Context<'_, DownloaderMsg>,
    ) -> Performed<Effect> {
        let failed = |it: Numbered<Wanted>, Refusal { kind, reason }| {
            let failure = Failure { wanted: it.event, kind, reason };
            DownloaderMsg::Failed(Numbered::new(it.attempt, failure))
        };
        let told = match effect {
            Effect::Find(it) => Some(self.find(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Begin(it) => Some(self.begin(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Commit(it) => Some(self.commit(&it).unwrap_or_else(|why| failed(it, why))),
            Effect::Write { it, chunk, offset, bytes } => {
                self.next = chunk + 1;
                self.write(offset, &bytes).err().map(|why| failed(it, why))
            }
            Effect::Ask(request) => {
                self.ways.to_connection(ConnectionMsg::AskBlob(request));
                None
            }
            Effect::Keep(kept) => {
                self.kept = kept;
                None
            }
            Effect::Close => {
                self.transfer = None;
                None
            }
            Effect::Deliver(it) => {
                self.deliver(it);
                None
            }
            Effect::GiveUp(why) => {
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
