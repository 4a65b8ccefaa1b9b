//! Shrinking: from a failing run to one that fails the same way with few peers, faults and events.
//!
//! Deeds are left out in ever smaller parts, first peers, then faults, then the rest, for as long
//! as the run goes on failing: delta debugging (Zeller and Hildebrandt, 2002) over the keys of
//! deeds. Every run is simulated, so the same run is shrunk to the same deeds always.

use std::collections::BTreeSet;

use dh_machine::Micros;

use crate::script::{Conditions, Deed, DeedKind, Script};

/// Runs of one shrinking, at most.
pub const RUNS_MAX: usize = 400;
/// Deeds whose pairs are tried, at most.
const PAIRED_MAX: usize = 8;

/// What a failing run was shrunk to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The conditions it fails under, the deeds it needs not among them.
    pub conditions: Conditions,
    /// What the run did before it failed, while nothing was left out. What it would have done
    /// afterwards has no part in it, and is not done under these conditions.
    pub deeds: Vec<Deed>,
    /// How often the script was run.
    pub runs: usize,
}

/// What is left out so far, and what it takes to try more.
struct Shrinking<'a> {
    script: &'a Script,
    conditions: Conditions,
    /// What the run failed with.
    failure: String,
    runs: usize,
    runs_max: usize,
}

/// Leave out of a run whatever it fails without, in at most `runs_max` runs; none where it does not
/// fail with this failure, whose time and figures may differ.
#[must_use]
pub fn shrink(
    script: &Script,
    conditions: &Conditions,
    failure: &str,
    runs_max: usize,
) -> Option<Shrunk> {
    let conditions = Conditions { hasty: true, ..conditions.clone() };
    let failure = failure.to_owned();
    let mut shrinking = Shrinking { script, conditions, failure, runs: 0, runs_max };
    let (deeds, failed_at) = shrinking.fails()?;
    // A run that fails for something done later fails for something else. It may well fail later:
    // what is waited for begins later in it.
    shrinking.conditions.quiet_after = Some(failed_at);
    // A second time: what was needed may not be, once other things are left out.
    let kinds = [DeedKind::Peer, DeedKind::Fault, DeedKind::Event];
    for kind in kinds.into_iter().chain(kinds) {
        let without = &shrinking.conditions.without;
        let left = deeds.iter().filter(|it| it.kind == kind && !without.contains(&it.key));
        let mut keys: Vec<String> = left.map(|deed| deed.key.clone()).collect();
        keys.dedup();
        shrinking.reduce(keys);
    }
    let (all, failed_at) = shrinking.fails()?;
    let late = all.into_iter().filter(|deed| shrinking.conditions.quiet_after < Some(deed.at));
    shrinking.conditions.without.extend(late.map(|deed| deed.key));
    shrinking.conditions.until = Some(failed_at);
    shrinking.conditions.quiet_after = None;
    Some(Shrunk { conditions: shrinking.conditions, deeds, runs: shrinking.runs })
}

impl Shrunk {
    /// The deeds that it fails with.
    pub fn kept(&self) -> impl Iterator<Item = &Deed> {
        self.deeds.iter().filter(|deed| !self.conditions.without.contains(&deed.key))
    }

    /// Of how many deeds of a kind how many are kept: kept, all.
    #[must_use]
    pub fn count(&self, kind: DeedKind) -> (usize, usize) {
        let of_kind = |deed: &&Deed| deed.kind == kind;
        (self.kept().filter(of_kind).count(), self.deeds.iter().filter(of_kind).count())
    }
}

