//! Measure: CPU time and medians of interleaved rounds.
//!
//! Used by every bench. Wall time appears only where lateness itself is the figure.

use dh_host::bench::cpu_of_this_thread;

/// Runs every course once a round, in turn, so that a busy moment of the machine hits all of them;
/// the median of each, in whatever it counts.
pub(super) fn medians<const N: usize>(
    rounds: usize,
    mut courses: [&mut dyn FnMut() -> f64; N],
) -> [f64; N] {
    let mut all = [const { Vec::new() }; N];
    for _ in 0..rounds {
        for (course, values) in courses.iter_mut().zip(&mut all) {
            values.push(course());
        }
    }
    all.map(median)
}

/// The value in the middle; of an even number the lower one. 0 of none.
pub(super) fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// The smallest value that at least this share (0 to 1) of all do not exceed. 0 of none.
pub(super) fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a list that is far shorter than 2^53"
    )]
    let rank = (values.len() as f64 * share).ceil() as usize;
    values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// Nanoseconds of CPU time that each of `count` runs of `what` takes on this thread.
pub(super) fn nanos_each(count: u32, mut what: impl FnMut()) -> f64 {
    let start = cpu_of_this_thread();
    for _ in 0..count {
        what();
    }
    (cpu_of_this_thread() - start).as_secs_f64() * 1e9 / f64::from(count)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "what is picked from a list is in it to the bit")]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_value_that_was_measured() {
        let values = || (1..=100).rev().map(f64::from).collect();
        let picked = [0.0, 0.5, 0.99, 1.0].map(|share| quantile(values(), share));
        assert_eq!(picked, [1.0, 50.0, 99.0, 100.0]);
        assert_eq!(quantile(Vec::new(), 0.5), 0.0);
    }

    #[test]
    fn rounds_are_taken_in_turn_and_each_course_has_its_own_median() {
        let order = std::cell::RefCell::new(Vec::new());
        let mut one = || {
            order.borrow_mut().push(1);
            1.0
        };
        let mut two = || {
            order.borrow_mut().push(2);
            2.0
        };
        let found = medians(2, [&mut one, &mut two]);
        assert_eq!(found, [1.0, 2.0]);
        assert_eq!(*order.borrow(), [1, 2, 1, 2]);
    }
}
