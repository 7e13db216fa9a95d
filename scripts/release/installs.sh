#!/usr/bin/env bash
# `make install-tests`: makes three bare Debian systems, with only Node, only cargo and only a JDK, and
# in each installs what a release publishes and runs what the README begins with. They have no network.
# As root; it takes about 17 minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
roots=$target/installs
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
say() { printf 'smallfry: %s\n' "$*"; }

[ "$(id -u)" = 0 ] || { echo 'smallfry: root is needed to make other systems' >&2; exit 1; }
command -v mmdebstrap >/dev/null || apt-get install -y -qq --no-install-recommends mmdebstrap

# Makes the system NAME of Debian's smallest set of packages and those that are named.
make_root() {
  local name=$1
  shift
  rm -rf "${roots:?}/$name"
  mkdir -p "$roots"
  apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' | sort -u |
    mmdebstrap --quiet --variant=minbase "--include=$(IFS=,; echo "$*")" "$(. /etc/os-release; echo "$VERSION_CODENAME")" "$roots/$name" -
  mkdir "$roots/$name/packages"
}

# Runs installs/NAME.sh in it. Its mounts and processes end with the script.
run_in() {
  cp "scripts/release/installs/$1.sh" "$roots/$1/packages/"
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare --mount --pid --net --fork --kill-child sh -c '
    mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
      exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$0" bash -euo pipefail "/packages/$1.sh"' "$roots/$1" "$1"
  rm -rf "${roots:?}/$1"
}

say 'only Node'
make_root node libstdc++6
node=bindings/node/test/runtimes/node_modules/node24/bin/node
cp "$node" "$roots/node/usr/local/bin/"
mkdir -p "$roots/node/usr/local/lib/node_modules"
cp -rL "$(npm root --global)/npm" "$roots/node/usr/local/lib/node_modules/"
for tool in npm npx; do ln -s "../lib/node_modules/npm/bin/$tool-cli.js" "$roots/node/usr/local/bin/$tool"; done
cp "$target"/npm/*.tgz "$roots/node/packages/"
run_in node

say 'only a JDK'
make_root jdk openjdk-17-jdk-headless
cp "bindings/jvm/target/smallfry-$version.jar" "$roots/jdk/packages/"
mvn -q -B -f bindings/jvm dependency:copy-dependencies -DincludeArtifactIds=kotlin-stdlib -DoutputDirectory="$roots/jdk/packages"
find examples/duplicates -name '*.java' -exec cp {} "$roots/jdk/packages/" \;
run_in jdk

say 'only cargo'
make_root cargo cargo-web rustc-web gcc libc6-dev
# What the registry would send: the crates of others, and each of these as it is packed.
cargo package -q --workspace --exclude smallfry-node --exclude smallfry-jvm --exclude smallfry-options --no-verify
cargo vendor -q --locked --versioned-dirs "$roots/cargo/packages/registry" >/dev/null
for crate in "$target"/package/smallfry*.crate; do
  tar -xzf "$crate" -C "$roots/cargo/packages/registry"
  name=$(basename "$crate" .crate)
  printf '{"files":{},"package":"%s"}' "$(sha256sum "$crate" | cut -d' ' -f1)" >"$roots/cargo/packages/registry/$name/.cargo-checksum.json"
done
run_in cargo
say 'installed and run in all three'
