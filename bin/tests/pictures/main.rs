//! The worlds of the core pallet, from their sources to pixels. Without an adapter these tests say
//! so and pass, unless `DH_REQUIRE_ADAPTER=1` asks for one. `DH_PICTURES=FOLDER` keeps the
//! pictures.

#[cfg(test)]
mod core;
