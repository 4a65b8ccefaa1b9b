//! The plan for another build: how each of its messages is rewritten as one of this build's.
//!
//! Made once for each schema that is met. Fields, enum members, flag bits and union cases pair by
//! name; what only the peer knows is stepped over, what only this build knows keeps what it holds
//! before a visit. A rewritten body goes through the ordinary reader, which checks every value.
//! Never: a message's Rust type, or bytes on their way out.

mod alike;
mod change;
mod compile;
mod leaf;
mod loss;
mod measure;
mod out;
mod program;
mod record;
mod rewrite;
mod segment;
mod skip;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use self::compile::{Compiled, compile};
pub use self::loss::{Loss, Lost};
use self::program::{Program, Stretch, Winding};
pub use self::rewrite::Scratch;
use self::rewrite::{Halt, straight, winding};
use crate::error::WireError;
use crate::schema::{MessageEntry, Schema};

/// How what a peer of another build writes is read.
#[derive(Debug)]
pub struct Plan {
    peer: Schema,
    /// By the peer's number.
    routes: Box<[Route; 256]>,
    losses: BTreeMap<u8, Vec<Loss>>,
}

/// How one of the peer's messages is read: as this build's of a number.
#[derive(Debug)]
enum Route {
    /// This build has no such message.
    Unknown,
    /// Both have the same shape.
    Same(u8),
    /// They do not.
    Straight(u8, Box<[Stretch]>),
    /// They do not, and it may take any number of bytes here.
    Winding(u8, Box<Winding>),
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

impl Planned {
    /// The message as this build has it: its number and its body, which is the one that came or
    /// what the scratch holds. Nothing where this build has no such message.
    pub fn message<'a>(self, came: &'a [u8], scratch: &'a Scratch) -> Option<(u8, &'a [u8])> {
        match self {
            Self::Same(id) => Some((id, came)),
            Self::Rewritten(id) => Some((id, scratch.body())),
            Self::Unknown => None,
        }
    }
}

impl Plan {
    /// The plan by which a build of the schema `own` reads what one of the schema `peer` sends in
    /// this direction.
    ///
    /// # Errors
    ///
    /// A list of the peer's whose count field is nowhere before it.
    pub fn new(own: &Schema, peer: Schema, direction: &str) -> Result<Self, WireError> {
        let (mut routes, mut all_losses) =
            (Box::new([const { Route::Unknown }; 256]), BTreeMap::new());
        for theirs in peer.messages.iter().filter(|it| it.direction == direction) {
            let is_same = |it: &&MessageEntry| it.direction == direction && it.name == theirs.name;
            let Some(ours) = own.messages.iter().find(is_same) else { continue };
            let id = ours.id;
            let route = match compile(own, &ours.shape, &peer, &theirs.shape)? {
                Compiled::Same => Route::Same(id),
                Compiled::Program(program, losses) => {
                    all_losses.insert(theirs.id, losses);
                    match program {
                        Program::Straight(stretches) => Route::Straight(id, stretches),
                        Program::Winding(winding) => Route::Winding(id, winding.into()),
                    }
                }
            };
            routes[usize::from(theirs.id)] = route;
        }
        Ok(Self { peer, routes, losses: all_losses })
    }

    /// The peer's schema.
    pub const fn peer(&self) -> &Schema {
        &self.peer
    }

    /// What is lost of the peer's message `id`; nothing of one that both builds have alike. Nothing
    /// at all where this build has no such message.
    pub fn losses(&self, id: u8) -> Option<&[Loss]> {
        match &self.routes[usize::from(id)] {
            Route::Unknown => None,
            Route::Same(_) => Some(&[]),
            Route::Straight(..) | Route::Winding(..) => self.losses.get(&id).map(Vec::as_slice),
        }
    }

    /// Whether the peer's message `id` is read as it came.
    pub fn reads_as_is(&self, id: u8) -> bool {
        matches!(self.routes[usize::from(id)], Route::Same(_))
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
        match &self.routes[usize::from(id)] {
            Route::Same(id) => Ok(Planned::Same(*id)),
            route => match self.carry_out(route, body, scratch) {
                Outcome::Rewritten(id) => Ok(Planned::Rewritten(id)),
                Outcome::Unknown => Ok(Planned::Unknown),
                Outcome::Refused => Err(scratch.take_fault()),
            },
        }
    }

    #[inline(never)]
    fn carry_out(&self, route: &Route, body: &[u8], scratch: &mut Scratch) -> Outcome {
        let done = match route {
            Route::Straight(id, stretches) => {
                straight(stretches, body, scratch).map(|()| Outcome::Rewritten(*id))
            }
            Route::Winding(id, steps) => match winding(steps, body, scratch) {
                Ok(()) => Ok(Outcome::Rewritten(*id)),
                Err(Halt::Unknown) => Ok(Outcome::Unknown),
                Err(Halt::Fault(fault)) => Err(WireError::new("", fault)),
            },
            // A body that is read as it came is never carried out.
            Route::Same(_) | Route::Unknown => Ok(Outcome::Unknown),
        };
        done.unwrap_or_else(|fault| {
            scratch.fault = Some(fault);
            Outcome::Refused
        })
    }
}

/// What became of a body that is not read as it came: it fits a register, as a result would not.
enum Outcome {
    Rewritten(u8),
    Unknown,
    /// The scratch holds why.
    Refused,
}
