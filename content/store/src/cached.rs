//! Names of files in the cache: 32 hex digits of the fingerprint, `-`, the first 16 of the root.

use dh_wire::Content;

/// What a file of the cache is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A pallet that was verified.
    Pallet,
    /// A transfer that has not ended.
    Partial,
}

impl Kind {
    /// The end of its file's name.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Self::Pallet => ".pallet",
            Self::Partial => ".partial",
        }
    }
}

/// The name of this content's file.
pub(crate) fn name_of(content: &Content, kind: Kind) -> String {
    let root = content.root.to_string();
    format!("{}-{}{}", content.fingerprint, &root[..16], kind.suffix())
}

/// What a file of this name is, if it is one of ours.
pub(crate) fn kind_of(name: &str) -> Option<Kind> {
    let kinds = [Kind::Pallet, Kind::Partial].into_iter();
    let mut ours = kinds.filter(|kind| {
        let stem = name.strip_suffix(kind.suffix()).and_then(|stem| stem.split_once('-'));
        stem.is_some_and(|(fingerprint, root)| is_hex(fingerprint, 32) && is_hex(root, 16))
    });
    ours.next()
}

fn is_hex(text: &str, len: usize) -> bool {
    let digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
    text.len() == len && text.bytes().all(digit)
}
