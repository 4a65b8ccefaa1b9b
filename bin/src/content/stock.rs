//! `dh store`: the pallets that were downloaded into the data folder.

use std::time::{SystemTime, UNIX_EPOCH};

use dh_host::disk::RealDisk;
use dh_machine::{Disk as _, Micros};
use dh_pallet::peek_id;
use dh_prefs::key;
use dh_store::load::{CookCache, CookedFiles};
use dh_store::{Kept, Kind, Store, StoreError};
use serde_json::{Value, json};

use super::pallet::together;
use crate::command::{Shared, Store as What};
use crate::data::DataFolder;
use crate::exit::{Exit, Failure};
use crate::output::bar::{Bar, Unit};
use crate::{output, settings};

/// Does what is asked with the store.
pub(super) fn run(what: &What, shared: &Shared) -> Result<(), Failure> {
    let folder = DataFolder::open_existing(shared.data.as_deref())?;
    let store = super::shelf::store(&folder)?;
    let cook = super::shelf::cook(&folder)?;
    match what {
        What::List => list(&store.list().map_err(failure)?, &cook, shared.json),
        What::Verify { repair } => verify(&store, *repair, shared.json),
        What::Prune => {
            let prefs = settings::load(&folder, None, shared)?;
            prune(&store, &cook, prefs.get(key::CACHE_MAX_BYTES), shared.json)
        }
    }
}

fn list(kept: &[Kept], cook: &CookCache, as_json: bool) -> Result<(), Failure> {
    let now = now();
    if as_json {
        return output::json(&kept.iter().map(facts).collect::<Value>());
    }
    for file in kept {
        let (id, used) = (id(file).unwrap_or_default(), age(now.since(file.used)));
        let part = if file.kind == Kind::Partial { "  (a part)" } else { "" };
        output::line(&format!("{:>12}  {used:>12}  {id:<20} {}{part}", file.bytes, file.path))?;
    }
    let bytes: u64 = kept.iter().map(|file| file.bytes).sum();
    output::line(&format!("{bytes:>12} bytes in {} files", kept.len()))?;
    let CookedFiles { files, bytes } = cook.held().map_err(|error| failure(error.into()))?;
    match files {
        0 => Ok(()),
        files => output::line(&format!("{bytes:>12} bytes of cooked collision in {files} files")),
    }
}

fn facts(kept: &Kept) -> Value {
    json!({
        "path": kept.path,
        "palletId": id(kept),
        "kind": if kept.kind == Kind::Pallet { "pallet" } else { "part" },
        "bytes": kept.bytes,
        "lastUsed": kept.used.0 / 1_000_000,
    })
}

/// The id that a file claims, for people.
fn id(kept: &Kept) -> Option<String> {
    peek_id(&RealDisk.open(&kept.path).ok()?).ok()
}

/// Checks every byte of every pallet; bad ones are told, and deleted only if that was asked for.
fn verify(store: &Store, repair: bool, as_json: bool) -> Result<(), Failure> {
    let mut bad = Vec::new();
    let kept = store.list().map_err(failure)?;
    for file in kept.iter().filter(|file| file.kind == Kind::Pallet) {
        let bar = Bar::new();
        let mut show = |done, total| bar.told(&file.path, Unit::Bytes, done, total);
        let found = store.examine(file, &mut show);
        drop(bar);
        let is_damaged = matches!(found, Err(StoreError::Pallet(_)));
        let deleted = repair && is_damaged;
        if deleted {
            store.remove(file).map_err(failure)?;
        }
        let told = match &found {
            Ok(_) => format!("ok   {}", file.path),
            Err(error) if deleted => format!("GONE {}: {error}", file.path),
            Err(error) => format!("BAD  {}: {error}", file.path),
        };
        if as_json {
            let error = found.as_ref().err().map(ToString::to_string);
            let ok = error.is_none();
            output::json(&json!({
                "path": file.path, "ok": ok, "error": error, "deleted": deleted,
            }))?;
        } else {
            output::line(&told)?;
        }
        if let (Err(error), false) = (found, deleted) {
            let failure = failure(error);
            let cause = format!("{}: {}", file.path, failure.cause);
            bad.push(Failure { cause, ..failure });
        }
    }
    together(bad)
}

/// Pallets first: what was cooked of them is made anew in seconds, and has what they leave of the
/// space.
fn prune(store: &Store, cook: &CookCache, bytes_max: u64, as_json: bool) -> Result<(), Failure> {
    let pruned = store.prune(now(), bytes_max, &[]).map_err(failure)?;
    let cooked = cook.prune(bytes_max.saturating_sub(pruned.bytes));
    let cooked = cooked.map_err(|error| failure(error.into()))?;
    let freed: u64 = pruned.removed.iter().map(|file| file.bytes).sum();
    if as_json {
        let removed: Vec<&str> = pruned.removed.iter().map(|file| file.path.as_str()).collect();
        output::json(&json!({ "freed": freed, "bytes": pruned.bytes, "removed": removed,
            "freedCooked": cooked.bytes }))?;
    } else {
        for file in &pruned.removed {
            output::line(&format!("removed {} ({} bytes)", file.path, file.bytes))?;
        }
        if cooked.files > 0 {
            let CookedFiles { files, bytes } = cooked;
            output::line(&format!("removed {files} files of cooked collision ({bytes} bytes)"))?;
        }
        let kept = pruned.bytes;
        output::line(&format!("freed {freed} bytes; pallets of {kept} bytes stay"))?;
    }
    together(pruned.failed.into_iter().map(|error| failure(error.into())).collect())
}

/// What a fault of the store means to the user.
fn failure(error: StoreError) -> Failure {
    match error {
        StoreError::Pallet(error) => {
            Failure::new(Exit::Damaged, error).remedy("dh store verify --repair")
        }
        error => Failure::new(Exit::Io, error).remedy("dh --data DIR"),
    }
}

/// Since 1970.
fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// A span in its greatest unit.
fn age(span: Micros) -> String {
    let seconds = span.0 / 1_000_000;
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let fits = units.into_iter().find(|(unit, _)| seconds >= 2 * unit);
    fits.map_or_else(|| "now".to_owned(), |(unit, name)| format!("{} {name}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_told_in_its_greatest_unit() {
        let told = [0, 119, 120, 7_200, 172_800].map(|seconds| age(Micros::from_secs(seconds)));
        assert_eq!(told, ["now", "now", "2 minutes", "2 hours", "2 days"]);
    }
}
