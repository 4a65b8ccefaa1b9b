//! Content on its way: which map to load, which blob is wanted, its chunks, or why there are none.
//!
//! Used by whoever serves or fetches content. Never: trusts a chunk; that is the receiver's proof.

use dh_wire::{Content, Rest, Str16, message};

use crate::limit::REASON_BYTES_MAX;
use crate::world::MapAdvert;

message!(
    #[open(u8)]
    /// What a blob is. Only ever appended to; a kind nobody knows is refused by name.
    pub enum BlobKind {
        /// A pallet of the map's closure.
        MapPallet = 0,
        /// The maps a server can switch to.
        MapCatalog = 1,
        /// The picture of one map.
        MapThumbnail = 2,
        /// The avatars a server holds.
        AvatarCatalog = 3,
        /// The picture of one avatar.
        AvatarThumbnail = 4,
        /// A pallet of a worn avatar's closure.
        AvatarPallet = 5,
    }
);

message!(
    /// The server has changed to another map: load this one.
    #[derive(Eq)]
    pub struct MapLoad {
        /// Which.
        pub map: MapAdvert,
    }
);

message!(
    /// Please send this blob.
    #[derive(Copy, Eq)]
    pub struct BlobRequest {
        /// What it is.
        pub kind: BlobKind,
        /// Which one.
        pub content: Content,
    }
);

message!(
    /// One slice of a blob. Slices come in order, each of
    /// [`BLOB_SLICE_BYTES`](crate::limit::BLOB_SLICE_BYTES) but the last.
    #[derive(Eq)]
    pub struct BlobChunk {
        /// What the blob is.
        pub kind: BlobKind,
        /// Which one.
        pub content: Content,
        /// Bytes of the whole blob.
        pub total: u64,
        /// Which slice, from 0.
        pub index: u32,
        /// How many slices there are, at least 1.
        pub count: u32,
        /// The slice.
        pub slice: Rest,
    }
);

message!(
    /// The blob cannot be sent. The peer stays.
    #[derive(Eq)]
    pub struct BlobRefused {
        /// What it would have been.
        pub kind: BlobKind,
        /// Which one.
        pub content: Content,
        /// Why, for people.
        pub reason: Str16<REASON_BYTES_MAX>,
    }
);

impl BlobChunk {
    /// How many slices a blob of so many bytes has; `None` when it has more than can be numbered.
    #[must_use]
    pub fn count_of(total: u64) -> Option<u32> {
        let slice = u64::from(crate::limit::BLOB_SLICE_BYTES);
        u32::try_from(total.div_ceil(slice).max(1)).ok()
    }

    /// Whether the numbers of the chunk fit each other and its slice.
    #[must_use]
    pub fn is_coherent(&self) -> bool {
        let slice = u64::from(crate::limit::BLOB_SLICE_BYTES);
        let start = u64::from(self.index) * slice;
        let length = u64::try_from(self.slice.0.len()).unwrap_or(u64::MAX);
        Self::count_of(self.total) == Some(self.count)
            && self.index < self.count
            && length == slice.min(self.total - start)
    }
}
