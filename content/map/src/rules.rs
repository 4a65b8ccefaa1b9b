//! The rules of a map that one field alone cannot break.
//!
//! Used while a draft is read. Each mistake is told at the value that makes it; once a report is
//! full, nothing more is looked for.

use crate::components::Collision;
use crate::jsonc::{Member, Node, Report, Value};
use crate::map::{Draft, Map};
use std::collections::{BTreeMap, BTreeSet};

/// Objects may ride on each other so deep.
pub(crate) const PARENTS_MAX: usize = 64;
/// Nothing lies farther from the middle of the world, in metres, nor is scaled by more.
pub(crate) const WORLD_MAX: f32 = 1_000_000.0;
/// So many objects of a circle of parents are named.
const CIRCLE_SHOWN: usize = 8;

/// Tells every broken rule of a draft.
pub(crate) fn check(draft: &mut Draft<'_>) {
    let Draft { map, report, root } = draft;
    let Some(Value::Record(members)) = root.as_ref().map(|root| &root.value) else { return };
    let Some(nodes) = aligned(members, map) else { return };
    let mut rules = Rules { map, nodes, report };
    let index = rules.unique_ids();
    rules.parents(&index);
    rules.materials(&material_names(members));
    rules.colliders();
    rules.single("dh.sun", |map, at| map.objects[at].components.sun.is_some());
    rules.single("dh.sky", |map, at| map.objects[at].components.sky.is_some());
    if rules.report.is_clean() {
        rules.within_reach();
    }
}

/// The objects of the text, if every one of them was read, so that indices are places.
fn aligned<'n, 'a>(members: &'n [Member<'a>], map: &Map) -> Option<&'n [Node<'a>]> {
    let mut lists = members.iter().filter(|member| member.name == "objects");
    let Value::List(nodes) = &lists.next()?.node.value else { return None };
    // Of two lists nobody knows which is meant.
    let aligned = lists.next().is_none() && nodes.len() == map.objects.len();
    aligned.then_some(nodes)
}

/// Every name under "materials", also those whose material is wrong: that was told already.
fn material_names<'n>(members: &'n [Member<'_>]) -> BTreeSet<&'n str> {
    let tables = members.iter().filter(|member| member.name == "materials");
    let named = tables.filter_map(|table| match &table.node.value {
        Value::Record(materials) => Some(materials.iter().map(|material| material.name.as_ref())),
        _ => None,
    });
    named.flatten().collect()
}

/// A map, its objects as they stand in the text, and the mistakes.
struct Rules<'d, 'a> {
    map: &'d Map,
    nodes: &'d [Node<'a>],
    report: &'d mut Report<'a>,
}

