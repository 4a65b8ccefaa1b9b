//! What a download decides: what is here, what is asked for, what each chunk leads to. Pure.

use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Machine, Micros, Outbox};
use dh_messages::limit::BLOB_SLICE_BYTES;
use dh_messages::{BlobChunk, BlobKind, BlobRequest, Content, ToClient};

use super::meter::{Meter, Progress};
use super::{DownloaderMsg, Failure};
use crate::content::Wanted;
use crate::ending::EndKind;
use crate::numbered::Numbered;

/// Silence after which a transfer has failed.
pub(super) const PATIENCE: Micros = Micros::from_secs(30);

/// What a download wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Look for it in the cache and in the given folders; the answer is `Found` or `Missing`.
    Find(Numbered<Wanted>),
    /// Be the one writer of it; the answer is `Begun`, `Whole` or `Failed`.
    Begin(Numbered<Wanted>),
    /// Ask the server for it.
    Ask(Numbered<BlobRequest>),
    /// Take these bytes as those at `offset`; `Failed` follows only if they cannot be kept.
    Write {
        /// What they belong to.
        it: Numbered<Wanted>,
        /// The chunk they came in.
        chunk: u32,
        /// Where they belong.
        offset: u64,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// All bytes came: verify the file where it lies and move it into the cache; the answer is
    /// `Found` or `Failed`.
    Commit(Numbered<Wanted>),
    /// Let go of the file; what it has stays as a head start.
    Close,
    /// It is here.
    Deliver(Numbered<Wanted>),
    /// It will not come.
    GiveUp(Numbered<Failure>),
    /// How far it has come.
    Tell(Progress),
    /// A line for those who look closely.
    Detail(String),
    /// Keep this for a restart.
    Keep(Kept),
}

/// What outlives a panic of the machine: what is wanted, and how far that has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept(Option<(Numbered<Wanted>, Stage)>);

/// How far a want has come, its chunks aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Finding,
    Beginning,
    Receiving,
    Committing,
}

impl Kept {
    /// What is wanted.
    pub(super) fn wanted(self) -> Option<Numbered<Wanted>> {
        self.0.map(|(it, _)| it)
    }
}

/// One pallet at a time, the newest that was wanted.
#[derive(Debug, Default)]
pub struct Downloading {
    want: Option<Want>,
    /// What was kept last.
    kept: Kept,
}

#[derive(Debug)]
struct Want {
    it: Numbered<Wanted>,
    step: Step,
}

/// How far a want has come.
#[derive(Debug)]
enum Step {
    Finding,
    Beginning,
    Receiving(Receiving),
    Committing,
}

/// A transfer that runs.
#[derive(Debug)]
struct Receiving {
    next: u32,
    /// Chunks that have come, where the most did: what comes a second time is no progress.
    furthest: u32,
    total: Option<u64>,
    meter: Meter,
    heard: Micros,
}

impl Step {
    fn stage(&self) -> Stage {
        match self {
            Self::Finding => Stage::Finding,
            Self::Beginning => Stage::Beginning,
            Self::Receiving(_) => Stage::Receiving,
            Self::Committing => Stage::Committing,
        }
    }
}

impl Receiving {
    /// Chunks from `next` on are to come.
    fn from(next: u32, now: Micros) -> Self {
        let meter = Meter::new(now, u64::from(next) * u64::from(BLOB_SLICE_BYTES));
        Self { next, furthest: next, total: None, meter, heard: now }
    }
}

impl Downloading {
    /// Go on after a panic; where chunks were coming, with `next`.
    #[must_use]
    pub fn resume(kept: Kept, next: u32, now: Micros) -> Self {
        let want = kept.0.clone().map(|(it, stage)| {
            let step = match stage {
                Stage::Finding => Step::Finding,
                Stage::Beginning => Step::Beginning,
                Stage::Receiving => Step::Receiving(Receiving::from(next, now)),
                Stage::Committing => Step::Committing,
            };
            Want { it, step }
        });
        Self { want, kept }
    }

