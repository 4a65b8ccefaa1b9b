//! Screen: running processes on a terminal, live.
//!
//! A pure state (`screen/state.rs`) takes keys and what processes tell, `screen/draw.rs` turns it
//! into cells. Here threads read the keys, the signals and one stream a process, and hand all of it
//! over through one bounded channel.

mod draw;
mod feed;
mod finder;
mod help;
mod keys;
mod limits;
mod lines;
mod listing;
mod order;
mod page;
mod processes;
#[cfg(test)]
mod sample;
mod source;
mod state;
mod terminal;
mod text;
mod watch;

use std::io::{IsTerminal as _, stdin, stdout};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use self::feed::Feed;
use self::keys::Key;
use self::order::Order;
use self::source::Heard;
use self::state::{Effect, State};
use self::terminal::Terminal;
use self::text::Look;
use super::target::{Target, Told};
use crate::exit::{Exit, Failure};

/// Events that may wait for the main thread; who has more to tell waits.
const WAITING_MAX: usize = 256;
/// How often the age of the data is drawn anew when nothing comes.
const REST: Duration = Duration::from_millis(250);

/// What the screen wakes for.
#[derive(Debug)]
pub(crate) enum Event {
    /// These run at the moment.
    Found(Vec<Target>),
    /// A process told something, or cannot be heard.
    Heard(usize, Result<Told, Failure>),
    /// A key was pressed.
    Pressed(Key),
    /// What came of an order.
    Answered(Result<String, String>),
    /// The terminal has another size, or shows something else.
    Resized,
    /// It is to end: a signal, or the terminal has gone.
    End,
}

/// Whether there is a terminal that can show it.
pub(crate) fn is_possible() -> bool {
    let is_dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    stdin().is_terminal() && stdout().is_terminal() && !is_dumb
}

/// Show these processes until somebody quits; with `finds`, also those that come meanwhile, and
/// those that go only for a while.
pub(crate) fn run(targets: Vec<Target>, finds: bool) -> Result<(), Failure> {
    let (to, events) = sync_channel(WAITING_MAX);
    let names = targets.iter().map(|target| target.address.to_string()).collect();
    let start = |(at, target): (usize, &Target)| Feed::start(at, target.clone(), to.clone());
    let feeds: Vec<Feed> = targets.iter().enumerate().map(start).collect::<Result<_, _>>()?;
    let mut shown = Shown {
        state: State::new(names, terminal::size()),
        look: Look::of(|name| std::env::var(name).ok()),
        begun: Instant::now(),
        targets,
        feeds,
        finds,
        to,
    };
    shown.reach(&events)?;
    if finds {
        finder::start(&shown.to)?;
    }
    let mut terminal = Terminal::enter().map_err(|error| lost_terminal(&error))?;
    watch::start(&shown.to)?;
    shown.run(&events, &mut terminal)
}

/// The screen, with all it can do something with.
struct Shown {
    state: State,
    look: Look,
    begun: Instant,
    /// By their numbers in the state, as are the feeds.
    targets: Vec<Target>,
    feeds: Vec<Feed>,
    finds: bool,
    to: SyncSender<Event>,
}

impl Shown {
    /// Wait for the first process that can be heard; if there is none, why.
    fn reach(&mut self, events: &Receiver<Event>) -> Result<(), Failure> {
        let mut failed = vec![false; self.targets.len()];
        while let Ok(event) = events.recv() {
            let failure = match &event {
                Event::Heard(at, Err(failure)) => Some((*at, failure.clone())),
                _ => None,
            };
            self.take(event);
            let Some((at, failure)) = failure else { break };
            failed[at] = true;
            if failed.iter().all(|failed| *failed) {
                return Err(failure);
            }
        }
        Ok(())
    }

    fn run(&mut self, events: &Receiver<Event>, terminal: &mut Terminal) -> Result<(), Failure> {
        loop {
            self.clock();
            let drawn = terminal.draw(|buffer| draw::draw(&self.state, self.look, buffer));
            drawn.map_err(|error| lost_terminal(&error))?;
            let first = events.recv_timeout(REST).ok();
            // What came meanwhile is shown at once, in one picture.
            let more = first.is_some().then(|| events.try_iter().take(WAITING_MAX));
            for event in first.into_iter().chain(more.into_iter().flatten()) {
                if matches!(event, Event::Resized) {
                    terminal.forget().map_err(|error| lost_terminal(&error))?;
                }
                if !self.take(event) {
                    return Ok(());
                }
            }
        }
    }

    /// Take an event in; false once it is to end.
    fn take(&mut self, event: Event) -> bool {
        self.clock();
        let effect = match event {
            Event::Found(targets) => return targets.into_iter().all(|it| self.found(it).is_ok()),
            Event::Heard(source, told) => {
                self.state.heard(source, told.map_err(|failure| failure.cause))
            }
            Event::Pressed(key) => self.state.pressed(key),
            Event::Answered(answer) => {
                self.state.answered(answer);
                None
            }
            Event::Resized => {
                self.state.resized(terminal::size());
                None
            }
            Event::End => return false,
        };
        match effect {
            Some(Effect::Quit) => return false,
            Some(Effect::Follow { source, actor }) => {
                if let Some(feed) = self.feeds.get(source) {
                    feed.follow(actor);
                }
            }
            Some(Effect::Order(order)) => self.order(order),
            None => (),
        }
        true
    }

    fn clock(&mut self) {
        let micros = self.begun.elapsed().as_micros();
        self.state.now_us = u64::try_from(micros).unwrap_or(u64::MAX);
        if self.finds {
            self.state.leave_lost().into_iter().for_each(|gone| self.feeds[gone].end());
        }
    }

    /// Look at one more process, unless it is looked at already.
    fn found(&mut self, target: Target) -> Result<(), Failure> {
        let heard = self.state.heard_now().iter().zip(&self.targets);
        if heard.into_iter().any(|(at, known)| at.state != Heard::Gone && *known == target) {
            return Ok(());
        }
        let at = self.state.found(target.address.to_string());
        let feed = Feed::start(at, target.clone(), self.to.clone())?;
        if at < self.targets.len() {
            (self.targets[at], self.feeds[at]) = (target, feed);
        } else {
            self.targets.push(target);
            self.feeds.push(feed);
        }
        Ok(())
    }

    /// Post an order and wait for its answer elsewhere.
    fn order(&mut self, order: Order) {
        let Some(target) = self.targets.get(order.source).cloned() else { return };
        let to = self.to.clone();
        let post = move || {
            let body = serde_json::json!(order.body);
            let answer = target.order(&body).map_err(|failure| failure.cause);
            let done = answer.map(|answer| match answer["done"].as_str() {
                Some(done) => done.to_owned(),
                None => answer.to_string(),
            });
            // Whoever has quit meanwhile does not want to know.
            let _ = to.send(Event::Answered(done));
        };
        if let Err(error) = Builder::new().name("order".to_owned()).spawn(post) {
            self.state.answered(Err(format!("the system gives no thread: {error}")));
        }
    }
}

fn lost_terminal(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Io, format!("cannot draw on the terminal: {error}"))
        .remedy("dh inspect --json")
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let spawned = Builder::new().name(name.to_owned()).spawn(work);
    spawned.map(drop).map_err(|error| {
        Failure::new(Exit::Internal, format!("the system gives no thread: {error}"))
    })
}
