//! Keys: what somebody presses, as far as the screen cares, out of the bytes a terminal sends.

/// Bytes of a key that has come only in part; what is longer is no key.
const PART_MAX: usize = 32;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Esc,
    Tab,
    BackTab,
    Backspace,
    /// Control and C.
    Interrupt,
}

/// Turns bytes into keys.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The begin of a key whose end has not come.
    part: Vec<u8>,
}

impl Keys {
    /// The keys that these bytes bring.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.part.extend_from_slice(bytes);
        let (mut keys, mut at) = (Vec::new(), 0);
        while let Some((key, length)) = first(&self.part[at..]) {
            keys.extend(key);
            at += length;
        }
        self.part.drain(..at);
        if self.part.len() > PART_MAX {
            self.part.clear();
        }
        keys
    }
}

/// The first key of these bytes, if the screen cares for it, and its length; nothing while its end
/// is missing.
fn first(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let one = |key| Some((Some(key), 1));
    match bytes {
        [] | [0x1b, b'O'] => None,
        [0x1b, b'O', name, ..] => Some((named(b"", *name), 3)),
        [0x1b, b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
            Some((named(&rest[..end], rest[end]), end + 3))
        }
        [0x1b, ..] => one(Key::Esc),
        [b'\r' | b'\n', ..] => one(Key::Enter),
        [b'\t', ..] => one(Key::Tab),
        [0x7f | 0x08, ..] => one(Key::Backspace),
        [0x03, ..] => one(Key::Interrupt),
        [..0x20, ..] => Some((None, 1)),
        _ => character(bytes),
    }
}

/// The key of an escape sequence.
fn named(numbers: &[u8], name: u8) -> Option<Key> {
    Some(match (numbers, name) {
        (_, b'A') => Key::Up,
        (_, b'B') => Key::Down,
        (_, b'C') => Key::Right,
        (_, b'D') => Key::Left,
        (_, b'H') | (b"1" | b"7", b'~') => Key::Home,
        (_, b'F') | (b"4" | b"8", b'~') => Key::End,
        (_, b'Z') => Key::BackTab,
        (_, b'M') => Key::Enter,
        (b"5", b'~') => Key::PageUp,
        (b"6", b'~') => Key::PageDown,
        _ => return None,
    })
}

/// A character of up to four bytes; a byte of none is skipped.
fn character(bytes: &[u8]) -> Option<(Option<Key>, usize)> {
    let length = match bytes.first()? {
        ..0x80 => 1,
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Some((None, 1)),
    };
    let whole = bytes.get(..length)?;
    match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(c) => Some((Some(Key::Char(c)), length)),
        None => Some((None, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_however_their_bytes_come() {
        let bytes = b"q\x1b[A\x1bOB\x1b[5~\x1b[1;5C\x1b[3~\xc3\xa9\r\x7f\x03\x1b";
        let keys = [
            Key::Char('q'),
            Key::Up,
            Key::Down,
            Key::PageUp,
            Key::Right,
            Key::Char('\u{e9}'),
            Key::Enter,
            Key::Backspace,
            Key::Interrupt,
            Key::Esc,
        ];
        assert_eq!(Keys::default().take(bytes), keys);
        let mut halves = Keys::default();
        assert_eq!(halves.take(b"\x1b["), []);
        assert_eq!(halves.take(b"6"), []);
        assert_eq!(halves.take(b"~\xc3"), [Key::PageDown]);
        assert_eq!(halves.take(b"\xa9"), [Key::Char('\u{e9}')]);
    }

    #[test]
    fn bytes_that_are_no_keys_are_skipped_and_not_kept() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\xff\xc3(\x01\x1b[99;99Yx"), [Key::Char('('), Key::Char('x')]);
        keys.take(&[b"\x1b[".as_slice(), &[b'1'; 100_000]].concat());
        assert!(keys.part.is_empty());
        assert_eq!(keys.take(b"j"), [Key::Char('j')]);
    }
}
