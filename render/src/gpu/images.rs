//! Images: from a picture as it was loaded to the sizes a texture is sampled at. Pure.

use std::sync::LazyLock;

use dh_view::Image;

/// Amounts of light of the sRGB encoded bytes.
static LIGHT: LazyLock<[f32; 256]> = LazyLock::new(|| {
    let mut light = [0.0; 256];
    for (byte, amount) in (0_u8..=255).zip(light.iter_mut()) {
        *amount = dh_view::Colour(u32::from(byte)).linear()[2];
    }
    light
});
/// Steps in which light is encoded again: fine enough for the darkest bytes to differ.
const ENCODED_STEPS: usize = 1 << 14;
static ENCODED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut byte = 0_u8;
    let step = 1.0 / fraction(ENCODED_STEPS - 1);
    (0..ENCODED_STEPS)
        .map(|at| {
            let light = fraction(at) * step;
            while byte < 255
                && (LIGHT[usize::from(byte)] + LIGHT[usize::from(byte) + 1]) < 2.0 * light
            {
                byte += 1;
            }
            byte
        })
        .collect()
});

/// One size of a texture: RGBA, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgba: Vec<u8>,
}

/// Images are made no smaller than this along their longer side to fit, pixels.
const SIDE_MIN: u32 = 64;

/// How the images of a scene fit into so many bytes: the longest side that any may have, and how
/// many of them, from the first, are there at all.
pub(super) fn fit(images: &[&Image], side_max: u32, bytes_max: u64) -> (u32, usize) {
    let all = |side| images.iter().map(|image| bytes_at(image, side)).sum::<u64>();
    let mut side = side_max.max(1);
    while side > SIDE_MIN && all(side) > bytes_max {
        side /= 2;
    }
    let mut left = bytes_max;
    let fits = images.iter().take_while(|image| {
        let rest = left.checked_sub(bytes_at(image, side));
        left = rest.unwrap_or(0);
        rest.is_some()
    });
    (side, fits.count())
}

/// Bytes of all levels of an image with no side above `side_max`.
fn bytes_at(image: &Image, side_max: u32) -> u64 {
    let (mut width, mut height) = (image.width.max(1), image.height.max(1));
    let mut bytes = 0;
    loop {
        if width.max(height) <= side_max {
            bytes += u64::from(width) * u64::from(height) * 4;
        }
        if width.max(height) == 1 {
            return bytes;
        }
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
}

/// An image at every size a texture has, each half the one before; the first is at most `side_max`
/// along both sides. Nothing where the bytes are not those of its size.
pub(super) fn chain(image: &Image, side_max: u32) -> Option<Vec<Level>> {
    let (width, height) = (image.width, image.height);
    let bytes = u128::from(width) * u128::from(height) * 4;
    if bytes == 0 || image.rgba.len() as u128 != bytes {
        return None;
    }
    let mut level = None;
    let over = |width: u32, height: u32| width.max(height) > side_max.max(1);
    if over(width, height) {
        let mut smaller = half(width, height, &image.rgba);
        while over(smaller.width, smaller.height) {
            smaller = half(smaller.width, smaller.height, &smaller.rgba);
        }
        level = Some(smaller);
    }
    let first = level.unwrap_or_else(|| Level { width, height, rgba: image.rgba.clone() });
    let mut levels = vec![first];
    while let Some(last) = levels.last().filter(|last| last.width.max(last.height) > 1) {
        let next = half(last.width, last.height, &last.rgba);
        levels.push(next);
    }
    Some(levels)
}

/// Half as large, each pixel the mean of the light of four.
fn half(width: u32, height: u32, rgba: &[u8]) -> Level {
    let (across, down) = ((width / 2).max(1), (height / 2).max(1));
    let row = width as usize * 4;
    let mut smaller = Vec::with_capacity(across as usize * down as usize * 4);
    for y in 0..down as usize {
        let upper = &rgba[(y * 2).min(height as usize - 1) * row..][..row];
        let lower = &rgba[(y * 2 + 1).min(height as usize - 1) * row..][..row];
        for x in 0..across as usize {
            let left = (x * 2).min(width as usize - 1) * 4;
            let right = (x * 2 + 1).min(width as usize - 1) * 4;
            let four = [&upper[left..], &upper[right..], &lower[left..], &lower[right..]];
            smaller.extend([0, 1, 2].map(|part| {
                let light: f32 = four.iter().map(|it| LIGHT[usize::from(it[part])]).sum();
                encoded(light * 0.25)
            }));
            let opacity: u16 = four.iter().map(|it| u16::from(it[3])).sum();
            smaller.push(u8::try_from((opacity + 2) / 4).unwrap_or(u8::MAX));
        }
    }
    Level { width: across, height: down, rgba: smaller }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1, scaled")]
fn encoded(light: f32) -> u8 {
    ENCODED[(light.clamp(0.0, 1.0) * fraction(ENCODED_STEPS - 1) + 0.5) as usize]
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^24")]
fn fraction(at: usize) -> f32 {
    at as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_image_is_as_plain_at_every_size() {
        for byte in [0, 1, 9, 128, 200, 255] {
            let image = Image { width: 5, height: 3, rgba: [byte; 60].to_vec() };
            let levels = chain(&image, 2048).unwrap();
            let sizes: Vec<_> = levels.iter().map(|it| (it.width, it.height)).collect();
            assert_eq!(sizes, [(5, 3), (2, 1), (1, 1)]);
            assert!(levels.iter().all(|it| it.rgba.iter().all(|it| *it == byte)), "{levels:?}");
        }
    }

    #[test]
    fn images_that_do_not_fit_are_made_smaller_and_the_last_are_left_out() {
        let image = Image { width: 128, height: 64, rgba: Vec::new() };
        let made = Image { rgba: vec![0; 128 * 64 * 4], ..image.clone() };
        for side in [2048, 64, 20] {
            let levels = chain(&made, side).unwrap();
            let bytes: usize = levels.iter().map(|it| it.rgba.len()).sum();
            assert_eq!(bytes_at(&image, side), bytes as u64);
        }
        let one = bytes_at(&image, 128);
        assert_eq!(fit(&[&image; 3], 2048, one * 3), (2048, 3));
        assert_eq!(fit(&[&image; 3], 128, one * 3 - 1), (64, 3));
        let small = bytes_at(&image, 64);
        assert_eq!(fit(&[&image; 3], 128, small * 2), (64, 2));
        assert_eq!(fit(&[&image; 3], 16, one), (16, 3));
    }

    #[test]
    fn black_and_white_make_the_gray_of_half_the_light() {
        let pixels = [[0, 0, 0, 255], [255; 4], [255; 4], [0, 0, 0, 0]];
        let image = Image { width: 2, height: 2, rgba: pixels.concat() };
        let levels = chain(&image, 2048).unwrap();
        assert_eq!(levels[1].rgba, [188, 188, 188, 191]);
    }

    #[test]
    fn an_image_over_the_cap_starts_below_it_and_one_that_lies_about_its_size_is_none() {
        let image = Image { width: 64, height: 16, rgba: vec![7; 64 * 16 * 4] };
        let first = &chain(&image, 20).unwrap()[0];
        assert_eq!((first.width, first.height), (16, 4));
        for (width, height) in [(64, 17), (0, 16), (u32::MAX, u32::MAX)] {
            assert_eq!(chain(&Image { width, height, ..image.clone() }, 20), None);
        }
    }
}
