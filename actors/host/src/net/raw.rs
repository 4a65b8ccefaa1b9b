//! Raw stream: the control that the bench of transfers is held against.
//!
//! One stream of QUIC with the sockets, keys and figures of every connection of ours, and nothing
//! of ours around it: no frames, no port, no actor.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use dh_machine::Micros;
use quinn::{Connection, ConnectionError, VarInt};
use tokio::sync::oneshot;

use super::configs::{SERVER_NAME, Source};
use super::congestion::Congestion;
use super::identity::Identity;
use super::link::Links;
use super::simulated::SimulatedNetwork;
use super::{Net, Shared, socket};

impl Net {
    /// How long `bytes` take from a server to a client over `links`, from the first byte that is
    /// written to the last that is read.
    ///
    /// # Errors
    /// A line that says what failed.
    pub async fn raw_stream(&self, bytes: u64, links: Links) -> Result<Micros, String> {
        let net = Arc::clone(&self.shared);
        let (tell, told) = oneshot::channel();
        self.shared.handle.spawn(async move {
            // Whoever asked may be gone.
            let _ = tell.send(carry(&net, bytes, links).await);
        });
        told.await.unwrap_or_else(|_| Err("the network has stopped".to_owned()))
    }
}

async fn carry(net: &Arc<Shared>, bytes: u64, links: Links) -> Result<Micros, String> {
    let server = endpoint(net, End::Server)?;
    let address = server.local_addr().map_err(|error| error.to_string())?;
    let client = endpoint(net, End::Client(links))?;
    let (config, _) = Source::of(net.simulated.as_ref())
        .client(&identity(2), None, Congestion::default())
        .map_err(|error| error.0)?;
    let dial = client.connect_with(config, address, SERVER_NAME);
    let dial = dial.map_err(|error| error.to_string())?;
    let sending = net.handle.spawn(async move {
        let incoming = server.accept().await.ok_or("nobody dialled")?;
        let connection = incoming.await.map_err(|error| error.to_string())?;
        send(&connection, bytes).await?;
        // The other end closes once it has everything.
        match connection.closed().await {
            ConnectionError::ApplicationClosed(_) => Ok(()),
            error => Err(error.to_string()),
        }
    });
    let connection = dial.await.map_err(|error| error.to_string())?;
    let (_send, mut stream) = connection.accept_bi().await.map_err(|error| error.to_string())?;
    let (mut began, mut received) = (net.clock.now(), 0);
    while received < bytes {
        let chunk = stream.read_chunk(READ_MAX, true).await.map_err(|error| error.to_string())?;
        let chunk = chunk.ok_or("the stream ended early")?;
        if received == 0 {
            began = net.clock.now();
        }
        received += u64::try_from(chunk.bytes.len()).unwrap_or(u64::MAX);
    }
    let took = net.clock.now().since(began);
    connection.close(VarInt::from_u32(0), b"");
    client.wait_idle().await;
    sending.await.map_err(|error| error.to_string())??;
    Ok(took)
}

async fn send(connection: &Connection, bytes: u64) -> Result<(), String> {
    let (mut stream, _back) = connection.open_bi().await.map_err(|error| error.to_string())?;
    let piece = Bytes::from(vec![0x55; WRITE]);
    let mut left = bytes;
    while left > 0 {
        let length = left.min(u64::try_from(WRITE).unwrap_or(u64::MAX));
        let piece = piece.slice(..usize::try_from(length).unwrap_or(WRITE));
        stream.write_chunk(piece).await.map_err(|error| error.to_string())?;
        left -= length;
    }
    stream.finish().map_err(|error| error.to_string())
}

/// Which end, and what its path does.
enum End {
    Server,
    Client(Links),
}

fn endpoint(net: &Arc<Shared>, end: End) -> Result<quinn::Endpoint, String> {
    let source = Source::of(net.simulated.as_ref());
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let address = net.simulated.as_ref().map_or(local, SimulatedNetwork::next_address);
    let (config, links) = match end {
        End::Server => {
            let config = source.server(&identity(1), Congestion::default());
            (Some(config.map_err(|error| error.0)?), Links::IDEAL)
        }
        End::Client(links) => (None, links),
    };
    let bound = socket::bind(net, address, links, false).map_err(|error| error.to_string())?;
    let runtime = Arc::new(quinn::TokioRuntime);
    quinn::Endpoint::new_with_abstract_socket(source.endpoint(), config, bound.socket, runtime)
        .map_err(|error| error.to_string())
}

/// Nobody is to be convinced by these keys.
fn identity(number: u8) -> Identity {
    Identity::from_secret(&[number; 32])
}

/// Bytes handed over, and taken, at once.
const WRITE: usize = 32 << 10;
const READ_MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use crate::net::{Link, Links};
    use crate::{RealOptions, Runtime, Simulation};
    use dh_machine::Micros;

    #[test]
    fn a_link_of_a_rate_and_a_delay_decides_how_long_a_raw_stream_takes() {
        let link = Link { latency: Micros::from_millis(20), ..Link::IDEAL };
        let down = Link { rate: 1_000_000, queue: Micros::from_millis(100), ..link };
        let took = Simulation::new(3).run(|runtime| async move {
            runtime.net().raw_stream(2_000_000, Links { up: link, down }).await.unwrap()
        });
        assert!((1_990_000..2_600_000).contains(&took.0), "{took:?}");
    }

    #[test]
    fn a_raw_stream_passes_real_sockets() {
        let runtime = Runtime::real(RealOptions::default()).unwrap();
        let took = runtime.block_on(runtime.net().raw_stream(3_000_000, Links::IDEAL));
        assert!(took.is_ok_and(|took| took < Micros::from_secs(20)));
        runtime.stop().unwrap();
    }
}
