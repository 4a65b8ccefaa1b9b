//! Probe: asks the network whether anybody listens at an address.
//!
//! QUIC tells nothing of a closed port, as its sockets are not connected. A second, connected
//! socket sends one byte beside the dial and is told what the network answers.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::{future, io};

use tokio::net::UdpSocket;

use super::dial::DialError;
use super::{Shared, limit};

/// Ends when the network says that `address` cannot be reached; never otherwise.
pub(crate) async fn unreachable(net: &Arc<Shared>, address: SocketAddr) -> DialError {
    if let Some(network) = &net.simulated {
        if !network.is_bound(address) {
            return DialError::PortUnreachable(address);
        }
        return future::pending().await;
    }
    match tokio::time::timeout(limit::PROBE_MAX, ask(address)).await {
        Ok(Err(error)) => match verdict(&error, address) {
            Some(verdict) => verdict,
            None => future::pending().await,
        },
        Ok(Ok(())) | Err(_) => future::pending().await,
    }
}

async fn ask(address: SocketAddr) -> io::Result<()> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(address).await?;
    // Too short for QUIC, which drops it unseen; no bit of it says anything.
    socket.send(&[0]).await?;
    socket.recv(&mut [0; 1]).await.map(drop)
}

fn verdict(error: &io::Error, address: SocketAddr) -> Option<DialError> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(DialError::PortUnreachable(address)),
        io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
            Some(DialError::NoRoute(address))
        }
        _ => None,
    }
}
