//! Library: the scenarios of `tests/scripts`, run as people run them.
//!
//! Small ones run with three seeds and large ones with one, unless they are long. With
//! `DH_NIGHTLY=1` all of them run with twenty, and the small ones on real sockets too.

#[cfg(test)]
mod course;
#[cfg(test)]
mod holds;
#[cfg(test)]
mod shelf;
