//! Keys by their place on the keyboard, as the display numbers them.

pub(super) const ESCAPE: u8 = 9;
pub(super) const W: u8 = 25;
pub(super) const CONTROL: u8 = 37;
pub(super) const D: u8 = 40;
pub(super) const C: u8 = 54;
pub(super) const SPACE: u8 = 65;
pub(super) const F3: u8 = 69;
