//! What the messages promise: numbers, sizes, names, and the schema made of them.

mod registry;
mod shapes;
