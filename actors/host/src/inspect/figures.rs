//! Figures: the process as a whole, worked out when somebody looks.

use std::fs;
use std::sync::OnceLock;

use rustix::param::{clock_ticks_per_second, page_size};
use rustix::time::{ClockId, clock_gettime};

use super::collect::spread;
use super::snapshot::{Figures, PlayersRow, TickTotals, Usage};
use crate::registry::Deeds;
use crate::runtime::Runtime;

/// Nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// All of them; `ticks` is what all tick loops have done.
pub(super) fn of(runtime: &Runtime, ticks: &Deeds) -> Figures {
    let players = runtime.players().census().map(|all| PlayersRow {
        connecting: all.connecting,
        loading: all.loading,
        playing: all.playing,
        max: all.max,
    });
    Figures {
        players,
        ticks: (ticks.started > 0).then(|| TickTotals {
            overruns: ticks.ticks.overruns,
            late: spread(&ticks.late, true),
            work: spread(&ticks.ticks.work, true),
        }),
        // What is simulated tells the same on every machine.
        usage: if runtime.is_simulated() { Usage::default() } else { usage() },
    }
}

/// What this process takes of its machine. What the system does not tell is left out.
fn usage() -> Usage {
    static STARTED: OnceLock<Option<u64>> = OnceLock::new();
    let cpu = clock_gettime(ClockId::ProcessCPUTime);
    let [seconds, ns] = [cpu.tv_sec, cpu.tv_nsec].map(|part| u64::try_from(part).ok());
    Usage {
        resident_bytes: resident_bytes(),
        cpu_ns: seconds.zip(ns).map(|(seconds, ns)| seconds.saturating_mul(SECOND) + ns),
        open_files: open_files(),
        started_ns: *STARTED.get_or_init(started),
    }
}

/// Bytes of memory of this process that are resident; nothing where the system does not tell.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    resident(&read("/proc/self/statm")?)
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// The second number of `statm` counts pages.
fn resident(statm: &str) -> Option<u64> {
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(u64::try_from(page_size()).ok()?)
}

/// All but the one that lists them.
fn open_files() -> Option<u64> {
    let listed = u64::try_from(fs::read_dir("/proc/self/fd").ok()?.count()).ok()?;
    listed.checked_sub(1)
}

/// When this process started: so long after its system, which says when that was.
fn started() -> Option<u64> {
    let ticks = start_ticks(&read("/proc/self/stat")?)?;
    let booted = boot_second(&read("/proc/stat")?)?;
    let a_second = clock_ticks_per_second().max(1);
    let after = u128::from(ticks) * u128::from(SECOND) / u128::from(a_second);
    booted.checked_mul(SECOND)?.checked_add(u64::try_from(after).ok()?)
}

/// The 22nd field of `stat`; the second is a name in brackets that may hold anything.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

fn boot_second(stat: &str) -> Option<u64> {
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::*;
    use crate::{RealOptions, Simulation};

    #[test]
    fn what_the_system_tells_is_read_whatever_the_program_is_called() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 9 0 0 0 7 3 0 0 20 0 8 0 123456 5 6";
        assert_eq!(start_ticks(stat), Some(123_456));
        assert_eq!(boot_second("cpu 1 2\nbtime 1700000000\nctxt 7\n"), Some(1_700_000_000));
        assert_eq!(resident("900 11 3 0 0 0 0").unwrap(), 11 * page_size() as u64);
        assert_eq!((start_ticks("42 (a"), boot_second("cpu"), resident("9")), (None, None, None));
    }

    #[test]
    fn a_process_tells_what_it_takes_of_its_machine_and_a_simulated_one_nothing() {
        let runtime = Runtime::real(RealOptions::default()).unwrap();
        let before = of(&runtime, &Deeds::default()).usage;
        let file = fs::File::open("/dev/null").unwrap();
        let block = std::hint::black_box(vec![1_u8; 32 << 20]);
        let after = of(&runtime, &Deeds::default()).usage;
        assert!(after.resident_bytes.unwrap() > 32 << 20, "{after:?}");
        assert!(after.open_files.unwrap() > 3, "{after:?}");
        assert!(after.cpu_ns > before.cpu_ns, "{before:?} {after:?}");
        let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos());
        let age = now.unwrap() - after.started_ns.unwrap();
        assert!(age < 3_600 * SECOND, "{age}");
        drop((file, block));
        runtime.stop().unwrap();
        Simulation::new(1).run(async |runtime| {
            assert_eq!(of(&runtime, &Deeds::default()).usage, Usage::default());
        });
    }
}
