//! Input: files that people name, read whole and within a bound.
//!
//! Used by the verbs that read what is not content. Never: a pipe that was not
//! asked for, which nobody waits for.

use std::io::{self, Read as _};
use std::path::Path;

use dh_host::disk::RealDisk;
use dh_machine::{Disk as _, DiskError};

use crate::content;
use crate::exit::{Exit, Failure};

/// The whole of what is piped in, if that is no longer than what was expected.
pub(crate) fn stdin(max: u64, expected: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(max + 1).read_to_end(&mut bytes);
    read.map_err(|error| Failure::new(Exit::Io, format!("cannot read stdin: {error}")))?;
    if bytes.len() as u64 > max {
        let cause = format!("stdin: more bytes than {expected} of at most {max}");
        return Err(Failure::new(Exit::Damaged, cause));
    }
    Ok(bytes)
}

/// The whole of a file that is no longer than what was expected. What is no file, such as a pipe,
/// is not waited for.
pub(crate) fn bytes(path: &Path, max: u64, expected: &str) -> Result<Vec<u8>, Failure> {
    let failed = |error: DiskError| Failure::new(Exit::Missing, error);
    let file = RealDisk.open(&content::text(path)?).map_err(failed)?;
    let len = file.len().map_err(failed)?;
    if max < len {
        let shown = path.display();
        let cause = format!("{shown}: {len} bytes, expected {expected} of at most {max}");
        return Err(Failure::new(Exit::Damaged, cause));
    }
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    let mut read = 0;
    while read < bytes.len() {
        match file.read_at(read as u64, &mut bytes[read..]).map_err(failed)? {
            0 => break,
            more => read += more,
        }
    }
    bytes.truncate(read);
    Ok(bytes)
}
