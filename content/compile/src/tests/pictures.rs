//! Pictures that are damaged: whoever cannot be drawn is not built.

use super::samples::{built, data, gltf, png, square};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A JPEG of 8 x 8 pixels of one shade.
const JPEG: &str = concat!(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgICAgMCAgIDAwMDBAYEBAQEBAgGBgUGCQgKCgkICQkKDA8MCgsO",
    "CwkJDRENDg8QEBEQCgwSExIQEw8QEBD/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAA",
    "AAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q=="
);

/// Damaged pictures: what is wrong, the ending, the bytes.
fn damaged() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let jpeg = STANDARD.decode(JPEG).unwrap();
    let scan = jpeg.windows(2).position(|mark| mark == [0xff, 0xda]).unwrap();
    let whole = png(7);
    let cut = |bytes: &[u8], length: usize| bytes[..length].to_vec();
    let mut palette = whole.clone();
    palette[25] = 3;
    let sum = palette[12..29].iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    });
    palette[29..33].copy_from_slice(&(!sum).to_be_bytes());
    vec![
        ("cut within its pixels", "png", cut(&whole, 50)),
        ("cut behind its header", "png", cut(&whole, 33)),
        ("without a palette", "png", palette),
        ("without a scan", "jpg", cut(&jpeg, scan)),
        ("cut within its scan", "jpg", cut(&jpeg, jpeg.len() - 2)),
    ]
}

#[test]
fn a_whole_jpeg_is_built() {
    built(&[("assets/a.jpg", &STANDARD.decode(JPEG).unwrap())]).unwrap();
}

#[test]
fn a_damaged_picture_is_refused_wherever_it_lies() {
    for (what, ending, bytes) in damaged() {
        let path = format!("assets/a.{ending}");
        let told = built(&[(&path, &bytes)]).unwrap_err();
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        assert!(told[0].starts_with(&format!("{path}: a damaged picture: ")), "{what}: {told:?}");
        let image = format!("\"images\": [ {{ \"uri\": \"{}\" }} ],", data(&bytes));
        let model = gltf(&image, &data(&square()));
        let told = built(&[("assets/a.gltf", model.as_bytes())]).unwrap_err();
        assert_eq!(told.len(), 1, "{what}: {told:?}");
        let place = "assets/a.gltf:2:24: images[0].uri: a damaged picture: ";
        assert!(told[0].starts_with(place), "{what}: {told:?}");
    }
}
