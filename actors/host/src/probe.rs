//! Probe: an actor that does what a test tells it and writes down what happens to it.

use std::sync::{Arc, Mutex, PoisonError};

use dh_machine::{Machine, Micros, Outbox, Restart, Spec, Strategy, actor_message};

use crate::pacer::{HostTimerPeriod, Pacing, priority_of_this_thread};
use crate::{Actor, Asked, Context, Exit, Performed, Port, Refused, Start, Why};

actor_message! {
    /// One kind for every policy.
    pub(crate) enum ProbeMsg {
        Refuse(u32): Data Refuse,
        Keyed((u64, u32)): Data Coalesce(|(key, _)| *key),
        Newest(u32): Data DropOldest,
        Waits(u32): Data Wait,
        Fatal(u32): Data Fatal,
        Order(Order): Control Refuse,
    }
}

/// What a test can order.
#[derive(Debug)]
pub(crate) enum Order {
    /// Panic in the machine.
    Panic(&'static str),
    /// Panic while performing an effect.
    Break,
    /// End.
    Finish,
    /// Wake at these times.
    WakeAt(Vec<Micros>),
    /// Offer a waiting message to another probe at every wake from now on.
    TellWoken(Port<ProbeMsg>),
    /// Offer this many waiting messages to another probe.
    Forward(Port<ProbeMsg>, u32),
    /// Ask another probe, which does not answer.
    Ask(Port<ProbeMsg>),
    /// Take all answers as given.
    Answered,
    /// Write down.
    Note(u32),
    /// Write down the nice value of the thread and its timer slack, each plus a hundred.
    NoteThread,
    /// Keep the thread busy.
    Burn(std::time::Duration),
    /// Keep the thread busy so long at every wake from now on.
    BurnWoken(std::time::Duration),
}

/// What happened to a probe, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Made { restarts: u32 },
    Lost(u32),
    Data(u32),
    Note(u32),
    Woken(Micros),
    Forwarded(u32),
    Ended(Exit),
}

/// Where probes write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<(&'static str, Seen)>>>);

impl Log {
    pub(crate) fn push(&self, name: &'static str, seen: Seen) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((name, seen));
    }

    /// What the probe of this name has seen.
    pub(crate) fn of(&self, name: &str) -> Vec<Seen> {
        let all = self.all();
        all.into_iter().filter(|(by, _)| *by == name).map(|(_, seen)| seen).collect()
    }

    pub(crate) fn all(&self) -> Vec<(&'static str, Seen)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Times a probe of this name was made, less one.
    pub(crate) fn restarts(&self, name: &str) -> usize {
        let made = |seen: &&Seen| matches!(seen, Seen::Made { .. });
        self.of(name).iter().filter(made).count().saturating_sub(1)
    }
}

/// Bounds small enough to fill; the strategy and the wakes are parameters.
#[derive(Clone, Debug)]
pub(crate) struct Probe<const STRATEGY: u8 = 0, const DATA_WAKES: bool = true> {
    pub(crate) name: &'static str,
    pub(crate) log: Log,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Probe {
    pub(crate) fn new(name: &'static str, log: &Log) -> Self {
        Self::with(name, log)
    }
}

impl<const STRATEGY: u8, const DATA_WAKES: bool> Probe<STRATEGY, DATA_WAKES> {
    pub(crate) fn with(name: &'static str, log: &Log) -> Self {
        Self { name, log: log.clone(), asked: Arc::default() }
    }
}

pub(crate) struct ProbeMachine {
    name: &'static str,
    log: Log,
    wakes: Vec<Micros>,
    /// Who is told of each wake.
    told: Option<Port<ProbeMsg>>,
    /// How long each wake takes.
    burns: std::time::Duration,
}

pub(crate) enum ProbeEffect {
    Break,
    Finish,
    Forward(Port<ProbeMsg>, u32),
    Ask(Port<ProbeMsg>),
    Answered,
}

impl Machine for ProbeMachine {
    type Msg = ProbeMsg;
    type Effect = ProbeEffect;

