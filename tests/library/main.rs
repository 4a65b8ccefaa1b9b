//! Library: the scenarios of `tests/scripts`, run as people run them.
//!
//! Small ones run with three seeds and large ones with one, unless they are long; five run on real
//! sockets too. At night the program runs all of them with twenty seeds, and on real sockets.

#[cfg(test)]
mod course;
#[cfg(test)]
mod holds;
#[cfg(test)]
mod shelf;
