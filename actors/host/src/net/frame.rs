//! Frames: reliable messages cut out of the bytes of stream 0.
//!
//! Used by the quic lane. It is incremental and never allocates by an announced length: what is
//! held is at most what has arrived.

use bytes::{Buf, Bytes, BytesMut};

use super::limit::BODY_MAX;

/// One reliable message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) id: u8,
    pub(crate) body: Bytes,
}

/// A frame announces a body longer than [`BODY_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong(pub(crate) u32);

/// The bytes of one message as they travel: body length, id, body.
///
/// # Panics
/// Never for a body of at most [`BODY_MAX`] bytes, which the caller has checked.
pub(crate) fn encode(id: u8, body: &[u8]) -> Bytes {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    let mut frame = BytesMut::with_capacity(HEAD + body.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&[id]);
    frame.extend_from_slice(body);
    frame.freeze()
}

/// Collects one frame at a time.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    head: [u8; HEAD],
    head_have: usize,
    body: BytesMut,
}

impl FrameReader {
    /// Take bytes from the front of `chunk` until a frame is whole or the chunk is used up.
    pub(crate) fn take(&mut self, chunk: &mut Bytes) -> Result<Option<Frame>, TooLong> {
        if !self.take_head(chunk) {
            return Ok(None);
        }
        let [a, b, c, d, id] = self.head;
        let announced = u32::from_le_bytes([a, b, c, d]);
        let Some(length) = usize::try_from(announced).ok().filter(|length| *length <= BODY_MAX)
        else {
            return Err(TooLong(announced));
        };
        let body = if self.body.is_empty() && chunk.len() >= length {
            chunk.split_to(length)
        } else {
            let part = chunk.split_to(chunk.len().min(length - self.body.len()));
            self.body.extend_from_slice(&part);
            if self.body.len() < length {
                return Ok(None);
            }
            self.body.split().freeze()
        };
        self.head_have = 0;
        Ok(Some(Frame { id, body }))
    }

    /// Fill the head; whether it is whole.
    fn take_head(&mut self, chunk: &mut Bytes) -> bool {
        let take = chunk.len().min(HEAD - self.head_have);
        self.head[self.head_have..self.head_have + take].copy_from_slice(&chunk[..take]);
        chunk.advance(take);
        self.head_have += take;
        self.head_have == HEAD
    }
}

/// Bytes before the body: its length and the id.
const HEAD: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8], step: usize) -> Result<Vec<Frame>, TooLong> {
        let mut reader = FrameReader::default();
        let mut frames = Vec::new();
        for chunk in bytes.chunks(step) {
            let mut chunk = Bytes::copy_from_slice(chunk);
            while let Some(frame) = reader.take(&mut chunk)? {
                frames.push(frame);
            }
            assert!(chunk.is_empty());
        }
        Ok(frames)
    }

    proptest! {
        #[test]
        fn frames_are_the_same_however_the_bytes_arrive(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
            step in 1_usize..60,
        ) {
            let sent: Vec<Frame> = bodies
                .iter()
                .zip(1..)
                .map(|(body, id)| Frame { id, body: Bytes::copy_from_slice(body) })
                .collect();
            let bytes: Vec<u8> =
                sent.iter().flat_map(|frame| encode(frame.id, &frame.body)).collect();
            prop_assert_eq!(read(&bytes, step).unwrap(), sent);
        }
    }

    #[test]
    fn a_body_over_the_limit_is_refused_by_its_announced_length_alone() {
        assert_eq!(read(&[1, 0, 16, 0, 9], 5), Err(TooLong((1 << 20) + 1)));
        assert_eq!(read(&[0xff; 5], 5), Err(TooLong(u32::MAX)));
    }

    #[test]
    fn an_announced_length_takes_no_memory_before_its_bytes_arrive() {
        let mut reader = FrameReader::default();
        let mut chunk = Bytes::from_static(&[0, 0, 16, 0, 9, 1, 2, 3]);
        assert_eq!(reader.take(&mut chunk), Ok(None));
        assert!(reader.body.capacity() < 4096, "{}", reader.body.capacity());
    }
}
