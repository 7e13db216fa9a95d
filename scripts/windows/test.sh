#!/usr/bin/env bash
# `make test-windows`: builds for Windows, and runs the tests under Wine. What the machine lacks is installed (Debian, as root)
# or named. From scratch it takes some minutes; what it makes stays in target/wine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

GNU=x86_64-pc-windows-gnu

# Drawn cases are few: each file call takes Wine many times as long as Linux. `make test-all` draws more.
cases=8
if everything; then cases=32; fi
export PROPTEST_CASES="${PROPTEST_CASES:-$cases}"

install_packages
make_prefix
# One server for all programs: one that ends while the next begins takes that with it.
/usr/lib/wine/wineserver64 -p </dev/null >/dev/null 2>&1
trap '/usr/lib/wine/wineserver64 -k || true' EXIT

say 'testing the crates under Wine'
target_cargo "$GNU" test -q -p smallfry -p smallfry-transcode -p smallfry-package-json -p smallfry-slowfs --features "$CORE_FEATURES"
# The command itself is tried on Linux; here its parts are. To build it takes most of that.
if everything; then target_cargo "$GNU" test -q -p smallfry-cli --bins; fi

scripts/windows/check.sh
scripts/windows/node.sh
