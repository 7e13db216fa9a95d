#!/usr/bin/env bash
# Builds the command, the addon and the JVM's library for other Linux systems, as they are published:
# `scripts/cross.sh SYSTEM...`, such as linux-arm64-musl. They go to target/cross/SYSTEM.
#
# zig is the C and C++ compiler and the linker: it has glibc 2.28 and musl for each processor. Where
# rustup cannot give Rust's standard library for the system, cargo builds it from Debian's source.
set -euo pipefail
cd "$(dirname "$0")/.."

target_dir=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target_dir/tools
out=$target_dir/cross

triple() {
  case $1 in
    linux-x64-gnu) echo x86_64-unknown-linux-gnu ;;
    linux-x64-musl) echo x86_64-unknown-linux-musl ;;
    linux-arm64-gnu) echo aarch64-unknown-linux-gnu ;;
    linux-arm64-musl) echo aarch64-unknown-linux-musl ;;
    *) echo "smallfry: cross.sh builds for linux-x64-gnu, linux-x64-musl, linux-arm64-gnu and linux-arm64-musl, not for $1" >&2; exit 2 ;;
  esac
}

[ $# -gt 0 ] || { echo 'usage: scripts/cross.sh SYSTEM...' >&2; exit 2; }
for system in "$@"; do triple "$system" >/dev/null; done

if [ ! -x "$tools/zig/bin/cargo-zigbuild" ]; then
  python3 -m venv "$tools/zig"
  "$tools/zig/bin/pip" install -q 'cargo-zigbuild==0.20.*' 'ziglang==0.14.*'
fi
export PATH="$tools/zig/bin:$PATH"

for system in "$@"; do
  triple=$(triple "$system")
  cargo=(cargo)
  if ! { command -v rustup >/dev/null && rustup target add "$triple" >/dev/null 2>&1; }; then
    cargo=(env -u RUSTUP_TOOLCHAIN -u CARGO RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_unwind /usr/bin/cargo)
  fi
  versioned=$triple
  case $triple in *-gnu) versioned=$triple.2.28 ;; esac
  # musl is static in the command, and the one of the process in a library.
  printf 'smallfry: building for %s\n' "$system"
  export CARGO_TARGET_DIR=$target_dir/cross-build
  "${cargo[@]}" zigbuild -q --profile dist --target "$versioned" -p smallfry-cli
  case $triple in *-musl) export RUSTFLAGS='-C target-feature=-crt-static' ;; esac
  "${cargo[@]}" zigbuild -q --profile dist --target "$versioned" -p smallfry-node -p smallfry-jvm
  unset RUSTFLAGS
  mkdir -p "$out/$system"
  for file in smallfry libsmallfry_node.so libsmallfry_jvm.so; do
    cp "$CARGO_TARGET_DIR/$triple/dist/$file" "$out/$system/"
  done
done
