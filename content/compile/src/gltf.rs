//! glTF 2.0 models, `.gltf` with its parts beside it and `.glb`, into meshes.
//!
//! Used by the pass over models. The JSON and its references are a library's to check; every byte
//! of the buffers is read with our own checks. Node transforms are applied, skins stand in bind
//! pose, and what is left out is noted.

mod accessor;
mod buffers;
mod place;
mod primitive;
mod scene;
mod surfaces;

use crate::images::Images;
use crate::spool::Spool;
use crate::tree::Tree;
use dh_map::jsonc::PROBLEMS_MAX;
use dh_map::{Mesh, Problem};
use std::collections::BTreeMap;

/// A model file may have so many bytes, and so many may all files of its buffers have together.
pub(crate) const MODEL_BYTES_MAX: u64 = 1 << 30;

/// What every GLB begins with.
const GLB_MAGIC: &[u8] = b"glTF";

/// What the reading of a model may ask for.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) tree: &'a dyn Tree,
    /// All files of the tree, and how many bytes each has.
    pub(crate) paths: &'a BTreeMap<&'a str, u64>,
    pub(crate) images: &'a Images,
    pub(crate) spool: &'a Spool,
}

/// A model that was read.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) mesh: Mesh,
    /// What was left out, in words.
    pub(crate) notes: Vec<String>,
}

/// A mistake in a model and where its JSON makes it.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// Such as `meshes[0].primitives[1]`; empty for the whole file.
    pub(crate) pointer: String,
    pub(crate) text: String,
    pub(crate) remedy: String,
}

impl Wrong {
    pub(crate) fn new(pointer: impl Into<String>, text: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), text: text.into(), remedy: String::new() }
    }

    pub(crate) fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: remedy.into(), ..self }
    }
}

/// Whether there are more mistakes than are told: then none needs to be looked for.
pub(crate) fn is_full(wrong: &[Wrong]) -> bool {
    wrong.len() > PROBLEMS_MAX
}

/// Reads a model; all that is wrong with it, if anything is.
pub(crate) fn read(path: &str, around: Around<'_>) -> Result<Model, Vec<Problem>> {
    let bytes = around.tree.read(path, MODEL_BYTES_MAX).map_err(|problem| vec![problem])?;
    let text = str::from_utf8(&bytes).ok().filter(|_| !bytes.starts_with(GLB_MAGIC));
    if is_no_glb(path, &bytes) {
        let text = "is no GLB: it does not begin with the letters glTF";
        return Err(vec![Problem::of_file(path, text, "export it again, as binary glTF")]);
    }
    let told = |wrong: Vec<Wrong>| place::problems(path, text, &wrong);
    let ::gltf::Gltf { document, blob } = match parse(&bytes) {
        Ok(Ok(parsed)) => parsed,
        Ok(Err(error)) => return Err(place::refused(path, error, told)),
        Err(wrong) => return Err(told(wrong)),
    };
    let mut wrong = Vec::new();
    let mut notes = left_out(&document);
    let buffers = buffers::load(path, &document, blob, around, &mut wrong);
    let materials = surfaces::read(path, &document, &buffers, around, &mut wrong);
    let meshes = scene::visits(&document, &mut wrong);
    let mesh = primitive::assemble(&meshes, &buffers, materials, &mut wrong, &mut notes);
    if wrong.is_empty() { Ok(Model { mesh, notes }) } else { Err(told(wrong)) }
}

/// Whether a file is named as a GLB and is neither one nor text.
fn is_no_glb(path: &str, bytes: &[u8]) -> bool {
    let named = path.to_ascii_lowercase().ends_with(".glb");
    named && !bytes.starts_with(GLB_MAGIC) && !bytes.trim_ascii_start().starts_with(b"{")
}

/// The library's reading and checks. It takes the places of positions for checked before it has
/// checked them, so that is done here.
fn parse(bytes: &[u8]) -> Result<Result<::gltf::Gltf, ::gltf::Error>, Vec<Wrong>> {
    let parsed = match ::gltf::Gltf::from_slice_without_validation(bytes) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Err(error)),
    };
    let json = parsed.document.as_json();
    let mut wrong = Vec::new();
    for (mesh, primitives) in json.meshes.iter().map(|mesh| &mesh.primitives).enumerate() {
        for (at, primitive) in primitives.iter().enumerate() {
            let outside = |index: &::gltf::json::Index<_>| index.value() >= json.accessors.len();
            if primitive.attributes.values().any(outside) {
                let pointer = format!("meshes[{mesh}].primitives[{at}].attributes");
                wrong.push(Wrong::new(pointer, "names an accessor that is not there"));
            }
            if is_full(&wrong) {
                return Err(wrong);
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let checked = ::gltf::Document::from_json(parsed.document.into_json());
    Ok(checked.map(|document| ::gltf::Gltf { document, blob: parsed.blob }))
}

fn left_out(document: &::gltf::Document) -> Vec<String> {
    let counts = [
        (document.animations().count(), "animation"),
        (document.cameras().count(), "camera"),
        (document.lights().map_or(0, Iterator::count), "light"),
    ];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let mut notes: Vec<String> =
        some.map(|(count, what)| plural(*count, what) + " left out").collect();
    if document.skins().len() > 0 {
        notes.push(plural(document.skins().count(), "skin") + " left in bind pose");
    }
    if document.meshes().any(|mesh| mesh.primitives().any(|p| p.morph_targets().len() > 0)) {
        notes.push("morph targets left out".to_owned());
    }
    notes
}

/// A count and its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
