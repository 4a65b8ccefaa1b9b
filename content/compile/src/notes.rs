//! Notes on what a folder holds and nothing is made of, and on maps that lack something.
//!
//! Used once in a build. None of it is a mistake, and all of it may be one.

use crate::plan::{Kind, Plan};
use crate::tree::Listing;
use dh_map::{Map, Problem};
use std::collections::BTreeSet;

/// Notes on a tree whose files of this list travel as they are.
pub(crate) fn of_tree(listing: &Listing, plan: &Plan, files: &[String]) -> Vec<Problem> {
    let listed: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let inside = listing.files.iter().filter(|file| file.path.starts_with("assets/"));
    let other = inside.filter(|file| Kind::of(&file.path) == Kind::Other);
    let other = other.filter(|file| !listed.contains(file.path.as_str()));
    let mut notes: Vec<Problem> = other.map(|file| left_out(&file.path)).collect();
    let named = listing.folders.iter().filter(|path| Kind::of(path).is_compiled());
    notes.extend(named.map(|path| {
        let text = "is a folder that is named as a file; only what lies in it is built";
        Problem::of_file(path, text, "rename it")
    }));
    if plan.maps.is_empty() {
        let text = "no map, so that nobody can play in this pallet";
        notes.push(Problem::of_file("assets", text, "add assets/NAME.dh-map"));
    }
    notes
}

/// Notes on a map.
pub(crate) fn of_map(path: &str, map: &Map) -> Option<Problem> {
    if map.objects.is_empty() {
        return Some(Problem::of_file(path, "has no objects", "add some to \"objects\""));
    }
    let spawns = map.objects.iter().any(|object| object.components.spawn.is_some());
    let text = "no object has a dh.spawn, so that players arrive at [0, 0, 0]";
    (!spawns).then(|| Problem::of_file(path, text, "give one object a \"dh.spawn\""))
}

fn left_out(path: &str) -> Problem {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let remedy = match ending.as_deref() {
        Some("obj" | "fbx" | "blend" | "dae" | "stl" | "ply" | "3ds" | "usd" | "usdz") => {
            "export it as .glb"
        }
        Some("tga" | "bmp" | "gif" | "webp" | "dds" | "ktx" | "ktx2" | "tif" | "tiff" | "hdr") => {
            "save it as PNG or JPEG"
        }
        Some("map" | "json" | "jsonc") => "a map is called NAME.dh-map",
        Some("dh-mesh") => "the build makes it from .glb or .gltf",
        _ => "list it under \"files\" in pallet.dh if it shall travel along",
    };
    Problem::of_file(path, "is left out: it is no map, model, PNG or JPEG", remedy)
}
