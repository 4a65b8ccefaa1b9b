//! How far a build is.
//!
//! Told by the passes of `compile` to whoever draws a bar.

/// What a build is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Pictures are looked at.
    Images,
    /// Models become meshes.
    Models,
    /// Maps are read and checked.
    Maps,
    /// The pallet is written.
    Writing,
}

/// How far a stage is; files, or bytes while writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The stage.
    pub stage: Stage,
    /// So much is done.
    pub done: u64,
    /// Of so much.
    pub total: u64,
}

/// Takes progress; called from several threads.
pub(crate) type Tell<'a> = &'a (dyn Fn(Progress) + Sync);
