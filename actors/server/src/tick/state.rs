//! What the tick decides: which ticks are due, whose input each one uses, what it publishes. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_host::pacer::{Pacing, RateWatch, SlowRate};
use dh_machine::planted::{self, Bug};
use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{EntityId, WorldSettings};
use dh_netcode::{InputQueue, Offered, Taken};
use dh_sim::{Answer, Frame, FreezeReason, Ground, Solids, World};

use super::journal::Entry;
pub use super::kept::Kept;
use super::kept::Seat;
use super::schedule::Schedule;
use super::{Arrival, Joining, PeerInputs, TickMsg};
use crate::PeerId;
use crate::event::ServerEvent;
use crate::map_switch::{Installed, PreparedMap};
use crate::prefs::Pace;
use crate::roster::ConsoleLine;
use crate::session::Spawned;

/// Spaces for what is kept that are used again: those of the journal, of the performer, and one to
/// fill.
const KEPT_MAX: usize = 8;

/// What the tick wants done.
#[derive(Debug)]
pub enum Effect {
    /// A tick is complete: these sessions get its frame.
    Publish(Arc<Frame>, Vec<PeerId>),
    /// A peer has a pawn.
    Spawned(PeerId, Spawned),
    /// A peer cannot have a pawn.
    NoRoom(PeerId, String),
    /// This map stands under this generation.
    Installed(Arc<PreparedMap>, Installed),
    /// The world as it stands between two ticks, for a restart.
    Keep(Arc<Kept>),
    /// Wait for ticks like this from now on.
    Pace(Pacing),
    /// The answer to a console line.
    Answer(ConsoleLine),
    /// Ticks come too rarely.
    Slow(SlowRate),
    /// Something entered the world, or a tick is complete.
    Journal(Entry),
    /// A line for the log.
    Warn(String),
    /// A line for those who look closely.
    Detail(String),
    /// The digest of the world after a tick, for the trace.
    Digest(Tick, Digest),
    /// What one tick or one message led to, for whoever watches.
    Tell(Vec<ServerEvent>),
}

/// Owns the world and the schedule.
#[derive(Debug)]
pub struct Ticking {
    pub(super) world: World,
    seats: BTreeMap<PeerId, Seat>,
    schedule: Schedule,
    pace: Pace,
    rate_watch: RateWatch,
    given_up: GivenUp,
    /// What was kept lately; one that nobody else holds is filled again.
    kept: Vec<Arc<Kept>>,
    watched: bool,
    traced: bool,
    journaled: bool,
}

/// Simulated time that was given up because it could not be caught up with.
#[derive(Clone, Copy, Debug, Default)]
struct GivenUp {
    /// Not told yet.
    span: Micros,
    told: Option<Micros>,
}

/// What one tick does with one peer.
#[derive(Debug)]
struct Turn {
    peer: PeerId,
    pawn: EntityId,
    taken: Taken,
    answer: Answer,
}

impl Turn {
    fn take(peer: PeerId, seat: &mut Seat) -> Self {
        let taken = seat.queue.take();
        let answer = Answer { input_ack: seat.queue.ack(), depth: seat.queue.depth() };
        Self { peer, pawn: seat.pawn, taken, answer }
    }

    /// What became of its input, for whoever watches.
    fn event(&self, tick: Tick) -> Option<ServerEvent> {
        let peer = self.peer;
        match &self.taken {
            Taken::Fresh(input) => {
                Some(ServerEvent::Applied { peer, tick, sequence: input.sequence })
            }
            Taken::Repeated(_) | Taken::Standing(_) => Some(ServerEvent::Starved { peer, tick }),
            Taken::Nothing => None,
        }
    }
}

impl Ticking {
    /// A world on this ground, its first tick due one tick after `now`.
    #[must_use]
    pub fn new(rate: TickRate, ground: Ground, pace: Pace, now: Micros) -> Self {
        let mut ticking = Self {
            world: World::new(rate, ground.solids, ground.spawns),
            seats: BTreeMap::new(),
            schedule: Schedule::new(rate, now),
            pace,
            rate_watch: RateWatch::new(f64::from(rate.hz()), 0.0, Micros(0)),
            given_up: GivenUp::default(),
            kept: Vec::new(),
            watched: false,
            traced: false,
            journaled: false,
        };
        ticking.live_by_pace();
        ticking
    }