    /// Keep what is wanted where that is something else than before.
    fn keep(&mut self, out: &mut Outbox<Effect>) {
        let now = self.want.as_ref().map(|want| (&want.it, want.step.stage()));
        if now != self.kept.0.as_ref().map(|(it, stage)| (it, *stage)) {
            self.kept = Kept(now.map(|(it, stage)| (it.clone(), stage)));
            out.push(Effect::Keep(self.kept.clone()));
        }
    }

    /// A newer want takes the place of the one before, whatever it has come to. A transfer that
    /// runs goes on where the newer one is for another map of the same pallet.
    fn want(&mut self, it: Numbered<Wanted>, out: &mut Outbox<Effect>) {
        if let Some(Want { it: before, step: Step::Receiving(_) }) = &mut self.want
            && (before.attempt, before.event.content) == (it.attempt, it.event.content)
        {
            *before = it;
            return;
        }
        self.forget(out);
        out.push(Effect::Find(it.clone()));
        self.want = Some(Want { it, step: Step::Finding });
    }

    fn forget(&mut self, out: &mut Outbox<Effect>) {
        if let Some(Want { step: Step::Receiving(_) | Step::Beginning, .. }) = self.want.take() {
            out.push(Effect::Close);
        }
    }

    fn missing(&mut self, out: &mut Outbox<Effect>) {
        let Some(want) = &mut self.want else { return };
        if matches!(want.step, Step::Finding) {
            want.step = Step::Beginning;
            out.push(Effect::Begin(want.it.clone()));
        }
    }

    fn whole(&mut self, out: &mut Outbox<Effect>) {
        let Some(want) = &mut self.want else { return };
        if matches!(want.step, Step::Beginning) {
            want.step = Step::Committing;
            out.push(Effect::Commit(want.it.clone()));
        }
    }

    fn begun(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let Some(want) = &mut self.want else { return };
        if !matches!(want.step, Step::Beginning) {
            return;
        }
        let request = BlobRequest { kind: BlobKind::MapPallet, content: want.it.event.content };
        out.push(Effect::Ask(Numbered::new(want.it.attempt, request)));
        want.step = Step::Receiving(Receiving::from(0, now));
    }

    /// A frame of the stream of blobs. What is no longer wanted is passed over: it was under way.
    fn frame(&mut self, now: Micros, id: u8, body: &[u8], out: &mut Outbox<Effect>) {
        match ToClient::from_blob(id, body) {
            Ok(ToClient::BlobChunk(chunk)) => self.chunk(now, chunk, out),
            Ok(ToClient::BlobRefused(refused)) => {
                if self.receiving(refused.kind, refused.content).is_some() {
                    let failed = EndKind::MapTransferFailed;
                    self.give_up(failed, "the server couldn't send ", &refused.reason, out);
                }
            }
            Ok(other) => self.fail(format!("{} is no part of a blob", other.name()), out),
            Err(error) => self.fail(format!("an unreadable chunk: {error}"), out),
        }
    }

    fn chunk(&mut self, now: Micros, chunk: BlobChunk, out: &mut Outbox<Effect>) {
        let Some(receiving) = self.receiving(chunk.kind, chunk.content) else {
            return out.push(Effect::Detail("a chunk that nobody wants any more".to_owned()));
        };
        // The same blob was asked for before, and given up: the end of that, or its beginning, may
        // still be under way. What was asked for now begins with the first chunk that comes last.
        if chunk.index == 0 {
            receiving.next = 0;
        } else if receiving.next == 0 {
            return out.push(Effect::Detail("a chunk of what was given up".to_owned()));
        }
        let fits = chunk.is_coherent()
            && chunk.index == receiving.next
            && receiving.total.is_none_or(|total| total == chunk.total);
        if !fits {
            let (index, count) = (chunk.index, chunk.count);
            let next = receiving.next;
            return self.fail(format!("chunk {index} of {count} does not follow {next}"), out);
        }
        receiving.next += 1;
        receiving.total = Some(chunk.total);
        if receiving.next > receiving.furthest {
            receiving.furthest = receiving.next;
            receiving.heard = now;
            let length = u64::try_from(chunk.slice.0.len()).unwrap_or(u64::MAX);
            if let Some(progress) = receiving.meter.add(now, length, chunk.total) {
                out.push(Effect::Tell(progress));
            }
        }
        let Some(want) = &mut self.want else { return };
        let place = u64::from(chunk.index) + u64::from(planted::is(Bug::ChunkOneOff));
        let offset = place * u64::from(BLOB_SLICE_BYTES);
        let (it, bytes) = (want.it.clone(), chunk.slice.0);
        out.push(Effect::Write { it, chunk: chunk.index, offset, bytes });
        if chunk.index + 1 == chunk.count {
            want.step = Step::Committing;
            out.push(Effect::Commit(want.it.clone()));
        }
    }

