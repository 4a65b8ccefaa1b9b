//! What the tick decides: which ticks are due, whose input each one uses, what it publishes. Pure.

use std::collections::BTreeMap;
use std::sync::Arc;

use dh_machine::{Digest, Machine, Micros, Outbox, Tick, TickRate};
use dh_messages::{EntityId, PawnFlags, WorldSettings};
use dh_netcode::{InputQueue, Offered, Taken};
use dh_sim::{Answer, Checkpoint, Frame, Pawn, Placement, World};
use glam::Vec3;

use super::schedule::Schedule;
use super::{Deed, Joining, PeerInputs, Place, TickCommand, TickMsg};
use crate::PeerId;
use crate::event::ServerEvent;
use crate::prefs::Pace;
use crate::roster::ConsoleLine;
use crate::session::Spawned;

/// What the tick wants done.
#[derive(Debug)]
pub enum Effect {
    /// A tick is complete: these sessions get its frame.
    Publish(Arc<Frame>, Vec<PeerId>),
    /// A peer has a pawn.
    Spawned(PeerId, Spawned),
    /// A peer cannot have a pawn.
    NoRoom(PeerId, String),
    /// The world as the last whole tick left it, for a restart.
    Keep(Box<Kept>),
    /// The answer to a console line.
    Answer(ConsoleLine),
    /// A line for the log.
    Warn(String),
    /// The digest of the world after a tick, for the trace.
    Digest(Tick, Digest),
    /// Something for whoever watches.
    Tell(ServerEvent),
}

/// What outlives a panic: the last whole tick.
#[derive(Debug)]
pub struct Kept {
    world: Checkpoint,
    seats: BTreeMap<PeerId, Seat>,
    schedule: Schedule,
}

/// Owns the world and the schedule.
#[derive(Debug)]
pub struct Ticking {
    world: World,
    seats: BTreeMap<PeerId, Seat>,
    schedule: Schedule,
    pace: Pace,
    watched: bool,
    traced: bool,
}

/// One peer's place in the world.
#[derive(Clone, Debug)]
struct Seat {
    pawn: EntityId,
    queue: InputQueue,
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
}

impl Ticking {
    /// The gray box, its first tick due one tick after `now`.
    #[must_use]
    pub fn new(rate: TickRate, pace: Pace, now: Micros) -> Self {
        let mut world = World::gray_box(rate);
        world.set_settings(pace.world);
        let schedule = Schedule::new(rate, now);
        Self { world, seats: BTreeMap::new(), schedule, pace, watched: false, traced: false }
    }

    /// Whether each tick is told to a watcher, and its digest to the trace.
    #[must_use]
    pub fn watched(self, watched: bool, traced: bool) -> Self {
        Self { watched, traced, ..self }
    }

    /// Go back to the last whole tick; the peers are the same.
    #[must_use]
    pub fn restored(mut self, kept: &Kept) -> Self {
        self.world.restore(&kept.world);
        self.seats.clone_from(&kept.seats);
        self.schedule = kept.schedule;
        self
    }

