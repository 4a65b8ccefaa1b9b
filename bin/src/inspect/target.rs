//! Target: a process that is looked at, and how it is asked.
//!
//! Plain HTTP/1.0 over one connection a request, so that an answer ends where the connection does.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;

use dh_host::inspect::{Change, Snapshot, Token};

use super::notice::Notice;
use super::patient::{PATIENCE, Patient};
use super::shown::{token_in, token_of};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::output::one_line;

/// Bytes of an answer, or of one event.
const ANSWER_MAX: u64 = 256 << 20;
/// Bytes of an answer's head.
const HEAD_MAX: u64 = 16 << 10;

/// Whose token is shown to a process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Secret<'a> {
    /// The one in this file, wherever the process is.
    File(&'a Path),
    /// The one in this data folder, to this machine alone.
    Folder(&'a Path),
    /// The one of its notice, and no other.
    Notice,
}

/// A process that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Where it answers.
    pub(crate) address: SocketAddr,
    /// Its role and its number, where they are known.
    who: Option<String>,
    token: Token,
}

/// What a stream tells.
#[derive(Debug)]
pub(crate) enum Told {
    /// Everything, as it was when the stream began.
    Snapshot(Box<Snapshot>),
    /// What is different since.
    Change(Box<Change>),
}

/// A stream that is followed.
#[derive(Debug)]
pub(crate) struct Following {
    address: SocketAddr,
    from: BufReader<Patient>,
}

impl Target {
    /// The process at this address. A token travels in plain text, to whoever answers there: it is
    /// shown where this user's own process is known to answer, and elsewhere only if that was asked
    /// for.
    pub(crate) fn named(address: &SocketAddr, secret: Secret<'_>) -> Result<Self, Failure> {
        let notices = Notice::all().unwrap_or_default();
        let notice = notices.iter().find(|notice| notice.is_of(address));
        let token = match (secret, notice.and_then(Notice::token)) {
            (Secret::File(path), _) => token_in(path)?,
            (_, Some(token)) => token,
            (Secret::Folder(folder), None) if address.ip().is_loopback() => {
                token_of(&DataFolder::open_existing(Some(folder))?)?
            }
            (Secret::Folder(_) | Secret::Notice, None) => return Err(unknown(address)),
        };
        Ok(Self { address: *address, who: notice.map(Notice::who), token })
    }

    /// Every process of this user that runs; at least one.
    pub(crate) fn found() -> Result<Vec<Self>, Failure> {
        let notices = Notice::all().map_err(|error| {
            let cause = format!("cannot look for running processes: {error}");
            Failure::new(Exit::Io, cause).remedy("dh inspect --connect ADDR:PORT")
        })?;
        let target = |notice: &Notice| {
            let who = Some(notice.who());
            Some(Self { address: notice.address, who, token: notice.token()? })
        };
        let found: Vec<Self> = notices.iter().filter_map(target).collect();
        if found.is_empty() {
            return Err(Failure::new(
                Exit::Unavailable,
                "no process of this user runs that shows itself",
            )
            .remedy("dh server, or dh inspect --connect ADDR:PORT"));
        }
        Ok(found)
    }

    /// Which process it is, in words.
    pub(crate) fn name(&self) -> String {
        match &self.who {
            Some(who) => format!("{who} at {}", self.address),
            None => self.address.to_string(),
        }
    }

    /// A link to its page that lets in whoever has it.
    pub(crate) fn url(&self) -> String {
        let mut at = self.address;
        if at.ip().is_unspecified() {
            at.set_ip(match at {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{at}/?token={}", self.token.reveal())
    }

    /// A snapshot; `query` is empty, `?seq=N` or `?actor=PATH`.
    pub(crate) fn snapshot(&self, query: &str) -> Result<Snapshot, Failure> {
        let text = self.get(&format!("/snapshot{query}"))?;
        serde_json::from_slice(&text).map_err(|error| self.strange(&error.to_string()))
    }

    /// Follow what changes, so often a second, with everything of the actor at this path.
    pub(crate) fn follow(&self, hz: u32, actor: Option<&str>) -> Result<Following, Failure> {
        let actor = actor.map_or_else(String::new, |path| format!("&actor={}", escaped(path)));
        let from = self.ask("GET", &format!("/events?hz={hz}{actor}"), b"", exit_of)?;
        Ok(Following { address: self.address, from })
    }

    /// Have something done; what the process says to it.
    pub(crate) fn order(&self, order: &serde_json::Value) -> Result<serde_json::Value, Failure> {
        let exits = if order["do"] == "set" { exit_of_setting } else { exit_of };
        let from = self.ask("POST", "/control", order.to_string().as_bytes(), exits)?;
        serde_json::from_slice(&self.rest(from)?).map_err(|error| self.strange(&error.to_string()))
    }

    /// The body of what lies at a path.
    pub(crate) fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let from = self.ask("GET", path, b"", exit_of)?;
        self.rest(from)
    }

    /// Ask, and read the answer up to its body; `exits` is what a status that is no success means.
    fn ask(
        &self,
        method: &str,
        path: &str,
        body: &[u8],
        exits: fn(&str) -> Exit,
    ) -> Result<BufReader<Patient>, Failure> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE);
        let stream = stream.map_err(|error| {
            let cause = format!("nothing can be inspected at {}: {error}", self.address);
            Failure::new(Exit::Unavailable, cause).remedy("dh inspect, which finds what runs")
        })?;
        let mut stream = Patient::new(stream);
        let head = format!(
            "{method} {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.token.reveal(),
            body.len()
        );
        let asked = stream.write_all(&[head.as_bytes(), body].concat());
        asked.map_err(|error| broke_off(self.address, &error))?;
        let mut from = BufReader::new(stream);
        let status = self.head(&mut from)?;
        match status.split(' ').nth(1) {
            Some("200") => Ok(from),
            Some("401") => {
                let cause = format!("{} does not take this token", self.address);
                let remedy = "--token-file FILE, the inspect.token of its data folder";
                Err(Failure::new(Exit::Refused, cause).remedy(remedy))
            }
            Some(status) => {
                let exit = exits(status);
                let told: serde_json::Value =
                    serde_json::from_slice(&self.rest(from)?).unwrap_or_default();
                let why = told["error"].as_str().map_or_else(|| status.to_owned(), one_line);
                Err(Failure::new(exit, format!("{}: {why}", self.address)))
            }
            None => Err(self.strange("it does not speak HTTP")),
        }
    }