impl Shrinking<'_> {
    /// The deeds of the run as it is now, and when it fails, if it fails the same way.
    fn fails(&mut self) -> Option<(Vec<Deed>, Micros)> {
        self.runs += 1;
        let ran = self.script.simulate(&self.conditions).ok()?;
        let kind = failure_kind(&self.failure, &ran.deeds);
        let mut failures = ran.report.failures.iter();
        let same = failures.find(|it| failure_kind(&it.what, &ran.deeds) == kind)?;
        ran.mistake.is_none().then_some((ran.deeds, same.at))
    }

    /// Leave out as many of these as the failure does not need: all of them if it can be, then by
    /// halves, down to each alone.
    fn reduce(&mut self, keys: Vec<String>) {
        let mut kept = keys;
        let mut size = kept.len();
        while 0 < size {
            let mut from = 0;
            while from < kept.len() {
                let to = (from + size).min(kept.len());
                if self.goes_without(&kept[from..to]) {
                    kept.drain(from..to);
                } else {
                    from = to;
                }
            }
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        self.reduce_pairs(kept);
    }

    /// Two of a few may each be needed only for as long as the other is there.
    fn reduce_pairs(&mut self, mut kept: Vec<String>) {
        let mut one = 0;
        while kept.len() <= PAIRED_MAX && one < kept.len() {
            let others = one + 1..kept.len();
            let pair = |other: usize| [kept[one].clone(), kept[other].clone()];
            match others.into_iter().find(|other| self.goes_without(&pair(*other))) {
                Some(other) => {
                    kept.remove(other);
                    kept.remove(one);
                }
                None => one += 1,
            }
        }
    }

    fn goes_without(&mut self, part: &[String]) -> bool {
        if self.runs_max <= self.runs {
            return false;
        }
        let before: BTreeSet<String> = self.conditions.without.clone();
        self.conditions.without.extend(part.iter().cloned());
        let fails = self.fails().is_some();
        if !fails {
            self.conditions.without = before;
        }
        fails
    }
}

/// A failure without the time, the figures, the lists and the names that change with what else
/// happens: it is the same failure whoever it strikes. `deeds` are those of its run.
#[must_use]
pub fn failure_kind(failure: &str, deeds: &[Deed]) -> String {
    let mut names: Vec<&str> =
        deeds.iter().filter_map(|deed| deed.what.strip_prefix("peer ")).collect();
    // A name may be the beginning of another.
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let told = failure.split_once(" s ").filter(|_| failure.starts_with("at "));
    let text = told.map_or(failure, |(_, text)| text);
    let text = names.iter().fold(text.to_owned(), |text, name| text.replace(name, "somebody"));
    let mut depth = 0_u32;
    let mut is_told = |it: char| {
        depth = depth + u32::from(it == '[') - u32::from(it == ']' && 0 < depth);
        depth == 0 && !it.is_ascii_digit()
    };
    let kind: String = text.chars().filter(|it| is_told(*it)).collect();
    // What is left of a list at the end is its bracket.
    kind.trim_end_matches([' ', ']']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str) -> Deed {
        let what = format!("peer {name}");
        Deed { at: Micros(0), kind: DeedKind::Peer, what, key: name.to_owned() }
    }

    #[test]
    fn a_failure_is_of_one_kind_whoever_it_strikes_and_whenever() {
        let deeds = ["ann", "anna"].map(peer);
        let kind = |failure: &str| failure_kind(failure, &deeds);
        let of_ann = kind("at 1.5 s ann is shown tick 3 after tick 4, of [1, 2]");
        assert_eq!(kind("at 12 s anna is shown tick 70 after tick 71, of [3]"), of_ann);
        assert_ne!(kind("at 1.5 s ann is left behind"), of_ann);
    }

    #[test]
    fn what_a_run_does_after_it_failed_takes_the_place_of_nothing_it_failed_over() {
        let text = "scenario(#{ seconds: 8, peers: #{ ada: #{} } });
            let ada = peer(\"ada\");
            at(2, || ada.leave());
            at(4, || ada.join());
            at(6, || ada.leave());
            never(\"somebody leaves\", || server(\"main\").left.len() > 0);";
        let script = Script::new("it.rhai", text);
        let conditions = Conditions { seed: 1, ..Conditions::default() };
        let failure = script.simulate(&conditions).unwrap().report.failures[0].what.clone();
        let shrunk = shrink(&script, &conditions, &failure, RUNS_MAX).unwrap();
        let kept: Vec<_> = shrunk.kept().map(|deed| (deed.at.0, deed.key.as_str())).collect();
        assert_eq!(kept.last(), Some(&(2_000_000, "ada leaves #1")), "{kept:?}");
        let again = script.simulate(&shrunk.conditions).unwrap();
        assert!(again.report.failures[0].at < Micros::from_secs(4));
    }
}
