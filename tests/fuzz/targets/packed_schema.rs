//! The text of a schema as it comes from another build.
#![no_main]

use dh_tests::fuzz::fuzz_packed_schema;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_packed_schema(bytes));