    fn handle(&mut self, _now: Micros, msg: ProbeMsg, out: &mut Outbox<ProbeEffect>) {
        match msg {
            ProbeMsg::Refuse(n)
            | ProbeMsg::Keyed((_, n))
            | ProbeMsg::Newest(n)
            | ProbeMsg::Waits(n)
            | ProbeMsg::Fatal(n) => self.log.push(self.name, Seen::Data(n)),
            ProbeMsg::Order(Order::Panic(text)) => panic!("{text}"),
            ProbeMsg::Order(Order::Break) => out.push(ProbeEffect::Break),
            ProbeMsg::Order(Order::Finish) => out.push(ProbeEffect::Finish),
            ProbeMsg::Order(Order::Ask(to)) => out.push(ProbeEffect::Ask(to)),
            ProbeMsg::Order(Order::Answered) => out.push(ProbeEffect::Answered),
            ProbeMsg::Order(Order::WakeAt(at)) => self.wakes = at,
            ProbeMsg::Order(Order::TellWoken(to)) => self.told = Some(to),
            ProbeMsg::Order(Order::Note(n)) => self.log.push(self.name, Seen::Note(n)),
            ProbeMsg::Order(Order::NoteThread) => {
                let nice = priority_of_this_thread().unwrap_or_default();
                self.log.push(self.name, Seen::Note(nice.saturating_add(100).unsigned_abs()));
                let slack = HostTimerPeriod::slack_ns().unwrap_or_default();
                let slack = u32::try_from(slack).unwrap_or(u32::MAX).saturating_add(100);
                self.log.push(self.name, Seen::Note(slack));
            }
            ProbeMsg::Order(Order::Burn(span)) => burn(span),
            ProbeMsg::Order(Order::BurnWoken(span)) => self.burns = span,
            ProbeMsg::Order(Order::Forward(to, count)) => {
                (0..count).for_each(|n| out.push(ProbeEffect::Forward(to.clone(), n)));
            }
        }
    }

    fn wake(&mut self, now: Micros, out: &mut Outbox<ProbeEffect>) {
        if let Some(to) = &self.told {
            out.push(ProbeEffect::Forward(to.clone(), 0));
        }
        self.wakes.remove(0);
        burn(self.burns);
        self.log.push(self.name, Seen::Woken(now));
    }

    fn next_deadline(&self) -> Option<Micros> {
        self.wakes.first().copied()
    }
}

fn burn(span: std::time::Duration) {
    let until = std::time::Instant::now() + span;
    while std::time::Instant::now() < until {}
}

impl<const STRATEGY: u8, const DATA_WAKES: bool> Actor for Probe<STRATEGY, DATA_WAKES> {
    type Machine = ProbeMachine;

    const SPEC: Spec = Spec {
        kind: "probe",
        control_max: 8,
        data_max: 16,
        data_wakes: DATA_WAKES,
        restart: Restart { count: 3, window: Micros::from_secs(10) },
        strategy: match STRATEGY {
            0 => Strategy::OneForOne,
            1 => Strategy::RestForOne,
            _ => Strategy::OneForAll,
        },
        ask_deadline: None,
        asks: &[],
    };

    fn make(&mut self, start: Start<'_, ProbeMsg>) -> ProbeMachine {
        self.log.push(self.name, Seen::Made { restarts: start.restarts });
        if let Some(ProbeMsg::Fatal(n)) = start.lost {
            self.log.push(self.name, Seen::Lost(n));
        }
        let (name, log, burns) = (self.name, self.log.clone(), std::time::Duration::ZERO);
        ProbeMachine { name, log, wakes: Vec::new(), told: None, burns }
    }

    fn spare(msg: &ProbeMsg) -> Option<ProbeMsg> {
        if let ProbeMsg::Fatal(n) = msg { Some(ProbeMsg::Fatal(*n)) } else { None }
    }

    fn perform(
        &mut self,
        effect: ProbeEffect,
        cx: &mut Context<'_, ProbeMsg>,
    ) -> Performed<ProbeEffect> {
        match effect {
            ProbeEffect::Break => panic!("broken"),
            ProbeEffect::Finish => Performed::Stop,
            ProbeEffect::Ask(to) => {
                let asked = cx.ask(&to, ProbeMsg::Refuse(0)).unwrap();
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
                Performed::Done
            }
            ProbeEffect::Answered => {
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
                Performed::Done
            }
            ProbeEffect::Forward(to, n) => match cx.offer(&to, ProbeMsg::Waits(n)) {
                Ok(()) => {
                    self.log.push(self.name, Seen::Forwarded(n));
                    Performed::Done
                }
                Err(Refused { why: Why::MustWait, .. }) => {
                    Performed::Wait(ProbeEffect::Forward(to, n))
                }
                Err(_) => Performed::Done,
            },
        }
    }

    fn pacing(&self) -> Pacing {
        if DATA_WAKES { Pacing::RELAXED } else { Pacing::TICK }
    }

    fn ended(&mut self, exit: &Exit) {
        self.log.push(self.name, Seen::Ended(exit.clone()));
    }
}
