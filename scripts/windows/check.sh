#!/usr/bin/env bash
# Type-checks everything for Windows as most people have it (MSVC) and for macOS, neither of which can be linked here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

install_packages
# There is no C compiler for these. A check links nothing, so what stands in for one need not compile: Rust is checked, and
# C and C++ are not.
none=$PWD/scripts/windows/no-compiler
for triple in x86_64_pc_windows_msvc aarch64_apple_darwin; do
  export "CC_$triple=$none" "CXX_$triple=$none" "AR_$triple=$none"
done
# No warnings in what is the workspace's own.
export CARGO_UNSTABLE_WARNINGS=true CARGO_BUILD_WARNINGS=deny
# Even for a check the standard library is compiled, of which nothing runs here.
export CARGO_PROFILE_DEV_OPT_LEVEL=0
# Tests are built for Windows anyway, by MinGW. To check them here takes half as long again.
targets=()
if everything; then
  targets=(--all-targets)
else
  export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
fi
for triple in x86_64-pc-windows-msvc aarch64-apple-darwin; do
  say "checking for $triple"
  target_cargo "$triple" check -q --workspace "${targets[@]}" --features "$CORE_FEATURES"
done
