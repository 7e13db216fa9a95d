#!/usr/bin/env bash
# Type-checks everything for macOS and for Windows with MSVC, as most people have it. Neither can be
# linked here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

install_packages
# There is no C compiler for these systems. A check links nothing, so a stand-in that does not
# compile is enough. Only Rust is checked, not C and C++.
none=$PWD/scripts/windows/no-compiler
for triple in x86_64_pc_windows_msvc aarch64_apple_darwin x86_64_apple_darwin; do
  export "CC_$triple=$none" "CXX_$triple=$none" "AR_$triple=$none"
done
# Warnings in the workspace's own code are errors.
export CARGO_UNSTABLE_WARNINGS=true CARGO_BUILD_WARNINGS=deny
# A check compiles the standard library too, and none of it runs.
export CARGO_PROFILE_DEV_OPT_LEVEL=0
# MinGW builds the tests for Windows anyway. Checking them here takes 1.5 times as long.
targets=()
triples=(x86_64-pc-windows-msvc aarch64-apple-darwin)
if is_soak; then
  targets=(--all-targets)
  triples+=(x86_64-apple-darwin)
else
  export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind
fi
for triple in "${triples[@]}"; do
  say "checking for $triple"
  target_cargo "$triple" check -q --workspace "${targets[@]}" --features "$CORE_FEATURES"
done
