//! Prover: a receiver's end of a transfer. Bytes go in, in order; what comes out is proved.

use dh_machine::DiskError;
use dh_wire::Content;

use crate::error::PalletError;
use crate::groups::Groups;
use crate::header::{GROUP_BYTES, Header};
use crate::source::{Source, count, size};

/// Bytes at the end of a partial that are proved again on resuming: what a crash may have spoiled.
const PROVED_AGAIN_BYTES: u64 = 64 << 20;

/// Takes proved bytes at their offset in the file.
pub type Put<'a> = dyn FnMut(u64, &[u8]) -> Result<(), DiskError> + 'a;

/// Proves a pallet as it arrives: header and group table against the root that was advertised, then
/// each 64 KiB against the table. It holds the table and one group, never more of the body.
#[derive(Debug)]
pub struct Prover {
    wanted: Content,
    bytes_max: u64,
    proved: u64,
    pending: Vec<u8>,
    /// The header, once it has come; the table proves it later.
    header: Option<Header>,
    groups: Option<Groups>,
}

impl Prover {
    /// At the start of `wanted`, which may have at most `bytes_max` bytes.
    #[must_use]
    pub fn new(wanted: Content, bytes_max: u64) -> Self {
        let pending = Vec::new();
        Self { wanted, bytes_max, proved: 0, pending, header: None, groups: None }
    }

    /// Where a transfer stopped that left `partial`. Header and table are proved again, and of the
    /// groups the last 64 MiB; what follows the last whole or the first bad one is not counted.
    /// A partial of something else gives an error: begin anew.
    pub fn resume<S: Source + ?Sized>(
        wanted: Content,
        bytes_max: u64,
        partial: &S,
    ) -> Result<Self, PalletError> {
        let mut prover = Self::new(wanted, bytes_max);
        let header = Header::read(partial)?;
        prover.admit(&header)?;
        let groups = Groups::read(partial, header)?;
        let group_bytes = count(GROUP_BYTES);
        let len = partial.len()?.min(header.file_bytes);
        let whole = if len == header.file_bytes {
            groups.count()
        } else {
            (len - header.body_at()) / group_bytes
        };
        let mut good = whole.saturating_sub(PROVED_AGAIN_BYTES / group_bytes);
        let mut reader = groups.reader(partial);
        while good < whole {
            let bytes = count(header.group_bytes(good));
            match reader.range(good * group_bytes, bytes, &mut |_| Ok(())) {
                Ok(()) => good += 1,
                Err(PalletError::BadGroup { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        prover.proved = header.file_bytes.min(header.body_at() + good * group_bytes);
        prover.header = Some(header);
        prover.groups = Some(groups);
        Ok(prover)
    }

    /// Take the bytes that follow those taken before. What they prove goes to `put` with its offset
    /// in the file: header and table together, then each group.
    ///
    /// After an error nothing is counted that was not handed on: the next bytes to take are those
    /// from [`proved`](Self::proved) on.
    pub fn push(&mut self, bytes: &[u8], put: &mut Put<'_>) -> Result<(), PalletError> {
        let taken = self.take(bytes, put);
        if taken.is_err() {
            self.pending.clear();
            if self.groups.is_none() {
                self.header = None;
            }
        }
        taken
    }

    /// Forget the bytes that are not proved, as when another sender goes on from
    /// [`proved`](Self::proved).
    pub fn rewind(&mut self) {
        self.pending.clear();
    }

    /// Bytes of the file that are proved: none, or header and table with whole groups.
    #[must_use]
    pub fn proved(&self) -> u64 {
        self.proved
    }

    /// Bytes of the file that were taken and not refused: the next byte to push is this one.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.proved + count(self.pending.len())
    }

    /// Bytes of the whole file, once header and table are proved.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.groups.as_ref().map(|groups| groups.header().file_bytes)
    }

    /// Whether all of it is proved.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.total() == Some(self.proved)
    }

    fn take(&mut self, mut bytes: &[u8], put: &mut Put<'_>) -> Result<(), PalletError> {
        while !bytes.is_empty() {
            let due = self.due();
            if due == 0 {
                return Err(PalletError::Trailing { bytes: count(bytes.len()) });
            }
            let len = bytes.len().min(due - self.pending.len());
            let (piece, rest) = bytes.split_at(len);
            self.pending.extend_from_slice(piece);
            bytes = rest;
            if self.pending.len() == due {
                self.prove(put)?;
            }
        }
        Ok(())
    }

    /// Bytes that are proved together next.
    fn due(&self) -> usize {
        match (&self.groups, &self.header) {
            (Some(groups), _) => {
                let header = groups.header();
                header.group_bytes(self.next_group(header))
            }
            (None, Some(header)) => size(header.body_at()),
            (None, None) => Header::BYTES,
        }
    }

    fn next_group(&self, header: &Header) -> u64 {
        (self.proved - header.body_at()).div_ceil(count(GROUP_BYTES))
    }

    fn prove(&mut self, put: &mut Put<'_>) -> Result<(), PalletError> {
        if let Some(groups) = &self.groups {
            groups.prove(self.next_group(groups.header()), &self.pending)?;
            put(self.proved, &self.pending)?;
        } else if let Some(header) = self.header {
            let groups = Groups::proved(header, self.pending[Header::BYTES..].to_vec())?;
            put(0, &self.pending)?;
            self.groups = Some(groups);
        } else {
            let header = Header::decode(&self.pending)?;
            self.admit(&header)?;
            self.header = Some(header);
            return Ok(());
        }
        self.proved += count(self.pending.len());
        self.pending.clear();
        if self.pending.capacity() > 2 * GROUP_BYTES {
            self.pending = Vec::new();
        }
        Ok(())
    }

    fn admit(&self, header: &Header) -> Result<(), PalletError> {
        header.is(&self.wanted)?;
        if header.file_bytes > self.bytes_max {
            let (path, bytes_max) = (self.wanted.fingerprint.to_string(), self.bytes_max);
            return Err(PalletError::TooLarge { path, bytes: header.file_bytes, bytes_max });
        }
        Ok(())
    }
}
