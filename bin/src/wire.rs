//! The verbs around the wire: the schema, what two builds lose of each other, one packet.

mod asker;
mod diff;
mod dump;
mod misread;
mod schema;

use std::path::Path;

use dh_prefs::Address;
use dh_wire::Schema;
use dh_wire::limit::SCHEMA_TEXT_MAX;

use crate::command::{Shared, Wire};
use crate::exit::{Exit, Failure};
use crate::input;

/// Runs the verb to its end.
pub(crate) fn run(what: &Wire, shared: &Shared) -> Result<(), Failure> {
    match what {
        Wire::Schema => schema::print(&dh_messages::schema(), shared),
        Wire::Diff { one, other } => diff::run(one, other, shared),
        Wire::Dump { packet, message, to, schema } => {
            let schema = schema.as_deref().map_or_else(|| Ok(dh_messages::schema()), read)?;
            dump::run(packet, &dump::Told { message: message.as_deref(), to: *to }, &schema, shared)
        }
    }
}

/// The schema of a build: of a file, of `-` for this build, or of a server that runs, by an address
/// with its port.
fn of(build: &Path, shared: &Shared) -> Result<Schema, Failure> {
    let address = build.to_str().filter(|it| it.contains(':') && !build.exists());
    match address.and_then(Address::read) {
        Some(server) => asker::ask(&server, shared),
        None if build != Path::new("-") && !build.exists() => {
            let cause = format!("{}: no such file, and no HOST:PORT of a server", build.display());
            let remedy = "FILE, or HOST:PORT with a port of 1 to 65535, as in 127.0.0.1:27015";
            Err(Failure::new(Exit::Missing, cause).remedy(remedy))
        }
        None => read(build),
    }
}

/// The schema that a file spells; this build's for `-`.
fn read(path: &Path) -> Result<Schema, Failure> {
    if path == Path::new("-") {
        return Ok(dh_messages::schema());
    }
    let text = input::bytes(path, SCHEMA_TEXT_MAX as u64, "the text of a schema")?;
    Schema::read(&text).map_err(|error| {
        let why = misread::told(&text, error);
        Failure::new(Exit::Damaged, format!("{}: {why}", path.display()))
            .remedy("dh wire schema prints the one of this build")
    })
}
