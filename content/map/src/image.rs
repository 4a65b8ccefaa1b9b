//! Pictures: what a PNG or JPEG is, and its pixels, without ever unpacking a bomb.
//!
//! Used by the compiler, which unpacks each picture once to see that it is whole, and by clients,
//! which decode what they draw. Decoding is a library's; the limits are ours and are checked on the
//! header alone.

use image::error::ImageError as Fault;
use image::{ImageDecoder, ImageReader, Limits};
use std::fmt;
use std::io::Cursor;

/// The longest edge of a picture, in pixels.
pub const SIDE_MAX: u32 = 16_384;
/// A picture may have so many pixels.
pub const PIXELS_MAX: u64 = 1 << 26;
/// A decoder may use so many bytes besides pixels: rows, colour profiles, texts of the picture.
const SCRATCH_MAX: u64 = 16 << 20;

/// Pixels, four bytes each: red, green, blue, alpha; rows from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageFormat {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
}

impl ImageFormat {
    /// The usual ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
        }
    }

    fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        match image::guess_format(bytes) {
            Ok(image::ImageFormat::Png) => Ok(Self::Png),
            Ok(image::ImageFormat::Jpeg) => Ok(Self::Jpeg),
            _ => Err(ImageError::Format),
        }
    }
}

/// What the header of a picture says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probed {
    /// Its format.
    pub format: ImageFormat,
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Why bytes are no picture for us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageError {
    /// Neither PNG nor JPEG.
    Format,
    /// Too large to be unpacked; its size in pixels.
    Bomb(u32, u32),
    /// Unpacking it would take more memory than is allowed.
    Heavy,
    /// The bytes are damaged; the decoder's words.
    Damaged(String),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Format => f.write_str("neither PNG nor JPEG"),
            Self::Bomb(width, height) => write!(
                f,
                "{width} x {height} pixels, more than {SIDE_MAX} a side or {PIXELS_MAX} in all"
            ),
            Self::Heavy => write!(
                f,
                "a row, a colour profile or texts inside it take more than {} MiB",
                SCRATCH_MAX >> 20
            ),
            Self::Damaged(fault) => write!(f, "a damaged picture: {fault}"),
        }
    }
}

impl std::error::Error for ImageError {}

/// What a picture is, having unpacked all of it: what is whole here can be decoded anywhere.
pub fn check(bytes: &[u8]) -> Result<Probed, ImageError> {
    let probed = probe(bytes)?;
    unpacked(bytes, probed)?;
    if probed.format == ImageFormat::Jpeg && !ends(bytes) {
        return Err(ImageError::Damaged("it is cut short".to_owned()));
    }
    Ok(probed)
}

/// Whether a JPEG has an end behind its last scan. Decoders fill what is missing with gray.
fn ends(bytes: &[u8]) -> bool {
    let last = |mark: [u8; 2]| bytes.array_windows::<2>().rposition(|pair| *pair == mark);
    last([0xff, 0xd9]) > last([0xff, 0xda])
}

/// What a picture is, by its header; nothing is unpacked.
pub fn probe(bytes: &[u8]) -> Result<Probed, ImageError> {
    let format = ImageFormat::of(bytes)?;
    let (width, height) = reader(bytes, format).into_dimensions().map_err(damaged)?;
    let pixels = u64::from(width) * u64::from(height);
    if width.max(height) > SIDE_MAX || pixels > PIXELS_MAX {
        return Err(ImageError::Bomb(width, height));
    }
    if pixels == 0 {
        return Err(ImageError::Damaged("no pixels".to_owned()));
    }
    Ok(Probed { format, width, height })
}

/// The pixels, halved until no edge is longer than `side_max` (at least 1).
pub fn decode(bytes: &[u8], side_max: u32) -> Result<Image, ImageError> {
    let decoded = unpacked(bytes, probe(bytes)?)?;
    let (width, height) = (decoded.width(), decoded.height());
    let mut image = Image { width, height, rgba: decoded.into_rgba8().into_raw() };
    while image.width.max(image.height) > side_max.max(1) {
        image = image.halved();
    }
    Ok(image)
}

fn unpacked(bytes: &[u8], probed: Probed) -> Result<image::DynamicImage, ImageError> {
    let decoder = reader(bytes, probed.format).into_decoder().map_err(damaged)?;
    if decoder.dimensions() != (probed.width, probed.height) {
        return Err(ImageError::Damaged("two headers".to_owned()));
    }
    image::DynamicImage::from_decoder(decoder).map_err(damaged)
}

impl Image {
    /// The picture at half its size, each pixel the mean of those it covers; an edge of one pixel
    /// stays. Colours weigh as much as they are seen, so that what is unseen does not bleed.
    pub fn halved(&self) -> Self {
        let (width, height) = (self.width.div_ceil(2).max(1), self.height.div_ceil(2).max(1));
        let mut rgba = Vec::with_capacity(self.rgba.len().div_ceil(4) + 8);
        for y in 0..height {
            let rows = [2 * y, (2 * y + 1).min(self.height - 1)];
            for x in 0..width {
                let columns = [2 * x, (2 * x + 1).min(self.width - 1)];
                let covered = rows.iter().flat_map(|y| columns.iter().map(|x| self.pixel(*x, *y)));
                rgba.extend(mean(covered));
            }
        }
        Self { width, height, rgba }
    }

    fn pixel(&self, x: u32, y: u32) -> [u8; 4] {
        let at = usize::try_from(u64::from(y) * u64::from(self.width) + u64::from(x));
        self.rgba.as_chunks::<4>().0[at.unwrap_or(usize::MAX)]
    }
}

/// The mean of four pixels.
fn mean(pixels: impl Iterator<Item = [u8; 4]>) -> [u8; 4] {
    let mut sums = [0_u32; 4];
    let mut plain = [0_u32; 3];
    for [red, green, blue, alpha] in pixels {
        let colors = [red, green, blue].map(u32::from);
        let alpha = u32::from(alpha);
        for (axis, color) in colors.into_iter().enumerate() {
            sums[axis] += color * alpha;
            plain[axis] += color;
        }
        sums[3] += alpha;
    }
    let byte = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
    let [red, green, blue] = [0, 1, 2].map(|axis| {
        let weighed = (sums[axis] + sums[3] / 2).checked_div(sums[3]);
        byte(weighed.unwrap_or_else(|| (plain[axis] + 2) / 4))
    });
    [red, green, blue, byte((sums[3] + 2) / 4)]
}

fn reader(bytes: &[u8], format: ImageFormat) -> ImageReader<Cursor<&[u8]>> {
    let format = match format {
        ImageFormat::Png => image::ImageFormat::Png,
        ImageFormat::Jpeg => image::ImageFormat::Jpeg,
    };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    // Sides are ours to check: a refusal shall name the size.
    limits.max_alloc = Some(SCRATCH_MAX);
    reader.limits(limits);
    reader
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of map_err")]
fn damaged(fault: Fault) -> ImageError {
    if matches!(fault, Fault::Limits(_)) {
        return ImageError::Heavy;
    }
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    ImageError::Damaged(fault.to_string().chars().take(200).map(plain).collect())
}

#[cfg(test)]
mod tests;
