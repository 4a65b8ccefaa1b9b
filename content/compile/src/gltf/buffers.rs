//! The bytes a model refers to: its own chunk, data URIs, files beside it.
//!
//! Used by accessors and pictures. A URI can only name a file below the model's own folder.

use super::{Around, MODEL_BYTES_MAX, Wrong, is_full};
use crate::plan::Kind;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dh_map::problem::nearest;
use gltf::Document;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of each buffer; empty where it could not be had, which was told. Buffers that name one
/// file share its bytes.
#[derive(Debug)]
pub(super) struct Buffers(Vec<Rc<Vec<u8>>>);

impl Buffers {
    /// The bytes of a view.
    pub(super) fn view(&self, view: &gltf::buffer::View<'_>) -> Result<&[u8], Wrong> {
        let buffer = self.0.get(view.buffer().index()).map_or(&[][..], |bytes| bytes.as_slice());
        let end = view.offset().checked_add(view.length());
        let bytes = end.and_then(|end| buffer.get(view.offset()..end));
        bytes.ok_or_else(|| {
            let pointer = format!("bufferViews[{}]", view.index());
            Wrong::new(pointer, "reaches beyond its buffer").with("export it again")
        })
    }
}

/// Loads every buffer of a model.
pub(super) fn load(
    path: &str,
    document: &Document,
    mut blob: Option<Vec<u8>>,
    around: Around<'_>,
    wrong: &mut Vec<Wrong>,
) -> Buffers {
    let mut buffers = Vec::new();
    let mut files = Files { around, loaded: BTreeMap::new(), left: MODEL_BYTES_MAX };
    for (index, buffer) in document.as_json().buffers.iter().enumerate() {
        if is_full(wrong) {
            break;
        }
        let pointer = format!("buffers[{index}]");
        let bytes = match &buffer.uri {
            Some(uri) => files.fetch(path, uri, &format!("{pointer}.uri")),
            None if index == 0 => blob
                .take()
                .map(Rc::new)
                .ok_or_else(|| Wrong::new(&pointer, "has neither a URI nor a binary chunk")),
            None => Err(Wrong::new(&pointer, "has no URI")),
        };
        let length = usize::try_from(buffer.byte_length.0).unwrap_or(usize::MAX);
        let bytes = bytes.and_then(|bytes| {
            if bytes.len() >= length {
                return Ok(bytes);
            }
            let text = format!("says {length} bytes, there are {}", bytes.len());
            Err(Wrong::new(&pointer, text).with("export it again"))
        });
        buffers.push(bytes.unwrap_or_else(|fault| {
            wrong.push(fault);
            Rc::default()
        }));
    }
    Buffers(buffers)
}

/// The files of a model's buffers, each read once.
struct Files<'a> {
    around: Around<'a>,
    loaded: BTreeMap<String, Rc<Vec<u8>>>,
    /// Bytes that may still be read.
    left: u64,
}

impl Files<'_> {
    /// The bytes behind a URI.
    fn fetch(&mut self, model: &str, uri: &str, pointer: &str) -> Result<Rc<Vec<u8>>, Wrong> {
        if uri.starts_with("data:") {
            return data(uri, pointer).map(Rc::new);
        }
        let path = beside(model, uri, pointer, Kind::Buffer, self.around)?;
        if let Some(bytes) = self.loaded.get(&path) {
            return Ok(Rc::clone(bytes));
        }
        if self.around.paths.get(path.as_str()).is_some_and(|bytes| *bytes > self.left) {
            let most = MODEL_BYTES_MAX >> 20;
            let text = format!("with {path} the model's buffers have over {most} MiB");
            return Err(Wrong::new(pointer, text).with("split the model"));
        }
        let bytes = self.around.tree.read(&path, self.left);
        let bytes =
            bytes.map_err(|problem| Wrong::new(pointer, format!("{path} {}", problem.text)))?;
        self.left = self.left.saturating_sub(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let bytes = Rc::new(bytes);
        self.loaded.insert(path, Rc::clone(&bytes));
        Ok(bytes)
    }
}

/// The bytes within a URI.
pub(super) fn data(uri: &str, pointer: &str) -> Result<Vec<u8>, Wrong> {
    let coded = uri.strip_prefix("data:").and_then(|data| data.split_once(";base64,"));
    let bytes = coded.and_then(|(_, coded)| STANDARD.decode(coded).ok());
    bytes.ok_or_else(|| Wrong::new(pointer, "is no base64 data URI").with("export it again"))
}

/// The path of a file that a URI names; if there is none, files of its kind are known.
pub(super) fn beside(
    model: &str,
    uri: &str,
    pointer: &str,
    kind: Kind,
    around: Around<'_>,
) -> Result<String, Wrong> {
    let shown: String = uri.chars().take(80).collect();
    let decoded = percent_encoding::percent_decode_str(uri).decode_utf8();
    let Ok(decoded) = decoded else {
        return Err(Wrong::new(pointer, format!("\"{shown}\" is no UTF-8")));
    };
    let leaves = decoded.starts_with('/')
        || decoded.contains(['\\', ':'])
        || decoded.split('/').any(|part| matches!(part, "" | ".."));
    if leaves {
        let text = format!("\"{shown}\" leaves the model's folder");
        return Err(Wrong::new(pointer, text).with("put the file beside the model"));
    }
    let folder = model.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = folder.split('/').chain(decoded.split('/'));
    let path = parts.filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
    if around.paths.contains_key(path.as_str()) {
        return Ok(path);
    }
    let what = if kind == Kind::Image { "image" } else { "buffer" };
    let text = format!("there is no {what} \"{shown}\"");
    let alike = around.paths.keys().filter(|path| Kind::of(path) == kind);
    let beside = alike.filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    Err(Wrong::new(pointer, text).with(nearest(&decoded, beside)))
}
