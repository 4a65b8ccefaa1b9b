//! Real processes of the real program: servers and clients on the loopback, and the demo.

mod demo;
mod process;
mod session;
