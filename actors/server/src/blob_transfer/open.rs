//! A blob that is open: read a window at a time, checked against what was advertised.

use dh_host::net::SendError;
use dh_machine::{DiskError, DiskErrorKind, DiskFile};
use dh_messages::limit::BLOB_SLICE_BYTES;
use dh_messages::{
    BlobChunk, BlobRefused, BlobRequest, Dialect, Direction, Message as _, Rest, ToClient,
};
use dh_pallet::{Header, fill_part};

use super::state::NOT_HELD;
use crate::library::Library;

/// A blob and how far it has gone.
#[derive(Debug)]
pub(super) struct OpenBlob {
    request: BlobRequest,
    file: Box<dyn DiskFile>,
    total: u64,
    count: u32,
    next: u32,
}

impl OpenBlob {
    /// Open what was asked for and look at its header; why it cannot be sent to who reads like
    /// this, without a folder.
    pub(super) fn open(
        request: BlobRequest,
        library: &Library,
        dialect: &Dialect,
    ) -> Result<Self, String> {
        let held = library.find(request.content).ok_or(NOT_HELD)?;
        let said = |error| format!("pallet '{}': {}", held.pallet, reason(&error));
        let file = library.open(&held).map_err(said)?;
        let total = file.len().map_err(said)?;
        let changed = || format!("pallet '{}': it was built anew; join again", held.pallet);
        let header = Header::read(&*file).map_err(|_| changed())?;
        if header.content != request.content || header.file_bytes != total {
            return Err(changed());
        }
        let count = BlobChunk::count_of(total)
            .ok_or_else(|| format!("pallet '{}': it is too large to be sent", held.pallet))?;
        if let Some(why) = untakeable(dialect, total) {
            return Err(format!("pallet '{}': {why}; update it and join again", held.pallet));
        }
        Ok(Self { request, file, total, count, next: 0 })
    }

    pub(super) fn request(&self) -> BlobRequest {
        self.request
    }

    /// Send the next chunks, at most `room` and at most [`READ_CHUNKS`]; whether these were the
    /// last. Fails with a reason when the file cannot be read, with none when the link takes no
    /// more.
    pub(super) fn send(
        &mut self,
        room: usize,
        mut send: impl FnMut(u8, &[u8]) -> Result<(), SendError>,
    ) -> Result<bool, Option<String>> {
        let slice = u64::from(BLOB_SLICE_BYTES);
        let start = u64::from(self.next) * slice;
        let chunks = READ_CHUNKS.min(room).min((self.count - self.next) as usize);
        let wanted = (chunks as u64 * slice).min(self.total - start);
        let mut bytes = vec![0; usize::try_from(wanted).unwrap_or(0)];
        read_exact(&*self.file, start, &mut bytes).map_err(|error| Some(reason(&error)))?;
        let mut body = Vec::new();
        let empty = bytes.is_empty().then_some(&bytes[..]);
        for slice in bytes.chunks(usize::from(BLOB_SLICE_BYTES)).chain(empty) {
            let mut chunk = ToClient::BlobChunk(BlobChunk {
                kind: self.request.kind,
                content: self.request.content,
                total: self.total,
                index: self.next,
                count: self.count,
                slice: Rest(slice.to_vec()),
            });
            body.clear();
            chunk.write_body(&mut body).map_err(|error| Some(error.to_string()))?;
            send(chunk.id(), &body).map_err(|_| None)?;
            self.next += 1;
        }
        Ok(self.next == self.count)
    }
}

/// Why who reads like this cannot take a blob of so many bytes, if it cannot. A build from before
/// refusals is also from before the total was widened, whatever its schema says of it.
fn untakeable(dialect: &Dialect, total: u64) -> Option<String> {
    let reads = |id| dialect.reads(Direction::ToClient, id);
    if !reads(BlobChunk::ID) {
        return Some("your build takes no content from servers".to_owned());
    }
    let fits = dialect.takes("BlobChunk", "total", total);
    let is_taken = fits && (reads(BlobRefused::ID) || total <= NARROW_BYTES_MAX);
    (!is_taken).then(|| format!("its {total} bytes are more than your build can take"))
}

