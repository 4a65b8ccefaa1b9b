//! Token: the secret that lets somebody look at a process.
//!
//! Kept in `inspect.token` of the data folder, which nobody else may read. Never in a log: its
//! `Debug` shows nothing of it.

use std::path::{Path, PathBuf};
use std::{fmt, hint, io};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

use crate::net::{FileError, file};

/// 32 random bytes in hexadecimal digits.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug)]
#[non_exhaustive]
pub enum TokenError {
    /// Its file could not be read: see [`FileError`].
    File(FileError),
    /// Its file holds no token.
    NoToken {
        /// The file.
        path: PathBuf,
    },
    /// Its file could not be written.
    NotWritten {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The system gave no randomness.
    NoRandomness,
}

impl Token {
    /// Its digits.
    const DIGITS: usize = 64;
    /// A file of one may have this many bytes.
    const FILE_MAX: u64 = 256;

    /// The token kept in `path`; made and written (mode 0600, whole or not at all) when there is
    /// none.
    ///
    /// # Errors
    /// When what stands there is no file, readable by others, or no token; or when it cannot be
    /// read or written.
    pub fn load_or_make(path: &Path) -> Result<Self, TokenError> {
        if let Some(token) = Self::load(path)? {
            return Ok(token);
        }
        let token = Self::random().ok_or(TokenError::NoRandomness)?;
        match file::create_private(path, format!("{}\n", token.0).as_bytes()) {
            Ok(()) => Ok(token),
            // Another process was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(path)?.ok_or_else(|| TokenError::NoToken { path: path.to_owned() })
            }
            Err(error) => Err(TokenError::NotWritten { path: path.to_owned(), error }),
        }
    }

    /// The token kept in `path`; `None` when there is none.
    ///
    /// # Errors
    /// When what stands there is no file, readable by others, or no token.
    pub fn load(path: &Path) -> Result<Option<Self>, TokenError> {
        let read = file::read_private(path, Self::FILE_MAX).map_err(TokenError::File)?;
        let Some(bytes) = read else { return Ok(None) };
        let token = std::str::from_utf8(&bytes).ok().and_then(|text| Self::parse(text.trim()));
        token.map(Some).ok_or_else(|| TokenError::NoToken { path: path.to_owned() })
    }

    /// A token as it is written; `None` where this is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let well = text.len() == Self::DIGITS && text.bytes().all(hexadecimal);
        well.then(|| Self(text.to_owned()))
    }

    /// As it is written, for whoever presents it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is it; how long the answer takes tells nothing of it.
    pub(crate) fn is(&self, presented: &[u8]) -> bool {
        let own = self.0.as_bytes();
        if presented.len() != own.len() {
            return false;
        }
        let differing =
            own.iter().zip(presented).fold(0, |sum, (a, b)| hint::black_box(sum | a ^ b));
        hint::black_box(differing) == 0
    }

    /// Another secret that only who has this one can make, and that does not tell this one.
    pub(crate) fn derived(&self, purpose: &str) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes());
        Self::written(hmac::sign(&key, purpose.as_bytes()).as_ref())
    }

    fn random() -> Option<Self> {
        let mut bytes = [0; Self::DIGITS / 2];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self::written(&bytes))
    }

    fn written(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(...)")
    }
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::NoToken { path } => write!(
                f,
                "{}: expected {} hexadecimal digits; remove it, and a new one is made",
                path.display(),
                Token::DIGITS
            ),
            Self::NotWritten { path, error } => write!(f, "{}: {error}", path.display()),
            Self::NoRandomness => f.write_str("the system gives no randomness for a token"),
        }
    }
}

impl std::error::Error for TokenError {}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// D16
    #[test]
    fn a_token_is_made_once_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inspect.token");
        let made = Token::load_or_make(&path).unwrap();
        assert_eq!(Token::load_or_make(&path).unwrap(), made);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(Token::random(), Token::random());
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(
            Token::load(&path),
            Err(TokenError::File(FileError::OpenToOthers { .. }))
        ));
    }

    #[test]
    fn a_file_without_a_token_is_refused_and_told_without_what_it_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inspect.token");
        file::create_private(&path, b"hunter2").unwrap();
        let told = Token::load(&path).unwrap_err().to_string();
        assert!(told.contains("64 hexadecimal digits") && !told.contains("hunter2"), "{told}");
    }

    #[test]
    fn only_the_whole_token_is_the_token_and_no_debug_text_holds_it() {
        let token = Token::random().unwrap();
        assert!(token.is(token.reveal().as_bytes()));
        assert!(!token.is(&token.reveal().as_bytes()[1..]) && !token.is(b""));
        let mut other = token.reveal().to_owned().into_bytes();
        other[63] ^= 1;
        assert!(!token.is(&other));
        assert!(!format!("{token:?}").contains(token.reveal()));
        let (one, two) = (token.derived("one"), token.derived("two"));
        assert!(one == token.derived("one") && one != two && one != token);
        assert_eq!(Token::parse(one.reveal()), Some(one));
    }
}
