//! Blob transfer actor: the blobs of one peer, in chunks, as fast as its link takes them.
//!
//! Owned by: the session, made with its first request. Talks to: its connection, the library.
//! Never: holds a blob in memory, waits for the tick, decides who may ask, or sends what the peer
//! cannot read. After a panic: what moves goes on from the last chunk that the link took. A
//! question that breaks it twice is refused.

mod open;
mod state;
#[cfg(test)]
mod tests;

use dh_host::net::{BlobEvent, Connection};
use dh_host::{Actor, Context, Performed, Port, Start};
use dh_machine::{Micros, Restart, Spec, Strategy, actor_message};
use dh_messages::{
    BlobRefused, BlobRequest, Content, Dialect, Direction, Message as _, Str16, ToClient,
};
use dh_prefs::key;

use self::open::OpenBlob;
pub use self::state::{Effect, Kept, Transferring};
use crate::directory::Directory;
use crate::session::SessionMsg;

/// The promise of a transfer.
pub const SPEC: Spec = Spec {
    kind: "blob_transfer",
    control_max: 64,
    data_max: 8,
    data_wakes: true,
    restart: Restart { count: 3, window: Micros::from_secs(10) },
    strategy: Strategy::OneForOne,
    ask_deadline: None,
    asks: &[],
};

actor_message! {
    /// Everything a transfer can be told.
    #[derive(Clone)]
    pub enum BlobTransferMsg {
        /// The peer asks for a blob.
        Ask(BlobRequest): Control Refuse,
        /// The map pallet that the newest advert to this peer named.
        Wanted(Content): Control Coalesce,
        /// The blob is open.
        Opened(BlobRequest): Control Refuse,
        /// The whole blob has been handed to the link.
        Moved(BlobRequest): Control Refuse,
        /// The blob cannot be read, or no further.
        Broken(Broken): Control Refuse,
        /// The peer is gone.
        Stop: Control Coalesce,
        /// The link has taken some of what waited.
        Room: Data Coalesce,
    }
}

/// A blob that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Which.
    pub request: BlobRequest,
    /// Why, as the peer is told: without a folder of this machine.
    pub reason: String,
}

/// Performs what a transfer decides.
#[derive(Debug)]
pub struct BlobTransferActor {
    connection: Connection,
    directory: Directory,
    /// The blob that moves.
    blob: Option<OpenBlob>,
    kept: Kept,
    /// What the peer reads.
    dialect: Dialect,
    /// Takes the refusals that it does not.
    session: Port<SessionMsg>,
}

impl BlobTransferActor {
    pub(crate) fn new(
        (connection, dialect): (Connection, Dialect),
        directory: Directory,
        session: Port<SessionMsg>,
    ) -> Self {
        Self { connection, directory, blob: None, kept: Kept::default(), dialect, session }
    }

    /// What the stream of blobs tells, as the transfer is told it.
    pub(crate) fn ear(event: BlobEvent) -> BlobTransferMsg {
        match event {
            // No peer sends blobs up so far; what one sends is not looked at.
            BlobEvent::Frame(_) | BlobEvent::Room => BlobTransferMsg::Room,
        }
    }

    fn open(&mut self, request: BlobRequest) -> BlobTransferMsg {
        match OpenBlob::open(request, self.directory.library(), &self.dialect) {
            Ok(blob) => {
                self.blob = Some(blob);
                BlobTransferMsg::Opened(request)
            }
            Err(reason) => BlobTransferMsg::Broken(Broken { request, reason }),
        }
    }

    /// Send until the window is full or the blob has gone; what is to be told then.
    fn fill(&mut self) -> Option<BlobTransferMsg> {
        let blob = self.blob.as_mut()?;
        let window = self.directory.prefs().get(key::BLOB_CHUNK_WINDOW);
        let window = usize::try_from(window).unwrap_or(usize::MAX);
        let end = loop {
            let room = window.saturating_sub(self.connection.blobs_waiting());
            if room == 0 {
                return None;
            }
            match blob.send(room, |id, body| self.connection.send_blob(id, body)) {
                Ok(true) => break BlobTransferMsg::Moved(blob.request()),
                Ok(false) => (),
                Err(Some(reason)) => {
                    break BlobTransferMsg::Broken(Broken { request: blob.request(), reason });
                }
                // The connection takes no more: its end says the rest.
                Err(None) => return None,
            }
        };
        self.blob = None;
        Some(end)
    }

    /// What this told broke the transfer twice: the peer waits for that blob no longer. What is to
    /// be told in its place.
    fn give_up(&mut self, lost: BlobTransferMsg) -> Option<BlobTransferMsg> {
        let reason = "the server failed over it; the log has more".to_owned();
        match lost {
            BlobTransferMsg::Ask(request) => {
                self.refuse(request, &reason);
                None
            }
            BlobTransferMsg::Opened(request) | BlobTransferMsg::Moved(request) => {
                self.blob = None;
                Some(BlobTransferMsg::Broken(Broken { request, reason }))
            }
            BlobTransferMsg::Broken(Broken { request, reason }) => {
                self.refuse(request, &reason);
                Some(BlobTransferMsg::Moved(request))
            }
            BlobTransferMsg::Wanted(_) | BlobTransferMsg::Stop | BlobTransferMsg::Room => None,
        }
    }

    fn refuse(&mut self, request: BlobRequest, reason: &str) {
        let BlobRequest { kind, content } = request;
        let refused = BlobRefused { kind, content, reason: Str16::clipped(reason) };
        if !self.dialect.reads(Direction::ToClient, BlobRefused::ID) {
            return drop(self.session.offer(SessionMsg::Unread(refused)));
        }
        let (mut refused, mut body) = (ToClient::BlobRefused(refused), Vec::new());
        match refused.write_body(&mut body) {
            // A connection that takes no more says so by its end.
            Ok(()) => drop(self.connection.send_blob(refused.id(), &body)),
            Err(error) => tracing::error!("{} was not sent: {error}", refused.name()),
        }
    }
}

impl Actor for BlobTransferActor {
    type Machine = Transferring;
    const SPEC: Spec = SPEC;

    /// After a panic the blob goes on from the last chunk that the link took.
    fn make(&mut self, start: Start<'_, BlobTransferMsg>) -> Transferring {
        if start.restarts > 0 {
            drop(start.port.offer(BlobTransferMsg::Room));
        }
        if let Some(told) = start.lost.and_then(|lost| self.give_up(lost)) {
            drop(start.port.offer(told));
        }
        Transferring::resume(self.kept.clone(), self.blob.is_some())
    }

    fn spare(msg: &BlobTransferMsg) -> Option<BlobTransferMsg> {
        (!matches!(msg, BlobTransferMsg::Room)).then(|| msg.clone())
    }

    fn perform(
        &mut self,
        effect: Effect,
        cx: &mut Context<'_, BlobTransferMsg>,
    ) -> Performed<Effect> {
        let told = match effect {
            Effect::Open(request) => Some(self.open(request)),
            Effect::Fill => self.fill(),
            Effect::Close => {
                self.blob = None;
                None
            }
            Effect::Refuse(request, reason) => {
                tracing::warn!("a blob was refused: {reason}");
                self.refuse(request, &reason);
                None
            }
            Effect::Keep(kept) => {
                self.kept = kept;
                None
            }
            Effect::Detail(line) => {
                tracing::debug!("{line}");
                None
            }
            Effect::Stop => return Performed::Stop,
        };
        if let Some(told) = told {
            drop(cx.port().offer(told));
        }
        Performed::Done
    }
}
