//! Shown: a role that may be looked at while it runs.
//!
//! Every role that runs on starts one. Without a flag it listens on this machine only, at any free
//! port; the token lies in the data folder.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use dh_host::flight::Flight;
use dh_host::inspect::{Hooks, Inspect, InspectOptions, Token, TokenError};
use dh_host::{Inlet, Runtime};

use super::notice::{Notice, Posted};
use super::setting::Setting;
use crate::command::InspectAt;
use crate::data::{self, DataFolder};
use crate::exit::{Exit, Failure};
use crate::version::VERSION;
use crate::{identity, logging};

/// Where it listens unless told otherwise.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// The token in the data folder.
const TOKEN_FILE: &str = "inspect.token";

/// What the flight recorder writes, in the data folder.
const FLIGHT: &str = "flight";

/// A role that may be looked at, unless that was turned off.
#[derive(Debug)]
pub(crate) struct Shown {
    inspect: Option<Inspect>,
    _posted: Option<Posted>,
}

impl Shown {
    /// Let this role be looked at as its flag says; preferences that are set go to `settings`.
    pub(crate) fn start(
        runtime: &Runtime,
        folder: &DataFolder,
        role: &'static str,
        at: Option<InspectAt>,
        settings: Inlet<Setting>,
    ) -> Result<Self, Failure> {
        let address = match at {
            Some(InspectAt::Off) => return Ok(Self { inspect: None, _posted: None }),
            Some(InspectAt::Address(address)) => address,
            None => LOOPBACK,
        };
        // Whoever is told where a record lies may work in another folder.
        let flight = folder.file(FLIGHT);
        runtime.flight().keep_in(std::path::absolute(&flight).unwrap_or(flight));
        if !address.ip().is_loopback() {
            tracing::warn!(
                "inspected at {address} over plain HTTP: the token can be read on the way; \
                 --inspect 127.0.0.1:0 and a tunnel keep it"
            );
        }
        let token = Token::load_or_make(&folder.file(TOKEN_FILE));
        let token = token.map_err(|error| token_failure(&error))?;
        let options = InspectOptions {
            address,
            token: token.clone(),
            role,
            version: VERSION,
            hooks: hooks(runtime, settings),
        };
        let inspect = Inspect::start(runtime, options).map_err(|error| {
            let cause = format!("cannot be inspected at {address}: {error}");
            let exit = match error.kind() {
                ErrorKind::AddrInUse => Exit::TryAgain,
                ErrorKind::PermissionDenied => Exit::Refused,
                ErrorKind::AddrNotAvailable => Exit::Config,
                _ => Exit::Io,
            };
            Failure::new(exit, cause).remedy("--inspect 127.0.0.1:0, or --inspect off")
        })?;
        let posted = Notice::new(role, inspect.address(), &token).post();
        if let Err(error) = &posted {
            // It can still be looked at by its address.
            tracing::warn!("dh inspect will not find this process by itself: {error}");
        }
        Ok(Self { inspect: Some(inspect), _posted: posted.ok() })
    }

    /// The role does what it is for, from now on.
    pub(crate) fn ready(&self) {
        if let Some(inspect) = &self.inspect {
            inspect.ready();
        }
    }

    /// Where it may be looked at.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.inspect.as_ref().map(Inspect::address)
    }
}

/// What this program does for its inspector.
fn hooks(runtime: &Runtime, settings: Inlet<Setting>) -> Hooks {
    let runtime = runtime.clone();
    Hooks {
        log_level: Some(Box::new(|(path, level)| logging::set_level(&path, &level))),
        set: Some(Box::new(move |(key, value), answer| {
            if let Some(setting) = Setting::read(&key, &value, answer) {
                // One that is not taken says so as it is dropped.
                let _ = settings.offer(setting);
            }
        })),
        dump_flight: Some(Box::new(move |()| {
            let written = runtime.dump_flight("request").map_err(|error| error.to_string())?;
            let journals = Flight::journals_beside(&written);
            let journals: Vec<_> = journals.iter().map(|it| it.display().to_string()).collect();
            Ok(match journals.is_empty() {
                true => format!("written to {}", written.display()),
                false => format!(
                    "written to {}; for dh scenario replay: {}",
                    written.display(),
                    journals.join(", ")
                ),
            })
        })),
    }
}

/// The token in a data folder that was used before.
pub(crate) fn token_of(folder: &DataFolder) -> Result<Token, Failure> {
    let token = token_in(&folder.file(TOKEN_FILE));
    token.map_err(|failure| failure.or_remedy(|| "--data DIR, that of the process to look at"))
}

/// The token in a file.
pub(crate) fn token_in(path: &Path) -> Result<Token, Failure> {
    let token = Token::load(path).map_err(|error| token_failure(&error))?;
    token.ok_or_else(|| {
        let cause = format!("{}: expected the token of a process, found no file", path.display());
        let remedy = "the inspect.token in the data folder of the process to look at";
        Failure::new(Exit::Missing, cause).remedy(remedy)
    })
}

/// What a fault of the token's file means to the user.
fn token_failure(error: &TokenError) -> Failure {
    let (exit, remedy) = match error {
        TokenError::File(error) => return identity::file_failure(error),
        TokenError::NoToken { path } => (Exit::Damaged, identity::aside(path)),
        TokenError::NotWritten { .. } => (Exit::CannotCreate, data::REMEDY.to_owned()),
        _ => return Failure::new(Exit::Internal, error),
    };
    Failure::new(exit, error).remedy(remedy)
}
