//! See the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    smallfry_bench_norad::serve()
}
