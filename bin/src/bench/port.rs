//! A guarded message through a port on one thread, beside the mailbox below it and a channel.
//!
//! Two actors throw balls at each other: one ball at a time, where every message needs a wake of
//! its own, and 64 at a time. A message is all of its way: offered, woken for, taken, handled
//! behind the barrier, its effect performed, counted.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dh_host::bench::cpu_of_this_thread;
use dh_host::{Actor, Context, Performed, Place, Port, RealOptions, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};

use super::measure::median;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

/// Messages of one course in one round, and the rounds.
const MESSAGES: u64 = 200_000;
const ROUNDS: usize = 9;
const MESSAGE_US_MAX: f64 = 1.5;
/// What a message may cost with the flight recorder on, beside one with it off.
const RECORDER_MAX: f64 = 1.02;
/// A round is a few milliseconds: so many more tell two per cent from noise.
const RECORDER_ROUNDS: usize = 82;

actor_message! {
    /// What a player catches.
    enum Ball {
        /// One message.
        Thrown: Data Refuse,
    }
}

/// Counts what is caught and throws as much back.
struct Rally {
    burst: u64,
    got: u64,
    /// Balls to catch before it is over.
    left: u64,
}

enum Effect {
    Throw,
    Finish,
}

/// One of two players.
struct Player {
    burst: u64,
    to_catch: u64,
    other: Arc<OnceLock<Port<Ball>>>,
    /// What the thread had used when the first ball came.
    start: Option<Duration>,
    done: Sender<Duration>,
}

/// Plays all rounds.
pub(super) fn run() -> Result<Report, Failure> {
    progress("ports: a few seconds");
    let mut report = Report::new("port");
    let runtime = Runtime::real(RealOptions::default())
        .map_err(|error| Failure::new(Exit::Internal, format!("no threads: {error}")))?;
    for (name, burst) in [("a message, one at a time", 1), ("a message, 64 at a time", 64)] {
        let [mut ours, mut mailbox, mut channel] = [const { Vec::new() }; 3];
        for _ in 0..ROUNDS {
            ours.push(each(rally(&runtime, burst)?));
            let raw = dh_host::bench::raw_actix(MESSAGES, burst);
            mailbox.push(each(raw.map_err(|error| Failure::new(Exit::Internal, error))?));
            channel.push(each(dh_host::bench::channel(MESSAGES, burst)));
        }
        let figure = Figure::new(name, median(ours), "us");
        let mailbox = figure.clone().beside("raw actix do_send", median(mailbox));
        report.push(mailbox.within(Budget::AtMost(MESSAGE_US_MAX)));
        report.push(figure.beside("crossbeam channel", median(channel)));
    }
    for burst in [1, 64] {
        report.push(recorder(burst)?);
    }
    runtime.stop().map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok(report)
}

/// A message with the flight recorder on beside one with it off: in two runtimes of the same age,
/// in turns, each as often the first of a round as the other.
fn recorder(burst: u64) -> Result<Figure, Failure> {
    let failed = |error| Failure::new(Exit::Internal, format!("no threads: {error}"));
    let runtime = |records| Runtime::real(RealOptions { records, ..RealOptions::default() });
    let (loud, quiet) = (runtime(true).map_err(failed)?, runtime(false).map_err(failed)?);
    let [mut on, mut off] = [const { Vec::new() }; 2];
    for round in 0..RECORDER_ROUNDS {
        if round % 2 == 0 {
            on.push(each(rally(&loud, burst)?));
        }
        off.push(each(rally(&quiet, burst)?));
        if round % 2 == 1 {
            on.push(each(rally(&loud, burst)?));
        }
    }
    loud.stop().map_err(failed)?;
    quiet.stop().map_err(failed)?;
    let figure = Figure::new(format!("a recorded message, {burst} at a time"), median(on), "us");
    Ok(figure.beside("recorder off", median(off)).within(Budget::TimesControl(RECORDER_MAX)))
}

/// CPU time of the players' thread in which the balls pass between them.
fn rally(runtime: &Runtime, burst: u64) -> Result<Duration, Failure> {
    let scope = runtime.root().child("rally");
    let (done, told) = channel();
    let others = [Arc::new(OnceLock::new()), Arc::new(OnceLock::new())];
    let player = |other: &Arc<OnceLock<Port<Ball>>>| Player {
        burst,
        to_catch: MESSAGES / 2,
        other: Arc::clone(other),
        start: None,
        done: done.clone(),
    };
    let ports = [
        scope.spawn(Place::Control, "first", player(&others[0])),
        scope.spawn(Place::Control, "second", player(&others[1])),
    ];
    let [first, second] = ports;
    drop(others[1].set(first.clone()));
    drop(others[0].set(second));
    for _ in 0..burst {
        drop(first.offer(Ball::Thrown));
    }
    let spent = told.recv_timeout(Duration::from_secs(60));
    scope.stop_blocking();
    spent.map_err(|_| Failure::new(Exit::Internal, "the players lost their balls"))
}

/// Microseconds for each message.
fn each(spent: Duration) -> f64 {
    spent.as_secs_f64() * 1e6 / f64::from(u32::try_from(MESSAGES).unwrap_or(u32::MAX))
}

impl Machine for Rally {
    type Msg = Ball;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, ball: Ball, out: &mut Outbox<Effect>) {
        let Ball::Thrown = ball;
        self.got += 1;
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            out.push(Effect::Finish);
        }
        if self.got.is_multiple_of(self.burst) {
            (0..self.burst).for_each(|_| out.push(Effect::Throw));
        }
    }
}

impl Actor for Player {
    type Machine = Rally;

    const SPEC: Spec = Spec {
        kind: "player",
        control_max: 1,
        data_max: 256,
        data_wakes: true,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, _start: Start<'_, Ball>) -> Rally {
        Rally { burst: self.burst, got: 0, left: self.to_catch }
    }

    fn perform(&mut self, effect: Effect, cx: &mut Context<'_, Ball>) -> Performed<Effect> {
        let start = *self.start.get_or_insert_with(cpu_of_this_thread);
        match effect {
            Effect::Throw => {
                if let Some(other) = self.other.get() {
                    drop(cx.offer(other, Ball::Thrown));
                }
            }
            Effect::Finish => {
                // Nobody waits after a round that took too long.
                let _ = self.done.send(cpu_of_this_thread() - start);
                return Performed::Stop;
            }
        }
        Performed::Done
    }
}