    /// The first line of an answer, of a head that ends.
    fn head(&self, from: &mut BufReader<Patient>) -> Result<String, Failure> {
        let mut head = from.take(HEAD_MAX);
        let mut status = None;
        loop {
            let mut line = Vec::new();
            let read = head.read_until(b'\n', &mut line);
            read.map_err(|error| broke_off(self.address, &error))?;
            let line = String::from_utf8_lossy(&line);
            match line.strip_suffix('\n').map(str::trim_end) {
                Some("") => return Ok(status.unwrap_or_default()),
                Some(line) => drop(status.get_or_insert_with(|| line.to_owned())),
                None if head.limit() == 0 => {
                    let why = format!("expected a head of at most {HEAD_MAX} bytes, found more");
                    return Err(broke_off(self.address, &io::Error::other(why)));
                }
                None => return Err(ended(self.address)),
            }
        }
    }

    fn rest(&self, from: BufReader<Patient>) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = from.take(ANSWER_MAX).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| broke_off(self.address, &error))
    }

    fn strange(&self, why: &str) -> Failure {
        strange(self.address, why)
    }
}

impl Following {
    /// Wait for what is told next.
    pub(crate) fn next(&mut self) -> Result<Told, Failure> {
        let (mut name, mut data) = (String::new(), String::new());
        self.from.get_mut().begin();
        loop {
            let mut line = String::new();
            match self.from.by_ref().take(ANSWER_MAX).read_line(&mut line) {
                Ok(0) => return Err(ended(self.address)),
                Ok(_) => (),
                Err(error) => return Err(broke_off(self.address, &error)),
            }
            match line.trim_end().split_once(": ") {
                Some(("event", value)) => value.clone_into(&mut name),
                Some(("data", value)) => value.clone_into(&mut data),
                _ if data.is_empty() => (),
                _ => break,
            }
        }
        let read = match name.as_str() {
            "snapshot" => serde_json::from_str(&data).map(Told::Snapshot),
            _ => serde_json::from_str(&data).map(Told::Change),
        };
        read.map_err(|error| strange(self.address, &error.to_string()))
    }
}

fn broke_off(address: SocketAddr, error: &io::Error) -> Failure {
    let cause = match error.kind() {
        ErrorKind::TimedOut => format!("{address}: {error}"),
        _ => format!("{address} did not answer: {error}"),
    };
    Failure::new(Exit::Unavailable, cause)
}

fn ended(address: SocketAddr) -> Failure {
    broke_off(address, &io::Error::other("it ended the connection"))
}

/// No process of this user is known to answer there.
fn unknown(address: &SocketAddr) -> Failure {
    let cause = format!(
        "no process of this user is known to answer at {address}, and a token is shown to nobody \
         else"
    );
    let remedy = "--token-file FILE sends the token in FILE there, in plain text";
    Failure::new(Exit::Refused, cause).remedy(remedy)
}

/// What the status of an answer means to a script: what was typed makes no sense, names nothing
/// that is there, is refused, or may be asked again.
fn exit_of(status: &str) -> Exit {
    match status {
        "400" | "413" => Exit::Usage,
        "404" => Exit::Missing,
        "403" | "409" => Exit::Refused,
        "500" => Exit::Io,
        "503" | "504" => Exit::TryAgain,
        _ => Exit::Unavailable,
    }
}

/// The same of a preference: one that cannot be set like this is wrong, as it is in a file.
fn exit_of_setting(status: &str) -> Exit {
    match status {
        "400" | "404" | "409" => Exit::Config,
        other => exit_of(other),
    }
}

fn strange(address: SocketAddr, why: &str) -> Failure {
    let cause = format!("{address} does not answer as a dh of this version does: {why}");
    Failure::new(Exit::Mismatch, cause).remedy("use the dh that runs there")
}

/// A path as a part of a query.
fn escaped(path: &str) -> String {
    path.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                text.push(char::from(byte));
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_names_an_address_that_a_browser_can_go_to() {
        let token = "ab".repeat(32);
        let link = |at: &str| {
            let (address, token) = (at.parse().unwrap(), Token::parse(&token).unwrap());
            Target { address, who: None, token }.url()
        };
        assert_eq!(link("0.0.0.0:9"), format!("http://127.0.0.1:9/?token={token}"));
        assert_eq!(link("[::]:9"), format!("http://[::1]:9/?token={token}"));
        assert_eq!(link("192.0.2.1:9"), format!("http://192.0.2.1:9/?token={token}"));
    }

    #[test]
    fn a_path_is_escaped_for_a_query() {
        assert_eq!(escaped("server/a b&c~1"), "server/a%20b%26c%7E1");
    }
}
