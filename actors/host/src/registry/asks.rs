//! The graph of asks: who waits for an answer from whom. It must have no cycle, or actors wait for
//! each other for ever.

use std::collections::{BTreeMap, BTreeSet};

use dh_machine::Spec;

/// A cycle in the asks of `specs`, as the kinds along it, or `None` where there is none. A kind
/// that is asked and not among the specs asks nobody.
#[must_use]
pub fn ask_cycle(specs: &[Spec]) -> Option<Vec<&'static str>> {
    let asks: BTreeMap<_, _> = specs.iter().map(|spec| (spec.kind, spec.asks)).collect();
    let mut cleared = BTreeSet::new();
    asks.keys().find_map(|kind| walk(kind, &asks, &mut Vec::new(), &mut cleared))
}

fn walk(
    kind: &'static str,
    asks: &BTreeMap<&'static str, &'static [&'static str]>,
    path: &mut Vec<&'static str>,
    cleared: &mut BTreeSet<&'static str>,
) -> Option<Vec<&'static str>> {
    if let Some(start) = path.iter().position(|on_path| *on_path == kind) {
        return Some(path[start..].to_vec());
    }
    if cleared.contains(kind) {
        return None;
    }
    path.push(kind);
    let asked = asks.get(kind).copied().unwrap_or_default();
    let cycle = asked.iter().find_map(|next| walk(next, asks, path, cleared));
    path.pop();
    cleared.insert(kind);
    cycle
}

#[cfg(test)]
mod tests {
    use dh_machine::{Micros, Restart, Strategy};

    use super::*;

    const fn spec(kind: &'static str, asks: &'static [&'static str]) -> Spec {
        Spec {
            kind,
            control_max: 1,
            data_max: 1,
            data_wakes: true,
            restart: Restart { count: 0, window: Micros(0) },
            strategy: Strategy::OneForOne,
            ask_deadline: None,
            asks,
        }
    }

    #[test]
    fn actors_that_ask_each_other_in_a_ring_are_found() {
        let ring = [spec("a", &["b"]), spec("b", &["c"]), spec("c", &["d", "a"]), spec("d", &[])];
        assert_eq!(ask_cycle(&ring), Some(vec!["a", "b", "c"]));
        assert_eq!(ask_cycle(&[spec("a", &["a"])]), Some(vec!["a"]));
    }

    #[test]
    fn two_ways_to_the_same_actor_are_no_ring() {
        let fork = [spec("a", &["b", "c"]), spec("b", &["d"]), spec("c", &["d"]), spec("d", &[])];
        assert_eq!(ask_cycle(&fork), None);
    }
}
