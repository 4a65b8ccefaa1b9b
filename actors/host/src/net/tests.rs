//! What the network does, over real loopback sockets and in simulation.

mod admission;
mod blobs;
mod closing;
mod datagrams;
mod dialling;
mod ear;
mod flood;
mod hostile;
mod links;
mod messages;
mod paths;
mod raiders;
mod replay;
