//! Target: a process that is looked at, and how it is asked.
//!
//! Plain HTTP/1.0 over one connection a request, so that an answer ends where the connection does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use dh_host::inspect::{Change, Snapshot, Token};

use super::notice::Notice;
use super::shown::token_of;
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};

/// How long a process may take to answer, or a stream may be silent.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of an answer, or of one event.
const ANSWER_MAX: u64 = 256 << 20;
/// Bytes of one line of an answer's head.
const LINE_MAX: u64 = 8 << 10;

/// A process that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Where it answers.
    pub(crate) address: SocketAddr,
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
    from: BufReader<TcpStream>,
}

impl Target {
    /// The process at this address; its token is its notice's, or else that of the data folder.
    pub(crate) fn named(address: &SocketAddr, data: Option<&Path>) -> Result<Self, Failure> {
        let notices = Notice::all().unwrap_or_default();
        let notice = notices.iter().find(|notice| notice.address == *address);
        let token = match notice.and_then(Notice::token) {
            Some(token) => token,
            None => token_of(&DataFolder::open_existing(data)?)?,
        };
        Ok(Self { address: *address, token })
    }

    /// Every process of this user that runs; at least one.
    pub(crate) fn found() -> Result<Vec<Self>, Failure> {
        let notices = Notice::all().map_err(|error| {
            let cause = format!("cannot look for running processes: {error}");
            Failure::new(Exit::Io, cause).remedy("dh inspect --connect ADDR:PORT")
        })?;
        let target =
            |notice: &Notice| Some(Self { address: notice.address, token: notice.token()? });
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

    /// A snapshot; `query` is empty, `?seq=N` or `?actor=PATH`.
    pub(crate) fn snapshot(&self, query: &str) -> Result<Snapshot, Failure> {
        let text = self.get(&format!("/snapshot{query}"))?;
        serde_json::from_slice(&text).map_err(|error| self.strange(&error.to_string()))
    }

    /// Follow what changes, so often a second, with everything of the actor at this path.
    pub(crate) fn follow(&self, hz: u32, actor: Option<&str>) -> Result<Following, Failure> {
        let actor = actor.map_or_else(String::new, |path| format!("&actor={}", escaped(path)));
        let from = self.ask("GET", &format!("/events?hz={hz}{actor}"), b"")?;
        Ok(Following { address: self.address, from })
    }

    /// Have something done; what the process says to it.
    pub(crate) fn order(&self, order: &serde_json::Value) -> Result<serde_json::Value, Failure> {
        let from = self.ask("POST", "/control", order.to_string().as_bytes())?;
        serde_json::from_slice(&self.rest(from)?).map_err(|error| self.strange(&error.to_string()))
    }

    /// The body of what lies at a path.
    pub(crate) fn get(&self, path: &str) -> Result<Vec<u8>, Failure> {
        let from = self.ask("GET", path, b"")?;
        self.rest(from)
    }

    /// Ask, and read the answer up to its body.
    fn ask(&self, method: &str, path: &str, body: &[u8]) -> Result<BufReader<TcpStream>, Failure> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE);
        let mut stream = stream.map_err(|error| {
            let cause = format!("nothing can be inspected at {}: {error}", self.address);
            Failure::new(Exit::Unavailable, cause).remedy("dh inspect, which finds what runs")
        })?;
        let failed = |error: std::io::Error| self.broke_off(&error.to_string());
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed)?;
        let head = format!(
            "{method} {path} HTTP/1.0\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n",
            self.address,
            self.token.reveal(),
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).map_err(failed)?;
        let mut from = BufReader::new(stream);
        let status = self.line(&mut from)?;
        while !self.line(&mut from)?.trim().is_empty() {}
        match status.split(' ').nth(1) {
            Some("200") => Ok(from),
            Some("401") => {
                let cause = format!("{} does not take this token", self.address);
                Err(Failure::new(Exit::Refused, cause).remedy("--data DIR, with the server's own"))
            }
            Some(_) => {
                let told: serde_json::Value =
                    serde_json::from_slice(&self.rest(from)?).unwrap_or_default();
                let why = told["error"].as_str().unwrap_or_else(|| status.trim());
                Err(Failure::new(Exit::Unavailable, format!("{}: {why}", self.address)))
            }
            None => Err(self.strange("it does not speak HTTP")),
        }
    }

    fn line(&self, from: &mut BufReader<TcpStream>) -> Result<String, Failure> {
        let mut line = String::new();
        let read = from.by_ref().take(LINE_MAX).read_line(&mut line);
        match read {
            Ok(0) => Err(self.broke_off("it ended the connection")),
            Ok(_) => Ok(line),
            Err(error) => Err(self.broke_off(&error.to_string())),
        }
    }

    fn rest(&self, from: BufReader<TcpStream>) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = from.take(ANSWER_MAX).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| self.broke_off(&error.to_string()))
    }

    fn broke_off(&self, why: &str) -> Failure {
        broke_off(self.address, why)
    }

    fn strange(&self, why: &str) -> Failure {
        strange(self.address, why)
    }
}

impl Following {
    /// Wait for what is told next.
    pub(crate) fn next(&mut self) -> Result<Told, Failure> {
        let (mut name, mut data) = (String::new(), String::new());
        loop {
            let mut line = String::new();
            match self.from.by_ref().take(ANSWER_MAX).read_line(&mut line) {
                Ok(0) => return Err(broke_off(self.address, "the process has ended")),
                Ok(_) => (),
                Err(error) => return Err(broke_off(self.address, &error.to_string())),
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

fn broke_off(address: SocketAddr, why: &str) -> Failure {
    Failure::new(Exit::Unavailable, format!("{address} did not answer: {why}"))
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
    fn a_path_is_escaped_for_a_query() {
        assert_eq!(escaped("server/a b&c~1"), "server/a%20b%26c%7E1");
    }
}
