//! Names: which paths and pallet ids may exist, so that a pallet unpacks alike on every disk.

use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization;

use crate::error::PalletError;

/// Bytes of an entry's path.
pub const PATH_BYTES_MAX: usize = 240;
/// Bytes of a pallet's id.
pub const PALLET_ID_BYTES_MAX: usize = 64;
/// The id of the pallet that is part of the program; no other can be served under it.
pub const CORE_PALLET_ID: &str = "core";

/// Characters that mean something else on some disk, `/` apart.
const FORBIDDEN: &str = "\\:*?\"<>|";
/// Names of devices on Windows, whatever follows behind a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
/// The last character of some names, and whether it is reserved behind `com` and `lpt`.
const DEVICE_DIGITS: &str = "0123456789\u{b9}\u{b2}\u{b3}";

/// Whether an entry may have this path.
pub fn check_path(path: &str) -> Result<(), PalletError> {
    let refused = |why| Err(PalletError::name(path, why));
    if path.is_empty() {
        return refused("is empty");
    }
    if path.len() > PATH_BYTES_MAX {
        return refused("is longer than 240 bytes");
    }
    if path.starts_with('/') {
        return refused("is absolute");
    }
    if path.chars().any(char::is_control) {
        return refused("has a control character");
    }
    if path.chars().any(|c| c > '\u{ffff}') {
        return refused("has a character above U+FFFF");
    }
    if path.chars().any(|c| FORBIDDEN.contains(c)) {
        return refused("has one of \\ : * ? \" < > |");
    }
    path.split('/').try_for_each(|part| match part_fault(part) {
        None => Ok(()),
        Some(why) => refused(why),
    })
}

/// Whether a pallet may have this id: lower case letters, digits, `-`, `_` and `.` between them.
pub fn check_pallet_id(id: &str) -> Result<(), PalletError> {
    let refused = |why| Err(PalletError::name(id, why));
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if id.len() > PALLET_ID_BYTES_MAX {
        return refused("is longer than 64 bytes");
    }
    if !edge(id.chars().next()) || !edge(id.chars().last()) || !id.chars().all(inner) {
        return refused("is no pallet id: a-z, 0-9, and - _ . between them");
    }
    if is_device(id) { refused("is reserved on Windows") } else { Ok(()) }
}

/// Whether all these paths can lie in one folder: no two differ in case or in composition of
/// characters only, and none is a folder of another.
pub fn check_twins<'a>(paths: impl IntoIterator<Item = &'a str>) -> Result<(), PalletError> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        if let Some(one) = seen.insert(folded(path), path) {
            return Err(PalletError::Twins { one: one.to_owned(), other: path.to_owned() });
        }
    }
    for (key, path) in &seen {
        let folders = key.match_indices('/').map(|(at, _)| &key[..at]);
        if let Some(file) = folders.filter_map(|folder| seen.get(folder)).next() {
            return Err(PalletError::Twins { one: (*file).to_owned(), other: (*path).to_owned() });
        }
    }
    Ok(())
}

/// The name as a disk sees it that tells neither case nor composition apart.
fn folded(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    let upper = path.nfd().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfd().collect()
}

fn part_fault(part: &str) -> Option<&'static str> {
    match part {
        "" => Some("has an empty part"),
        "." | ".." => Some("has a part . or .."),
        _ if part.ends_with(['.', ' ']) => Some("has a part that ends in a dot or a space"),
        _ if part.starts_with(' ') => Some("has a part that starts with a space"),
        _ if is_device(part) => Some("has a part that is reserved on Windows"),
        _ => None,
    }
}

fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end_matches(' ');
    let stem = stem.to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let mut digits = numbered.unwrap_or_default().chars();
    let port = digits.next().is_some_and(|c| DEVICE_DIGITS.contains(c)) && digits.next().is_none();
    port || DEVICES.contains(&stem.as_str())
}
