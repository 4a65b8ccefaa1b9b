//! Pictures: read, scaled down, refused.

use super::{Image, ImageError, ImageFormat, Probed, decode, probe};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

fn png(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    PngEncoder::new(&mut out).write_image(rgba, width, height, ExtendedColorType::Rgba8).unwrap();
    out
}

/// A PNG that claims a size and holds nothing.
fn hollow_png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(1, 1, &[0; 4]);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 }
        })
    })
}

#[test]
fn png_and_jpeg_are_read_to_rgba() {
    let bytes = png(2, 1, &[255, 0, 0, 255, 0, 0, 255, 128]);
    assert_eq!(probe(&bytes), Ok(Probed { format: ImageFormat::Png, width: 2, height: 1 }));
    let image = decode(&bytes, 16).unwrap();
    assert_eq!(image.rgba, [255, 0, 0, 255, 0, 0, 255, 128]);
    let mut jpeg = Vec::new();
    JpegEncoder::new_with_quality(&mut jpeg, 95)
        .write_image(&[200; 16 * 8 * 3], 16, 8, ExtendedColorType::Rgb8)
        .unwrap();
    assert_eq!(probe(&jpeg), Ok(Probed { format: ImageFormat::Jpeg, width: 16, height: 8 }));
    let image = decode(&jpeg, 16).unwrap();
    assert!(image.rgba.chunks(4).all(|p| p[3] == 255 && p[0].abs_diff(200) < 4));
}

#[test]
fn a_picture_larger_than_wanted_is_halved_until_it_fits() {
    let checks: Vec<u8> = (0..16).flat_map(|at| [(at % 2) * 200, 0, 0, 255]).collect();
    let image = decode(&png(4, 4, &checks), 2).unwrap();
    assert_eq!((image.width, image.height, image.rgba.len()), (2, 2, 16));
    assert!(image.rgba.chunks(4).all(|pixel| pixel == [100, 0, 0, 255]));
    let odd = decode(&png(5, 1, &[9; 20]), 2).unwrap();
    assert_eq!((odd.width, odd.height, odd.rgba), (2, 1, vec![9; 8]));
}

#[test]
fn what_is_unseen_does_not_bleed_into_what_is_seen() {
    let rgba = [[255, 0, 0, 255], [0, 255, 0, 0], [255, 0, 0, 255], [0, 255, 0, 0]].concat();
    let half = Image { width: 2, height: 2, rgba }.halved();
    assert_eq!(half.rgba, [255, 0, 0, 128]);
}

#[test]
fn a_bomb_is_refused_by_its_header() {
    for (width, height) in [(60_000, 60_000), (16_385, 1), (16_384, 16_384)] {
        let bytes = hollow_png(width, height);
        assert_eq!(probe(&bytes), Err(ImageError::Bomb(width, height)));
        assert_eq!(decode(&bytes, 64), Err(ImageError::Bomb(width, height)));
    }
    assert_eq!(probe(&hollow_png(u32::MAX >> 1, 2)), Err(ImageError::Heavy));
}

#[test]
fn damaged_bytes_are_refused_and_never_panic() {
    assert_eq!(probe(b"GIF89a"), Err(ImageError::Format));
    assert_eq!(probe(b""), Err(ImageError::Format));
    assert!(matches!(probe(&hollow_png(0, 4)), Err(ImageError::Damaged(_))));
    let bytes = png(8, 8, &[77; 256]);
    for length in 0..bytes.len() {
        let _ = decode(&bytes[..length], 64);
    }
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x55;
        let _ = decode(&bytes, 64);
    }
}
