//! Transfer: content on its way in, and the two steps that make it part of the cache.

use std::fmt;

use dh_machine::DiskFile;
use dh_pallet::{PalletError, Prover, verify};
use dh_wire::Content;

use crate::cached::Kind;
use crate::error::StoreError;
use crate::store::Store;

/// An open transfer of one content. Its partial lies beside its future place and holds whole proved
/// groups; it outlives the transfer, as a head start for the next. Only a failed verification, or
/// [`discard`](Self::discard), removes it.
pub struct Transfer {
    store: Store,
    content: Content,
    path: String,
    file: Box<dyn DiskFile>,
    prover: Prover,
    has_room: bool,
}

/// A transfer whose partial was read again and is what it should be.
#[derive(Debug)]
pub struct Verified(Transfer);

impl Store {
    /// Begin or resume a transfer as the only one of this content; none while another is open.
    /// The content may have at most `bytes_max` bytes.
    pub fn try_begin(
        &self,
        content: &Content,
        bytes_max: u64,
    ) -> Result<Option<Transfer>, StoreError> {
        {
            let mut state = self.state();
            if state.writers.contains_key(content) {
                return Ok(None);
            }
            state.writers.insert(*content, 1);
        }
        self.opened(content, bytes_max, true).map(Some)
    }

    /// Begin or resume a transfer, whether or not another of this content is open.
    pub fn begin(&self, content: &Content, bytes_max: u64) -> Result<Transfer, StoreError> {
        let sole = {
            let mut state = self.state();
            let writers = state.writers.entry(*content).or_default();
            *writers += 1;
            *writers == 1
        };
        self.opened(content, bytes_max, sole)
    }

    /// The transfer, which is counted already.
    fn opened(
        &self,
        content: &Content,
        bytes_max: u64,
        sole: bool,
    ) -> Result<Transfer, StoreError> {
        let path = self.cache_path(content, Kind::Partial);
        let file = self.inner.disk.append_to(&path).inspect_err(|_| self.leave(content))?;
        let prover = Prover::new(*content, bytes_max);
        // From here on dropping it is what ends it.
        let (store, content) = (self.clone(), *content);
        let mut transfer = Transfer { store, content, path, file, prover, has_room: false };
        transfer.resume(bytes_max, sole)?;
        Ok(transfer)
    }

    fn leave(&self, content: &Content) {
        let mut state = self.state();
        if let Some(writers) = state.writers.get_mut(content) {
            *writers -= 1;
            if *writers == 0 {
                state.writers.remove(content);
            }
        }
    }
}

impl Transfer {
    /// What is to come.
    #[must_use]
    pub fn content(&self) -> Content {
        self.content
    }

    /// Bytes that are proved and on the disk: where to go on after an error or a pause.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.prover.proved()
    }

    /// Bytes taken so far: the offset of the byte to take next.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.prover.taken()
    }

    /// Bytes of the whole file, once its header is proved.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.prover.total()
    }

    /// Whether all has come.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.prover.is_whole()
    }

    /// Take the bytes from [`taken`](Self::taken) on. Each 64 KiB is written once it is proved.
    ///
    /// After an error that is where the proved bytes end: go on from there, with another sender if
    /// the bytes were refused, once there is room if the disk is full.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let Self { prover, file, .. } = self;
        let taken = prover.push(bytes, &mut |offset, proved| file.write_at(offset, proved));
        if let Err(error) = taken {
            self.cut();
            return Err(error.into());
        }
        self.check_room()
    }

    /// Forget the bytes that are not proved yet, as when another sender goes on from
    /// [`held`](Self::held).
    pub fn rewind(&mut self) {
        self.prover.rewind();
    }

    /// Read the partial where it lies and check everything. If that fails the partial is removed;
    /// if only the disk failed, or bytes are missing, it stays.
    pub fn verify(self, progress: &mut dyn FnMut(u64, u64)) -> Result<Verified, StoreError> {
        if !self.is_whole() {
            return Err(PalletError::CutShort { len: self.held() }.into());
        }
        let digest = self.store.inner.options.digest;
        match verify(&self.file, Some(&self.content), digest, progress) {
            Ok(_) => Ok(Verified(self)),
            Err(PalletError::Disk(error)) => Err(error.into()),
            Err(error) => {
                self.discard()?;
                Err(error.into())
            }
        }
    }

    /// End the transfer and remove its partial.
    pub fn discard(self) -> Result<(), StoreError> {
        match self.store.inner.disk.remove(&self.path) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Go on from what the partial holds.
    fn resume(&mut self, bytes_max: u64, sole: bool) -> Result<(), StoreError> {
        if !self.file.is_empty()? {
            match Prover::resume(self.content, bytes_max, &self.file) {
                Ok(prover) => self.prover = prover,
                Err(PalletError::Disk(error)) => return Err(error.into()),
                Err(_) => {}
            }
            if sole && self.file.len()? > self.held() {
                self.file.set_len(self.held())?;
            }
        }
        Ok(())
    }

    /// Leave nothing behind what is proved. If that fails too, the next transfer does it.
    fn cut(&mut self) {
        // Under the lock, so that no other transfer of this content commits the file meanwhile.
        let state = self.store.state();
        let alone = state.writers.get(&self.content) == Some(&1);
        if alone && self.store.inner.disk.metadata(&self.path).is_ok() {
            let _ = self.file.set_len(self.prover.proved());
        }
    }

    /// Whether the rest will fit, as soon as it is known how much that is.
    fn check_room(&mut self) -> Result<(), StoreError> {
        let Some(total) = self.total().filter(|_| !self.has_room) else { return Ok(()) };
        let needed = total - self.held();
        // A disk that cannot tell is tried.
        let free = self.store.inner.disk.free_space(&self.store.inner.options.cache);
        if let Ok(free) = free
            && free < needed
        {
            self.rewind();
            return Err(StoreError::NoRoom { needed, free });
        }
        self.has_room = true;
        Ok(())
    }
}

impl Verified {
    /// Make it part of the cache, by giving the partial its name; its bytes are not touched. Tells
    /// where it is. If another transfer of this content has done so already, that is where it is.
    pub fn commit(self) -> Result<String, StoreError> {
        let mut transfer = self.0;
        let store = transfer.store.clone();
        let path = store.cache_path(&transfer.content, Kind::Pallet);
        transfer.file.sync()?;
        {
            let mut state = store.state();
            match store.inner.disk.rename(&transfer.path, &path) {
                Err(error) if error.is_not_found() && store.inner.disk.metadata(&path).is_ok() => {}
                renamed => renamed?,
            }
            state.known.forget(&path);
        }
        store.inner.disk.sync_dir(&store.inner.options.cache)?;
        Ok(path)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.store.leave(&self.content);
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer").field("path", &self.path).field("held", &self.held()).finish()
    }
}
