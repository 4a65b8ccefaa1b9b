//! The renderer: a `View` in, pixels out.
//!
//! The only crate that names wgpu and egui. [`Studio`] takes pictures, the `renderer` actor owns
//! one and answers messages with them, [`find_adapter`] tells `dh doctor` what there is to draw
//! with. Never: reads the network, the world or a file; writes nothing but pixels.

mod gpu;
mod renderer;
pub mod scene;
mod studio;
mod text;

pub use self::gpu::adapter::{Adapter, NoAdapter, find_adapter};
pub use self::renderer::{Effect, Renderer, RendererState};
pub use self::studio::{Studio, png_bytes};

#[cfg(test)]
mod gray_box;
#[cfg(test)]
mod tests;