fn read_exact(
    file: &(dyn DiskFile + 'static),
    offset: u64,
    bytes: &mut [u8],
) -> Result<(), DiskError> {
    if fill_part(file, offset, bytes)? == bytes.len() {
        return Ok(());
    }
    let kind = DiskErrorKind::Io("it became shorter while it was read".to_owned());
    Err(DiskError::new(kind, String::new()))
}

/// The words of an error without the path it happened at: where a server keeps its files is nobody
/// else's business.
fn reason(error: &DiskError) -> String {
    match &error.kind {
        DiskErrorKind::NotFound => "it is no longer there".to_owned(),
        DiskErrorKind::Denied => "the server may not read it".to_owned(),
        DiskErrorKind::Full | DiskErrorKind::Exists => "the server's disk failed".to_owned(),
        DiskErrorKind::Io(why) => why.clone(),
    }
}

/// The largest blob before the total was widened: its field was an `i32`.
const NARROW_BYTES_MAX: u64 = i32::MAX as u64;
/// Chunks that are read at once: 64 KiB.
const READ_CHUNKS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// A file in memory.
    #[derive(Debug)]
    struct Bytes(Vec<u8>);

    impl DiskFile for Bytes {
        fn len(&self) -> Result<u64, DiskError> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<usize, DiskError> {
            let rest = &self.0[self.0.len().min(usize::try_from(offset).unwrap())..];
            let read = rest.len().min(buf.len());
            buf[..read].copy_from_slice(&rest[..read]);
            Ok(read)
        }

        fn write_at(&mut self, _: u64, _: &[u8]) -> Result<(), DiskError> {
            unreachable!("a server writes to no pallet")
        }

        fn set_len(&mut self, _: u64) -> Result<(), DiskError> {
            unreachable!("a server cuts no pallet")
        }

        fn sync(&mut self) -> Result<(), DiskError> {
            Ok(())
        }
    }

    /// MR-50, MR-51
    #[test]
    fn no_more_chunks_are_sent_at_once_than_there_is_room_for() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|at| at.to_le_bytes()[1]).collect();
        let total = bytes.len() as u64;
        let (file, count) = (Box::new(Bytes(bytes.clone())), BlobChunk::count_of(total).unwrap());
        let mut blob = OpenBlob { request: BlobRequest::default(), file, total, count, next: 0 };
        let (mut sent, mut rooms) = (Vec::new(), [1, 7, 63, 64, 500].into_iter().cycle());
        loop {
            let (room, mut chunks) = (rooms.next().unwrap(), 0);
            let is_last = blob.send(room, |id, body| {
                let Ok(ToClient::BlobChunk(chunk)) = ToClient::from_blob(id, body) else {
                    panic!("no chunk")
                };
                chunks += 1;
                sent.extend(chunk.slice.0);
                Ok(())
            });
            assert!(chunks > 0 && chunks <= room, "{chunks} for {room}");
            if is_last.unwrap() {
                break;
            }
        }
        assert!(sent == bytes);
    }

    /// MR-62, MR-69
    #[test]
    fn each_fault_of_the_disk_has_plain_words_without_a_path() {
        let table = [
            (DiskErrorKind::NotFound, "it is no longer there"),
            (DiskErrorKind::Denied, "the server may not read it"),
            (DiskErrorKind::Full, "the server's disk failed"),
            (DiskErrorKind::Exists, "the server's disk failed"),
            (DiskErrorKind::Io("sharing violation".to_owned()), "sharing violation"),
        ];
        for (kind, words) in table {
            assert_eq!(reason(&DiskError::new(kind, "/srv/secret/place/m.pallet")), words);
        }
    }
}
