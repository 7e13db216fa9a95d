//! A result file, whatever it holds, is an error or is shown in each format, merged and compared.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| smallfry_cli::fuzzing::show_results(bytes));
