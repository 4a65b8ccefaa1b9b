//! Inspect: what a process shows of itself, to whoever holds its token.
//!
//! Used by the roles, which start it, and by everything that reads a [`Snapshot`]. Never: works
//! while nobody looks, tells anything to who has no token, or hurts what it looks at.

mod access;
mod change;
mod collect;
mod figures;
mod follow;
mod guarded;
mod http;
mod inspector;
mod limits;
mod order;
mod prometheus;
mod snapshot;
mod ticks;
mod token;
mod waiting;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use tokio::sync::Notify;

pub use self::change::{Beat, Change, NotOurs};
pub use self::collect::Collector;
pub use self::figures::resident_bytes;
pub use self::inspector::{Asked, InspectorMsg, Look, SPEC};
pub use self::order::{Answer, AskHook, Hook, Hooks, LaneName, Order, Outcome, Undone};
pub use self::snapshot::{
    ActorRow, EdgeRow, Figures, KindRow, LaneRow, LimitRow, LinkRow, LinkTotals, MessageRow, Name,
    PanicRow, PlayersRow, Process, Snapshot, Spread, State, TickRow, TickStrip, TickTotals,
    Traffic, Usage,
};
pub use self::token::{Token, TokenError};

use self::access::Access;
use self::inspector::InspectorActor;
use crate::driver::Pump;
use crate::runtime::Runtime;
use crate::shell::{TURN_MESSAGES, Turn};

/// How a process is inspected.
#[derive(Debug)]
pub struct InspectOptions {
    /// Where it answers; port 0 is any free one.
    pub address: SocketAddr,
    /// Who may look.
    pub token: Token,
    /// `server`, `client` or `play`.
    pub role: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// What the program does for the inspector.
    pub hooks: Hooks,
}

/// An inspector that answers. It ends with its runtime.
#[derive(Debug)]
pub struct Inspect {
    address: SocketAddr,
    ready: Arc<AtomicBool>,
}

impl Inspect {
    /// Start answering at an address, on a thread of its own: what hangs elsewhere is seen here.
    ///
    /// # Errors
    /// The address cannot be had, or the system gives no thread.
    pub fn start(runtime: &Runtime, options: InspectOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let process = Process {
            role: options.role.into(),
            version: options.version.into(),
            pid: std::process::id(),
            simulated: runtime.is_simulated(),
        };
        let collector = Collector::new(runtime.clone(), process);
        let scope = runtime.root().contained("inspect");
        let (port, pump) =
            scope.pumped("inspector", InspectorActor::new(collector.clone(), options.hooks));
        let ready = Arc::new(AtomicBool::new(false));
        let access = Access::new(options.token, address);
        let desk = http::Desk::new(port, access, collector, runtime.clone(), Arc::clone(&ready));
        let tasks = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let work = move || tasks.block_on(answer(listener, desk, pump));
        Builder::new().name("inspect".to_owned()).spawn(work)?;
        Ok(Self { address, ready })
    }

    /// Where it answers.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on `/readyz` says yes, for as long as nothing fails for good.
    pub fn ready(&self) {
        self.ready.store(true, Ordering::Relaxed);
    }
}

/// Answer and pump the actor until it ends.
async fn answer(listener: TcpListener, desk: http::Desk, mut pump: Pump<InspectorActor>) {
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    pump.wake_with(move || wake.notify_one());
    match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => drop(tokio::spawn(http::accept(listener, desk))),
        Err(error) => tracing::error!("nobody can look at this process: {error}"),
    }
    loop {
        match pump.pump_now(TURN_MESSAGES) {
            Turn::Ended => return,
            Turn::Again => tokio::task::yield_now().await,
            Turn::Rest(_) => woken.notified().await,
        }
    }
}

#[cfg(test)]
mod tests;
