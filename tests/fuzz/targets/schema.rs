//! The text of a schema.
#![no_main]

use dh_tests::fuzz::fuzz_schema;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_schema(bytes));
