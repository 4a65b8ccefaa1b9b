//! Random other builds: whatever a build changes, what both still have arrives, both ways.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use proptest::sample::Index;

use super::shapes::{Everything, Growing, Later, bytes, everything};
use crate::plan::{Plan, Planned, Scratch};
use crate::schema::{CountAt, Edit, MessageEntry, Schema, Shape, Type};
use crate::slot::Slot;
use crate::stride::stride;
use crate::walk::{Group, Mark, Walk};
use crate::{Fields as _, Kind, WireError, decode};

const UP: &str = "toServer";
/// What stands where it stands: a list, and the field that counts it.
const FIXED: [&str; 2] = ["CountedPacket", "CountedHead"];

fn own() -> Schema {
    let mut schema = Schema::new(2);
    let shape = schema.shape::<Everything>().unwrap();
    let (direction, name, channel) = (UP.to_string(), "it".to_string(), "stream".to_string());
    schema.messages.push(MessageEntry { direction, id: 7, name, channel, frame: false, shape });
    schema
}

/// Sets every field that was forgotten back to what it held before a visit.
struct Forget<'a> {
    forgotten: &'a BTreeSet<(String, String)>,
    /// The record around, and whether it is forgotten itself.
    around: Vec<(String, bool)>,
}

impl Forget<'_> {
    fn is_forgotten(&self, name: &str) -> bool {
        self.around.last().is_some_and(|(shape, is_forgotten)| {
            *is_forgotten || self.forgotten.contains(&(shape.clone(), name.to_string()))
        })
    }
}

impl Walk for Forget<'_> {
    fn leaf(&mut self, name: &'static str, slot: Slot<'_>) -> Result<(), WireError> {
        if !self.is_forgotten(name) {
            return Ok(());
        }
        let later = self.around.last().is_some_and(|(shape, _)| shape == "Later");
        match slot {
            Slot::U8(v) => *v = 0,
            // The one field of all that holds something else by itself.
            Slot::U16(v) if later => *v = Later::default().second,
            Slot::U16(v) | Slot::Count16(v) => *v = 0,
            Slot::U32(v) | Slot::Varu32(v) => *v = 0,
            Slot::U64(v) => *v = 0,
            Slot::I8(v) => *v = 0,
            Slot::I16(v) => *v = 0,
            Slot::I32(v) => *v = 0,
            Slot::I64(v) => *v = 0,
            Slot::F32(v) => *v = 0.0,
            Slot::F64(v) => *v = 0.0,
            Slot::Bool(v) => *v = false,
            Slot::F32x3(v) => *v = [0.0; 3],
            Slot::F32x4(v) => *v = [0.0; 4],
            Slot::Hash128(v) | Slot::Guid(v) => *v = [0; 16],
            Slot::Root(v) => *v = [0; 32],
            Slot::Rest(v) => v.clear(),
            Slot::Str8(v) | Slot::Str16(v) => v.text.clear(),
            Slot::Enum(v) => {
                let first = v.names.members.first().map_or(0, |(_, value)| *value);
                v.value = if v.names.open { 0 } else { first };
            }
            Slot::Flags(v) => v.value = 0,
        }
        Ok(())
    }

    fn record(&mut self, name: &'static str, shape: &'static str) -> Result<Mark, WireError> {
        let is_forgotten = self.is_forgotten(name);
        self.around.push((shape.to_string(), is_forgotten));
        Ok(Mark::FLAT)
    }

    fn open(&mut self, name: &'static str, group: Group<'_>) -> Result<Mark, WireError> {
        let is_forgotten = self.is_forgotten(name);
        let shape = match group {
            Group::Optional(present) => {
                *present &= !is_forgotten;
                String::new()
            }
            Group::List(list) => {
                list.len = if is_forgotten { 0 } else { list.len };
                String::new()
            }
            Group::Sparse(mask) => {
                for (member, bit) in mask.names.members {
                    let member = (mask.names.name.to_string(), (*member).to_string());
                    if is_forgotten || self.forgotten.contains(&member) {
                        mask.value &= !(1 << bit);
                    }
                }
                String::new()
            }
            Group::Union(tag) => {
                let first = tag.names.members.first().map_or(0, |(_, tag)| *tag);
                tag.value = if is_forgotten { first } else { tag.value };
                String::new()
            }
            Group::Section | Group::Tail(_) => String::new(),
        };
        self.around.push((shape, is_forgotten));
        Ok(Mark::FLAT)
    }

    fn close(&mut self, _: Mark) -> Result<(), WireError> {
        self.around.pop();
        Ok(())
    }
}

/// What is kept of a value once these fields are forgotten.
fn without(mut value: Everything, forgotten: &BTreeSet<(String, String)>) -> Everything {
    let around = [("Everything".to_string(), false)].into();
    let mut forget = Forget { forgotten, around };
    let walk: &mut dyn Walk = &mut forget;
    value.fields(walk).unwrap();
    // Members that are not set are no part of a value.
    let lamp = &mut value.lamp;
    for (bit, held) in [0, 1, 2, 3].into_iter().zip([0, 0, 0, 0]) {
        if lamp.set >> bit & 1 == held {
            match bit {
                0 => lamp.on = 0,
                1 => lamp.level = 0.0,
                2 => lamp.colour = 0,
                _ => lamp.angle = 0,
            }
        }
    }
    value
}

