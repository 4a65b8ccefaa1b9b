//! A checkpoint as words, so that a world can be gone on with in another process. The map is left
//! out: whoever reads it brings the same one.

use std::sync::Arc;

use dh_machine::{Damage, Tick, TickRate, Words, halves, joined};
use dh_messages::{EntityId, NetKind, PawnFlags, WorldSettings};
use glam::{Quat, Vec3};

use super::checkpoint::{Checkpoint, Live};
use super::entity::Entity;
use super::placer::PawnPlacer;
use super::slots::Slots;
use super::{Pawn, Prop, fit_settings};
use crate::ground::Ground;
use crate::mover::MoverState;

/// The fewest words of an entity.
const ENTITY_WORDS: usize = 6;
/// What stands before a pawn and before a prop.
const PAWN: u64 = 1;
const PROP: u64 = 2;

impl Checkpoint {
    /// Appends everything but the map.
    pub fn to_words(&self, out: &mut Vec<u64>) {
        let live = &self.0;
        out.push(joined(live.tick.0, live.generation));
        let WorldSettings { time_scale, noclip_speed } = live.settings;
        out.push(joined(time_scale.to_bits(), noclip_speed.to_bits()));
        out.push(live.solids.digest());
        live.slots.to_words(out);
        out.push(live.placer.word());
        out.push(live.entities.iter().flatten().count() as u64);
        for entity in live.entities.iter().flatten() {
            match entity {
                Entity::Pawn(pawn) => {
                    out.push(PAWN);
                    pawn.to_words(out);
                }
                Entity::Prop(id, prop) => {
                    out.push(PROP);
                    out.push(joined(id.0, u32::from(prop.kind.value())));
                    let [x, y, z] = prop.position.to_array().map(f32::to_bits);
                    let [i, j, k, w] = prop.rotation.to_array().map(f32::to_bits);
                    out.extend([joined(x, y), joined(z, i), joined(j, k), u64::from(w)]);
                }
            }
        }
    }

    /// The checkpoint of these words in the map it was taken in.
    ///
    /// # Errors
    /// They are none, or it was taken in another map.
    pub fn of_words(words: &mut Words<'_>, rate: TickRate, ground: Ground) -> Result<Self, Damage> {
        let (tick, generation) = halves(words.next("a tick and a generation")?);
        let settings = words.read("settings in their ranges", settings)?;
        let digest = ground.solids.digest();
        words.read("the map it was taken in", |word| (word == digest).then_some(()))?;
        let slots = Slots::of_words(words, rate)?;
        let spawns = ground.spawns.len();
        let next = words.read("a spawn point of the map", |word| {
            usize::try_from(word).ok().filter(|next| *next < spawns)
        })?;
        let mut live = Live {
            tick: Tick(tick),
            generation,
            settings,
            solids: Arc::clone(&ground.solids),
            slots,
            placer: PawnPlacer::going_on(ground.spawns, next),
            entities: vec![None],
            pawns: Vec::new(),
        };
        let in_use = live.slots.in_use();
        let count = words.damage("as many entities as there are slots in use");
        if words.count("entities", ENTITY_WORDS)? != in_use {
            return Err(count);
        }
        for _ in 0..in_use {
            let order = words.damage("entities in the order of their slots");
            let entity = entity(words)?;
            let (slot, last) = (entity.id().slot(), live.entities.len());
            let at = slot as usize;
            if at < last || in_use + live.slots.resting() < at {
                return Err(order);
            }
            if matches!(entity, Entity::Pawn(_)) {
                live.pawns.push(slot);
            }
            // Paid for: each slot up to here is in use or rests.
            live.entities.resize(at, None);
            live.entities.push(Some(entity));
        }
        Ok(Self(live))
    }
}

fn settings(word: u64) -> Option<WorldSettings> {
    let (time_scale, noclip_speed) = halves(word);
    let [time_scale, noclip_speed] = [time_scale, noclip_speed].map(f32::from_bits);
    let settings = WorldSettings { time_scale, noclip_speed };
    (fit_settings(settings) == settings).then_some(settings)
}

fn entity(words: &mut Words<'_>) -> Result<Entity, Damage> {
    if words.read("a pawn or a prop", |word| matches!(word, PAWN | PROP).then_some(word))? == PAWN {
        return Ok(Entity::Pawn(Pawn::of_words(words)?));
    }
    let (id, kind) = words.read("an id and a kind", |word| {
        let (id, kind) = halves(word);
        Some((EntityId(id), NetKind::of_value(u8::try_from(kind).ok()?)))
    })?;
    let here = words.damage("a pose of numbers");
    let [(x, y), (z, i), (j, k), (_, w)] = [
        halves(words.next("a pose")?),
        halves(words.next("a pose")?),
        halves(words.next("a pose")?),
        halves(words.next("a pose")?),
    ];
    let position = Vec3::from_array([x, y, z].map(f32::from_bits));
    let rotation = Quat::from_array([i, j, k, w].map(f32::from_bits));
    let prop = Prop { kind, position, rotation };
    if prop.is_finite() { Ok(Entity::Prop(id, prop)) } else { Err(here) }
}

impl Pawn {
    fn to_words(self, out: &mut Vec<u64>) {
        let [slot, epoch, frozen] = [self.slot(), self.epoch(), self.frozen()].map(u32::from);
        out.push(joined(self.id().0, slot << 16 | epoch << 8 | frozen));
        let state = self.state().words();
        out.extend(state.chunks(2).map(|two| joined(two[0], two.get(1).copied().unwrap_or(0))));
    }

    fn of_words(words: &mut Words<'_>) -> Result<Self, Damage> {
        let (id, [_, slot, epoch, frozen]) = words.read("a pawn", |word| {
            let (id, rest) = halves(word);
            Some((EntityId(id), rest.to_be_bytes()))
        })?;
        let mut state = [0; 16];
        let here = words.damage("a state of numbers");
        for two in state.chunks_mut(2) {
            (two[0], two[1]) = halves(words.next("a pawn's state")?);
        }
        let state = MoverState::of_words(&state[..15]).ok_or(here)?;
        Ok(Self::going_on((id, slot), state, epoch, frozen))
    }
}

impl MoverState {
    /// The state of these words, as they are folded into a digest.
    fn of_words(words: &[u32]) -> Option<Self> {
        let &[x, y, z, vx, vy, vz, nx, ny, nz, yaw, pitch, stance, eye, ground, flags] = words
        else {
            return None;
        };
        let floats = [x, y, z, vx, vy, vz, nx, ny, nz, yaw, pitch, stance, eye].map(f32::from_bits);
        let [x, y, z, vx, vy, vz, nx, ny, nz, yaw, pitch, stance_height, eye_height] = floats;
        floats.iter().all(|it| it.is_finite()).then_some(())?;
        Some(Self {
            feet: Vec3::new(x, y, z),
            velocity: Vec3::new(vx, vy, vz),
            yaw,
            pitch,
            stance_height,
            eye_height,
            ground: EntityId(ground),
            ground_normal: Vec3::new(nx, ny, nz),
            flags: PawnFlags::of_bits(u16::try_from(flags).ok()?)?,
        })
    }
}
