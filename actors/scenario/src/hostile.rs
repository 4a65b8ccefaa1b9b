//! A hostile peer that knows the protocol: it plays and reads nothing. Those that know nothing, who
//! flood or open handshakes, are the network's own.

use std::net::SocketAddr;

use dh_host::Runtime;
use dh_host::net::{DialOptions, Hostile, Identity, Target, Whose};
use dh_messages::{
    ClientInfo, ClientReady, ConnectRequest, Message, PROTOCOL_VERSION, encode, schema_hash,
};

use crate::Transport;

/// A peer that joins under a name, which also names its key, and reads nothing of what it is sent.
///
/// # Errors
/// A line that says which message could not be written.
pub fn slow_reader(
    runtime: &Runtime,
    transport: Transport,
    address: SocketAddr,
    name: &str,
) -> Result<Hostile, String> {
    let target = match transport {
        Transport::Quic => Target::Udp(address, address.to_string()),
        Transport::Memory => Target::Memory(address, Whose::Guest),
    };
    let key = runtime.seeds().bytes(&format!("slow reader {name}"));
    let options = DialOptions::new(target, Identity::from_secret(&key));
    let hello = vec![
        said(ConnectRequest { version: PROTOCOL_VERSION, schema_hash: schema_hash() })?,
        said(ClientInfo { name: name.into(), ..ClientInfo::default() })?,
        said(ClientReady { map_generation: 1 })?,
    ];
    Ok(runtime.net().deaf_peer(options, hello))
}

/// A message's number and body.
fn said<M: Message>(mut message: M) -> Result<(u8, Vec<u8>), String> {
    let mut body = Vec::new();
    encode(&mut message, &mut body).map_err(|error| format!("message {}: {error}", M::ID))?;
    Ok((M::ID, body))
}
