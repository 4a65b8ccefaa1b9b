//! The `thread` driver in simulation: a task of the one thread. A deadline is served at the first
//! millisecond at or after it.

use std::sync::Arc;

use actix_rt::ArbiterHandle;
use tokio::sync::Notify;

use crate::actor::Actor;
use crate::shell::{Life, Shell, TURN_MESSAGES, Turn};

pub(super) fn start<A: Actor>(arbiter: &ArbiterHandle, life: Life<A>) {
    let port = life.port().clone();
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    // Through the arbiter, since a start may come from a task that may not start local ones itself.
    arbiter.spawn_fn(move || {
        actix_rt::spawn(run(life, woken));
    });
    port.core.driven_by(Box::new(move || wake.notify_one()));
}

async fn run<A: Actor>(life: Life<A>, woken: Arc<Notify>) {
    let clock = life.port().core.clock;
    let mut shell = Shell::new(life);
    loop {
        match shell.turn(None, TURN_MESSAGES) {
            Turn::Ended => return,
            Turn::Again => tokio::task::yield_now().await,
            Turn::Rest(None) => woken.notified().await,
            Turn::Rest(Some(deadline)) => {
                // Polls the wake first, so the order is the same in every run; both mean a turn.
                let wait = tokio::time::timeout_at(clock.instant(deadline), woken.notified());
                let _ = wait.await;
            }
        }
    }
}
