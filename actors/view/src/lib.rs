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
mod hands;
mod hud;
mod material;
mod mesh;
mod message;
pub mod palette;
mod picture;
mod scene;
mod view;

pub use self::camera::{Camera, facing};
pub use self::colour::Colour;
pub use self::hands::Hands;
pub use self::hud::{Hud, HudFacts};
pub use self::material::{Image, Material};
pub use self::mesh::{Bounds, Mesh, Part};
pub use self::message::{Answer, NoPicture, RenderMsg, Shot, Sitting};
pub use self::picture::{Picture, PictureReport, PixelBox, PlayerBoxes};
pub use self::scene::{BoxView, ModelView, Scene, Sky, Sun};
pub use self::view::{PlayerView, View};
