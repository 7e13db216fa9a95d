#!/usr/bin/env bash
# Builds the command, the addon and the JVM's library for other Linux systems, as they are published:
# `scripts/release/cross.sh SYSTEM...`, such as linux-arm64-musl. They go to target/cross/SYSTEM.
#
# zig is the C and C++ compiler and the linker: it has glibc 2.28 and musl for each processor.
set -euo pipefail
cd "$(dirname "$0")/../.."
. scripts/release/systems.sh

target_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target_dir/tools
out=$target_dir/cross

[ $# -gt 0 ] || { echo 'usage: scripts/release/cross.sh SYSTEM...' >&2; exit 2; }
for system in "$@"; do
  triple "$system" >/dev/null
  case $system in linux-*) ;; *) echo "smallfry: $system is built on a machine of its own" >&2; exit 2 ;; esac
done

if [ ! -x "$tools/zig/bin/cargo-zigbuild" ]; then
  python3 -m venv "$tools/zig"
  "$tools/zig/bin/pip" install -q 'cargo-zigbuild==0.24.*' 'ziglang==0.14.*'
fi
export PATH="$tools/zig/bin:$PATH"

# The standard library is built, too: small for the command, which ends at a panic, and as it comes for
# libraries. Its source is rustup's, or Debian's where rustup has none.
cargo=(cargo)
if ! { command -v rustup >/dev/null && rustup component add rust-src >/dev/null 2>&1; }; then
  cargo=(env -u RUSTUP_TOOLCHAIN -u CARGO RUSTC=/usr/bin/rustc /usr/bin/cargo)
fi
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$target_dir/cross-build
for system in "$@"; do
  triple=$(triple "$system")
  versioned=$triple
  case $triple in *-gnu) versioned=$triple.2.28 ;; esac
  # zig leaves out what vectors of 512 bits need, even in functions for processors that have them.
  case $triple in x86_64-*) export "CFLAGS_${triple//-/_}=-mevex512" "CXXFLAGS_${triple//-/_}=-mevex512" ;; esac
  # zig has the parts of musl, which rustup has only beside a standard library for it.
  flags=
  case $triple in *-musl) flags='-C link-self-contained=no' ;; esac
  printf 'smallfry: building for %s\n' "$system"
  CARGO_UNSTABLE_BUILD_STD=std,panic_abort CARGO_UNSTABLE_BUILD_STD_FEATURES=optimize_for_size \
    RUSTFLAGS="$flags -C force-unwind-tables=no" \
    "${cargo[@]}" zigbuild -q --profile dist-command --target "$versioned" -p smallfry-cli
  # musl is static in the command, and the one of the process in a library.
  case $triple in *-musl) flags+=' -C target-feature=-crt-static' ;; esac
  CARGO_UNSTABLE_BUILD_STD=std,panic_unwind RUSTFLAGS=$flags \
    "${cargo[@]}" zigbuild -q --profile dist --target "$versioned" -p smallfry-node -p smallfry-jvm
  mkdir -p "$out/$system"
  cp "$CARGO_TARGET_DIR/$triple/dist-command/smallfry" "$CARGO_TARGET_DIR/$triple/dist/libsmallfry_node.so" \
    "$CARGO_TARGET_DIR/$triple/dist/libsmallfry_jvm.so" "$out/$system/"
done
