//! Plans for another build.
#![no_main]

use dh_tests::fuzz::fuzz_plan;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_plan(bytes));
