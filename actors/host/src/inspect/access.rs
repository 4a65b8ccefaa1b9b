//! Access: who may look.
//!
//! Used by the HTTP side before anything else is read of a request. Whoever is turned away learns
//! nothing but that.

use std::net::SocketAddr;

use axum::http::{HeaderMap, header};

use super::token::Token;

/// Decides who may look.
#[derive(Debug)]
pub(crate) struct Access {
    token: Token,
    /// What a page of this process presents in a cookie. Browsers send cookies to every port of a
    /// machine: the name is of this port, and the value is not the token.
    cookie: String,
    session: Token,
    /// Bound to this machine alone: then it is only called by names of this machine, and a name of
    /// somebody's that points here is refused.
    local: bool,
}

impl Access {
    pub(crate) fn new(token: Token, address: SocketAddr) -> Self {
        let cookie = format!("dh-inspect-{}", address.port());
        let session = token.derived(&cookie);
        Self { token, cookie, session, local: address.ip().is_loopback() }
    }

    /// What a page is given in place of the token.
    pub(crate) fn cookie(&self) -> String {
        let (name, value) = (&self.cookie, self.session.reveal());
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// Whether a request comes from no page at all, or from a page of this process.
    pub(crate) fn is_of_own_page(headers: &HeaderMap) -> bool {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let is_near = match text("sec-fetch-site") {
            Some(site) => matches!(site, "same-origin" | "none"),
            None => true,
        };
        let host = text("host").unwrap_or_default();
        let is_host = |origin: &str| {
            let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            name.is_some_and(|name| name.eq_ignore_ascii_case(host))
        };
        is_near && text("origin").is_none_or(is_host)
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
            let pair = pair.split_once('=').filter(|(name, _)| *name == self.cookie);
            pair.is_some_and(|(_, value)| self.session.is(value.as_bytes()))
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
        let access = Access::new(Token::parse(&secret).unwrap(), "127.0.0.1:9".parse().unwrap());
        let with = |pairs: &[(header::HeaderName, String)]| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_static("127.0.0.1:1"));
            for (name, value) in pairs {
                headers.append(name, HeaderValue::from_str(value).unwrap());
            }
            access.allows(&headers)
        };
        assert!(with(&[(header::AUTHORIZATION, format!("Bearer {secret}"))]));
        let session = access.session.reveal();
        let cookie = (header::COOKIE, format!("a=b; dh-inspect-9={session}"));
        assert!(with(std::slice::from_ref(&cookie)));
        assert!(
            with(&[(header::COOKIE, "a=b".to_owned()), cookie.clone()]),
            "in lines of their own"
        );
        let wrong = (header::AUTHORIZATION, format!("Bearer {}", "f".repeat(64)));
        assert!(!with(&[wrong, cookie]), "whoever presents a wrong token is not let in beside it");
        for other in ["dh-inspect-8", "dh-inspect", "other"] {
            assert!(!with(&[(header::COOKIE, format!("{other}={session}"))]), "{other}");
        }
        assert!(!with(&[(header::COOKIE, format!("dh-inspect-9={secret}"))]));
        assert!(!with(&[(header::AUTHORIZATION, format!("Bearer {session}"))]));
        assert!(!with(&[]));
        assert!(!with(&[(header::AUTHORIZATION, secret.clone())]));
        assert!(!with(&[(header::AUTHORIZATION, format!("Bearer {}0", &secret[..63]))]));
    }

    #[test]
    fn only_a_process_bound_to_this_machine_alone_minds_by_which_name_it_is_called() {
        let secret = "0123456789abcdef".repeat(4);
        for (address, of_any_name) in
            [("127.0.0.1:9", false), ("[::1]:9", false), ("0.0.0.0:9", true)]
        {
            let access = Access::new(Token::parse(&secret).unwrap(), address.parse().unwrap());
            let allows = |host: &'static str| {
                let mut headers = HeaderMap::new();
                let bearer = HeaderValue::from_str(&format!("Bearer {secret}")).unwrap();
                headers.insert(header::AUTHORIZATION, bearer);
                headers.insert(header::HOST, HeaderValue::from_static(host));
                access.allows(&headers)
            };
            assert!(allows("localhost:9"), "{address}");
            assert_eq!(allows("evil.example"), of_any_name, "{address}");
        }
    }

    #[test]
    fn a_page_of_another_origin_is_told_apart_and_a_program_is_none() {
        let is_own = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("host", "localhost:9")].iter().chain(pairs) {
                headers.insert(*name, HeaderValue::from_static(value));
            }
            Access::is_of_own_page(&headers)
        };
        assert!(is_own(&[]));
        assert!(is_own(&[("origin", "http://localhost:9"), ("sec-fetch-site", "same-origin")]));
        assert!(is_own(&[("origin", "https://LOCALHOST:9"), ("sec-fetch-site", "none")]));
        for site in ["same-site", "cross-site", ""] {
            assert!(!is_own(&[("sec-fetch-site", site)]), "{site}");
        }
        for origin in ["null", "", "http://localhost:8", "http://evil.example", "localhost:9"] {
            assert!(!is_own(&[("origin", origin)]), "{origin}");
        }
    }
}
