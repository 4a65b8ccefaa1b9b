//! Controls: what the benches of the program hold our ports and our pacer against.
//!
//! Used by `dh bench` only, which may not name these libraries itself. Each does its one thing as
//! its library means it to be done, with nothing of ours around it.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use actix::prelude::{Actor, ActorContext, Addr, Context, Handler, Message};
use dh_machine::Micros;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval_at};

use crate::clock::micros;

/// CPU time in which two actix actors on one thread throw `messages` at each other with `do_send`,
/// `burst` (above 0) at a time.
///
/// # Errors
/// When the system gives no event queue, or the actors stop early.
pub fn raw_actix(messages: u64, burst: u64) -> io::Result<Duration> {
    let tasks = tokio::runtime::Builder::new_current_thread().build()?;
    let system = actix_rt::System::with_tokio_rt(move || tasks);
    system.block_on(async move {
        let (told, done) = oneshot::channel();
        let end = Rc::new(RefCell::new(Some(told)));
        let player = || Player { got: 0, burst, left: messages, other: None, end: Rc::clone(&end) };
        let (first, second) = (player().start(), player().start());
        let start = cpu_of_this_thread();
        throw(&first, Ball::Meet(second.clone()));
        throw(&second, Ball::Meet(first.clone()));
        (0..burst).for_each(|_| throw(&first, Ball::Thrown));
        done.await.map_err(io::Error::other)?;
        Ok(cpu_of_this_thread() - start)
    })
}

/// CPU time in which `messages` pass through two crossbeam channels on one thread, `burst` (above
/// 0) at a time.
#[must_use]
pub fn channel(messages: u64, burst: u64) -> Duration {
    let (send, receive) = crossbeam_channel::unbounded();
    let start = cpu_of_this_thread();
    let mut got = 0;
    while got < messages {
        for number in 0..burst {
            // The other end is in this function.
            let _ = send.send(number);
        }
        while let Ok(number) = receive.try_recv() {
            std::hint::black_box(number);
            got += 1;
        }
    }
    cpu_of_this_thread() - start
}

/// How late each of `ticks` ticks of a tokio interval comes, the first one `period` after `start`.
///
/// # Errors
/// When the system gives no event queue.
pub fn tokio_interval(start: Instant, period: Duration, ticks: u32) -> io::Result<Vec<Micros>> {
    let tasks = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    Ok(tasks.block_on(async {
        let mut interval = interval_at((start + period).into(), period);
        interval.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut late = Vec::new();
        for _ in 0..ticks {
            let due = interval.tick().await;
            late.push(micros(tokio::time::Instant::now().saturating_duration_since(due)));
        }
        late
    }))
}

enum Ball {
    Meet(Addr<Player>),
    Thrown,
}

impl Message for Ball {
    type Result = ();
}

struct Player {
    got: u64,
    burst: u64,
    left: u64,
    other: Option<Addr<Self>>,
    end: Rc<RefCell<Option<oneshot::Sender<()>>>>,
}

impl Actor for Player {
    type Context = Context<Self>;

    fn started(&mut self, cx: &mut Self::Context) {
        cx.set_mailbox_capacity(usize::try_from(self.burst).unwrap_or(usize::MAX));
    }
}

impl Handler<Ball> for Player {
    type Result = ();

    fn handle(&mut self, ball: Ball, cx: &mut Context<Self>) {
        if let Ball::Meet(other) = ball {
            self.other = Some(other);
            return;
        }
        self.got += 1;
        self.left = self.left.saturating_sub(2);
        if self.left == 0 {
            if let Some(end) = self.end.take() {
                let _ = end.send(());
            }
            cx.stop();
        } else if self.got.is_multiple_of(self.burst)
            && let Some(other) = &self.other
        {
            (0..self.burst).for_each(|_| throw(other, Ball::Thrown));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the control is the mailbox itself")]
fn throw(to: &Addr<Player>, ball: Ball) {
    to.do_send(ball);
}

/// CPU time this thread has used.
#[must_use]
pub fn cpu_of_this_thread() -> Duration {
    cpu(ClockId::ThreadCPUTime)
}

/// CPU time all threads of this process have used.
#[must_use]
pub fn cpu_of_this_process() -> Duration {
    cpu(ClockId::ProcessCPUTime)
}

fn cpu(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let secs = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(secs, u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_controls_pass_every_message_and_take_time() {
        for burst in [1, 64] {
            assert!(raw_actix(1_280, burst).unwrap() > Duration::ZERO);
            assert!(channel(1_280, burst) > Duration::ZERO);
        }
    }

    #[test]
    fn an_interval_tells_how_late_each_tick_is() {
        let late = tokio_interval(Instant::now(), Duration::from_millis(2), 5).unwrap();
        assert_eq!(late.len(), 5);
    }
}
