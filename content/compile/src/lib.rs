//! Content folders into pallets: `pallet.dh`, maps, glTF models, pictures.
//!
//! Used by the program's `build` and, for the core pallet, at every start. Everything that is wrong
//! with a folder is told in one run, and nothing is left behind on an error. Equal sources give
//! equal bytes: no time, no path of the machine and no order of threads gets into a pallet.

mod about;
mod build;
mod bundled;
mod compile;
mod gltf;
mod images;
mod maps;
mod models;
mod notes;
mod plan;
mod progress;
mod spool;
mod tree;

pub use about::{FILE as ABOUT_FILE, schema};
pub use build::{BuildError, Built, abandon, build, build_bundled};
pub use bundled::core_sources;
pub use progress::{Progress, Stage};
pub use tree::{Bundled, Folder, Found, Listing, Tree};

#[cfg(test)]
mod tests;
