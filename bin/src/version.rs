//! Version: what this program is, so that two of them can be compared.

use crate::command::Shared;
use crate::exit::Failure;
use crate::output;
use dh_messages::PROTOCOL_VERSION;
use serde_json::json;

/// The package's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Prints version, commit, protocol, schema hash and lock file hash.
pub(crate) fn print(shared: &Shared) -> Result<(), Failure> {
    let schema = dh_messages::schema_hash().to_string();
    let (commit, lockfile) = (env!("DH_COMMIT"), env!("DH_LOCKFILE"));
    if shared.json {
        return output::json(&json!({
            "version": VERSION,
            "commit": commit,
            "protocol": PROTOCOL_VERSION,
            "schema": schema,
            "lockfile": lockfile,
        }));
    }
    output::line(&format!("dh {VERSION}\ncommit {commit}\nprotocol {PROTOCOL_VERSION}"))?;
    output::line(&format!("schema {schema}\nlockfile {lockfile}"))
}
