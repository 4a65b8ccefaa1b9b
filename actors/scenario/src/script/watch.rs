//! Watch: ends a script that takes more time or memory than anything that is counted shows.

use std::cell::Cell;
use std::time::Instant;

use dh_host::inspect::resident_bytes;
use rhai::{Dynamic, Engine};

use super::limit::CALL_MAX;

/// At one of so many operations, the memory is looked at.
const MEMORY_EVERY: u32 = 64;
/// One MiB.
const MIB: u64 = 1 << 20;

/// End what takes few operations and each of them long, and what runs once the process has taken
/// `memory_max` bytes more than it has now. What closures hold is in no container that is measured.
pub(super) fn watch(engine: &mut Engine, memory_max: u64) {
    let (began, operations) = (Cell::new(Instant::now()), Cell::new(0_u32));
    let before = resident_bytes();
    engine.on_progress(move |of_call| {
        // Operations are counted anew by each call.
        if of_call <= 1 {
            began.set(Instant::now());
        }
        if CALL_MAX < began.get().elapsed() {
            let max = CALL_MAX.as_secs();
            return Some(format!("it does not end within {max} s; expected less").into());
        }
        operations.set(operations.get().wrapping_add(1));
        if !operations.get().is_multiple_of(MEMORY_EVERY) {
            return None;
        }
        let grown = resident_bytes()?.saturating_sub(before?);
        (memory_max < grown).then(|| Dynamic::from(too_much(grown, memory_max)))
    });
}

fn too_much(grown: u64, max: u64) -> String {
    format!(
        "the process has taken {} MiB of memory since the script began, at most {} MiB; \
         expected less in what closures hold",
        grown / MIB,
        max / MIB
    )
}

#[cfg(test)]
mod tests {
    use rhai::packages::{Package as _, StandardPackage};
    use rhai::{Engine, EvalAltResult};

    use super::{MIB, watch};

    #[test]
    fn a_script_whose_closures_hold_more_than_there_may_be_is_ended() {
        let mut engine = Engine::new_raw();
        engine.register_global_module(StandardPackage::new().as_shared_module());
        engine.set_max_operations(0);
        watch(&mut engine, 64 * MIB);
        let hoard = "let all = []; loop { let a = []; a.pad(16000, 7); all.push(|| a); }";
        let error = *engine.run(hoard).unwrap_err();
        let EvalAltResult::ErrorTerminated(why, _) = &error else { panic!("{error}") };
        assert!(why.to_string().contains("at most 64 MiB"), "{why}");
    }
}
