//! What the messages promise: numbers, sizes, names, and the schema made of them.

mod builds;
mod registry;
mod shapes;
