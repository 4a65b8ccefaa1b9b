//! Access: who may look.
//!
//! Used by the HTTP side before anything else is read of a request. Whoever is turned away learns
//! nothing but that.

use axum::http::{HeaderMap, header};

use super::token::Token;

/// The cookie that a page presents.
pub(crate) const COOKIE: &str = "dh-inspect";

/// Decides who may look.
#[derive(Debug)]
pub(crate) struct Access {
    token: Token,
    /// Bound to this machine alone: then it is only called by names of this machine, and a name of
    /// somebody's that points here is refused.
    local: bool,
}

impl Access {
    pub(crate) fn new(token: Token, local: bool) -> Self {
        Self { token, local }
    }

    /// Whether a request of these headers may see anything.
    pub(crate) fn allows(&self, headers: &HeaderMap) -> bool {
        self.is_called_right(headers) && self.has_token(headers)
    }

    /// Whether this is the token.
    pub(crate) fn is_token(&self, presented: &str) -> bool {
        self.token.is(presented.as_bytes())
    }

    /// Whether it was called by a name that is ours.
    pub(crate) fn is_called_right(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        !self.local || host.is_some_and(is_of_this_machine)
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        if let Some(presented) = bearer.and_then(|value| value.strip_prefix("Bearer ")) {
            return self.is_token(presented);
        }
        let cookies = headers.get_all(header::COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|text| text.split(';').map(str::trim));
        pairs.any(|pair| {
            pair.split_once('=').is_some_and(|(name, value)| name == COOKIE && self.is_token(value))
        })
    }
}

/// Whether a `Host` names this machine from within; any port, as a tunnel brings its own.
fn is_of_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let address = name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback());
    address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_names_of_this_machine_are_its_names() {
        for own in ["127.0.0.1", "127.0.0.1:80", "localhost:9000", "LOCALHOST", "[::1]:1", "[::1]"]
        {
            assert!(is_of_this_machine(own), "{own}");
        }
        for other in ["", "evil.example", "127.0.0.1.evil.example", "[::2]:1", "localhost.evil"] {
            assert!(!is_of_this_machine(other), "{other}");
        }
    }

    #[test]
    fn a_token_in_a_header_or_a_cookie_opens_and_anything_else_does_not() {
        let secret = "0123456789abcdef".repeat(4);
        let access = Access::new(Token::parse(&secret).unwrap(), true);
        let with = |pairs: &[(header::HeaderName, String)]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:1"));
            for (name, value) in pairs {
                headers.insert(name, HeaderValue::from_str(value).unwrap());
            }
            access.allows(&headers)
        };
        assert!(with(&[(header::AUTHORIZATION, format!("Bearer {secret}"))]));
        assert!(with(&[(header::COOKIE, format!("a=b; {COOKIE}={secret}"))]));
        assert!(!with(&[]));
        assert!(!with(&[(header::AUTHORIZATION, secret.clone())]));
        assert!(!with(&[(header::AUTHORIZATION, format!("Bearer {}0", &secret[..63]))]));
        assert!(!with(&[(header::COOKIE, format!("other={secret}"))]));
        let evil = (header::HOST, "evil.example".to_owned());
        assert!(!with(&[(header::AUTHORIZATION, format!("Bearer {secret}")), evil]));
    }
}
