//! What a transfer decides: which blob moves, which ones wait, which are refused. Pure.

use std::collections::VecDeque;

use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_messages::{BlobKind, BlobRequest, Content};

use super::BlobTransferMsg;

/// What a transfer wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Open this blob; the answer is `Opened` or `Broken`.
    Open(BlobRequest),
    /// Send what the window has room for; `Moved` or `Broken` follows when that is the end of it.
    Fill,
    /// Let go of the blob that moves.
    Close,
    /// Tell the peer that it does not get this, and why.
    Refuse(BlobRequest, String),
    /// Keep this for a restart.
    Keep(Kept),
    /// The peer is gone: end.
    Stop,
    /// A line for those who look closely.
    Detail(String),
}

/// What outlives a panic of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    moving: Option<BlobRequest>,
    waiting: VecDeque<BlobRequest>,
    wanted: Option<Content>,
}

/// The blobs of one peer: one moves at a time, in the order they were asked for.
#[derive(Debug, Default)]
pub struct Transferring {
    it: Kept,
    /// Whether the blob that moves is open.
    is_open: bool,
    /// Blobs that were sent whole.
    moved: u64,
}

impl Transferring {
    /// Go on after a panic; the blob that moved is still open at the performer, if it was.
    #[must_use]
    pub fn resume(kept: Kept, is_open: bool) -> Self {
        Self { it: kept, is_open, moved: 0 }
    }

    fn ask(&mut self, request: BlobRequest, out: &mut Outbox<Effect>) {
        if request.kind != BlobKind::MapPallet {
            // Nothing else is served so far; a kind that only operators may see gets no answer.
            return match request.kind {
                BlobKind::MapCatalog | BlobKind::MapThumbnail => {
                    out.push(Effect::Detail("a map catalog was asked for by a guest".to_owned()));
                }
                _ => out.push(Effect::Refuse(request, NOT_HELD.to_owned())),
            };
        }
        // A newer map pallet takes the place of any other that waits.
        self.it.waiting.retain(|waiting| waiting.kind != request.kind);
        let stale = self.it.moving.filter(|moving| self.is_stale(moving, &request));
        match self.it.moving {
            Some(moving) if moving == request && planted::is(Bug::AskedAgainGoesOn) => (),
            // The one that moves is asked for again: its receiver has thrown away what it had.
            Some(moving) if moving == request => {
                out.push(Effect::Close);
                self.open(request, out);
            }
            Some(_) if stale.is_some() => {
                out.push(Effect::Close);
                self.open(request, out);
            }
            Some(_) => self.it.waiting.push_back(request),
            None => self.open(request, out),
        }
        self.keep(out);
    }

    /// The peer is to load this now, and gives up whatever map it was fetching.
    fn want(&mut self, content: Content, out: &mut Outbox<Effect>) {
        self.it.wanted = Some(content);
        let is_given_up =
            |it: &BlobRequest| it.kind == BlobKind::MapPallet && it.content != content;
        self.it.waiting.retain(|waiting| !is_given_up(waiting));
        if self.it.moving.as_ref().is_some_and(is_given_up) {
            out.push(Effect::Close);
            return self.next(out);
        }
        self.keep(out);
    }

    /// Whether what moves is of no use to a peer that now asks for another map pallet.
    fn is_stale(&self, moving: &BlobRequest, asked: &BlobRequest) -> bool {
        moving.kind == asked.kind && self.it.wanted != Some(moving.content)
    }

    fn open(&mut self, request: BlobRequest, out: &mut Outbox<Effect>) {
        self.it.moving = Some(request);
        self.is_open = false;
        out.push(Effect::Open(request));
    }

    fn next(&mut self, out: &mut Outbox<Effect>) {
        self.it.moving = None;
        self.is_open = false;
        if let Some(request) = self.it.waiting.pop_front() {
            self.open(request, out);
        }
        self.keep(out);
    }

    fn keep(&self, out: &mut Outbox<Effect>) {
        out.push(Effect::Keep(self.it.clone()));
    }
}

impl Machine for Transferring {
    type Msg = BlobTransferMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: BlobTransferMsg, out: &mut Outbox<Effect>) {
        match msg {
            BlobTransferMsg::Ask(request) => self.ask(request, out),
            BlobTransferMsg::Wanted(content) => self.want(content, out),
            BlobTransferMsg::Stop => out.push(Effect::Stop),
            BlobTransferMsg::Opened(request) if self.it.moving == Some(request) => {
                self.is_open = true;
                out.push(Effect::Fill);
            }
            BlobTransferMsg::Room if self.is_open => out.push(Effect::Fill),
            BlobTransferMsg::Moved(request) if self.it.moving == Some(request) => {
                self.moved += 1;
                self.next(out);
            }
            BlobTransferMsg::Broken(broken) if self.it.moving == Some(broken.request) => {
                out.push(Effect::Refuse(broken.request, broken.reason));
                self.next(out);
            }
            // What is told of a blob that was let go of.
            BlobTransferMsg::Opened(_)
            | BlobTransferMsg::Moved(_)
            | BlobTransferMsg::Broken(_)
            | BlobTransferMsg::Room => (),
        }
    }

    fn wake(&mut self, _now: Micros, _out: &mut Outbox<Effect>) {}

    fn next_deadline(&self) -> Option<Micros> {
        None
    }

    fn digest(&self, digest: &mut Digest) {
        digest.word(self.moved);
        digest.word(u64::try_from(self.it.waiting.len()).unwrap_or(u64::MAX));
    }
}

/// The answer for a blob that nobody here has.
pub(super) const NOT_HELD: &str = "not held by this server";
