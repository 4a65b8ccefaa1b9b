//! Colour: one number as people write it. Used by everything that is drawn; never blends.

use core::fmt::{Display, Formatter, Result};

/// An opaque colour, 0xRRGGBB as on a web page (sRGB encoded). The top byte is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u32);

impl Colour {
    /// Red, green and blue, 0..=255 each, sRGB encoded.
    #[must_use]
    pub const fn rgb(self) -> [u8; 3] {
        let [_, red, green, blue] = self.0.to_be_bytes();
        [red, green, blue]
    }

    /// Red, green and blue as amounts of light, 0..=1 each.
    #[must_use]
    pub fn linear(self) -> [f32; 3] {
        self.rgb().map(|byte| {
            let encoded = f32::from(byte) / 255.0;
            // The sRGB transfer function, IEC 61966-2-1.
            if encoded <= 0.040_45 {
                encoded / 12.92
            } else {
                libm::powf((encoded + 0.055) / 1.055, 2.4)
            }
        })
    }
}

impl Display for Colour {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "#{:06x}", self.0 & 0x00ff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_colour_reads_and_prints_as_it_is_written() {
        assert_eq!(Colour(0x0012_80ff).rgb(), [0x12, 0x80, 0xff]);
        assert_eq!(Colour(0xff12_80ff).to_string(), "#1280ff");
    }

    #[test]
    fn middle_gray_is_a_fifth_of_the_light() {
        let [red, ..] = Colour(0x0080_8080).linear();
        assert!((red - 0.2158).abs() < 1e-3);
        assert!(Colour(0x00ff_ffff).linear().iter().all(|part| (part - 1.0).abs() < 1e-6));
    }
}
