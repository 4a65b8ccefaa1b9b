//! Manifest: who made a pallet, what it needs, and where its entries lie.

use dh_wire::Root;

use crate::barcode::{Barcode, is_map};
use crate::encoding::Encoding;
use crate::error::PalletError;
use crate::header::Header;
use crate::layout::Layout;
use crate::names::{check_pallet_id, check_path, check_twins};
use crate::source::count;
use crate::{rows, text};

/// Entries of a pallet.
pub const ENTRIES_MAX: usize = 65_536;
/// Bytes of a manifest.
pub const MANIFEST_BYTES_MAX: u64 = 16 << 20;
/// Characters of a title, a version, an author or a licence.
pub const ABOUT_CHARS_MAX: usize = 256;
/// Authors of a pallet.
pub const AUTHORS_MAX: usize = 64;
/// Pallets a pallet may name.
const DEPENDENCIES_MAX: usize = 256;

/// What a pallet says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its id: a-z, 0-9, and `-` `_` `.` between them; at most 64 bytes.
    pub id: String,
    /// The name people read. This and the texts below: at most 256 characters, no controls.
    pub name: String,
    /// Its version, in the author's own form.
    pub version: String,
    /// Who made it, in their order; at most 64.
    pub authors: Vec<String>,
    /// Under which licence.
    pub licence: String,
    /// Ids of the pallets it uses, sorted; at most 256.
    pub dependencies: Vec<String>,
}

/// A pallet's table of contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// What the pallet says of itself.
    pub about: About,
    /// Its entries, sorted by the bytes of their paths.
    pub entries: Vec<Entry>,
}

/// One file of a pallet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path, with `/` between names.
    pub path: String,
    /// Bytes of the file.
    pub raw_bytes: u64,
    /// Where its stored bytes lie, from the start of the body.
    pub offset: u64,
    /// Bytes stored for it.
    pub stored_bytes: u64,
    /// How they are stored.
    pub encoding: Encoding,
    /// BLAKE3 of the stored bytes.
    pub checksum: Root,
}

impl About {
    /// Whether everything is within its limits.
    pub(crate) fn check(&self) -> Result<(), PalletError> {
        check_pallet_id(&self.id)?;
        let texts = [&self.name, &self.version, &self.licence];
        texts.into_iter().chain(&self.authors).try_for_each(|text| check_text(text))?;
        if self.authors.len() > AUTHORS_MAX {
            return Err(PalletError::Manifest("more than 64 authors"));
        }
        if self.dependencies.len() > DEPENDENCIES_MAX {
            return Err(PalletError::Manifest("more than 256 dependencies"));
        }
        self.dependencies.iter().try_for_each(|id| check_pallet_id(id))?;
        if !self.dependencies.is_sorted_by(|a, b| a < b) {
            return Err(PalletError::Manifest("dependencies are not sorted"));
        }
        if self.dependencies.contains(&self.id) {
            return Err(PalletError::Manifest("the pallet depends on itself"));
        }
        Ok(())
    }
}

impl Manifest {
    /// The entry of this path.
    #[must_use]
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path));
        at.ok().map(|at| &self.entries[at])
    }

    /// The maps, in the order of their paths.
    pub fn maps(&self) -> impl Iterator<Item = Barcode> {
        let maps = self.entries.iter().filter(|entry| is_map(&entry.path));
        maps.map(|entry| Barcode { pallet: self.about.id.clone(), path: entry.path.clone() })
    }

    /// The canonical text: what a fingerprint starts with.
    #[must_use]
    pub fn text(&self) -> String {
        text::write(&self.about, &self.entries)
    }

    /// The bytes at the start of a body: the canonical text, then the table.
    pub(crate) fn encode(&self) -> Vec<u8> {
        rows::write(&self.text(), &self.entries)
    }

    /// Read the manifest of a file with this header.
    pub(crate) fn decode(bytes: &[u8], header: &Header) -> Result<Self, PalletError> {
        let (text, rows) = rows::read(bytes)?;
        let (about, entries) = text::read(text, rows)?;
        let manifest = Self { about, entries };
        manifest.check()?;
        let mut layout = Layout::behind(header.manifest_bytes)?;
        for entry in &manifest.entries {
            if layout.place(entry.stored_bytes)? != entry.offset {
                return Err(PalletError::entry(&entry.path, "lies elsewhere than its place"));
            }
        }
        if layout.body_bytes() != header.body_bytes() {
            return Err(PalletError::Manifest("its entries do not fill the body"));
        }
        // What is not written as we write it is not canonical.
        if manifest.encode() != bytes {
            return Err(PalletError::Manifest("its text is not canonical"));
        }
        Ok(manifest)
    }

    /// Whether names and sizes are within the rules, and paths in order.
    pub(crate) fn check(&self) -> Result<(), PalletError> {
        self.about.check()?;
        if self.entries.len() > ENTRIES_MAX {
            return Err(PalletError::Manifest("more than 65,536 entries"));
        }
        for entry in &self.entries {
            check_path(&entry.path)?;
            if entry.encoding == Encoding::AsIs && entry.raw_bytes != entry.stored_bytes {
                return Err(PalletError::entry(&entry.path, "has two different sizes"));
            }
        }
        if !self.entries.is_sorted_by(|a, b| a.path < b.path) {
            return Err(PalletError::Manifest("paths are not sorted"));
        }
        check_twins(self.entries.iter().map(|entry| entry.path.as_str()))
    }

    /// Whether the manifest is short enough, whose bytes these are.
    pub(crate) fn check_bytes(bytes: &[u8]) -> Result<(), PalletError> {
        if count(bytes.len()) > MANIFEST_BYTES_MAX {
            return Err(PalletError::Manifest("more than 16 MiB"));
        }
        Ok(())
    }
}

fn check_text(text: &str) -> Result<(), PalletError> {
    if text.chars().nth(ABOUT_CHARS_MAX).is_some() {
        return Err(PalletError::name(text, "is longer than 256 characters"));
    }
    if text.chars().any(char::is_control) {
        return Err(PalletError::name(text, "has a control character"));
    }
    Ok(())
}
