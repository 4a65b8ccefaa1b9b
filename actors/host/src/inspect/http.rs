//! HTTP: the requests of those who look, bounded in number, size and time.
//!
//! Used by `inspect`, on its thread. Never: reads on of who has no token, or waits for a client.

mod events;
mod places;
mod routes;

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::places::{Place, Places};
use self::routes::Visitor;
use super::access::Access;
use super::collect::Collector;
use super::guarded::Guarded;
use super::inspector::{Asked, InspectorMsg, Look, Missed, Reply, Want};
use super::order::{Answer, Order, Outcome, Undone};
use super::snapshot::Snapshot;
use crate::limits::{Holding, Limit};
use crate::port::{Port, Refused};
use crate::runtime::Runtime;

/// Connections at once; a newer one takes the place of the oldest that showed no token.
pub(crate) const CONNECTIONS_MAX: usize = 32;
/// Connections beside these that are told of health alone; a newer one takes the oldest's place.
const BESIDE_MAX: usize = 8;
/// Streams of changes at once, so that who only asks finds a place.
pub(crate) const STREAMS_MAX: usize = 16;
/// Bytes of a request's line and headers.
const HEAD_MAX: usize = 8 * 1024;
/// Bytes of an order.
const ORDER_MAX: usize = 8 * 1024;
/// Headers of a request.
const HEADERS_MAX: usize = 64;
/// How long the head of a request may take, from the end of the answer before.
const HEAD_TIME_MAX: Duration = Duration::from_secs(5);
/// The same for who is only told of health.
const BESIDE_TIME_MAX: Duration = Duration::from_secs(1);
/// How long what is asked for may take to be answered; whoever is asked may not even run.
const ANSWER_MAX: Duration = Duration::from_secs(3);
/// How long accepting rests when the system has no more descriptors.
const BREATH: Duration = Duration::from_millis(100);

/// What is told where the inspector has too much to do.
const BUSY: &str = "too many look at once; try again";

/// Why there is no snapshot.
#[derive(Clone, Debug)]
enum NoLook {
    /// The inspector has too much to do.
    Busy,
    /// It is not kept.
    Missed(Missed),
}

/// Where requests are answered.
#[derive(Clone)]
pub(crate) struct Desk {
    inspector: Port<InspectorMsg>,
    access: Arc<Access>,
    collector: Collector,
    runtime: Runtime,
    ready: Arc<AtomicBool>,
    streams: Arc<Semaphore>,
}

impl Desk {
    pub(crate) fn new(
        inspector: Port<InspectorMsg>,
        access: Access,
        collector: Collector,
        runtime: Runtime,
        ready: Arc<AtomicBool>,
    ) -> Self {
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        Self { inspector, access: Arc::new(access), collector, runtime, ready, streams }
    }

    /// A snapshot.
    async fn look(&self, want: Want) -> Result<Arc<Snapshot>, NoLook> {
        let (reply, arrives) = Reply::new();
        let asked = InspectorMsg::Look(Look { want, reply });
        self.inspector.offer(asked).map_err(|_| NoLook::Busy)?;
        arrives.await.map_err(|_| NoLook::Busy)?.map_err(NoLook::Missed)
    }

    /// Have something done; none where whoever was asked has not answered in [`ANSWER_MAX`].
    async fn order(&self, by: SocketAddr, order: Order) -> Option<Outcome> {
        let (reply, arrives) = Reply::new();
        let answer = Answer::new(by, &order, reply);
        let asked = InspectorMsg::Ask(Asked { order, answer });
        if let Err(Refused { msg: InspectorMsg::Ask(asked), .. }) = self.inspector.offer(asked) {
            asked.answer.tell(Err(Undone::Cannot(BUSY)));
        }
        tokio::time::timeout(ANSWER_MAX, arrives).await.ok()?.ok()
    }

    /// Bytes of an order.
    fn order_limit(&self) -> Limit {
        self.runtime.limits().named("inspect.order", "bytes", ORDER_MAX as u64)
    }

    /// Streams at once.
    fn stream_limit(&self) -> Limit {
        self.runtime.limits().named("inspect.streams", "streams", STREAMS_MAX as u64)
    }

    /// A place for one more stream, for as long as it is held; none where there are too many.
    fn stream(&self) -> Option<Streaming> {
        let limit = self.stream_limit();
        match Arc::clone(&self.streams).try_acquire_owned() {
            Ok(permit) => Some(Streaming { _permit: permit, _held: limit.hold() }),
            Err(_) => {
                limit.hit();
                None
            }
        }
    }

    /// Whether the process does what it is for.
    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Relaxed) && self.runtime.failure().is_none()
    }
}

/// The place of one stream.
#[derive(Debug)]
struct Streaming {
    _permit: OwnedSemaphorePermit,
    _held: Holding,
}

/// Take connections for as long as the thread runs.
pub(crate) async fn accept(listener: TcpListener, desk: Desk) {
    let places = Places::new(desk.runtime.limits());
    desk.order_limit();
    desk.stream_limit();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                places.seat(|place| serve(stream, peer, desk.clone(), place));
                // Whoever has asked already is heard before somebody else can take the place.
                tokio::task::yield_now().await;
            }
            Err(_) => tokio::time::sleep(BREATH).await,
        }
    }
}

async fn serve(stream: TcpStream, peer: SocketAddr, desk: Desk, place: Place) {
    // Small answers leave at once; where the system refuses, they leave a little later.
    let _ = stream.set_nodelay(true);
    let is_beside = place.is_beside();
    let visitor = Visitor { desk, place, peer };
    let router = TowerToHyperService::new(routes::router(visitor.clone()));
    let service =
        service_fn(move |request| routes::answer(request, visitor.clone(), router.clone()));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(if is_beside { BESIDE_TIME_MAX } else { HEAD_TIME_MAX })
        .keep_alive(!is_beside)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .auto_date_header(false);
    // A client that breaks off, or the protocol, has only itself to tell.
    let _ = http.serve_connection(TokioIo::new(Guarded::new(stream)), service).await;
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}
