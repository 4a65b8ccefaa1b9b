//! The `thread` driver: a shell on a thread of its own, which waits for messages and deadlines as
//! exactly as the host allows.

use std::io;
use std::thread::{Builder, JoinHandle, park_timeout};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};
use dh_machine::Micros;

use crate::actor::Actor;
use crate::clock::Clock;
use crate::pacer::{DeadlineWait, HostTimerPeriod, Pacing, RaisedPriority, Sleeper};
use crate::shell::{Life, Shell, TURN_MESSAGES, Turn};

pub(super) fn start<A: Actor>(name: &str, life: Life<A>) -> io::Result<JoinHandle<()>> {
    let (wake, woken) = bounded(1);
    let port = life.port().clone();
    let thread = Builder::new().name(name.to_owned()).spawn(move || run(life, &woken))?;
    let sleeper = thread.thread().clone();
    port.core.driven_by(Box::new(move || {
        // Full means it is being woken already.
        let _ = wake.try_send(());
        sleeper.unpark();
    }));
    Ok(thread)
}

fn run<A: Actor>(life: Life<A>, woken: &Receiver<()>) {
    let path = life.entry().path.clone();
    let pacing = life.pacing();
    let _priority = raise(&path, pacing);
    let _timer = tighten(&path, pacing);
    let clock = life.port().core.clock;
    let mut wait = DeadlineWait::new(pacing.max_spin);
    let mut shell = Shell::new(life);
    loop {
        match shell.turn(None, TURN_MESSAGES) {
            Turn::Ended => return,
            Turn::Again => {}
            Turn::Rest(None) => {
                // The port holds the other end, and the shell the port.
                let _ = woken.recv();
            }
            Turn::Rest(Some(deadline)) => {
                wait.set_max_spin(shell.pacing().max_spin);
                wait.wait(&mut Parked { woken, clock }, deadline);
                shell.entry().metrics.learned(wait.factor());
            }
        }
    }
}

/// A sleep that a wake ends. It parks beside the channel and not in it: the channel's own wait
/// yields the core before it sleeps, and a Linux thread that has yielded is last in line when its
/// deadline comes, milliseconds behind any busy neighbour.
struct Parked<'a> {
    woken: &'a Receiver<()>,
    clock: Clock,
}

impl Sleeper for Parked<'_> {
    fn now(&mut self) -> Micros {
        self.clock.now()
    }

    fn sleep(&mut self, span: Micros) -> bool {
        let is_woken = || self.woken.try_recv().is_ok();
        if is_woken() {
            return true;
        }
        park_timeout(Duration::from_micros(span.0));
        is_woken()
    }

    fn relax(&mut self) {
        std::hint::spin_loop();
    }
}

fn raise(path: &str, pacing: Pacing) -> Option<RaisedPriority> {
    if !pacing.raise_priority {
        return None;
    }
    let raised = RaisedPriority::raise();
    match &raised {
        Ok(_) => tracing::debug!(actor = path, "runs at nice {}", RaisedPriority::NICE),
        Err(error) => tracing::info!(actor = path, "runs at the usual priority: {error}"),
    }
    raised.ok()
}

fn tighten(path: &str, pacing: Pacing) -> Option<HostTimerPeriod> {
    if !pacing.tight_timer {
        return None;
    }
    let tight = HostTimerPeriod::tighten();
    match HostTimerPeriod::slack_ns() {
        Ok(slack) => tracing::debug!(actor = path, "timer slack is {slack} ns"),
        Err(error) => tracing::debug!(actor = path, "timer slack is the host's: {error}"),
    }
    tight.ok()
}
