//! Whole builds: what comes out, what is refused and where, and that nothing is left behind.

mod broken;
mod good;
mod models;
mod samples;
