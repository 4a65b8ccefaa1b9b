//! Golden packets: the bytes of every message and branch as files, held in both directions.
//!
//! `DH_WIRE_FIXTURES=write` rewrites the files from the samples; without it a changed field table
//! fails here. `DH_WIRE_FIXTURES=freeze` keeps them as those of one build, which later builds go on
//! reading. What is frozen, the frame too, is written once and never rewritten. Never: a decoder of
//! its own; the packets go through the product's.

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod frame;
#[cfg(test)]
mod frozen;
#[cfg(test)]
mod held;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod sealed;
#[cfg(test)]
mod share;