    /// The tick that was completed last.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.world.tick()
    }

    fn join(&mut self, joining: Joining, out: &mut Outbox<Effect>) {
        let pawn = match self.seats.get(&joining.peer) {
            // Asked again after the roster's restart.
            Some(seat) => seat.pawn,
            None => match self.world.spawn_pawn(joining.slot) {
                Ok(pawn) => pawn,
                Err(full) => return out.push(Effect::NoRoom(joining.peer, full.to_string())),
            },
        };
        self.seats.entry(joining.peer).or_insert(Seat { pawn, queue: InputQueue::default() });
        let spawned = Spawned { pawn, tick: self.world.tick().next() };
        out.push(Effect::Spawned(joining.peer, spawned));
    }

    fn leave(&mut self, peer: PeerId) {
        if let Some(seat) = self.seats.remove(&peer) {
            self.world.despawn(seat.pawn);
        }
    }

    fn inputs(&mut self, PeerInputs { peer, inputs }: PeerInputs, out: &mut Outbox<Effect>) {
        let tick = self.world.tick().next();
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        for input in inputs {
            let sequence = input.sequence;
            let offered = seat.queue.offer(input);
            if !self.watched {
                continue;
            }
            match offered {
                Offered::Overflowed(sequence) => {
                    out.push(Effect::Tell(ServerEvent::Overflowed { peer, tick, sequence }));
                }
                Offered::Late => out.push(Effect::Tell(ServerEvent::CameLate { peer, sequence })),
                Offered::Queued | Offered::Duplicate | Offered::Stale => (),
            }
        }
    }

    /// One whole tick: each pawn's one input, movement, and the frame that everybody gets.
    fn run(&mut self, out: &mut Outbox<Effect>) {
        let mut turns: Vec<Turn> =
            self.seats.iter_mut().map(|(peer, seat)| Turn::take(*peer, seat)).collect();
        turns.sort_unstable_by_key(|turn| turn.pawn.slot());
        let turn_of = |pawn: EntityId| {
            let at = turns.binary_search_by_key(&pawn.slot(), |turn| turn.pawn.slot()).ok()?;
            turns.get(at)
        };
        let tick = self.world.step(|pawn| turn_of(pawn)?.taken.input().cloned());
        let frame =
            self.world.publish(|pawn| turn_of(pawn).map_or_else(Answer::default, |it| it.answer));
        out.push(Effect::Publish(frame, self.seats.keys().copied().collect()));
        self.tell(tick, &turns, out);
        out.push(Effect::Keep(Box::new(Kept {
            world: self.world.checkpoint(),
            seats: self.seats.clone(),
            schedule: self.schedule,
        })));
    }

    fn tell(&self, tick: Tick, turns: &[Turn], out: &mut Outbox<Effect>) {
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
        for Turn { peer, taken, .. } in turns {
            let peer = *peer;
            match taken {
                Taken::Fresh(input) => {
                    let sequence = input.sequence;
                    out.push(Effect::Tell(ServerEvent::Applied { peer, tick, sequence }));
                }
                Taken::Repeated(_) | Taken::Standing(_) => {
                    out.push(Effect::Tell(ServerEvent::Starved { peer, tick }));
                }
                Taken::Nothing => (),
            }
        }
        let pawns = u32::try_from(self.world.pawns().count()).unwrap_or(u32::MAX);
        out.push(Effect::Tell(ServerEvent::Ticked { tick, digest: digest.value(), pawns }));
    }

    fn command(&mut self, command: &TickCommand, out: &mut Outbox<Effect>) {
        let TickCommand { id, slot, deed } = command;
        let text = match self.pawn_in(*slot) {
            None => format!("#{slot} has no pawn"),
            Some(pawn) => match deed {
                Deed::Teleport(to) => self.teleport(*slot, pawn, *to),
                Deed::Noclip(on) => self.noclip(*slot, pawn, *on),
                Deed::Respawn => {
                    self.world.respawn(pawn);
                    format!("respawn: #{slot} is at a spawn point")
                }
            },
        };
        out.push(Effect::Answer(ConsoleLine { id: *id, text }));
    }

    fn teleport(&mut self, slot: u8, pawn: EntityId, to: Place) -> String {
        let feet = match to {
            Place::Point(point) => Vec3::from_array(point),
            Place::Beside(other) => match self.pawn_in(other).and_then(|id| self.world.pawn(id)) {
                Some(other) => other.state().feet,
                None => return format!("tp: #{other} has no pawn"),
            },
        };
        if self.world.teleport(pawn, Placement { feet, yaw: None }) {
            format!("tp: #{slot} is at {:.2} {:.2} {:.2}", feet.x, feet.y, feet.z)
        } else {
            format!("tp: {} {} {} is outside the world", feet.x, feet.y, feet.z)
        }
    }

    fn noclip(&mut self, slot: u8, pawn: EntityId, on: Option<bool>) -> String {
        let flying = self.world.pawn(pawn).is_some_and(|pawn| {
            pawn.state().flags.contains(PawnFlags::NOCLIP)
        });
        let on = on.unwrap_or(!flying);
        self.world.set_noclip(pawn, on);
        format!("noclip: #{slot} is {}", if on { "on" } else { "off" })
    }

    fn pawn_in(&self, slot: u8) -> Option<EntityId> {
        self.world.pawns().find(|pawn| pawn.slot() == slot).map(Pawn::id)
    }

    fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
        self.set_world(pace.world);
    }

    fn set_world(&mut self, settings: WorldSettings) {
        self.world.set_settings(settings);
        self.schedule.set_scale(self.world.settings().time_scale);
    }
}

impl Machine for Ticking {
    type Msg = TickMsg;
    type Effect = Effect;

    fn handle(&mut self, _now: Micros, msg: TickMsg, out: &mut Outbox<Effect>) {
        match msg {
            TickMsg::Join(joining) => self.join(joining, out),
            TickMsg::Leave(peer) => self.leave(peer),
            TickMsg::Command(command) => self.command(&command, out),
            TickMsg::Prefs(prefs) => self.set_pace(Pace::of(&prefs)),
            TickMsg::Inputs(inputs) => self.inputs(inputs, out),
        }
    }

    /// Ticks that are due, at most as many as one turn may catch up with; the rest follow at once.
    fn wake(&mut self, now: Micros, out: &mut Outbox<Effect>) {
        if let Some(excess) = self.schedule.give_up_excess(now) {
            let millis = excess.0 / 1_000;
            out.push(Effect::Warn(format!(
                "the tick loop is more than 2 s behind; gave up {millis} ms of simulated time"
            )));
        }
        for _ in 0..self.pace.catch_up_max {
            if !self.schedule.begin(now) {
                return;
            }
            self.run(out);
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
