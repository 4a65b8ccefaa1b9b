//! The predictor's decisions, against the mover and the queue of a server that is not there.

mod clock;
mod correcting;
mod far;
mod flight;
mod sessions;

use std::collections::VecDeque;
use std::sync::Arc;

use dh_machine::{Machine, Micros, Outbox, TickRate};
use dh_messages::{Buttons, Input, Snapshot, decode};
use dh_netcode::Stance;
use dh_prefs::Prefs;
use dh_sim::GrayBox;

use self::far::Far;
use super::state::{Effect, Predictor, Standing};
use super::{Predicted, PredictorMsg};
use crate::controls::{Controls, Wish};
use crate::event::{ClientEvent, ClockReading, Correction};
use crate::numbered::Numbered;

/// Straight ahead.
const AHEAD: Wish =
    Wish { move_x: 0, move_y: 0, move_z: 127, buttons: Buttons::NONE, yaw: 0.0, pitch: 0.0 };

/// A predictor, a server, and a path of so many ticks each way between them.
struct Rig {
    predictor: Predictor,
    far: Far,
    rate: TickRate,
    /// One way, in ticks.
    delay: u32,
    /// Nothing passes.
    cut: bool,
    now: Micros,
    /// The newest input that an answer which arrived has acknowledged.
    acked: u32,
    up: VecDeque<(u32, Vec<u8>)>,
    down: VecDeque<(u32, Arc<Snapshot>)>,
    seen: Seen,
}

/// What the predictor wanted so far.
#[derive(Default)]
struct Seen {
    /// When each input datagram was sent, and what it says.
    sent: Vec<(Micros, Input)>,
    confirmed: usize,
    corrections: Vec<Correction>,
    readings: Vec<ClockReading>,
    shown: Option<Predicted>,
    standing: Option<Standing>,
}

impl Rig {
    fn new(delay: u32) -> Self {
        Self::at_rate(TickRate::DEFAULT, delay)
    }

    fn at_rate(rate: TickRate, delay: u32) -> Self {
        let solids = GrayBox::new().solids();
        let standing = Standing::new(Controls::Held(AHEAD), Arc::new(Prefs::default()));
        let predictor = Predictor::new(Arc::clone(&solids), standing, true, Micros(0));
        let (up, down) = (VecDeque::new(), VecDeque::new());
        let far = Far::new(rate, solids);
        let (now, seen) = (Micros(0), Seen::default());
        let mut rig =
            Self { predictor, far, rate, delay, cut: false, now, acked: 0, up, down, seen };
        rig.tell(PredictorMsg::Joined(Numbered::new(1, rate)));
        rig
    }

    /// A walk that has gone on for two seconds.
    fn walking(delay: u32) -> Self {
        let mut rig = Self::new(delay);
        rig.run(120);
        assert!(rig.seen.corrections.is_empty(), "{:?}", rig.seen.corrections);
        rig
    }

    fn tell(&mut self, msg: PredictorMsg) {
        let mut out = Outbox::default();
        self.predictor.handle(self.now, msg, &mut out);
        self.note(out);
    }

    fn want(&mut self, wish: Wish) {
        self.tell(PredictorMsg::Wish(wish));
    }

    /// So many ticks of the server.
    fn run(&mut self, ticks: u32) {
        for _ in 0..ticks {
            self.tick();
        }
    }

    /// One tick of the server: the client runs up to it, what is due arrives, the tick is made.
    fn tick(&mut self) {
        let tick = self.far.tick.0 + 1;
        self.pass(self.rate.due(u64::from(tick)));
        while let Some((_, datagram)) = self.up.pop_front_if(|(due, _)| *due <= tick) {
            self.far.hear(&datagram);
        }
        let snapshot = self.far.step();
        if !self.cut {
            self.down.push_back((tick + self.delay, snapshot));
        }
        while let Some((_, snapshot)) = self.down.pop_front_if(|(due, _)| *due <= tick) {
            self.acked = snapshot.head.input_ack;
            self.tell(PredictorMsg::Snapshot(Numbered::new(1, snapshot)));
        }
    }

    /// Let time pass for the client, serving its deadlines.
    fn pass(&mut self, until: Micros) {
        while let Some(due) = self.predictor.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            let mut out = Outbox::default();
            self.predictor.wake(self.now, &mut out);
            self.note(out);
            assert!(self.predictor.next_deadline().is_none_or(|next| self.now < next));
        }
        self.now = until;
    }

    fn note(&mut self, mut out: Outbox<Effect>) {
        for effect in out.drain() {
            match effect {
                Effect::Input { datagram, .. } => {
                    let input = decode(&datagram[1..]).unwrap();
                    self.seen.sent.push((self.now, input));
                    if !self.cut {
                        self.up.push_back((self.far.tick.0 + 1 + self.delay, datagram));
                    }
                }
                Effect::Predicted(it) => self.seen.shown = Some(it.event),
                Effect::Keep(standing) => self.seen.standing = Some(*standing),
                Effect::Tell(ClientEvent::Confirmed) => self.seen.confirmed += 1,
                Effect::Tell(ClientEvent::Corrected(it)) => self.seen.corrections.push(it),
                Effect::Tell(ClientEvent::Clock(it)) => self.seen.readings.push(it),
                Effect::Ground(_) | Effect::Tell(_) => (),
            }
        }
    }

    /// What is drawn at this moment.
    fn drawn(&self) -> Stance {
        self.shown().drawn(self.now)
    }

    /// Whether anything is added to what is simulated.
    fn is_eased(&self) -> bool {
        let offset = &self.shown().offset;
        offset.feet().iter().any(|it| it.abs() > 0.0) || offset.eye_height().abs() > 0.0
    }

    fn shown(&self) -> &Predicted {
        self.seen.shown.as_ref().unwrap()
    }

    /// What is drawn in each of so many frames at 240 a second.
    fn frames(&mut self, count: u32) -> Vec<Stance> {
        (0..count)
            .map(|_| {
                let next = self.rate.due(u64::from(self.far.tick.0 + 1));
                let frame = self.now + Micros(4_166);
                if next <= frame {
                    self.tick();
                }
                self.pass(frame.max(self.now));
                self.drawn()
            })
            .collect()
    }
}

/// How far two points are apart, metres.
fn apart(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}

/// The longest way between two frames, metres.
fn longest_step(frames: &[Stance]) -> f32 {
    frames.windows(2).map(|pair| apart(pair[0].feet, pair[1].feet)).fold(0.0, f32::max)
}
