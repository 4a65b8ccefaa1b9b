//! Shares: how the few packets that pass in a flood are divided among those that ask.
//!
//! Used by the sieve. First by net, so that a flood from one leaves the others their part; within
//! a net by patience; among equals by lot, never by who comes first.

use std::net::{IpAddr, SocketAddr};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::addresses::PATIENCE_MAX;

/// The division of one window, made by what those before it were asked.
#[derive(Debug)]
pub(super) struct Shares {
    seed: u64,
    lots: u64,
    lanes: [Lane; LANES],
    /// What each lane may let in, if it asks for as much.
    share: u32,
    /// What has passed, by patience.
    passed: [u32; RANKS],
}

/// One of the groups that nets fall into; how often each patience has asked.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    asked: [u32; RANKS],
    before: [u32; RANKS],
}

impl Shares {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, lots: 0, lanes: Default::default(), share: PASSED_MAX, passed: [0; RANKS] }
    }

    /// A new window; `follows` if it comes right after the one before.
    pub(super) fn turn(&mut self, follows: bool) {
        for lane in &mut self.lanes {
            let asked = std::mem::take(&mut lane.asked);
            for (before, asked) in lane.before.iter_mut().zip(asked) {
                // A flood that comes in waves finds that the last one is not forgotten.
                *before = if follows { asked.max(*before / 2) } else { 0 };
            }
        }
        let given = |share: u32| -> u32 {
            self.lanes.iter().map(|lane| lane.before.iter().sum::<u32>().min(share)).sum()
        };
        let fair = (1..PASSED_MAX).find(|share| given(*share) >= PASSED_MAX);
        self.share = fair.unwrap_or(PASSED_MAX);
        self.passed = Default::default();
    }

    /// Whether an address that has shown `patience` (from 1) is let in.
    pub(super) fn ask(&mut self, from: SocketAddr, patience: u8) -> bool {
        let lane = xxh3_64_with_seed(&net(from), self.seed) % LANES as u64;
        let lane = &mut self.lanes[usize::try_from(lane).unwrap_or(0)];
        let rank = usize::from(patience.clamp(1, PATIENCE_MAX)) - 1;
        lane.asked[rank] += 1;
        let more_patient: u32 = lane.before[rank + 1..].iter().sum();
        let room = self.share.saturating_sub(more_patient);
        self.lots += 1;
        let lot = xxh3_64_with_seed(&self.lots.to_le_bytes(), self.seed);
        let is_drawn = lot % u64::from(lane.before[rank].max(1)) < u64::from(room);
        let passes = is_drawn && self.passed[rank] < PASSED_PEAK;
        self.passed[rank] += u32::from(passes);
        passes
    }
}

/// The net an address belongs to: a /24, or a /56.
fn net(address: SocketAddr) -> [u8; 8] {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            [0, a, b, c, 0, 0, 0, 0]
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, e, f, g, ..] = ip.octets();
            [1, a, b, c, d, e, f, g]
        }
    }
}

/// Packets that pass in a window of a flood: 320 a second.
pub(super) const PASSED_MAX: u32 = 32;
/// The same of one patience while nothing is known yet of who asks.
const PASSED_PEAK: u32 = 2 * PASSED_MAX;
const RANKS: usize = PATIENCE_MAX as usize;
/// Groups of nets; each has 1/16 of what passes for itself.
const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(net: u8, host: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, net, 1], host))
    }

    /// Windows of `(net, patience, count)` askers each; how many of each passed in the last ones.
    fn passed<const N: usize>(askers: [(u8, u8, u16); N]) -> [u32; N] {
        let mut shares = Shares::new(1);
        let mut passed = [0; N];
        for window in 0..WINDOWS + 1 {
            shares.turn(true);
            // They come in turn, each as often as the others before anybody comes again.
            let most = askers.iter().map(|asker| asker.2).max().unwrap_or(0);
            for host in 0..most {
                for (passed, (net, patience, count)) in passed.iter_mut().zip(askers) {
                    let passes = host < count && shares.ask(at(net, host), patience);
                    *passed += u32::from(passes && window > 0);
                }
            }
        }
        passed
    }

    const WINDOWS: u32 = 100;

    #[test]
    fn up_to_32_a_window_pass_and_more_draw_lots() {
        assert_eq!(passed([(1, 1, 32)]), [32 * WINDOWS]);
        let [passed] = passed([(1, 1, 500)]);
        assert!((30 * WINDOWS..34 * WINDOWS).contains(&passed), "{passed}");
    }

    #[test]
    fn the_more_patient_pass_first() {
        let [once, twice] = passed([(1, 1, 500), (1, 2, 20)]);
        assert_eq!(twice, 20 * WINDOWS);
        assert!((10 * WINDOWS..14 * WINDOWS).contains(&once), "{once}");
        assert_eq!(passed([(1, 3, 500), (1, 1, 3)])[1], 0);
    }

    #[test]
    fn a_flood_from_one_net_leaves_others_their_part_whatever_its_patience() {
        let nets = (1..=250).map(|of| (net(at(of, 0)), of));
        let lane = |net: [u8; 8]| xxh3_64_with_seed(&net, 1) % 16;
        let first = lane(net(at(0, 0)));
        let (_, other) = nets.into_iter().find(|(net, _)| lane(*net) != first).unwrap();
        let [flood, others] = passed([(0, 4, 500), (other, 1, 8)]);
        assert_eq!(others, 8 * WINDOWS);
        assert!((22 * WINDOWS..26 * WINDOWS).contains(&flood), "{flood}");
    }

    #[test]
    fn a_net_is_the_first_24_bits_of_an_address_or_the_first_56() {
        let net = |ip: &str| net(SocketAddr::new(ip.parse().unwrap(), 1));
        for (one, same, other) in [
            ("10.1.2.3", "10.1.2.255", "10.1.3.3"),
            ("10.1.2.3", "::ffff:10.1.2.9", "::a01:203"),
            ("2001:db8:0:aa00::1", "2001:db8:0:aaff::2", "2001:db8:0:ab00::1"),
        ] {
            assert_eq!(net(one), net(same));
            assert_ne!(net(one), net(other));
        }
    }

    #[test]
    fn the_first_window_of_a_flood_lets_in_64_of_each_patience_and_no_more() {
        let mut shares = Shares::new(1);
        for patience in 1..=PATIENCE_MAX {
            let passed = (0..500).filter(|host| shares.ask(at(1, *host), patience)).count();
            assert_eq!(passed, 64);
        }
    }

    #[test]
    fn what_was_asked_is_forgotten_after_a_quiet_time() {
        let mut shares = Shares::new(1);
        let asked =
            |shares: &mut Shares| (0..500).filter(|host| shares.ask(at(1, *host), 1)).count();
        assert_eq!(asked(&mut shares), 64);
        shares.turn(true);
        assert!(asked(&mut shares) < 64);
        shares.turn(false);
        assert_eq!(asked(&mut shares), 64);
    }

    #[test]
    fn a_flood_in_waves_passes_no_more_than_a_steady_one() {
        let mut shares = Shares::new(1);
        let mut passed = 0;
        for wave in 0..100 {
            for host in 0..500 {
                passed += u32::from(shares.ask(at(1, host), 1) && wave > 0);
            }
            shares.turn(true);
            shares.turn(true);
        }
        assert!(passed <= 64 * 100, "{passed}");
    }
}
