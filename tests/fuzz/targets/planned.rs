//! Packets of another build.
#![no_main]

use dh_tests::fuzz::fuzz_planned;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_planned(bytes));
