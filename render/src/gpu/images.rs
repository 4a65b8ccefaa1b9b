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
