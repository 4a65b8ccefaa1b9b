//! The verbs and flags around content.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What is done with content.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Content {
    /// Write a folder of content to start from
    New {
        /// The folder, which must be empty or not there
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// Build a folder of content into a pallet
    Build(Build),
    /// Look into pallets, check and unpack them
    #[command(subcommand)]
    Pallet(Pallet),
    /// Look after the pallets that were downloaded
    #[command(subcommand)]
    Store(Store),
}

/// Flags of `build`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Build {
    /// The folder with pallet.dh and assets/
    #[arg(value_name = "SOURCE_DIR")]
    pub(crate) source: PathBuf,
    /// Write the pallet to this file, or into this folder [default: ID.pallet here]
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write JSON Schemas of pallet.dh and maps into this folder, for editors
    #[arg(long, value_name = "DIR")]
    pub(crate) schema: Option<PathBuf>,
}

/// What is done with pallets.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Pallet {
    /// Tell what a pallet is
    Info {
        /// The pallet
        file: PathBuf,
    },
    /// Check every byte of pallets
    Verify {
        /// The pallets
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// List what a pallet holds
    List {
        /// The pallet
        file: PathBuf,
    },
    /// Unpack a pallet, all of it or nothing
    ///
    /// Entries are unpacked as they lie in the pallet, which is compiled: maps on one line, models
    /// as .dh-mesh. They are no sources, and `dh build` makes no pallet of them.
    Extract {
        /// The pallet
        file: PathBuf,
        /// Unpack into this folder, which is no content folder [default: ID.extracted here]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Replace files that are there
        #[arg(long)]
        force: bool,
    },
}

/// What is done with the pallets of the data folder.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Store {
    /// List them, with their size and when they were last used
    List,
    /// Check every byte of them
    Verify {
        /// Delete what is bad; it is downloaded anew when it is needed
        #[arg(long)]
        repair: bool,
    },
    /// Delete those used longest ago beyond `client.cache.maxBytes`, and old parts
    Prune,
}
