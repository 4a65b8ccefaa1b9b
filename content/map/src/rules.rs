//! The rules of a map that one field alone cannot break.
//!
//! Used while a draft is read. Each mistake is told at the value that makes it.

use crate::components::Collision;
use crate::map::{Draft, OBJECTS_MAX};
use std::collections::BTreeMap;

/// Objects may ride on each other so deep.
pub(crate) const PARENTS_MAX: usize = 64;
/// Nothing lies farther from the middle of the world, in metres, nor is scaled by more.
pub(crate) const WORLD_MAX: f32 = 1_000_000.0;

/// Tells every broken rule of a draft.
pub(crate) fn check(draft: &mut Draft<'_>) {
    if !draft.is_aligned() {
        return;
    }
    let count = draft.map.objects.len();
    if count > OBJECTS_MAX {
        let at = draft.place_of(OBJECTS_MAX, &[]);
        draft.report.tell(at, format!("{count} objects, {OBJECTS_MAX} are allowed"), "split it");
        return;
    }
    let index = unique_ids(draft);
    parents(draft, &index);
    materials(draft);
    colliders(draft);
    single(draft, "dh.sun", |draft, at| draft.map.objects[at].components.sun.is_some());
    single(draft, "dh.sky", |draft, at| draft.map.objects[at].components.sky.is_some());
    if draft.report.is_clean() {
        within_reach(draft);
    }
}

fn unique_ids(draft: &mut Draft<'_>) -> BTreeMap<String, usize> {
    let mut index: BTreeMap<String, usize> = BTreeMap::new();
    for at in 0..draft.map.objects.len() {
        let id = draft.map.objects[at].id.0.clone();
        if id.is_empty() {
            continue;
        }
        if let Some(first) = index.get(&id) {
            let first = draft.map.objects[*first].name.clone().unwrap_or_else(|| id.clone());
            let place = draft.place_of(at, &["id"]);
            let text = format!("two objects have the id \"{id}\"; the first is \"{first}\"");
            draft.report.tell(place, text, "give one of them another id");
        } else {
            index.insert(id, at);
        }
    }
    index
}

fn parents(draft: &mut Draft<'_>, index: &BTreeMap<String, usize>) {
    let each = 0..draft.map.objects.len();
    let parents: Vec<Option<usize>> = each.map(|at| parent_of(draft, index, at)).collect();
    for (at, first) in parents.iter().enumerate() {
        let chain = std::iter::successors(*first, |above| parents[*above]);
        let depth = chain.take_while(|above| *above != at).take(PARENTS_MAX + 1).count();
        let place = draft.place_of(at, &["parent"]);
        let id = &draft.map.objects[at].id.0;
        if depth > PARENTS_MAX {
            let text = format!("more than {PARENTS_MAX} parents above \"{id}\"");
            draft.report.tell(place, text, "let it ride on fewer objects, and not in a circle");
        } else if is_in_circle(&parents, at) {
            let text = format!("\"{id}\" rides on itself");
            draft.report.tell(place, text, "break the circle of parents");
        }
    }
}

fn parent_of(draft: &mut Draft<'_>, index: &BTreeMap<String, usize>, at: usize) -> Option<usize> {
    let parent = draft.map.objects[at].parent.clone()?;
    let place = draft.place_of(at, &["parent"]);
    let Some(above) = index.get(&parent.0).copied() else {
        let known = index.keys().map(String::as_str);
        draft.report.tell_unknown(place, "parent", &parent.0, known);
        return None;
    };
    let [x, y, z] = draft.map.objects[above].transform.scale.map(f32::to_bits);
    if x != y || y != z {
        let text = format!("the parent \"{}\" is not scaled evenly", parent.0);
        let remedy = "scale what it carries, or its box's size, instead";
        draft.report.tell(place, text, remedy);
    }
    Some(above)
}

fn is_in_circle(parents: &[Option<usize>], at: usize) -> bool {
    let mut chain = std::iter::successors(parents[at], |above| parents[*above]);
    chain.by_ref().take(PARENTS_MAX + 1).any(|above| above == at)
}

fn materials(draft: &mut Draft<'_>) {
    for at in 0..draft.map.objects.len() {
        let solid = draft.map.objects[at].components.solid.as_ref();
        let Some(name) = solid.and_then(|solid| solid.material.clone()) else { continue };
        if !draft.map.materials.contains_key(&name) {
            let place = draft.place_of(at, &["components", "dh.box", "material"]);
            let known = draft.map.materials.keys().map(|name| name.0.as_str());
            draft.report.tell_unknown(place, "material", &name.0, known);
        }
    }
}

fn colliders(draft: &mut Draft<'_>) {
    for at in 0..draft.map.objects.len() {
        let components = &draft.map.objects[at].components;
        let bare = components.solid.is_none() && components.model.is_none();
        let mesh = components.collider.as_ref().is_some_and(|c| c.shape == Collision::Mesh);
        if bare && mesh {
            let place = draft.place_of(at, &["components", "dh.collider"]);
            let text = "a collider of shape \"mesh\" on an object with neither box nor model";
            draft.report.tell(place, text, "write \"shape\": \"box\" and a size");
        }
    }
}

fn single(draft: &mut Draft<'_>, name: &str, has: fn(&Draft<'_>, usize) -> bool) {
    let having: Vec<usize> = (0..draft.map.objects.len()).filter(|at| has(draft, *at)).collect();
    for at in having.into_iter().skip(1) {
        let place = draft.place_of(at, &["components", name]);
        draft.report.tell(place, format!("a second {name}"), "a map has one");
    }
}

fn within_reach(draft: &mut Draft<'_>) {
    let near = |metres: &f32| metres.abs() <= WORLD_MAX;
    for (at, world) in draft.map.worlds().iter().enumerate() {
        if !world.position.iter().all(near) || !world.scale.iter().all(near) {
            let place = draft.place_of(at, &["transform"]);
            let text = "with its parents it lies out of the world";
            draft.report.tell(place, text, format!("stay within {WORLD_MAX} metres"));
        }
    }
}
