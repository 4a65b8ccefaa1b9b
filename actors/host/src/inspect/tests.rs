//! What is shown is what is, and who may not look sees nothing.

mod following;
mod numbers;
mod requests;
