//! The bytes a model refers to: its own chunk, data URIs, files beside it.
//!
//! Used by accessors and pictures. A URI can only name a file below the model's own folder.

use super::{Around, MODEL_BYTES_MAX, Wrong};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dh_map::problem::nearest;
use gltf::Document;

/// Bytes of each buffer; empty where it could not be had, which was told.
#[derive(Debug)]
pub(super) struct Buffers(Vec<Vec<u8>>);

impl Buffers {
    /// The bytes of a view.
    pub(super) fn view(&self, view: &gltf::buffer::View<'_>) -> Result<&[u8], Wrong> {
        let buffer = self.0.get(view.buffer().index()).map_or(&[][..], Vec::as_slice);
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
    for (index, buffer) in document.as_json().buffers.iter().enumerate() {
        let pointer = format!("buffers[{index}]");
        let bytes = match &buffer.uri {
            Some(uri) => fetch(path, uri, &format!("{pointer}.uri"), "buffer", around),
            None if index == 0 => blob
                .take()
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
            Vec::new()
        }));
    }
    Buffers(buffers)
}

/// The bytes behind a URI.
pub(super) fn fetch(
    model: &str,
    uri: &str,
    pointer: &str,
    what: &str,
    around: Around<'_>,
) -> Result<Vec<u8>, Wrong> {
    if let Some(data) = uri.strip_prefix("data:") {
        let coded = data.split_once(";base64,").map(|(_, coded)| coded);
        let bytes = coded.and_then(|coded| STANDARD.decode(coded).ok());
        return bytes.ok_or_else(|| Wrong::new(pointer, "is no base64 data URI"));
    }
    let path = beside(model, uri, pointer, what, around)?;
    let bytes = around.tree.read(&path, MODEL_BYTES_MAX);
    bytes.map_err(|problem| Wrong::new(pointer, format!("{path} {}", problem.text)))
}

/// The path of a file that a URI names.
pub(super) fn beside(
    model: &str,
    uri: &str,
    pointer: &str,
    what: &str,
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
    if around.paths.contains(path.as_str()) {
        return Ok(path);
    }
    let text = format!("there is no {what} \"{shown}\"");
    let beside =
        around.paths.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/'));
    Err(Wrong::new(pointer, text).with(nearest(&decoded, beside)))
}
