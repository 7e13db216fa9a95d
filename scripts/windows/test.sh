#!/usr/bin/env bash
# `make test-windows`: builds for Windows, and runs the tests under Wine. It installs missing
# packages (on Debian, as root) or names them. From scratch it takes some minutes, and keeps its
# files in target/wine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

# Few generated cases, since each file call takes Wine many times as long as Linux. `make soak`
# generates more.
cases=8
if is_soak; then cases=32; fi
export PROPTEST_CASES="${PROPTEST_CASES:-$cases}"

install_packages
make_prefix
# One Wine server for all programs. A server that ends while the next program starts would end that
# too.
/usr/lib/wine/wineserver64 -p </dev/null >/dev/null 2>&1
trap '/usr/lib/wine/wineserver64 -k || true' EXIT

say 'testing the crates under Wine'
test_crates
# The rest of the command is tested on Linux. Most of the time goes into building it.
if is_soak; then target_cargo "$GNU" test -q -p smallfry-cli --lib; fi

scripts/windows/check.sh
scripts/windows/node.sh