fn added(choice: usize) -> Type {
    let boxed = |kind| alloc::boxed::Box::new(Type::Leaf(kind));
    let list = |count, entry| Type::List { count, cap: 200, entry };
    match choice % 11 {
        0 => Type::Leaf(Kind::U8),
        1 => Type::Leaf(Kind::Varu32),
        2 => Type::Leaf(Kind::Root),
        3 => Type::Str8(9),
        4 => Type::Str16(900),
        5 => Type::Optional(boxed(Kind::F32x3)),
        6 => list(CountAt::One, boxed(Kind::U16)),
        7 => list(CountAt::Two, Type::Str8(20).into()),
        8 => Type::Named("Lamp".to_string()),
        9 => Type::Named("Material".to_string()),
        _ => Type::Section(Type::Named("Pair".to_string()).into()),
    }
}

/// A change of this schema that these numbers choose, and what of this build it forgets.
fn choose(schema: &Schema, [what, shape, field, to]: [usize; 4]) -> Option<(Edit, bool)> {
    let shapes: Vec<&String> = schema.shapes.keys().collect();
    let shape = shapes[shape % shapes.len()];
    let names: Vec<String> = match &schema.shapes[shape] {
        Shape::Record(fields) | Shape::Sparse(_, fields) => {
            fields.iter().map(|field| field.name.clone()).collect()
        }
        Shape::Union(_, cases) => cases.iter().map(|case| case.name.clone()).collect(),
        Shape::Enum { .. } | Shape::Flags(..) => Vec::new(),
    };
    let is_union = matches!(schema.shapes[shape], Shape::Union(..));
    let is_fixed = FIXED.contains(&shape.as_str());
    let name = names.get(field % names.len().max(1)).cloned();
    let shape = shape.clone();
    Some(match what % 6 {
        0 => {
            let at = to % (names.len() + 1);
            (Edit::Add { shape, at, name: format!("new{field}"), kind: added(to) }, false)
        }
        1 if !is_union && !is_fixed => (Edit::Remove { shape, name: name? }, true),
        2 if !is_fixed => (Edit::Move { shape, name: name?, to: to % names.len() }, false),
        3 => (Edit::Widen { shape, name: name.filter(|_| to % 4 > 0 && !is_union) }, false),
        4 => (Edit::Renumber { shape }, false),
        5 if !is_union && !is_fixed => {
            (Edit::Rename { shape, from: name?, to: format!("was{field}") }, true)
        }
        _ => return None,
    })
}

/// Another build, and what of this one it does not have.
fn another(choices: &[[usize; 4]]) -> (Schema, BTreeSet<(String, String)>) {
    let (mut schema, mut forgotten) = (own(), BTreeSet::new());
    for choice in choices {
        let Some((edit, forgets)) = choose(&schema, *choice) else { continue };
        let mut edited = schema.clone();
        // A change that a build could not make, as what would follow a tail.
        if edited.edit(&edit).is_err() || Schema::read(edited.text().as_bytes()).is_err() {
            continue;
        }
        schema = edited;
        match edit {
            Edit::Remove { shape, name } | Edit::Rename { shape, from: name, .. } if forgets => {
                forgotten.insert((shape, name));
            }
            _ => {}
        }
    }
    (schema, forgotten)
}

fn rewrite(plan: &Plan, packet: &[u8]) -> Vec<u8> {
    let mut scratch = Scratch::default();
    match plan.rewrite(7, packet, &mut scratch).unwrap() {
        Planned::Same(7) => packet.to_vec(),
        Planned::Rewritten(7) => scratch.body().to_vec(),
        other => panic!("{other:?}"),
    }
}

fn a_value() -> Everything {
    let mut value = everything();
    value.names.growing = Growing::Door;
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// FIX-08, PLAN-03, PLAN-05, PLAN-08
    #[test]
    fn what_both_builds_have_arrives_both_ways(
        choices in prop::collection::vec(any::<[Index; 4]>(), 1..24),
    ) {
        let choices: Vec<[usize; 4]> =
            choices.iter().map(|it| it.map(|it| it.index(1 << 20))).collect();
        let (other, forgotten) = another(&choices);
        let (to, from) = (Plan::new(&other, own(), UP), Plan::new(&own(), other.clone(), UP));
        let (to, from) = (to.unwrap(), from.unwrap());
        let packet = bytes(a_value());
        let theirs = rewrite(&to, &packet);
        let mut end = 0;
        let walked = stride(&other, "Everything", &theirs, &mut |step| end = step.range.end);
        prop_assert_eq!(walked, Ok(()));
        prop_assert!(end == theirs.len() || theirs.is_empty());
        let back: Everything = decode(&rewrite(&from, &theirs)).unwrap();
        prop_assert_eq!(back, without(a_value(), &forgotten));
    }

    #[test]
    fn no_packet_breaks_a_plan_or_grows_beyond_its_share(
        choices in prop::collection::vec(any::<[Index; 4]>(), 1..12),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
        cut: Index,
    ) {
        let choices: Vec<[usize; 4]> =
            choices.iter().map(|it| it.map(|it| it.index(1 << 20))).collect();
        let (other, _) = another(&choices);
        let to = Plan::new(&other, own(), UP).unwrap();
        let from = Plan::new(&own(), other, UP).unwrap();
        let mut packet = rewrite(&to, &bytes(a_value()));
        for (at, byte) in changes {
            if !packet.is_empty() {
                let at = at.index(packet.len());
                packet[at] = byte;
            }
        }
        packet.truncate(cut.index(packet.len() + 1));
        let mut scratch = Scratch::default();
        if let Ok(Planned::Rewritten(_)) = from.rewrite(7, &packet, &mut scratch) {
            let out = scratch.body();
            let _ = decode::<Everything>(out);
            prop_assert!(out.len() <= packet.len() * 2 + (128 << 10));
        }
    }
}