    /// Whether each tick is told to a watcher, and its digest to the trace.
    #[must_use]
    pub fn watched(self, watched: bool, traced: bool) -> Self {
        Self { watched, traced, ..self }
    }

    /// Whether everything that enters the world is told for the journal.
    #[must_use]
    pub fn journaled(self, journaled: bool) -> Self {
        Self { journaled, ..self }
    }

    /// Go back to what was kept, for those of its peers that are still here.
    #[must_use]
    pub fn restored(mut self, kept: &Kept, peers: &[PeerId]) -> Self {
        self.world.restore(&kept.world);
        self.seats.clone_from(&kept.seats);
        self.schedule = kept.schedule;
        let gone: Vec<PeerId> =
            self.seats.keys().filter(|peer| !peers.contains(peer)).copied().collect();
        gone.into_iter().for_each(|peer| self.leave(peer));
        self.live_by_pace();
        self
    }

    /// Keep who is here and what time it is, and nothing else: every pawn starts anew.
    #[must_use]
    pub fn anew(mut self) -> Self {
        for seat in self.seats.values_mut() {
            seat.queue = InputQueue::default();
            self.world.respawn(seat.pawn);
        }
        self
    }

    /// The same, in the gray box: the map may be what fails.
    #[must_use]
    pub fn without_its_map(mut self) -> Self {
        // Nothing waits for this world: it has failed again and again.
        drop(self.stand_on(Ground::gray_box()));
        self
    }

