//! How late ticks start at 60 Hz: our tick thread, a plain sleep and a tokio interval side by side.
//!
//! Each has a third of a tick's distance to the next, so that none waits for another's turn. A
//! machine that is busy makes all of them late; so each window judges ours by the plain sleep of
//! the same ten seconds.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use dh_host::bench::cpu_of_this_thread;
use dh_host::pacer::Pacing;
use dh_host::{Actor, Context, Performed, Place, RealOptions, Runtime, Start};
use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, TickRate, actor_message};

use super::measure::quantile;
use super::progress;
use super::report::{Budget, Figure, Report};
use crate::exit::{Exit, Failure};

/// Windows that are measured, and ticks of each: ten seconds.
const WINDOWS: usize = 3;
const WINDOW_TICKS: u32 = 600;
/// The tick rate.
const RATE: TickRate = TickRate::DEFAULT;
/// Ticks before the first window, while threads start and the pacer learns.
const WARM_UP_TICKS: u32 = 60;

/// Where the plain sleep's p99 is below this the machine is calm, microseconds.
const CALM_P99_US: f64 = 1_000.0;
const P50_US_MAX: f64 = 5.0;
const P99_US_MAX: f64 = 100.0;
/// Percent of a core.
const CPU_MAX: f64 = 2.0;

/// Lateness of each tick in microseconds, and CPU time of the thread at each window's end.
#[derive(Debug, Default)]
struct Measured {
    late: Vec<f64>,
    cpu: Vec<Duration>,
}

/// Runs all three beside each other.
pub(super) fn run() -> Result<Report, Failure> {
    progress(&format!("lateness of ticks: {} s", 10 * WINDOWS + 1));
    let ticks = WARM_UP_TICKS + WINDOW_TICKS * u32::try_from(WINDOWS).unwrap_or(1);
    let failed = |error: std::io::Error| Failure::new(Exit::Internal, error);
    let runtime = Runtime::real(RealOptions::default()).map_err(failed)?;
    let period = Duration::from_secs(1) / u32::from(RATE.hz());
    let start = Instant::now();
    let sleep = thread::spawn(move || plain_sleep(start + period / 3, ticks));
    let interval = thread::spawn(move || {
        dh_host::bench::tokio_interval(start + period / 3 * 2, period, ticks)
    });
    let ours = paced(&runtime, ticks);
    let ours = ours.recv().map_err(|_| Failure::new(Exit::Internal, "the tick thread ended"))?;
    let died = |_| Failure::new(Exit::Internal, "a control panicked");
    let sleep = sleep.join().map_err(died)?;
    let interval = interval.join().map_err(died)?.map_err(failed)?;
    let interval = interval.iter().map(|late| late.as_secs_f64() * 1e6).collect();
    runtime.stop().map_err(failed)?;
    Ok(told(&ours, &sleep, &Measured { late: interval, cpu: Vec::new() }))
}

/// One set of figures a window.
fn told(ours: &Measured, sleep: &Measured, interval: &Measured) -> Report {
    let mut report = Report::new("tick");
    for window in 0..WINDOWS {
        let of = |measured: &Measured, share| quantile(measured.window(window).to_vec(), share);
        let calm = of(sleep, 0.99) < CALM_P99_US;
        let air = if calm { "calm" } else { "busy" };
        for (name, share, most) in
            [("p50", 0.5, Some(P50_US_MAX)), ("p99", 0.99, Some(P99_US_MAX)), ("max", 1.0, None)]
        {
            let name = format!("window {} ({air}), lateness {name}", window + 1);
            let figure = Figure::new(name, of(ours, share), "us");
            let beside_sleep = figure.clone().beside("plain sleep", of(sleep, share));
            report.push(match most {
                Some(most) if calm => beside_sleep.within(Budget::AtMost(most)),
                Some(_) => beside_sleep.within(Budget::TimesControl(1.0)),
                None => beside_sleep,
            });
            report.push(figure.beside("tokio interval", of(interval, share)));
        }
        let name = format!("window {} ({air}), CPU of the thread", window + 1);
        let figure = Figure::new(name, ours.core_share(window), "% of core");
        let figure = figure.beside("plain sleep", sleep.core_share(window));
        report.push(figure.within(Budget::AtMost(CPU_MAX)));
    }
    report
}

