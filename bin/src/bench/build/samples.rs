//! Folders to build: the core pallet's sources, and models and pictures that do not compress.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::bench::random::Random;

/// The pallet's id, and what writes its sources into a folder: which files.
pub(super) type Kind = (&'static str, fn(&Path) -> io::Result<Vec<PathBuf>>);

/// What is built.
pub(super) const KINDS: [Kind; 2] = [("core", core), ("noise", noise)];

/// Models and pictures in the folder of noise.
const FILES: u32 = 8;
/// Squares along an edge of a model.
const SIDE: u32 = 128;
/// Pixels along an edge of a picture.
const PIXELS: u32 = 512;

/// The core pallet's sources.
fn core(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = dh_compile::core_sources().0.iter();
    files.map(|(path, bytes)| written(folder, path, bytes)).collect()
}

/// Models and pictures of random numbers.
fn noise(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let about = br#"{ "id": "noise", "displayName": "Noise", "version": "1" }"#;
    let mut random = Random::new();
    let mut files = vec![written(folder, "pallet.dh", about)?];
    for number in 0..FILES {
        files.push(written(folder, &format!("assets/{number}.glb"), &model(&mut random))?);
        files.push(written(folder, &format!("assets/{number}.png"), &picture(&mut random)?)?);
    }
    Ok(files)
}

fn written(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let place = folder.join(path);
    place.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(&place, bytes)?;
    Ok(place)
}

/// A square of hills as binary glTF.
fn model(random: &mut Random) -> Vec<u8> {
    let row = SIDE + 1;
    let mut body = Vec::new();
    for place in 0..row * row {
        let at = [narrow(place % row), share(random), narrow(place / row)];
        at.iter().for_each(|part| body.extend(part.to_le_bytes()));
    }
    let indices_at = body.len();
    for square in 0..SIDE * SIDE {
        let corner = square / SIDE * row + square % SIDE;
        let far = corner + row;
        let corners = [corner, far, corner + 1, corner + 1, far, far + 1];
        corners.iter().for_each(|index| body.extend(index.to_le_bytes()));
    }
    let json = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "indices": 1 }] }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": row * row, "type": "VEC3",
              "min": [0, 0, 0], "max": [SIDE, 1, SIDE] },
            { "bufferView": 1, "componentType": 5125, "count": SIDE * SIDE * 6, "type": "SCALAR" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteOffset": 0, "byteLength": indices_at },
            { "buffer": 0, "byteOffset": indices_at, "byteLength": body.len() - indices_at },
        ],
        "buffers": [{ "byteLength": body.len() }],
    });
    let mut text = json.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let word = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let total = 12 + 8 + text.len() + 8 + body.len();
    let mut out = [b"glTF".as_slice(), &2_u32.to_le_bytes(), &word(total)].concat();
    for (kind, chunk) in [(b"JSON", &text), (b"BIN\0", &body)] {
        out.extend(word(chunk.len()));
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// A picture in which no two pixels are alike.
fn picture(random: &mut Random) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, PIXELS, PIXELS);
    encoder.set_color(png::ColorType::Rgb);
    let pixels = random.bytes(PIXELS as usize * PIXELS as usize * 3);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(out)
}

/// From 0 to 1.
fn share(random: &mut Random) -> f32 {
    narrow(random.next() % 4096) / 4096.0
}

/// Numbers this small lose nothing.
fn narrow(number: u32) -> f32 {
    u16::try_from(number).map_or(f32::MAX, f32::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_folders_build_and_lack_nothing_but_a_map() {
        let home = tempfile::tempdir().unwrap();
        for (name, write) in KINDS {
            let files = write(&home.path().join(name)).unwrap();
            let built = dh_compile::build(&home.path().join(name), home.path(), &|_| {}).unwrap();
            assert_eq!(built.id, name);
            assert!(built.notes.iter().all(|note| note.text.starts_with("no map")), "{name}");
            assert!(built.entries < files.len());
        }
    }
}
