//! Pictures: read, scaled down, refused.

use super::{Image, ImageError, ImageFormat, Probed, check, decode, probe};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};

fn png(width: u32, height: u32, rgba: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    PngEncoder::new(&mut out).write_image(rgba, width, height, ExtendedColorType::Rgba8).unwrap();
    out
}

fn jpeg(width: u32, height: u32, rgb: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut out, 95);
    encoder.write_image(rgb, width, height, ExtendedColorType::Rgb8).unwrap();
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
    let jpeg = jpeg(16, 8, &[200; 16 * 8 * 3]);
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

/// A PNG with a chunk of its own in front of its pixels.
fn with_chunk(kind: &[u8; 4], body: &[u8]) -> Vec<u8> {
    let mut bytes = png(1, 1, &[0; 4]);
    let mut chunk = u32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    chunk.extend(kind);
    chunk.extend(body);
    let sum = crc(&chunk[4..]);
    chunk.extend(sum.to_be_bytes());
    bytes.splice(33..33, chunk);
    bytes
}

/// Zeros as a zlib stream of runs: a thousandth of their length.
fn zeros(pixels: u32) -> Vec<u8> {
    let bytes = png(pixels, 4096, &vec![0; usize::try_from(pixels).unwrap() * 4 * 4096]);
    let start = bytes.windows(4).position(|kind| kind == b"IDAT").unwrap();
    let length = u32::from_be_bytes(*bytes[start - 4..start].as_array().unwrap());
    bytes[start + 4..][..usize::try_from(length).unwrap()].to_vec()
}

#[test]
fn a_picture_is_whole_or_it_is_refused_where_it_is_checked() {
    let bytes = png(64, 64, &[77; 64 * 64 * 4]);
    assert_eq!(check(&bytes), probe(&bytes));
    assert!(matches!(check(&bytes[..bytes.len() - 30]), Err(ImageError::Damaged(_))));
    let mut jpeg = Vec::new();
    JpegEncoder::new(&mut jpeg)
        .write_image(&[200; 16 * 8 * 3], 16, 8, ExtendedColorType::Rgb8)
        .unwrap();
    assert_eq!(check(&jpeg), probe(&jpeg));
    let scan = jpeg.windows(2).position(|mark| mark == [0xff, 0xda]).unwrap();
    for end in [scan, scan + 14, jpeg.len() - 2] {
        assert!(check(&jpeg[..end]).is_err(), "{:?}", probe(&jpeg[..end]));
    }
    let mut bare = png(1, 1, &[0; 4]);
    bare[25] = 3;
    let sum = crc(&bare[12..29]);
    bare[29..33].copy_from_slice(&sum.to_be_bytes());
    assert!(check(&bare).is_err(), "a palette that is not there");
}

#[test]
fn what_lies_beside_the_pixels_is_bounded_too() {
    let mut profile = b"x\0\0".to_vec();
    profile.extend(zeros(8192));
    assert!(profile.len() < 1 << 20);
    // A profile that is too large is never unpacked further than the limit, and then left out.
    assert!(check(&with_chunk(b"iCCP", &profile)).is_ok());
    let long = [b"x\0".as_slice(), &vec![b'a'; 20 << 20]].concat();
    assert_eq!(check(&with_chunk(b"tEXt", &long)), Err(ImageError::Heavy));
    assert!(check(&with_chunk(b"tEXt", b"x\0a short text")).is_ok());
}

#[test]
fn a_mutated_jpeg_is_read_or_refused_and_never_panics() {
    let rgb: Vec<u8> = (0..=255).cycle().step_by(7).take(32 * 24 * 3).collect();
    let good = jpeg(32, 24, &rgb);
    let mut word = 0x2545_f491_u32;
    let mut below = |bound: usize| {
        word ^= word << 13;
        word ^= word >> 17;
        word ^= word << 5;
        word as usize % bound
    };
    for _ in 0..5_000 {
        let mut bytes = good.clone();
        let at = below(bytes.len());
        match below(4) {
            0 => bytes[at] ^= 1 << below(8),
            1 => bytes[at..].iter_mut().take(4).for_each(|byte| *byte = 0xff),
            2 => bytes.truncate(at),
            _ => drop(bytes.drain(at..good.len().min(at + below(30)))),
        }
        if let Ok(image) = decode(&bytes, 16) {
            assert_eq!(image.rgba.len(), (image.width * image.height * 4) as usize);
            assert!(image.width <= 16 && image.height <= 16);
        }
        drop((probe(&bytes), check(&bytes)));
    }
}