    fn receiving(&mut self, kind: BlobKind, content: Content) -> Option<&mut Receiving> {
        match &mut self.want {
            Some(Want { it, step: Step::Receiving(receiving) })
                if kind == BlobKind::MapPallet && it.event.content == content =>
            {
                Some(receiving)
            }
            _ => None,
        }
    }

    fn found(&mut self, out: &mut Outbox<Effect>) {
        if let Some(want) = self.want.take() {
            out.push(Effect::Deliver(want.it));
        }
    }

    fn fail(&mut self, why: impl AsRef<str>, out: &mut Outbox<Effect>) {
        self.give_up(EndKind::MapTransferFailed, "", why.as_ref(), out);
    }

    fn give_up(&mut self, kind: EndKind, who: &str, why: &str, out: &mut Outbox<Effect>) {
        let Some(want) = self.want.take() else { return };
        if matches!(want.step, Step::Receiving(_) | Step::Beginning | Step::Committing) {
            out.push(Effect::Close);
        }
        let Numbered { attempt, event: wanted } = want.it;
        let named = format!("pallet '{}': ", wanted.map.pallet);
        // A server may have named it already.
        let reason = format!("{who}{named}{}", why.strip_prefix(&named).unwrap_or(why));
        out.push(Effect::GiveUp(Numbered::new(attempt, Failure { wanted, kind, reason })));
    }

    /// Whether an answer is about what is wanted now.
    fn is_current(&self, it: &Numbered<Wanted>) -> bool {
        self.want.as_ref().is_some_and(|want| want.it == *it)
    }
}

impl Downloading {
    fn take(&mut self, now: Micros, msg: DownloaderMsg, out: &mut Outbox<Effect>) {
        match msg {
            DownloaderMsg::Want(it) => self.want(it, out),
            DownloaderMsg::Forget => self.forget(out),
            DownloaderMsg::Missing(it) if self.is_current(&it) => self.missing(out),
            DownloaderMsg::Begun(it) if self.is_current(&it) => self.begun(now, out),
            DownloaderMsg::Whole(it) if self.is_current(&it) => self.whole(out),
            DownloaderMsg::Found(it) if self.is_current(&it) => self.found(out),
            DownloaderMsg::Failed(it) => {
                if self.is_current(&Numbered::new(it.attempt, it.event.wanted)) {
                    self.give_up(it.event.kind, "", &it.event.reason, out);
                }
            }
            DownloaderMsg::Frame(it) => {
                if self.want.as_ref().is_some_and(|want| want.it.attempt == it.attempt) {
                    self.frame(now, it.event.id, &it.event.body, out);
                }
            }
            DownloaderMsg::Missing(_)
            | DownloaderMsg::Begun(_)
            | DownloaderMsg::Whole(_)
            | DownloaderMsg::Found(_)
            | DownloaderMsg::Room => (),
        }
    }
}

impl Machine for Downloading {
    type Msg = DownloaderMsg;
    type Effect = Effect;

    fn handle(&mut self, now: Micros, msg: DownloaderMsg, out: &mut Outbox<Effect>) {
        self.take(now, msg, out);
        self.keep(out);
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        if self.next_deadline().is_some_and(|at| at <= now) {
            let silence = PATIENCE.0 / 1_000_000;
            self.fail(format!("nothing came for {silence} s"), out);
            self.keep(out);
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        match &self.want {
            Some(Want { step: Step::Receiving(receiving), .. }) => Some(receiving.heard + PATIENCE),
            _ => None,
        }
    }

    fn digest(&self, digest: &mut Digest) {
        if let Some(Want { step: Step::Receiving(receiving), .. }) = &self.want {
            digest.word(u64::from(receiving.next));
        }
    }
}
