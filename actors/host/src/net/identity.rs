//! Identity: an Ed25519 key and the certificate it signs for itself.
//!
//! Made on first run and kept in `identity.key`, which nobody else may read. Both ends of a
//! connection present one. Nothing here decides whom to trust: see `certificate` and
//! `known_hosts`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use super::file::{self, FileError};
use super::key::{PeerKey, base64};

/// An Ed25519 key with its certificate.
#[derive(Clone)]
pub struct Identity {
    certified: Arc<CertifiedKey>,
    key: PeerKey,
}

/// Why there is no identity.
#[derive(Debug)]
#[non_exhaustive]
pub enum IdentityError {
    /// The key file could not be read: see [`FileError`].
    File(FileError),
    /// The key file holds no Ed25519 key in PKCS#8.
    NoKey {
        /// The key file.
        path: PathBuf,
        /// What it holds instead.
        found: &'static str,
    },
    /// A key file could not be written.
    NotWritten {
        /// Which.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The system gave no randomness for a new key.
    NoRandomness,
}

impl Identity {
    /// The identity kept in `path`; made and written (mode 0600, whole or not at all) when there
    /// is none.
    ///
    /// # Errors
    /// When what stands there is no file, readable by others, or no key; or when it cannot be
    /// read or written.
    pub fn load_or_make(path: &Path) -> Result<Self, IdentityError> {
        match Self::load(path)? {
            Some(identity) => Ok(identity),
            None => Self::make(path),
        }
    }

    /// The identity kept in `path`; `None` when there is none.
    ///
    /// # Errors
    /// When what stands there is no file, readable by others, or no key; or when it cannot be read.
    pub fn load(path: &Path) -> Result<Option<Self>, IdentityError> {
        Ok(Self::read(path)?.map(|(_, identity)| identity))
    }

    /// The identity that a secret stands for; the same secret gives the same bytes.
    #[must_use]
    pub fn from_secret(secret: &[u8; 32]) -> Self {
        let document = [&PKCS8_HEAD[..], &secret[..]].concat();
        Self::from_pkcs8(&document).expect("any 32 bytes are an Ed25519 secret")
    }

    /// Copy the key kept in `path` to a new file (mode 0600, whole or not at all), which must not
    /// exist.
    ///
    /// # Errors
    /// When there is no key in `path`, or `to` exists or cannot be written.
    pub fn export(path: &Path, to: &Path) -> Result<(), IdentityError> {
        let (text, _) = Self::read(path)?.ok_or_else(|| {
            let error = io::ErrorKind::NotFound.into();
            IdentityError::File(FileError::Io { path: path.to_owned(), error })
        })?;
        file::create_private(to, &text)
            .map_err(|error| IdentityError::NotWritten { path: to.to_owned(), error })
    }

    /// Who this is, as peers see it.
    #[must_use]
    pub const fn key(&self) -> PeerKey {
        self.key
    }

    /// The certificate and its key, as rustls takes them.
    pub(crate) fn certified(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.certified)
    }

    /// What only the holder of the key can tell, for one purpose: the same each time.
    pub(crate) fn secret_for(&self, purpose: &str) -> Option<ring::hmac::Key> {
        let signer = self.certified.key.choose_scheme(&[SignatureScheme::ED25519])?;
        let signed = signer.sign(purpose.as_bytes()).ok()?;
        Some(ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &signed))
    }

    /// A certificate with a key that is not its own, as a thief would hold.
    #[cfg(test)]
    pub(crate) fn forged(certified: CertifiedKey, key: PeerKey) -> Self {
        Self { certified: Arc::new(certified), key }
    }

    /// The text of a key file, and whose key it is.
    fn read(path: &Path) -> Result<Option<(Vec<u8>, Self)>, IdentityError> {
        let text = file::read_private(path, FILE_MAX).map_err(IdentityError::File)?;
        let Some(text) = text else { return Ok(None) };
        if let Some(identity) = Self::from_pem(&text) {
            return Ok(Some((text, identity)));
        }
        let found = match str::from_utf8(&text) {
            Ok("") => "an empty file",
            Ok(_) => "other text",
            Err(_) => "bytes that are no text",
        };
        Err(IdentityError::NoKey { path: path.to_owned(), found })
    }

    fn make(path: &Path) -> Result<Self, IdentityError> {
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).map_err(|_| IdentityError::NoRandomness)?;
        let document = [&PKCS8_HEAD[..], &secret[..]].concat();
        let identity = Self::from_pkcs8(&document).ok_or(IdentityError::NoRandomness)?;
        // A PKCS#8 document of 48 bytes fills one line of PEM exactly, without padding.
        let pem = format!("{PEM_HEAD}\n{}\n{PEM_FOOT}\n", base64(&document));
        let failed = |error| IdentityError::NotWritten { path: path.to_owned(), error };
        file::make_folder(path).map_err(failed)?;
        match file::create_private(path, pem.as_bytes()) {
            Ok(()) => Ok(identity),
            // Another process made one first: that one holds.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::load(path)?.ok_or_else(|| failed(error))
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn from_pem(text: &[u8]) -> Option<Self> {
        let document = PrivatePkcs8KeyDer::from_pem_slice(text).ok()?;
        Self::from_pkcs8(document.secret_pkcs8_der())
    }

    fn from_pkcs8(document: &[u8]) -> Option<Self> {
        let pair = KeyPair::try_from(document).ok()?;
        if !pair.is_compatible(&rcgen::PKCS_ED25519) {
            return None;
        }
        let signing =
            rustls::crypto::ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(document)).ok()?;
        let certificate = certificate_of(&pair)?;
        let key = PeerKey::of_public_key(pair.public_key_raw());
        Some(Self { certified: Arc::new(CertifiedKey::new(vec![certificate], signing)), key })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.key)
    }
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::NoKey { path, found } => write!(
                f,
                "{}: expected an Ed25519 key in PEM, found {found}; move it away to get a new one",
                path.display()
            ),
            Self::NotWritten { path, error } => {
                write!(f, "{}: the key cannot be written: {error}", path.display())
            }
            Self::NoRandomness => f.write_str("the system gave no randomness for a new key"),
        }
    }
}

impl std::error::Error for IdentityError {}

/// A certificate that only carries the key: its name, dates and serial say nothing, and the same
/// key always gives the same bytes.
fn certificate_of(pair: &KeyPair) -> Option<CertificateDer<'static>> {
    let mut params = CertificateParams::new(Vec::new()).ok()?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "driftholm");
    params.distinguished_name = name;
    Some(params.self_signed(pair).ok()?.der().clone())
}

/// What stands before the 32 secret bytes in PKCS#8 (RFC 8410, section 7).
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];

const PEM_HEAD: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_FOOT: &str = "-----END PRIVATE KEY-----";
/// Bytes of a key file.
const FILE_MAX: u64 = 16 << 10;

#[cfg(test)]
mod tests;
