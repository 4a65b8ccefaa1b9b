//! What a link does to packets, by the shares and lengths it promises.

use super::*;
use rand_chacha::rand_core::SeedableRng;

fn lane(link: Link) -> Lane {
    Lane::new(link, ChaCha8Rng::seed_from_u64(7))
}

fn fates(link: Link, count: usize) -> Vec<Fate> {
    let mut lane = lane(link);
    (0..count).map(|_| lane.carry(Micros(0), 100)).collect()
}

#[test]
fn an_ideal_link_delivers_at_once() {
    assert!(fates(Link::IDEAL, 100).iter().all(|fate| *fate == Fate::After(Micros(0))));
}

#[test]
fn the_draw_lies_on_both_sides_of_the_latency_and_reaches_its_ends() {
    let link = Link { latency: Micros(60_000), draw: Micros(20_000), ..Link::IDEAL };
    let delays: Vec<u64> = fates(link, 20_000)
        .into_iter()
        .map(|fate| match fate {
            Fate::After(delay) => delay.0,
            other => panic!("lost without loss: {other:?}"),
        })
        .collect();
    let (low, high) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
    assert!((40_000..40_100).contains(low), "{low}");
    assert!((79_900..=80_000).contains(high), "{high}");
}

#[test]
fn loss_is_what_it_says_in_parts_per_million() {
    let lost = fates(Link { loss_ppm: 20_000, ..Link::IDEAL }, 100_000)
        .iter()
        .filter(|fate| **fate == Fate::Lost)
        .count();
    assert!((1_850..2_150).contains(&lost), "{lost}");
    assert!(fates(Link::CUT, 1_000).iter().all(|fate| *fate == Fate::Lost));
}

#[test]
fn a_draw_is_taken_for_every_packet_so_that_loss_does_not_shift_the_delays() {
    let calm = Link { latency: Micros(50_000), draw: Micros(9_000), ..Link::IDEAL };
    let stormy = Link { loss_ppm: 300_000, ..calm };
    let pairs = fates(calm, 1_000).into_iter().zip(fates(stormy, 1_000));
    let (kept, lost): (Vec<_>, Vec<_>) = pairs.partition(|(_, with)| *with != Fate::Lost);
    assert!(kept.iter().all(|(without, with)| without == with));
    assert!(!lost.is_empty());
}

#[test]
fn a_rate_limit_spaces_packets_and_drops_what_would_wait_too_long() {
    let link = Link { rate: 20_000, queue: Micros(20_000), ..Link::IDEAL };
    let five = Fate::After(Micros(5_000));
    let mut lane = lane(link);
    let first: Vec<Fate> = (0..6).map(|_| lane.carry(Micros(0), 100)).collect();
    assert_eq!(first[0], five);
    assert_eq!(first[4], Fate::After(Micros(25_000)));
    assert_eq!(first[5], Fate::Overflowed);
    assert_eq!(lane.carry(Micros(1_000_000), 100), five);
}

#[test]
fn explicit_reorder_holds_back_its_share() {
    let link = Link { reorder_ppm: 250_000, reorder: Micros(300_000), ..Link::IDEAL };
    let late =
        fates(link, 10_000).iter().filter(|fate| **fate == Fate::After(Micros(300_000))).count();
    assert!((2_300..2_700).contains(&late), "{late}");
}

/// The lengths of the runs of lost packets.
fn runs(fates: &[Fate]) -> Vec<usize> {
    let runs = fates.chunk_by(|a, b| (*a == Fate::Lost) == (*b == Fate::Lost));
    runs.filter(|run| run[0] == Fate::Lost).map(<[Fate]>::len).collect()
}

#[test]
fn bursts_lose_their_share_in_runs_of_their_length() {
    for (loss_ppm, packets) in [(20_000, 8), (50_000, 1), (300_000, 20)] {
        let burst = Burst::of(loss_ppm, packets);
        let fates = fates(Link { burst, ..Link::IDEAL }, 400_000);
        let runs = runs(&fates);
        let lost: usize = runs.iter().sum();
        let share = lost as f64 / fates.len() as f64;
        let mean = lost as f64 / runs.len() as f64;
        let expected = f64::from(loss_ppm) / 1e6;
        assert!((share / expected - 1.0).abs() < 0.1, "{burst:?}: {share}");
        assert!((mean / f64::from(packets) - 1.0).abs() < 0.1, "{burst:?}: {mean}");
    }
}

#[test]
fn a_burst_that_cannot_be_so_short_is_longer_and_its_share_stays() {
    assert_eq!(Burst::of(0, 5), Burst::NONE);
    let all = fates(Link { burst: Burst::of(PPM, 5), ..Link::IDEAL }, 1_000);
    assert!(all.iter().all(|fate| *fate == Fate::Lost));
    let most = fates(Link { burst: Burst::of(900_000, 1), ..Link::IDEAL }, 100_000);
    let lost = most.iter().filter(|fate| **fate == Fate::Lost).count();
    assert!((88_000..92_000).contains(&lost), "{lost}");
}

