//! The plan for another build: how each of its messages is rewritten as one of this build's.
//!
//! Made once for each schema that is met. Fields, enum members, flag bits and union cases pair by
//! name; what only the peer knows is stepped over, what only this build knows keeps what it holds
//! before a visit. A rewritten body goes through the ordinary reader, which checks every value.
//! Never: a message's Rust type, or bytes on their way out.

mod alike;
mod compile;
mod leaf;
mod loss;
mod measure;
mod preset;
mod program;
mod rewrite;

use alloc::vec::Vec;

use self::compile::{Compiled, compile};
pub use self::loss::{Loss, Lost};
use self::program::Program;
pub use self::rewrite::Scratch;
use self::rewrite::{Halt, Rewrite};
use crate::error::{Fault, WireError};
use crate::schema::{MessageEntry, Schema};

/// How what a peer of another build writes is read.
#[derive(Debug)]
pub struct Plan {
    peer: Schema,
    /// By the peer's number.
    messages: Vec<Option<Entry>>,
}

#[derive(Debug)]
struct Entry {
    /// This build's number for it.
    id: u8,
    /// Nothing where both builds have the same shape.
    program: Option<Program>,
    losses: Vec<Loss>,
}

/// What has become of a peer's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    /// The body is read as it is, as this build's message of this number.
    Same(u8),
    /// What the scratch holds is read, as this build's message of this number.
    Rewritten(u8),
    /// This build has no such message, or nothing to say what the peer says in it.
    Unknown,
}

impl Plan {
    /// The plan by which a build of the schema `own` reads what one of the schema `peer` sends in
    /// this direction.
    ///
    /// # Errors
    ///
    /// A list of the peer's whose count field is nowhere before it.
    pub fn new(own: &Schema, peer: Schema, direction: &str) -> Result<Self, WireError> {
        let mut messages = Vec::new();
        messages.resize_with(usize::from(u8::MAX) + 1, || None);
        for theirs in peer.messages.iter().filter(|it| it.direction == direction) {
            let is_same = |it: &&MessageEntry| it.direction == direction && it.name == theirs.name;
            let Some(ours) = own.messages.iter().find(is_same) else { continue };
            let (program, losses) = match compile(own, &ours.shape, &peer, &theirs.shape)? {
                Compiled::Same => (None, Vec::new()),
                Compiled::Program(program, losses) => (Some(program), losses),
            };
            messages[usize::from(theirs.id)] = Some(Entry { id: ours.id, program, losses });
        }
        Ok(Self { peer, messages })
    }

    /// The peer's schema.
    pub const fn peer(&self) -> &Schema {
        &self.peer
    }

    /// What is lost of the peer's message `id`; nothing of one that both builds have alike. Nothing
    /// at all where this build has no such message.
    pub fn losses(&self, id: u8) -> Option<&[Loss]> {
        let entry = self.messages.get(usize::from(id))?.as_ref()?;
        Some(&entry.losses)
    }

    /// Rewrites the body of the peer's message `id`, into the scratch if it has to be rewritten.
    ///
    /// # Errors
    ///
    /// A body that the peer's own schema does not describe, or one that would grow beyond
    /// [`PLAN_GROWTH_RATIO_MAX`](crate::limit::PLAN_GROWTH_RATIO_MAX).
    #[inline]
    pub fn rewrite(
        &self,
        id: u8,
        body: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Planned, WireError> {
        let Some(Some(entry)) = self.messages.get(usize::from(id)) else {
            return Ok(Planned::Unknown);
        };
        let Some(program) = &entry.program else {
            return Ok(Planned::Same(entry.id));
        };
        self.carry_out(entry.id, program, body, scratch)
    }

    fn carry_out(
        &self,
        id: u8,
        program: &Program,
        body: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Planned, WireError> {
        match Rewrite::new(&self.peer, program, body, scratch).whole(program) {
            Ok(()) => Ok(Planned::Rewritten(id)),
            Err(Halt::Unknown) => Ok(Planned::Unknown),
            Err(Halt::Fault(fault)) => Err(WireError::new("", fault)),
        }
    }
}

impl From<WireError> for Halt {
    fn from(WireError { fault, .. }: WireError) -> Self {
        Self::Fault(fault)
    }
}

impl From<Fault> for Halt {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