impl Measured {
    /// Notes one tick on the thread that made it.
    fn note(&mut self, late: Micros) {
        self.late.push(late.as_secs_f64() * 1e6);
        let ticks = self.late.len();
        if ticks.saturating_sub(WARM_UP_TICKS as usize).is_multiple_of(WINDOW_TICKS as usize)
            && ticks >= WARM_UP_TICKS as usize
        {
            self.cpu.push(cpu_of_this_thread());
        }
    }

    fn window(&self, window: usize) -> &[f64] {
        let from = WARM_UP_TICKS as usize + window * WINDOW_TICKS as usize;
        self.late.get(from..from + WINDOW_TICKS as usize).unwrap_or_default()
    }

    /// CPU time in a window, percent of a core.
    fn core_share(&self, window: usize) -> f64 {
        let (Some(from), Some(to)) = (self.cpu.get(window), self.cpu.get(window + 1)) else {
            return f64::NAN;
        };
        let seconds = f64::from(WINDOW_TICKS) / f64::from(RATE.hz());
        (*to - *from).as_secs_f64() * 100.0 / seconds
    }
}

/// A thread that sleeps until each tick is due.
fn plain_sleep(start: Instant, ticks: u32) -> Measured {
    let mut measured = Measured::default();
    for tick in 1..=ticks {
        let due = start + Duration::from_micros(RATE.due(u64::from(tick)).0);
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let late = Instant::now().saturating_duration_since(due);
        measured.note(Micros(u64::try_from(late.as_micros()).unwrap_or(u64::MAX)));
    }
    measured
}

/// Our tick thread, with an actor on it that does nothing but tick.
fn paced(runtime: &Runtime, ticks: u32) -> Receiver<Measured> {
    let (done, measured) = channel();
    let ticker = Ticker { ticks, measured: Measured::default(), done };
    drop(runtime.root().spawn(Place::Thread("tick"), "ticker", ticker));
    measured
}

actor_message! {
    /// Nothing is ever told to it.
    enum Silence {
        /// Never sent.
        Never: Control Refuse,
    }
}

/// Takes one tick at each deadline.
struct Ticking {
    start: Micros,
    /// Ticks taken so far.
    taken: u64,
}

/// A tick began so long after it was due.
struct Began {
    late: Micros,
}

/// Writes down how late each tick began.
struct Ticker {
    ticks: u32,
    measured: Measured,
    done: Sender<Measured>,
}

impl Ticking {
    fn due(&self) -> Micros {
        self.start + RATE.due(self.taken + 1)
    }
}

impl Machine for Ticking {
    type Msg = Silence;
    type Effect = Began;

    fn handle(&mut self, _now: Micros, _msg: Silence, _out: &mut Outbox<Began>) {}

    fn wake(&mut self, now: Micros, out: &mut Outbox<Began>) {
        let due = self.due();
        let late = now.since(due);
        if due <= now {
            self.taken += 1;
            out.push(Began { late });
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        Some(self.due())
    }
}

impl Actor for Ticker {
    type Machine = Ticking;

    const SPEC: Spec = Spec {
        kind: "ticker",
        control_max: 1,
        data_max: 1,
        data_wakes: false,
        restart: Restart { count: 0, window: Micros(0) },
        strategy: Strategy::OneForOne,
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, start: Start<'_, Silence>) -> Ticking {
        Ticking { start: start.now, taken: 0 }
    }

    fn perform(&mut self, began: Began, _cx: &mut Context<'_, Silence>) -> Performed<Began> {
        self.measured.note(began.late);
        self.ticks -= 1;
        if self.ticks > 0 {
            return Performed::Done;
        }
        drop(self.done.send(std::mem::take(&mut self.measured)));
        Performed::Stop
    }

    fn pacing(&self) -> Pacing {
        Pacing::TICK
    }
}
