//! Accent: how one end of a connection writes what it is given, where that is not as it is; a
//! scenario has a peer of another build by it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// What becomes of a message: another number and another body, or nothing.
type Say = dyn Fn(u8, &[u8]) -> Option<(u8, Vec<u8>)> + Send + Sync;

/// How one end writes what it is given. Cheap to clone.
#[derive(Clone)]
pub struct Accent(Arc<Say>);

impl Accent {
    /// Write messages as `say` turns them; what it makes nothing of is not sent.
    pub fn new(say: impl Fn(u8, &[u8]) -> Option<(u8, Vec<u8>)> + Send + Sync + 'static) -> Self {
        Self(Arc::new(say))
    }

    pub(crate) fn message<'a>(&self, id: u8, body: &[u8]) -> Option<(u8, Cow<'a, [u8]>)> {
        (self.0)(id, body).map(|(id, body)| (id, Cow::Owned(body)))
    }

    pub(crate) fn datagram(&self, datagram: &Bytes) -> Option<Bytes> {
        let (id, body) = datagram.split_first()?;
        let (id, mut body) = (self.0)(*id, body)?;
        body.insert(0, id);
        Some(Bytes::from(body))
    }
}

impl fmt::Debug for Accent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accent").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_goes_under_the_number_its_build_has_for_it_or_not_at_all() {
        let accent = Accent::new(|id, body| (id == 3).then(|| (9, [body, b"!"].concat())));
        let (id, body) = accent.message(3, b"hi").unwrap();
        assert_eq!((id, &*body), (9, &b"hi!"[..]));
        assert!(accent.message(4, b"hi").is_none());
        let datagram = |bytes: &'static [u8]| accent.datagram(&Bytes::from_static(bytes));
        assert_eq!(datagram(b"\x03hi").unwrap()[..], b"\x09hi!"[..]);
        assert!(datagram(b"\x04hi").is_none() && datagram(b"").is_none());
    }
}
