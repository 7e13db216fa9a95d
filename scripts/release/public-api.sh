#!/usr/bin/env bash
# Prints the public interface of the core, an item in each line, for docs/api/smallfry.txt.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")

# rustdoc's JSON is unstable: a stable compiler takes itself for a nightly one.
RUSTC_BOOTSTRAP=1 cargo rustdoc -q -p smallfry --all-features --lib -- -Z unstable-options --output-format json --cap-lints allow
"$target/tools/bin/cargo-public-api" --rustdoc-json "$target/doc/smallfry.json" -sss