    /// The tick that was completed last.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.world.tick()
    }

    fn join(&mut self, joining: Joining, out: &mut Outbox<Effect>) {
        let Joining { peer, slot } = joining;
        let pawn = match self.seats.get(&peer) {
            // Asked again after a restart.
            Some(seat) => seat.pawn,
            None => {
                self.clear_slot(slot);
                match self.world.spawn_pawn(slot) {
                    Ok(pawn) => pawn,
                    Err(full) => return out.push(Effect::NoRoom(peer, full.to_string())),
                }
            }
        };
        self.seats.entry(peer).or_insert_with(|| Seat { pawn, queue: InputQueue::default() });
        let spawned = Spawned { pawn, tick: self.world.tick().next() };
        out.push(Effect::Spawned(peer, spawned));
        self.keep(out);
    }

    /// A slot has one pawn. Whoever had it was replaced, and its goodbye is still on its way.
    fn clear_slot(&mut self, slot: u8) {
        let Some(pawn) = self.pawn_in(slot) else { return };
        let holder = self.seats.iter().find(|(_, seat)| seat.pawn == pawn).map(|(peer, _)| *peer);
        holder.into_iter().for_each(|peer| self.leave(peer));
    }

    fn leave(&mut self, peer: PeerId) {
        if let Some(seat) = self.seats.remove(&peer) {
            self.world.despawn(seat.pawn);
        }
    }

    fn inputs(&mut self, PeerInputs { peer, inputs }: PeerInputs, out: &mut Outbox<Effect>) {
        let tick = self.world.tick().next();
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        let mut events = Vec::new();
        for input in inputs {
            let sequence = input.sequence;
            match seat.queue.offer(input) {
                Offered::Overflowed(sequence) => {
                    events.push(ServerEvent::Overflowed { peer, tick, sequence });
                }
                Offered::Late => events.push(ServerEvent::CameLate { peer, sequence }),
                Offered::Queued => (),
                Offered::Duplicate | Offered::Stale => continue,
            }
            if self.journaled {
                out.push(Effect::Journal(Entry::Input(peer, input)));
            }
        }
        if self.watched && !events.is_empty() {
            out.push(Effect::Tell(events));
        }
    }

    /// The map in one action, between two ticks: the former one goes, this one stands, every pawn
    /// starts anew in it and waits there for its player.
    fn install(&mut self, map: Arc<PreparedMap>, out: &mut Outbox<Effect>) {
        self.note(out, || Entry::Map(Box::new(map.advert.clone())));
        let former = self.stand_on(map.ground.clone());
        let generation = self.world.generation();
        out.push(Effect::Installed(map, Installed { generation, former }));
        self.keep(out);
    }

    /// What stood before comes back, to be let go of by a thread that has the time.
    fn stand_on(&mut self, ground: Ground) -> Arc<Solids> {
        let former = self.world.replace_map(ground.solids, ground.spawns);
        for seat in self.seats.values_mut() {
            seat.queue = InputQueue::default();
            self.world.set_frozen(seat.pawn, FreezeReason::Arrival, true);
        }
        former
    }

    /// Which map stands.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.world.generation()
    }

    /// The player sees the map that its pawn stands in. One that was replaced before this came is
    /// nothing to the pawn: it waits on, and its player is told of the next.
    fn arrived(&mut self, Arrival { peer, generation }: Arrival, out: &mut Outbox<Effect>) {
        let stands = self.generation();
        if generation != stands {
            return out.push(Effect::Detail(format!(
                "peer {} has loaded map {generation}, and map {stands} stands",
                peer.0
            )));
        }
        self.note(out, || Entry::Arrived(peer));
        if let Some(seat) = self.seats.get(&peer) {
            self.world.set_frozen(seat.pawn, FreezeReason::Arrival, false);
        }
        self.keep(out);
    }

    /// Whether a pawn waits for this arrival.
    #[must_use]
    pub fn awaits(&self, Arrival { peer, generation }: Arrival) -> bool {
        let pawn = self.seats.get(&peer).and_then(|seat| self.world.pawn(seat.pawn));
        let waits = pawn.is_some_and(|pawn| pawn.is_frozen(FreezeReason::Arrival));
        waits && generation == self.generation()
    }

    /// One whole tick, and whether ticks come too rarely.
    fn run(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        self.step(out);
        if let Some(slow) = self.rate_watch.ticked(now) {
            out.push(Effect::Slow(slow));
        }
    }

    /// One tick whatever the schedule says, as a replay runs it; its digest.
    pub(super) fn run_one(&mut self, out: &mut Outbox<Effect>) -> u64 {
        self.step(out);
        self.whole_digest()
    }

    /// Each pawn's one input, movement, and the frame that everybody gets.
    fn step(&mut self, out: &mut Outbox<Effect>) {
        let mut turns: Vec<Turn> =
            self.seats.iter_mut().map(|(peer, seat)| Turn::take(*peer, seat)).collect();
        if !planted::is(Bug::TurnsUnsorted) {
            turns.sort_unstable_by_key(|turn| turn.pawn.slot());
        }
        let turn_of = |pawn: EntityId| {
            let at = turns.binary_search_by_key(&pawn.slot(), |turn| turn.pawn.slot()).ok()?;
            turns.get(at)
        };
        let tick = self.world.step(|pawn| turn_of(pawn)?.taken.input().cloned());
        let frame =
            self.world.publish(|pawn| turn_of(pawn).map_or_else(Answer::default, |it| it.answer));
        out.push(Effect::Publish(Arc::clone(&frame), self.seats.keys().copied().collect()));
        self.tell(tick, &turns, &frame, out);
        self.note(out, || Entry::Tick(tick, self.whole_digest()));
    }

    fn whole_digest(&self) -> u64 {
        let mut digest = Digest::new();
        self.digest(&mut digest);
        digest.value()
    }

    fn note(&self, out: &mut Outbox<Effect>, entry: impl FnOnce() -> Entry) {
        if self.journaled {
            out.push(Effect::Journal(entry()));
        }
    }

    /// The settings of the world, as a journal tells them.
    pub(super) fn set_world(&mut self, settings: WorldSettings) {
        self.world.set_settings(settings);
    }

    /// Keep the world as it stands, in the space of what was kept before and nobody holds any more.
    pub(super) fn keep(&mut self, out: &mut Outbox<Effect>) {
        let free = self.kept.iter_mut().enumerate();
        let free = free.filter_map(|(at, kept)| Some((at, Arc::get_mut(kept)?))).next();
        let at = match free {
            Some((at, kept)) => {
                self.world.checkpoint_into(&mut kept.world);
                kept.seats.clone_from(&self.seats);
                kept.schedule = self.schedule;
                at
            }
            None => {
                if self.kept.len() == KEPT_MAX {
                    self.kept.remove(0);
                }
                self.kept.push(self.kept_anew());
                self.kept.len() - 1
            }
        };
        out.push(Effect::Keep(Arc::clone(&self.kept[at])));
    }

    /// The same in a space of its own.
    pub(super) fn kept_anew(&self) -> Arc<Kept> {
        let (world, seats) = (self.world.checkpoint(), self.seats.clone());
        Arc::new(Kept { world, seats, schedule: self.schedule })
    }

    fn tell(&self, tick: Tick, turns: &[Turn], frame: &Arc<Frame>, out: &mut Outbox<Effect>) {
        if !self.watched && !self.traced {
            return;
        }
        let mut digest = Digest::new();
        self.world.digest(&mut digest);
        if self.traced {
            out.push(Effect::Digest(tick, digest));
        }
        if !self.watched {
            return;
        }
        let mut events = Vec::with_capacity(turns.len() + 1);
        events.extend(turns.iter().filter_map(|turn| turn.event(tick)));
        let (frame, digest) = (Arc::clone(frame), digest.value());
        events.push(ServerEvent::Ticked { frame, digest });
        out.push(Effect::Tell(events));
    }

    fn set_pace(&mut self, pace: Pace, out: &mut Outbox<Effect>) {
        self.pace = pace;
        self.live_by_pace();
        self.note(out, || Entry::Settings(self.world.settings()));
        out.push(Effect::Pace(pace.pacing));
    }

    /// Have the world, the schedule and the warning follow the preferences.
    fn live_by_pace(&mut self) {
        self.world.set_settings(self.pace.world);
        let time_scale = self.world.settings().time_scale;
        self.schedule.set_scale(time_scale);
        let nominal = f64::from(self.world.rate().hz()) * f64::from(time_scale);
        let fraction = f64::from(self.pace.warn_fraction);
        self.rate_watch.set(nominal, fraction, self.pace.warn_interval);
    }

    /// What is more than 2 s behind is given up, and told now and then.
    fn give_up_excess(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        let Some(excess) = self.schedule.give_up_excess(now) else { return };
        let GivenUp { span, told } = &mut self.given_up;
        *span = *span + excess;
        if told.is_some_and(|at| now.since(at) < self.pace.warn_interval) {
            return;
        }
        let millis = span.0 / 1_000;
        (*span, *told) = (Micros(0), Some(now));
        out.push(Effect::Warn(format!(
            "the tick loop is more than 2 s behind; gave up {millis} ms of simulated time"
        )));
    }
}

