#!/usr/bin/env bash
# `make test-sanitized`: the tests of the core and the suite of the addon, in a program whose memory is
# watched (addresses and leaks), and in one whose threads are. It takes about 20 minutes. An argument,
# address or thread, is the one to run.
#
# The compiler's sanitizers are unstable: a stable one takes itself for a nightly one here. Node is not
# built with them, so their runtime is preloaded, and what Node itself does is not reported.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
host=$(rustc -vV | sed -n 's/^host: //p')
say() { printf 'smallfry: %s\n' "$*"; }

runtime() { find /usr/lib/llvm-19 -name "libclang_rt.$1-$(uname -m).so" 2>/dev/null | head -1; }
if [ -z "$(runtime asan)" ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    say "libclang-rt-19-dev is missing: nothing is run with sanitizers" >&2
    [ "${CI:-}" != true ]
    exit
  fi
  apt-get install -y -qq --no-install-recommends libclang-rt-19-dev
fi

# Not those that trace a program, as the one that is skipped, or limit its memory.
core=(--lib)
for test in archive archive_slips archive_zip bulk close close_already close_async descriptors durability hash hash_cache \
  read rename tree trees write; do
  core+=(--test "$test")
done
# Those where memory is handed over between threads, or between Rust and V8.
suite=(archives async closes copy-tree embedding guarantees hash mirror-tree read-files read-tree transcoding trees write-files)
files=("${suite[@]/%/.test.mjs}")

export RUSTC_BOOTSTRAP=1
for sanitizer in ${1:-address thread}; do
  export CARGO_TARGET_DIR=$target/sanitized-$sanitizer RUSTFLAGS=-Zsanitizer=$sanitizer
  case $sanitizer in
    address)
      library=$(runtime asan)
      RUSTFLAGS+=" -Cforce-frame-pointers" # So that reports name the callers.
      ;;
    thread)
      library=$(runtime tsan)
      # Locks and atomics of a standard library that is not watched would look like races.
      rustup component add rust-src >/dev/null 2>&1 || true
      export CARGO_UNSTABLE_BUILD_STD=std,panic_unwind,test
      # The C library's own lock is not seen.
      printf 'race:tzset_internal\n' >"$target/suppressions"
      export TSAN_OPTIONS=suppressions=$target/suppressions ;;
  esac
  say "the core, $sanitizer sanitizer"
  cargo test -q --no-fail-fast -p smallfry --all-features --target "$host" "${core[@]}" -- --skip what_may_not_be_read
  say "the addon, $sanitizer sanitizer"
  cargo build -q -p smallfry-node --target "$host"
  # In a copy of the package, so that its own addon stays.
  package=$CARGO_TARGET_DIR/package
  rm -rf "$package"
  mkdir -p "$package/test"
  cp -r bindings/node/dist bindings/node/esm bindings/node/package.json "$package/"
  cp bindings/node/test/*.mjs "$package/test/"
  ln -s "$PWD/bindings/node/test/runtimes" "$package/test/runtimes"
  cp "$CARGO_TARGET_DIR/$host/debug/libsmallfry_node.so" "$package/smallfry.linux-$(node -p process.arch)-gnu.node"
  # Leaks do not end a process here, as most are Node's. Any user may write reports, as some tests
  # give up their privileges.
  reports=$CARGO_TARGET_DIR/reports
  rm -rf "$reports" && mkdir -m 777 "$reports"
  format='"    #%n %p in %f %S (%m+%o)"'
  failed=0
  ASAN_OPTIONS="detect_leaks=1:exitcode=0:log_path=$reports/report:stack_trace_format=$format" \
    TSAN_OPTIONS=${TSAN_OPTIONS:-}:ignore_noninstrumented_modules=1 LD_PRELOAD=$library \
    node --test "${files[@]/#/$package/test/}" || failed=1
  if [ "$sanitizer" = address ]; then
    node scripts/sanitize-reports.mjs "$reports" "$package"/*.node || failed=1
  fi
  [ "$failed" = 0 ] || exit 1
done
