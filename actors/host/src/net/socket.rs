//! Socket: what quinn sends and receives through, real or simulated, with its link model.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};
use socket2::{Domain, Protocol, Socket, Type};

use super::Shared;
use super::link::Links;
use super::quic::Heard;
use super::shaped::ShapedSocket;
use super::shaper::Shaper;
use crate::flight::NotedSocket;

/// A bound socket.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) socket: Arc<dyn AsyncUdpSocket>,
    /// Where it is bound; never port 0.
    pub(crate) address: SocketAddr,
    /// Its link model; none on a real socket without one.
    pub(crate) shaper: Option<Arc<Shaper>>,
    /// The real socket behind its link model, whose address can change.
    pub(crate) shaped: Option<Weak<ShapedSocket>>,
    /// When its peers were last heard.
    pub(crate) heard: Arc<Heard>,
}

/// Bind a socket of this network, whose packets are noted. Real ones need the network's runtime
/// entered, and are behind the link model when they are told to or have links.
pub(crate) fn bind(
    net: &Shared,
    address: SocketAddr,
    links: Links,
    is_shaped: bool,
) -> io::Result<Bound> {
    let mut bound = bind_quietly(net, address, links, is_shaped)?;
    let noted = NotedSocket {
        inner: bound.socket,
        clock: net.clock,
        heard: Arc::clone(&bound.heard),
        flight: Arc::clone(&net.flight),
        local: bound.address.port(),
    };
    bound.socket = Arc::new(noted);
    Ok(bound)
}

fn bind_quietly(
    net: &Shared,
    address: SocketAddr,
    links: Links,
    is_shaped: bool,
) -> io::Result<Bound> {
    let heard = Arc::default();
    if let Some(network) = &net.simulated {
        let socket = network.bind(address, links).ok_or(io::ErrorKind::AddrInUse)?;
        let shaper = Some(socket.shaper());
        return Ok(Bound { socket, address, shaper, shaped: None, heard });
    }
    let socket = bind_real(address)?;
    let address = socket.local_addr()?;
    let socket = TokioRuntime.wrap_udp_socket(socket)?;
    if links == Links::IDEAL && !is_shaped {
        return Ok(Bound { socket, address, shaper: None, shaped: None, heard });
    }
    let (name, isolated) = (net.next_dial().to_string(), net.isolated.clone());
    let shaper = Arc::new(Shaper::new(links, net.seed, &name, address, isolated));
    let socket = ShapedSocket::start(net, socket, Arc::clone(&shaper));
    let shaped = Some(Arc::downgrade(&socket));
    Ok(Bound { socket, address, shaper: Some(shaper), shaped, heard })
}

pub(crate) fn bind_real(address: SocketAddr) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        // Both families through one socket, where the system allows it.
        let _ = socket.set_only_v6(false);
    }
    // A tick's burst of every peer must fit; the system may grant less.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

/// Bytes asked of the system for each direction.
const BUFFER: usize = 2 << 20;
