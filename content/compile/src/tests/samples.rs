//! Sources that the tests build.

use crate::{BuildError, Bundled, build_bundled};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dh_map::Mesh;
use dh_pallet::Pallet;

pub(super) const ABOUT: &str =
    r#"{ "id": "yard", "displayName": "Yard", "version": "1.0", "licence": "CC0-1.0" }"#;

/// A PNG of 2 x 2 pixels.
pub(super) fn png(shade: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut raw = Vec::new();
    (0..2).for_each(|_| raw.extend([0, shade, 0, 0, shade, 0, 0]));
    out.extend(b"\x89PNG\r\n\x1a\n");
    chunk(&mut out, b"IHDR", &[0, 0, 0, 2, 0, 0, 0, 2, 8, 2, 0, 0, 0]);
    chunk(&mut out, b"IDAT", &stored_zlib(&raw));
    chunk(&mut out, b"IEND", &[]);
    out
}

/// A PNG whose header claims 60,000 x 60,000 pixels.
pub(super) fn bomb() -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut out, b"IHDR", &[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60, 8, 2, 0, 0, 0]);
    chunk(&mut out, b"IDAT", &stored_zlib(&[0; 16]));
    chunk(&mut out, b"IEND", &[]);
    out
}

fn chunk(out: &mut Vec<u8>, kind: &[u8; 4], body: &[u8]) {
    out.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    let start = out.len();
    out.extend(kind);
    out.extend(body);
    let sum = out[start..].iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    out.extend((!sum).to_be_bytes());
}

fn stored_zlib(raw: &[u8]) -> Vec<u8> {
    let length = u16::try_from(raw.len()).unwrap();
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in raw {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let head = [0x78, 1, 1].into_iter().chain(length.to_le_bytes()).chain((!length).to_le_bytes());
    head.chain(raw.iter().copied()).chain(((b << 16) | a).to_be_bytes()).collect()
}

/// A square of two triangles and a triangle without area, in one buffer: positions, then indices.
pub(super) fn square() -> Vec<u8> {
    let places: [[f32; 3]; 4] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    let indices: [u16; 9] = [0, 1, 2, 0, 2, 3, 1, 1, 2];
    let places = places.as_flattened().iter().flat_map(|number| number.to_le_bytes());
    places.chain(indices.iter().flat_map(|index| index.to_le_bytes())).collect()
}

/// glTF text of the square; `extra` goes in front of its other keys.
pub(super) fn gltf(extra: &str, uri: &str) -> String {
    let text = r#"{
  EXTRA
  "asset": { "version": "2.0" },
  "scene": 0,
  "scenes": [ { "nodes": [0] } ],
  "nodes": [ { "name": "square", "mesh": 0, "translation": [5, 0, 0] } ],
  "meshes": [ { "primitives": [ { "attributes": { "POSITION": 0 }, "indices": 1 } ] } ],
  "accessors": [
    { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3",
      "min": [0, 0, 0], "max": [1, 1, 0] },
    { "bufferView": 1, "componentType": 5123, "count": 9, "type": "SCALAR" }
  ],
  "bufferViews": [
    { "buffer": 0, "byteOffset": 0, "byteLength": 48 },
    { "buffer": 0, "byteOffset": 48, "byteLength": 18 }
  ],
  "buffers": [ { "byteLength": 66, "uri": "URI" } ]
}"#;
    text.replace("EXTRA", extra).replace("URI", uri)
}

/// The bytes as a data URI.
pub(super) fn data(bytes: &[u8]) -> String {
    format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes))
}

/// The square with all its bytes within the text.
pub(super) fn square_gltf() -> String {
    gltf("", &data(&square()))
}

/// A map of these objects.
pub(super) fn map(objects: &str) -> String {
    format!("{{ \"objects\": [\n{objects}\n] }}")
}

/// Builds files beside a sound `pallet.dh`.
pub(super) fn built(files: &[(&str, &[u8])]) -> Result<Vec<u8>, Vec<String>> {
    let all: Vec<(&str, &[u8])> =
        files.iter().copied().chain([("pallet.dh", ABOUT.as_bytes())]).collect();
    build_bundled(Bundled(&all)).map_err(|error| match error {
        BuildError::Content(problems) => problems.iter().map(ToString::to_string).collect(),
        other => vec![other.to_string()],
    })
}

/// An entry of a pallet.
pub(super) fn entry(pallet: &[u8], path: &str) -> Vec<u8> {
    let pallet = Pallet::open(pallet, None).unwrap();
    pallet.read(path, 1 << 20).unwrap()
}

/// The paths of a pallet.
pub(super) fn paths(pallet: &[u8]) -> Vec<String> {
    let pallet = Pallet::open(pallet, None).unwrap();
    pallet.manifest().entries.iter().map(|entry| entry.path.clone()).collect()
}

/// The mesh of a model that stands alone in a pallet.
pub(super) fn mesh(model: &str) -> Mesh {
    let pallet = built(&[("assets/a.gltf", model.as_bytes())]).unwrap();
    Mesh::decode(&entry(&pallet, "assets/a.dh-mesh")).unwrap()
}
