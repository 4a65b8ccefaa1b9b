//! Whole builds: what comes out, what is refused and where, and that nothing is left behind.

mod broken;
mod counted;
mod good;
mod models;
mod notes;
mod outputs;
mod pictures;
mod samples;
mod schemas;
