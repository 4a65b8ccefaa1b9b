//! Account: what became of one peer's predictions and inputs, from the records of both ends.

use std::collections::{BTreeMap, BTreeSet};

use dh_client::Correction;
use dh_machine::Tick;
use dh_scenario::{InputFate, PeerRecord, SessionRecord};

/// What a run came to for one peer.
#[derive(Debug, Default)]
pub(crate) struct Account {
    /// Ticks from the first input on.
    pub(crate) ticks: u64,
    /// Ticks of the calm part that found no input.
    pub(crate) starved: u64,
    /// Ticks of the calm part.
    pub(crate) calm_ticks: u64,
    pub(crate) confirmed: u64,
    /// Corrections up to the end.
    pub(crate) corrections: u64,
    /// Those that came after it, when nothing reached the server any more.
    corrected_later: u64,
    /// Corrections that follow from no starved tick and from no input that was passed over.
    pub(crate) unexplained: Vec<Correction>,
    /// Corrections that nothing but a passed-over input explains.
    pub(crate) by_skips: usize,
    /// Answers that the predictor took: all but the first are confirmed or corrected.
    pub(crate) answers: u64,
    pub(crate) skipped: BTreeMap<InputFate, usize>,
    /// Sequences that two ticks used.
    pub(crate) used_twice: Vec<u32>,
}

impl Account {
    /// Ticks after the first input within which a clock may still find its lead: 5 s.
    const SETTLING: u32 = 300;

    /// Of `peer` and its session, up to `end`.
    pub(crate) fn of(peer: &PeerRecord, session: &SessionRecord, end: Tick) -> Self {
        let first = session.applied.first().map_or(end, |(tick, _)| *tick);
        let calm = Tick(first.0 + Self::SETTLING);
        let starved = session.starved.iter().filter(|tick| calm <= **tick && **tick <= end);
        let mut account = Self {
            ticks: u64::from(end.0 - first.0),
            calm_ticks: u64::from(end.0.saturating_sub(calm.0)),
            starved: starved.count() as u64,
            confirmed: peer.confirmed,
            corrections: peer.corrections.iter().filter(|it| it.tick <= end).count() as u64,
            corrected_later: peer.corrections.iter().filter(|it| end < it.tick).count() as u64,
            answers: peer.snapshots.len() as u64,
            ..Self::default()
        };
        account.judge_corrections(peer, session);
        for fate in session.skipped().into_values() {
            *account.skipped.entry(fate).or_default() += 1;
        }
        let mut used = BTreeSet::new();
        account.used_twice =
            session.applied.iter().map(|(_, it)| *it).filter(|it| !used.insert(*it)).collect();
        account
    }

    /// A correction is explained if something happened to the queue between the answer that was
    /// adopted before and the one that corrected.
    fn judge_corrections(&mut self, peer: &PeerRecord, session: &SessionRecord) {
        let overflowed = session.overflowed.iter().map(|(tick, _)| *tick);
        let disturbed: BTreeSet<Tick> = session.starved.iter().copied().chain(overflowed).collect();
        let mut expected = 1;
        let mut skips = BTreeSet::new();
        for (tick, sequence) in &session.applied {
            if expected < *sequence {
                skips.insert(*tick);
            }
            expected = sequence + 1;
        }
        let answers: BTreeSet<Tick> = peer.snapshots.iter().map(|(_, tick)| *tick).collect();
        for correction in &peer.corrections {
            let before = answers.range(..correction.tick).next_back().map_or(0, |tick| tick.0);
            let between = Tick(before + 1)..=correction.tick;
            if disturbed.range(between.clone()).next().is_some() {
                continue;
            }
            match skips.range(between).next() {
                Some(_) => self.by_skips += 1,
                None => self.unexplained.push(*correction),
            }
        }
    }

    /// The share of calm ticks that starved.
    pub(crate) fn starved_share(&self) -> f64 {
        self.starved as f64 / self.calm_ticks.max(1) as f64
    }

    /// What holds on any link: nothing used twice, nothing run again without a reason, every
    /// answer confirmed or corrected, every skipped input explained.
    pub(crate) fn assert_sound(&self, name: &str) {
        assert_eq!(self.unexplained, [], "{name}: {self:?}");
        assert_eq!(self.used_twice, [0; 0], "{name}");
        assert_eq!(self.skipped.get(&InputFate::Unexplained), None, "{name}: {self:?}");
        let corrected = self.corrections + self.corrected_later;
        assert_eq!(self.confirmed + corrected + 1, self.answers, "{name}");
    }
}