impl Machine for Ticking {
    type Msg = TickMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: TickMsg, out: &mut Outbox<Effect>) {
        match msg {
            TickMsg::Join(joining) => {
                self.note(out, || Entry::Join(joining));
                self.join(joining, out);
            }
            TickMsg::Leave(peer) => {
                self.note(out, || Entry::Leave(peer));
                self.leave(peer);
                self.keep(out);
            }
            TickMsg::Arrived(arrival) => self.arrived(arrival, out),
            TickMsg::Install(map) => self.install(map, out),
            TickMsg::Command(command) => {
                self.note(out, || Entry::Deed(command.slot, command.deed));
                self.command(&command, out);
            }
            TickMsg::Prefs(prefs) => self.set_pace(Pace::of(&prefs), out),
            TickMsg::Inputs(inputs) => self.inputs(inputs, out),
        }
    }

    /// Ticks that are due, at most as many as one turn may catch up with; the rest follow at once.
    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        self.give_up_excess(now, out);
        let before = self.tick();
        for _ in 0..self.pace.catch_up_max {
            if !self.schedule.begin(now) {
                break;
            }
            self.run(now, out);
        }
        if self.tick() != before {
            self.keep(out);
        }
    }

    fn next_deadline(&self) -> Option<Micros> {
        Some(self.schedule.next_due())
    }

    fn digest(&self, digest: &mut Digest) {
        self.world.digest(digest);
        self.seats.values().for_each(|seat| seat.queue.digest(digest));
    }
}
