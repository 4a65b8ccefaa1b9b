//! `PeerId` and Identity: how the server tells its peers apart, and what it knows of who they are.

use std::fmt;

/// One connection to this server, numbered in the order of arrival; never reused in a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who a peer is, as the server resolved it; the text form is what listings and commands use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// Proved by the key of its certificate: `key:` and the first 32 hex digits of the key's hash.
    Key(String),
    /// Claimed by name, where the server trusts names: the in-process host, or
    /// `server.identity` = `name`.
    Local(String),
    /// No key was shown and names are not trusted.
    Guest(String),
}

impl Identity {
    /// Resolve a peer that calls itself `name`.
    #[must_use]
    pub fn resolve(name: &str, key: Option<&str>, loopback: bool, trust_names: bool) -> Self {
        match key {
            _ if loopback || trust_names => Self::Local(name.to_owned()),
            Some(key) => Self::Key(key.to_owned()),
            None => Self::Guest(name.to_owned()),
        }
    }

    /// Whether a second connection with this identity takes the place of the first. A claimed name
    /// proves nothing, so it takes nothing over.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        matches!(self, Self::Key(_))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(text) => f.write_str(text),
            Self::Local(name) => write!(f, "local:{name}"),
            Self::Guest(name) => write!(f, "guest:{name}"),
        }
    }
}

/// The one way a log or a listing names a peer: `name (endpoint)` once admitted, the endpoint alone
/// before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Display name, once the peer has said it.
    pub name: Option<String>,
    /// Remote endpoint, or `loopback`.
    pub endpoint: String,
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name} ({})", self.endpoint),
            None => f.write_str(&self.endpoint),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_decides_where_names_are_not_trusted() {
        let resolve =
            |key, loopback, trust| Identity::resolve("ada", key, loopback, trust).to_string();
        assert_eq!(resolve(Some("key:00ff"), false, false), "key:00ff");
        assert_eq!(resolve(None, false, false), "guest:ada");
        assert_eq!(resolve(Some("key:00ff"), true, false), "local:ada");
        assert_eq!(resolve(Some("key:00ff"), false, true), "local:ada");
    }

    #[test]
    fn only_a_proved_identity_takes_over_another_connection() {
        let proved = |identity: Identity| identity.is_proved();
        assert!(proved(Identity::Key("key:00".into())));
        assert!(!proved(Identity::Local("ada".into())));
        assert!(!proved(Identity::Guest("ada".into())));
    }
}