impl<'d> Rules<'d, '_> {
    /// The place of a value of an object, or of the object itself where it has none.
    fn place_of(&self, object: usize, keys: &[&str]) -> usize {
        let Some(node) = self.nodes.get(object) else { return 0 };
        keys.iter().try_fold(node, |node, key| node.get(key)).unwrap_or(node).at
    }

    /// Tells a mistake of an object at one of its values. The text is made only if it is kept.
    fn tell(&mut self, object: usize, keys: &[&str], remedy: &str, text: impl FnOnce() -> String) {
        if self.report.is_full() {
            self.report.tell_more();
        } else {
            self.report.tell(self.place_of(object, keys), text(), remedy);
        }
    }

    fn unique_ids(&mut self) -> BTreeMap<&'d str, usize> {
        let mut index: BTreeMap<&str, usize> = BTreeMap::new();
        let map = self.map;
        for (at, object) in map.objects.iter().enumerate().filter(|(_, it)| !it.id.0.is_empty()) {
            let Some(first) = index.get(object.id.0.as_str()).copied() else {
                index.insert(&object.id.0, at);
                continue;
            };
            if self.report.is_full() {
                self.report.tell_more();
                break;
            }
            let line = self.report.line_of(self.place_of(first, &["id"]));
            let text = || {
                format!("two objects have the id \"{}\"; the first is in line {line}", object.id.0)
            };
            self.tell(at, &["id"], "give one of them another id", text);
        }
        index
    }

    fn parents(&mut self, index: &BTreeMap<&str, usize>) {
        let mut parents = Vec::with_capacity(self.map.objects.len());
        for at in 0..self.map.objects.len() {
            parents.push(self.parent_of(index, at));
        }
        let (depths, circles) = ride(&parents);
        for at in circles {
            self.tell(at, &["parent"], "break the circle of parents", || {
                circle(self.map, &parents, at)
            });
        }
        // What rides on one that rides too deep is told by that one.
        let deep = depths.iter().enumerate().filter(|(_, depth)| **depth == Some(PARENTS_MAX + 1));
        for (at, _) in deep {
            let id = &self.map.objects[at].id.0;
            let remedy = "let it ride on fewer objects";
            self.tell(at, &["parent"], remedy, || {
                format!("more than {PARENTS_MAX} parents above \"{id}\"")
            });
        }
    }

    fn parent_of(&mut self, index: &BTreeMap<&str, usize>, at: usize) -> Option<usize> {
        let parent = self.map.objects[at].parent.as_ref()?.0.as_str();
        let Some(above) = index.get(parent).copied() else {
            let place = self.place_of(at, &["parent"]);
            self.report.tell_unknown(place, "parent", parent, index.keys().copied());
            return None;
        };
        let [x, y, z] = self.map.objects[above].transform.scale.map(f32::to_bits);
        if x != y || y != z {
            let remedy = "scale what it carries, or its box's size, instead";
            self.tell(at, &["parent"], remedy, || {
                format!("the parent \"{parent}\" is not scaled evenly")
            });
        }
        Some(above)
    }

    fn materials(&mut self, known: &BTreeSet<&str>) {
        for (at, object) in self.map.objects.iter().enumerate() {
            let solid = object.components.solid.as_ref();
            let name = solid.and_then(|solid| solid.material.as_ref());
            let Some(name) = name.filter(|name| !known.contains(name.0.as_str())) else { continue };
            let place = self.place_of(at, &["components", "dh.box", "material"]);
            self.report.tell_unknown(place, "material", &name.0, known.iter().copied());
        }
    }

    fn colliders(&mut self) {
        for (at, object) in self.map.objects.iter().enumerate() {
            let components = &object.components;
            let bare = components.solid.is_none() && components.model.is_none();
            let mesh = components.collider.as_ref().is_some_and(|c| c.shape == Collision::Mesh);
            if bare && mesh {
                let text = "a collider of shape \"mesh\" on an object with neither box nor model";
                let remedy = "write \"shape\": \"box\" and a size";
                self.tell(at, &["components", "dh.collider"], remedy, || text.to_owned());
            }
        }
    }

    fn single(&mut self, name: &str, has: fn(&Map, usize) -> bool) {
        let map = self.map;
        for at in (0..map.objects.len()).filter(|at| has(map, *at)).skip(1) {
            self.tell(at, &["components", name], "a map has one", || format!("a second {name}"));
        }
    }

    fn within_reach(&mut self) {
        let near = |metres: &f32| metres.abs() <= WORLD_MAX;
        let remedy = format!("stay within {WORLD_MAX} metres");
        for (at, world) in self.map.worlds().iter().enumerate() {
            if !world.position.iter().all(near) || !world.scale.iter().all(near) {
                let text = "with its parents it lies out of the world";
                self.tell(at, &["transform"], &remedy, || text.to_owned());
            }
        }
    }
}

/// How far one object is looked at.
#[derive(Clone, Copy, PartialEq)]
enum Seen {
    Not,
    /// On the chain that is being followed.
    Open,
    /// It has so many objects above it.
    Depth(usize),
    /// It rides on a circle, or is part of one.
    Round,
}

/// How many objects each rides on, none for those with a circle above them; and the first object
/// of each circle.
fn ride(parents: &[Option<usize>]) -> (Vec<Option<usize>>, Vec<usize>) {
    let mut seen = vec![Seen::Not; parents.len()];
    let mut circles = Vec::new();
    for start in 0..parents.len() {
        let mut chain = Vec::new();
        let mut next = Some(start);
        while let Some(at) = next.filter(|at| seen[*at] == Seen::Not) {
            seen[at] = Seen::Open;
            chain.push(at);
            next = parents[at];
        }
        let mut above = match next.map(|at| (at, seen[at])) {
            None => Seen::Depth(0),
            Some((_, Seen::Depth(depth))) => Seen::Depth(depth + 1),
            Some((at, Seen::Open)) => {
                let round = std::iter::successors(parents[at], |at| parents[*at]);
                let round = round.take_while(|other| *other != at);
                circles.push(round.fold(at, usize::min));
                Seen::Round
            }
            Some(_) => Seen::Round,
        };
        for at in chain.into_iter().rev() {
            seen[at] = above;
            above = if let Seen::Depth(depth) = above { Seen::Depth(depth + 1) } else { above };
        }
    }
    let depth = |seen: &Seen| if let Seen::Depth(depth) = seen { Some(*depth) } else { None };
    (seen.iter().map(depth).collect(), circles)
}

/// A circle of parents in words.
fn circle(map: &Map, parents: &[Option<usize>], at: usize) -> String {
    let id = |at: usize| map.objects[at].id.0.as_str();
    let round = std::iter::successors(parents[at], |at| parents[*at]);
    let mut round = round.take_while(|other| *other != at);
    let shown: Vec<&str> = round.by_ref().take(CIRCLE_SHOWN).map(id).collect();
    let cut = if round.next().is_some() { "... -> " } else { "" };
    match (id(at), shown.is_empty()) {
        (id, true) => format!("\"{id}\" rides on itself"),
        (id, false) => {
            format!("\"{id}\" rides on itself: {id} -> {} -> {cut}{id}", shown.join(" -> "))
        }
    }
}
