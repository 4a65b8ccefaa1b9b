//! The sources of the core pallet, part of the program.
//!
//! Used at every start. The list names every file of `content/core` but the program that makes
//! its models and pictures; a test holds it to that.

use crate::tree::Bundled;

macro_rules! files {
    ($($path:literal,)+) => {
        &[$(($path, include_bytes!(concat!("../../core/", $path)))),+]
    };
}

const FILES: &[(&str, &[u8])] = files![
    "assets/demo.dh-map",
    "assets/demo/arch.bin",
    "assets/demo/arch.gltf",
    "assets/demo/boat.bin",
    "assets/demo/boat.gltf",
    "assets/demo/bush.bin",
    "assets/demo/bush.gltf",
    "assets/demo/column.bin",
    "assets/demo/column.gltf",
    "assets/demo/cypress.bin",
    "assets/demo/cypress.gltf",
    "assets/demo/fountain.bin",
    "assets/demo/fountain.gltf",
    "assets/demo/grass.png",
    "assets/demo/hill.bin",
    "assets/demo/hill.gltf",
    "assets/demo/island.bin",
    "assets/demo/island.gltf",
    "assets/demo/lamp.bin",
    "assets/demo/lamp.gltf",
    "assets/demo/rock.bin",
    "assets/demo/rock.gltf",
    "assets/demo/rock.png",
    "assets/demo/roof.bin",
    "assets/demo/roof.gltf",
    "assets/demo/sand.png",
    "assets/demo/stone.png",
    "assets/demo/tiles.png",
    "assets/demo/tree.bin",
    "assets/demo/tree.gltf",
    "assets/demo/water.png",
    "assets/demo/wood.png",
    "assets/gray-box.dh-map",
    "pallet.dh",
];

/// What the core pallet says of itself.
pub(crate) fn core_about() -> &'static [u8] {
    let about = FILES.iter().find(|(path, _)| *path == crate::about::FILE);
    about.map_or(&[], |(_, bytes)| bytes)
}

/// The sources of the core pallet: the gray box and the demo world.
pub fn core_sources() -> Bundled<'static> {
    Bundled(FILES)
}
