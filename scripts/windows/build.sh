#!/usr/bin/env bash
# Builds what test.sh runs, so that it can do so at once.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

install_packages
test_crates --no-run
target_cargo "$GNU" build -q -p smallfry-node
scripts/windows/check.sh