#[test]
fn a_link_without_bursts_is_well_again() {
    let ill = Burst { enter_ppm: PPM, leave_ppm: 0, loss_ppm: PPM };
    let mut lane = lane(Link { burst: ill, ..Link::IDEAL });
    assert_eq!(lane.carry(Micros(0), 100), Fate::Lost);
    lane.set(Link { loss_ppm: PPM, ..Link::IDEAL });
    assert_eq!(lane.carry(Micros(0), 100), Fate::Lost, "the loss of a link that is well");
    lane.set(Link::IDEAL);
    assert_eq!(lane.carry(Micros(0), 100), Fate::After(Micros(0)));
}

#[test]
fn a_burst_goes_on_whatever_else_of_its_link_changes() {
    let ill = Burst { enter_ppm: PPM, leave_ppm: 0, loss_ppm: PPM };
    let mut lane = lane(Link { burst: ill, ..Link::IDEAL });
    assert_eq!(lane.carry(Micros(0), 100), Fate::Lost);
    let burst = Burst { enter_ppm: 1, ..ill };
    lane.set(Link { burst, latency: Micros(9_000), ..Link::IDEAL });
    assert_eq!(lane.carry(Micros(0), 100), Fate::Lost);
}

#[test]
fn a_copy_has_a_delay_of_its_own_and_changes_no_other_packet() {
    let calm = Link { latency: Micros(50_000), draw: Micros(9_000), ..Link::IDEAL };
    let pairs = fates(calm, 10_000);
    let pairs = pairs.into_iter().zip(fates(Link { duplicate_ppm: 100_000, ..calm }, 10_000));
    let (mut twice, mut apart) = (0, 0);
    for (without, with) in pairs {
        if let Fate::Twice(first, copy) = with {
            assert_eq!(without, Fate::After(first));
            assert!((41_000..=59_000).contains(&copy.0), "{copy:?}");
            twice += 1;
            apart += u32::from(first != copy);
        } else {
            assert_eq!(without, with);
        }
    }
    assert!((900..1_100).contains(&twice), "{twice}");
    assert!(apart > twice * 9 / 10, "{apart} of {twice}");
}

#[test]
fn a_copy_waits_for_the_rate_limit_as_its_packet_does() {
    let link = Link { rate: 20_000, queue: Micros(20_000), duplicate_ppm: PPM, ..Link::IDEAL };
    let twice = |after: u64| Fate::Twice(Micros(after), Micros(after));
    assert_eq!(fates(link, 3), [5_000, 10_000, 15_000].map(twice));
}

#[test]
fn packets_above_the_largest_vanish_and_the_others_do_not_notice() {
    let mut lane = lane(Link { mtu: 1_200, ..Link::IDEAL });
    assert_eq!(lane.carry(Micros(0), 1_200), Fate::After(Micros(0)));
    assert_eq!(lane.carry(Micros(0), 1_201), Fate::TooLarge);
    lane.set(Link::IDEAL);
    assert_eq!(lane.carry(Micros(0), 9_000), Fate::After(Micros(0)));
}

#[test]
fn a_tail_is_mostly_short_and_seldom_long() {
    let delays: Vec<u64> = fates(Link { tail: Micros(160_000), ..Link::IDEAL }, 20_000)
        .into_iter()
        .map(|fate| if let Fate::After(delay) = fate { delay.0 } else { panic!("{fate:?}") })
        .collect();
    let above = |bound: u64| delays.iter().filter(|delay| **delay > bound).count();
    assert!((9_600..10_400).contains(&above(10_000)), "{}", above(10_000));
    assert!((1_850..2_150).contains(&above(104_976)), "{}", above(104_976));
    assert!(above(150_000) > 100 && above(160_000) == 0);
}

#[test]
fn a_cut_that_heals_gives_back_what_would_have_been() {
    let link = Link { burst: Burst::of(50_000, 4), draw: Micros(9_000), ..Link::IDEAL };
    let (mut whole, mut torn) = (lane(link), lane(link));
    for number in 0..3_000 {
        torn.cut((1_000..2_000).contains(&number));
        let (whole, torn) = (whole.carry(Micros(0), 100), torn.carry(Micros(0), 100));
        let is_cut = (1_000..2_000).contains(&number);
        assert_eq!(torn, if is_cut { Fate::Lost } else { whole }, "{number}");
    }
}

#[test]
fn links_in_a_row_add_their_delays_and_any_loses_all() {
    let (a, b) = (Fate::After(Micros(3)), Fate::Twice(Micros(10), Micros(20)));
    assert_eq!(a.then(b), Fate::Twice(Micros(13), Micros(23)));
    assert_eq!(b.then(a), a.then(b));
    assert_eq!(b.then(b), Fate::Twice(Micros(20), Micros(40)));
    assert_eq!(b.then(Fate::Overflowed), Fate::Overflowed);
    assert_eq!(Fate::TooLarge.then(Fate::Lost), Fate::TooLarge);
}
