//! How one piece of content names another: a path in the same pallet, or a barcode.
//!
//! Used by maps. `assets/tree.glb` lies in the same pallet; `forest:assets/tree.glb` in another.

use crate::jsonc::{Node, Report};
use crate::record::{Field, Written, write_text};
use crate::value::ID_MAX;
use dh_pallet::check_pallet_id;

/// A path may have so many bytes.
pub const PATH_MAX: usize = 512;
/// What a JSON Schema says of it: one colon at most, no backslash, and no `/` in front.
const SHAPE: &str = "^([a-z0-9_.-]+:)?[^/:\\\\\\\\][^:\\\\\\\\]*$";

/// A checked path or barcode.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Reference(String);

impl Reference {
    /// Checks a path or barcode; the error says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, &'static str> {
        let (pallet, path) = match text.split_once(':') {
            Some((pallet, path)) => (Some(pallet), path),
            None => (None, text),
        };
        if pallet.is_some_and(|pallet| check_pallet_id(pallet).is_err()) {
            return Err("what stands before the colon is no pallet id");
        }
        check_path(path)?;
        Ok(Self(text.to_owned()))
    }

    /// The pallet it names; none for the one it stands in.
    pub fn pallet(&self) -> Option<&str> {
        self.0.split_once(':').map(|(pallet, _)| pallet)
    }

    /// The path in that pallet.
    pub fn path(&self) -> &str {
        self.0.split_once(':').map_or(&self.0, |(_, path)| path)
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a path may name an entry of a pallet; the error says why not.
pub fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.len() > PATH_MAX {
        return Err("a path has 1 to 512 bytes");
    }
    if path.contains(['\\', ':']) {
        return Err("a path has neither \"\\\" nor \":\"");
    }
    if path.starts_with('/') {
        return Err("an absolute path leaves the folder");
    }
    if path.chars().any(|letter| letter.is_control() || u32::from(letter) > 0xffff) {
        return Err("a path has no controls and nothing above U+FFFF");
    }
    match path.split('/').find(|part| matches!(*part, "" | "." | "..")) {
        Some("..") => Err("\"..\" leaves the folder"),
        Some(_) => Err("a part of the path is empty or \".\""),
        None => Ok(()),
    }
}

impl Written for Reference {
    fn read(node: &Node<'_>, field: &Field, report: &mut Report<'_>) -> Option<Self> {
        let text = String::read(node, field, report)?;
        let reference = Self::new(&text);
        if let Err(wrong) = reference {
            let remedy = format!("{wrong}; write it as \"assets/name\", from the content folder");
            report.tell(node.at, format!("\"{text}\" cannot be named"), remedy);
        }
        reference.ok()
    }

    fn write(&self, out: &mut String) {
        write_text(&self.0, out);
    }

    fn describe(_: &Field) -> String {
        // A pallet and a colon, then a path.
        let most = ID_MAX + 1 + PATH_MAX;
        let length = format!("\"minLength\":1,\"maxLength\":{most}");
        format!("{{\"type\":\"string\",{length},\"pattern\":\"{SHAPE}\"}}")
    }
}
