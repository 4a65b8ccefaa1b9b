//! The closure hash: one number for a map and all it is made of.

use dh_wire::{Content, Hash128};

use crate::source::count;

/// Version of the recipe; another one changes every closure hash.
const RECIPE: u32 = 2;

/// The identity of a map with its pallet and all dependencies, in whatever order those are given.
///
/// A world without content, which has neither name nor pallet, has the hash zero.
#[must_use]
pub fn closure_hash(name: &str, map: &Content, dependencies: &[(String, Content)]) -> Hash128 {
    if name.is_empty() && map.is_none() && dependencies.is_empty() {
        return Hash128::default();
    }
    let mut bytes = RECIPE.to_le_bytes().to_vec();
    put_text(&mut bytes, name);
    put_content(&mut bytes, map);
    let mut sorted: Vec<_> = dependencies.iter().collect();
    sorted.sort();
    for (id, content) in sorted {
        put_text(&mut bytes, id);
        put_content(&mut bytes, content);
    }
    Hash128::of(&bytes)
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    let len = u32::try_from(count(text.len())).unwrap_or(u32::MAX);
    bytes.extend(len.to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn put_content(bytes: &mut Vec<u8>, content: &Content) {
    bytes.extend(content.fingerprint.0);
    bytes.extend(content.root.0);
}
