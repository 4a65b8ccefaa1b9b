//! Tidy: the house rules of ARCHITECTURE.md as tests over the sources themselves.
//!
//! Each rule is one test with a sentence for a name. It first shows that it can fail, on a bad
//! sample, and then holds the project to it. Reads files and cargo's own view of the workspace;
//! never runs the product and never writes.

#[cfg(test)]
mod actors;
#[cfg(test)]
mod architecture;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod lints;
#[cfg(test)]
mod purity;
#[cfg(test)]
mod reach;
#[cfg(test)]
mod rows;
#[cfg(test)]
mod scan;
#[cfg(test)]
mod sizes;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod words;
