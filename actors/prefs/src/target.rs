//! Whom and where a command means: a player, or a server's address.

use std::fmt;
use std::net::Ipv6Addr;

/// The port servers listen on and clients dial unless told otherwise.
pub const DEFAULT_PORT: u16 = 27015;

/// A player as commands name one: names are display only and name nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The player in this slot: `#3`.
    Slot(u8),
    /// The player of this identity: `key:` and 32 hex digits, `local:` or `guest:` and a name.
    Identity(String),
}

/// Why a text names no player. Its text says what would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTarget {
    /// It is neither a slot nor an identity; a name, most likely.
    Name,
    /// No slot has that number.
    Slot,
    /// Its kind of identity has nothing behind the colon.
    Identity,
}

/// Where a server is, not yet looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// A host name or a literal address, without brackets.
    pub host: String,
    /// Its port; 0 stands for the world inside this process.
    pub port: u16,
}

impl Target {
    /// The largest slot there can be.
    pub const SLOT_MAX: u8 = 254;

    /// Reads `#slot` or an identity.
    ///
    /// # Errors
    /// Why it is neither.
    pub fn read(text: &str) -> Result<Self, NoTarget> {
        if let Some(slot) = text.strip_prefix('#') {
            let digits = slot.bytes().all(|it| it.is_ascii_digit());
            let slot = slot.parse().ok().filter(|slot| digits && *slot <= Self::SLOT_MAX);
            return slot.map(Self::Slot).ok_or(NoTarget::Slot);
        }
        match text.split_once(':') {
            Some(("key" | "local" | "guest", "")) => Err(NoTarget::Identity),
            Some(("key" | "local" | "guest", _)) => Ok(Self::Identity(text.to_owned())),
            _ => Err(NoTarget::Name),
        }
    }
}

impl Address {
    /// Reads `host`, `host:port`, `[v6]`, `[v6]:port` or a bare v6 address.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
        } else if text.parse::<Ipv6Addr>().is_ok() {
            (text, None)
        } else {
            match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            }
        };
        let names = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.' | ':' | '%');
        if host.is_empty() || !host.chars().all(names) {
            return None;
        }
        let port = match port {
            None => DEFAULT_PORT,
            Some(digits) if digits.bytes().all(|it| it.is_ascii_digit()) => digits.parse().ok()?,
            Some(_) => return None,
        };
        Some(Self { host: host.to_owned(), port })
    }

    /// Whether the world inside this process is meant.
    #[must_use]
    pub const fn is_local_world(&self) -> bool {
        self.port == 0
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot(slot) => write!(f, "#{slot}"),
            Self::Identity(identity) => f.write_str(identity),
        }
    }
}

impl fmt::Display for NoTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str(
                "names are no targets, since two players may have one; `players` lists the #slot \
                 and the identity of each",
            ),
            Self::Slot => write!(f, "slots go from #0 to #{}", Target::SLOT_MAX),
            Self::Identity => f.write_str("`players` lists the whole identity of each player"),
        }
    }
}

impl std::error::Error for NoTarget {}

/// `host:port`, a v6 address in brackets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions OQ-32.
    #[test]
    fn an_address_is_a_host_with_or_without_a_port() {
        for (text, host, port) in [
            ("play.example", "play.example", 27015),
            ("play.example:5", "play.example", 5),
            ("192.168.8.7:65535", "192.168.8.7", 65535),
            ("[::1]:27016", "::1", 27016),
            ("[fe80::1]", "fe80::1", 27015),
            ("::1", "::1", 27015),
            ("anything:0", "anything", 0),
        ] {
            let address = Address::read(text).unwrap();
            assert_eq!((address.host.as_str(), address.port), (host, port), "{text}");
            assert_eq!(Address::read(&address.to_string()), Some(address));
        }
        assert!(Address::read("here:0").unwrap().is_local_world());
        for text in ["", ":5", "host:", "host:65536", "host:+5", "[::1", "[host]:5", "a b", "a:b:c"]
        {
            assert_eq!(Address::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_target_is_a_slot_or_an_identity_and_never_a_name() {
        assert_eq!(Target::read("#0"), Ok(Target::Slot(0)));
        assert_eq!(Target::read("#254"), Ok(Target::Slot(254)));
        for identity in ["key:00112233445566778899aabbccddeeff", "local:alice", "guest:alice"] {
            assert_eq!(Target::read(identity), Ok(Target::Identity(identity.to_owned())));
        }
        for (text, why) in [
            ("", NoTarget::Name),
            ("alice", NoTarget::Name),
            ("mailto:a", NoTarget::Name),
            ("#", NoTarget::Slot),
            ("#255", NoTarget::Slot),
            ("#99999999999", NoTarget::Slot),
            ("#-1", NoTarget::Slot),
            ("#+1", NoTarget::Slot),
            ("key:", NoTarget::Identity),
            ("local:", NoTarget::Identity),
            ("guest:", NoTarget::Identity),
        ] {
            assert_eq!(Target::read(text), Err(why), "{text}");
        }
    }
}
