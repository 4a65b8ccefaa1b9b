//! What a picture is drawn from: plain data between presenter and renderer.
//!
//! `client` fills a [`View`] each frame, `render` draws it and answers with a [`Picture`] and its
//! [`PictureReport`]. Nothing here draws, measures time, or knows where the numbers came from.
//!
//! Axes: metres, right-handed, +y up. Yaw 0 looks along -z, a positive yaw turns left (about +y).
#![no_std]
extern crate alloc;

mod camera;
mod colour;
mod hud;
mod message;
pub mod palette;
mod picture;
mod view;

pub use self::camera::{Camera, facing};
pub use self::colour::Colour;
pub use self::hud::{Hud, HudFacts};
pub use self::message::{Answer, NoPicture, RenderMsg, Shot};
pub use self::picture::{Picture, PictureReport, PixelBox, PlayerBoxes};
pub use self::view::{BoxView, PlayerView, Sky, Sun, View};
