//! The bytes of a [`Cooked`], as a cook cache keeps them.
//!
//! Little endian: magic, version u32, vertices u32, triangles u32, dropped u32, digest u64; then
//! three f32 a vertex, three u32 a triangle, one u32 a triangle for its object. The tree is made
//! anew: it follows from the order of the triangles.

use std::fmt;

use glam::Vec3;

use crate::cooked::{Cooked, number32};
use crate::part::{OBJECTS_MAX, TRIANGLES_MAX, is_sound};
use crate::weld::spans;

/// What a file of ours begins with.
const MAGIC: [u8; 8] = *b"DHCOOKED";
/// Bytes before the vertices.
const HEADER: usize = 32;

/// Why bytes are no set of triangles of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// They do not begin as such bytes do.
    Magic,
    /// Another version wrote them: cook again.
    Version(u32),
    /// More triangles or vertices than a cook can have.
    TooMany,
    /// Their length is not what their counts say.
    Length,
    /// A vertex, triangle or object that no cook leaves, or bits that changed.
    Damaged,
}

impl Cooked {
    /// Rises with every change to what a cook makes of the same parts. Part of a cache's key.
    pub const VERSION: u32 = 1;

    /// The bytes to keep; equal sets have equal bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(length(self.vertices.len(), self.triangles.len()));
        out.extend(MAGIC);
        let counts = [number32(self.vertices.len()), number32(self.triangles.len())];
        let words = [Self::VERSION, counts[0], counts[1], self.dropped];
        words.iter().for_each(|word| out.extend(word.to_le_bytes()));
        out.extend(self.digest().to_le_bytes());
        for vertex in &self.vertices {
            vertex.to_array().iter().for_each(|part| out.extend(part.to_le_bytes()));
        }
        let words = self.triangles.iter().flatten().chain(&self.objects);
        words.for_each(|word| out.extend(word.to_le_bytes()));
        out
    }

    /// What [`Cooked::encode`] gave the bytes for. Whatever the bytes are, it does not panic, and
    /// takes no more memory than a few times their length.
    ///
    /// # Errors
    /// [`DecodeError`] for all other bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(DecodeError::Length)?;
        let (magic, header) = header.split_at(MAGIC.len());
        let (words, digest) = header.split_at(16);
        if magic != MAGIC {
            return Err(DecodeError::Magic);
        }
        let mut words = words_of(words);
        let [version, vertices, triangles, dropped] =
            std::array::from_fn(|_| words.next().unwrap_or_default());
        if version != Self::VERSION {
            return Err(DecodeError::Version(version));
        }
        let (vertices, triangles) = (vertices as usize, triangles as usize);
        if triangles > TRIANGLES_MAX || vertices > 3 * TRIANGLES_MAX {
            return Err(DecodeError::TooMany);
        }
        if bytes.len() != length(vertices, triangles) {
            return Err(DecodeError::Length);
        }
        let cooked = read(body, vertices, triangles, dropped).ok_or(DecodeError::Damaged)?;
        let same = digest == cooked.digest().to_le_bytes();
        if same { Ok(cooked) } else { Err(DecodeError::Damaged) }
    }
}

/// Bytes of a set of so many, no more than the limits.
const fn length(vertices: usize, triangles: usize) -> usize {
    HEADER + 12 * vertices + 16 * triangles
}

/// The set in a body of the right length, if everything in it is sound.
fn read(body: &[u8], vertices: usize, triangles: usize, dropped: u32) -> Option<Cooked> {
    let (places, rest) = body.split_at(12 * vertices);
    let (corners, objects) = rest.split_at(12 * triangles);
    let vertices: Vec<Vec3> = triples_of(places)
        .map(|bits| Some(Vec3::from_array(bits.map(f32::from_bits))).filter(|v| is_sound(*v)))
        .collect::<Option<_>>()?;
    let spans_a_plane = |triangle: [u32; 3]| {
        let corners = triangle.map(|corner| vertices.get(corner as usize).copied());
        let [Some(a), Some(b), Some(c)] = corners else { return None };
        spans([a, b, c]).then_some(triangle)
    };
    let triangles: Vec<[u32; 3]> = triples_of(corners).map(spans_a_plane).collect::<Option<_>>()?;
    let objects: Vec<u32> = words_of(objects).collect();
    let known = objects.iter().all(|object| *object < OBJECTS_MAX);
    known.then(|| Cooked::of(vertices, triangles, objects, dropped))
}

fn words_of(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word))
}

fn triples_of(bytes: &[u8]) -> impl Iterator<Item = [u32; 3]> {
    bytes.as_chunks::<12>().0.iter().map(|triple| {
        let mut words = words_of(triple);
        std::array::from_fn(|_| words.next().unwrap_or_default())
    })
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("no cooked collision"),
            Self::Version(version) => {
                let ours = Cooked::VERSION;
                write!(f, "cooked collision of version {version}; this program has {ours}")
            }
            Self::TooMany => write!(f, "cooked collision of more than {TRIANGLES_MAX} triangles"),
            Self::Length => f.write_str("cooked collision of the wrong length"),
            Self::Damaged => f.write_str("damaged cooked collision"),
        }
    }
}

impl std::error::Error for DecodeError {}
