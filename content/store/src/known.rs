//! Known: what was read from files before, as long as they have not changed.

use std::collections::BTreeMap;

use dh_machine::{Disk, DiskError, Micros};
use dh_pallet::{Header, PalletError, peek_id};
use dh_wire::Content;

/// One file as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    len: u64,
    modified: Micros,
    /// What its header claims, or why the file is not used.
    pub(crate) content: Result<Content, PalletError>,
    /// The id it claims, once somebody asked for it.
    id: Option<String>,
}

/// What is known of files, by path.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeMap<String, Look>);

impl Known {
    /// What the file claims to be. Its header is read unless length and time are those of before.
    pub(crate) fn look(&mut self, disk: &dyn Disk, path: &str) -> Result<Look, DiskError> {
        let now = disk.metadata(path)?;
        let unchanged = |look: &&Look| (look.len, look.modified) == (now.len, now.modified);
        if let Some(look) = self.0.get(path).filter(unchanged) {
            return Ok(look.clone());
        }
        let content = match Header::read(&disk.open(path)?) {
            Err(PalletError::Disk(error)) => return Err(error),
            read => read.and_then(|header| header.fits(now.len).map(|()| header.content)),
        };
        let look = Look { len: now.len, modified: now.modified, content, id: None };
        self.0.insert(path.to_owned(), look.clone());
        Ok(look)
    }

    /// The id that the file claims, read once.
    pub(crate) fn id(&mut self, disk: &dyn Disk, path: &str) -> Option<(String, Content)> {
        let Look { content, id, .. } = self.look(disk, path).ok()?;
        let content = content.ok()?;
        if let Some(id) = id {
            return Some((id, content));
        }
        let id = peek_id(&disk.open(path).ok()?).ok()?;
        let look = self.0.get_mut(path)?;
        look.id = Some(id.clone());
        Some((id, content))
    }

    /// The file is bad, until it changes.
    pub(crate) fn reject(&mut self, path: &str, why: PalletError) {
        if let Some(look) = self.0.get_mut(path) {
            look.content = Err(why);
        }
    }

    /// The file is another one now.
    pub(crate) fn forget(&mut self, path: &str) {
        self.0.remove(path);
    }
}
