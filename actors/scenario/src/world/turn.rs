//! Time in a world: deeds that are due, conditions that are waited for, what must hold each tick.

use dh_machine::Micros;

use super::{Watch, World};
use crate::report::{Failure, Place};

/// How often conditions are looked at and deeds that are due are done: one tick.
pub(crate) const STEP: Micros = Micros(16_667);

impl World {
    /// Do something after so long.
    pub fn at(&mut self, after: Micros, deed: impl FnOnce(&mut Self) + 'static) {
        let when = self.runtime.now() + after;
        let place = self.deeds.partition_point(|(other, _)| *other <= when);
        self.deeds.insert(place, (when, Box::new(deed)));
    }

    /// Do something once a condition holds.
    pub fn on(
        &mut self,
        condition: impl Fn(&Self) -> bool + 'static,
        deed: impl FnOnce(&mut Self) + 'static,
    ) {
        self.watches.push((Box::new(condition), Box::new(deed)));
    }

    /// Let time pass. Deeds are done when they are due, invariants are checked each tick.
    pub async fn run_for(&mut self, span: Micros) {
        let end = self.runtime.now() + span;
        while self.runtime.now() < end {
            self.step(end).await;
        }
    }

    /// Let time pass until the condition holds; whether it did within `span`. If not, the scenario
    /// has failed, and says so with this name.
    pub async fn expect_within(
        &mut self,
        span: Micros,
        name: &str,
        condition: impl Fn(&Self) -> bool,
    ) -> bool {
        let end = self.runtime.now() + span;
        loop {
            if condition(self) {
                return true;
            }
            if end <= self.runtime.now() {
                self.fail(format!("expected within {:.3} s: {name}", span.as_secs_f64()));
                return false;
            }
            self.step(end).await;
        }
    }

    /// The condition must hold now.
    pub fn expect(&mut self, name: &str, holds: bool) {
        if !holds {
            self.fail(format!("expected: {name}"));
        }
    }

    async fn step(&mut self, end: Micros) {
        let next = self.deeds.first().map_or(end, |(when, _)| *when);
        let until = (self.runtime.now() + STEP).min(end).min(next.max(self.runtime.now()));
        self.runtime.sleep_until(until).await;
        self.turn();
    }

    /// Do what is due now, and check what must always hold.
    pub(crate) fn turn(&mut self) {
        while self.deeds.first().is_some_and(|(when, _)| *when <= self.runtime.now()) {
            let (_, deed) = self.deeds.remove(0);
            deed(self);
        }
        self.keep_watch();
        let mut invariants = std::mem::take(&mut self.invariants);
        for (broken, what) in invariants.check(self) {
            let (at, broken) = (self.runtime.now(), Some(broken));
            self.failures.push(Failure { at, what, place: None, broken });
        }
        self.invariants = invariants;
    }

    fn keep_watch(&mut self) {
        let watches = std::mem::take(&mut self.watches);
        let (due, waiting): (Vec<Watch>, Vec<Watch>) =
            watches.into_iter().partition(|(condition, _)| condition(self));
        self.watches = waiting;
        for (_, deed) in due {
            deed(self);
        }
    }

    pub(crate) fn fail(&mut self, what: String) {
        self.fail_at(what, None);
    }

    /// Something that a check of a script expected did not come.
    pub(crate) fn fail_at(&mut self, what: String, place: Option<Place>) {
        self.failures.push(Failure { at: self.runtime.now(), what, place, broken: None });
    }
}
