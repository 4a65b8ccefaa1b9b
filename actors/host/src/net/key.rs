//! `PeerKey`: who a peer is, as the hash of its public key.

use std::fmt;
use std::str::FromStr;

use ring::digest::{SHA256, digest};

/// SHA-256 of a peer's Ed25519 public key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerKey([u8; 32]);

/// The long text form, `SHA256:` and 43 characters of base64: what a person compares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(pub PeerKey);

/// A text is no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoFingerprint;

impl PeerKey {
    /// The key of a public key of 32 bytes.
    #[must_use]
    pub fn of_public_key(public: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, public).as_ref());
        Self(hash)
    }

    /// The hash itself.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The long text form.
    #[must_use]
    pub const fn fingerprint(self) -> Fingerprint {
        Fingerprint(self)
    }
}

/// The short text form, `key:` and the first 32 hex digits: what names a player to the server.
impl fmt::Display for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("key:")?;
        self.0[..16].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PeerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHA256:{}", base64(&self.0.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        let digits = text.strip_prefix("SHA256:").ok_or(NoFingerprint)?;
        if digits.len() != 43 {
            return Err(NoFingerprint);
        }
        let mut hash = [0; 32];
        let (mut word, mut bits, mut at) = (0_u32, 0, 0);
        for digit in digits.chars() {
            let value = ALPHABET.find(digit).ok_or(NoFingerprint)?;
            word = word << 6 | u32::try_from(value).map_err(|_| NoFingerprint)?;
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                hash[at] = (word >> bits & 0xff).to_le_bytes()[0];
                at += 1;
            }
        }
        let whole = Self(PeerKey(hash));
        // The last digit carries two bits too many; only one of its spellings is the form.
        if word & 3 == 0 { Ok(whole) } else { Err(NoFingerprint) }
    }
}

/// Bytes as base64 without padding (RFC 4648, sections 3.2 and 4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let [a, b, c] = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or(0)));
        let word = a << 16 | b << 8 | c;
        let digits = [18, 12, 6, 0].map(|shift| (word >> shift & 63) as usize);
        digits[..=group.len()].iter().for_each(|digit| text.push_str(&ALPHABET[*digit..=*digit]));
    }
    text
}

/// The digits of base64 in order of value (RFC 4648, section 4).
const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// OQ-10
    #[test]
    fn the_identity_of_a_peer_is_the_first_32_hex_digits_of_the_hash_of_its_key() {
        // SHA-256 of the empty string, from the standard's examples.
        let key = PeerKey::of_public_key(b"");
        assert_eq!(key.to_string(), "key:e3b0c44298fc1c149afbf4c8996fb924");
        assert_eq!(
            key.fingerprint().to_string(),
            "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
        );
    }

    proptest! {
        #[test]
        fn a_fingerprint_reads_back_as_itself(bytes in any::<[u8; 32]>()) {
            let print = Fingerprint(PeerKey(bytes));
            prop_assert_eq!(print.to_string().parse(), Ok(print));
        }

        #[test]
        fn any_other_text_is_no_fingerprint(text in "\\PC{0,60}") {
            if let Ok(print) = text.parse::<Fingerprint>() {
                prop_assert_eq!(print.to_string(), text);
            }
        }
    }
}
