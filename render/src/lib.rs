//! The renderer: a `View` in, pixels out.
//!
//! The only crate that names wgpu, winit and egui. [`Studio`] takes pictures, [`Window`] is a place
//! on the display, the `renderer` actor owns the device and draws to either, [`find_adapter`] tells
//! `dh doctor` what there is to draw with. Never: reads the network, the world or a file; writes
//! nothing but pixels.

mod gpu;
mod overlay;
mod renderer;
pub mod scene;
mod stage;
mod studio;
mod text;
mod window;

pub use self::gpu::adapter::{Adapter, NoAdapter, find_adapter};
pub use self::renderer::{Effect, Renderer, RendererState};
pub use self::studio::{Studio, png_bytes};
pub use self::window::{NoDisplay, Screen, Window};

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod gray_box;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
