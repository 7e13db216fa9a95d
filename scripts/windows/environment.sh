# Sourced by the other scripts: installs or names everything that building for Windows and running
# under Wine needs.
#
# rustup's standard library for Windows is not used, since some machines can reach only package
# registries. Debian ships the library's source with a compiler, and cargo builds it from that.

cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# The same as in the Makefile.
CORE_FEATURES='smallfry/archive smallfry/hash smallfry/tree smallfry/backend-async-std smallfry/backend-blocking smallfry/backend-rayon smallfry/backend-smol smallfry/backend-tokio'
PACKAGES=(rustc-web cargo-web rust-web-src gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine64)
MINGW=x86_64-w64-mingw32
export WINE=/usr/lib/wine/wine64
# A script that another one calls uses the same directory. Otherwise each would build inside the
# directory of the other.
export SMALLFRY_WINE_DIR="${SMALLFRY_WINE_DIR:-$(realpath -m "${CARGO_TARGET_DIR:-target}")/wine}"

GNU=x86_64-pc-windows-gnu

say() { printf 'smallfry: %s\n' "$*"; }

# True for `make soak`: nothing is left out for taking long.
is_soak() { [ -n "${SMALLFRY_SOAK:-}" ]; }

# Installs missing packages. Without apt-get or root it names them and exits: with 0, or with 1 if
# CI=true.
install_packages() {
  local missing=() package
  for package in "${PACKAGES[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    say "installing ${missing[*]}"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && return 0
  fi
  if [ "${CI:-}" = true ]; then
    say "cannot test for Windows: install the Debian packages ${missing[*]}" >&2
    exit 1
  fi
  say "not tested for Windows: the Debian packages ${missing[*]} are missing"
  exit 0
}

# Makes a Windows for these tests only. Node needs Windows 10 or later.
make_prefix() {
  [ ! -e "$WINEPREFIX/ready" ] || return 0
  say "making a Windows for Wine in $WINEPREFIX"
  mkdir -p "$WINEPREFIX"
  "$WINE" wineboot -i </dev/null >"$WINEPREFIX/log" 2>&1
  "$WINE" winecfg /v win10 </dev/null >>"$WINEPREFIX/log" 2>&1
  "$MINGW-gcc-posix" -O2 -shared -s -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" \
    scripts/windows/bcryptprimitives.c -ladvapi32
  /usr/lib/wine/wineserver64 -w
  touch "$WINEPREFIX/ready"
}

# Runs Debian's cargo for one target: target_cargo TRIPLE ARGUMENTS... Each target has its own
# standard library.
target_cargo() {
  CARGO_BUILD_TARGET="$1" /usr/bin/cargo "${@:2}"
}

# Tests the crates that Windows has, with these arguments of cargo.
test_crates() {
  target_cargo "$GNU" test -q -p smallfry -p smallfry-transcode -p smallfry-package-json -p smallfry-slowfs --features "$CORE_FEATURES" "$@"
  target_cargo "$GNU" test -q -p smallfry-cli --test rm_later "$@"
}

# A backtrace takes seconds, since Wine reads all symbols for it.
unset RUSTUP_TOOLCHAIN CARGO RUSTFLAGS RUSTDOCFLAGS DISPLAY RUST_BACKTRACE
export RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc
# Building the standard library is unstable in cargo. This lets a stable cargo do it.
export RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std,panic_unwind,test
export CARGO_TARGET_DIR="$SMALLFRY_WINE_DIR"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$MINGW-gcc-posix
# Links the C++ library statically, since Windows does not have MinGW's.
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUSTFLAGS='-C link-arg=-static'
export CXXSTDLIB_x86_64_pc_windows_gnu='static:-bundle=stdc++'
# Wine makes every file call slow, so at least the tests' own code is optimized.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=0
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=$PWD/scripts/windows/run
export CC_x86_64_pc_windows_gnu=$MINGW-gcc-posix CXX_x86_64_pc_windows_gnu=$MINGW-g++-posix AR_x86_64_pc_windows_gnu=$MINGW-ar
export WINEPREFIX="$SMALLFRY_WINE_DIR/prefix" WINEARCH=win64 WINEDEBUG=-all
export WINEDLLOVERRIDES='mscoree,mshtml=;winemenubuilder.exe=d'
