#!/usr/bin/env bash
# `make release-check`: packs what a release publishes and builds each package from what was packed.
# Nothing leaves the machine. It takes about half an hour.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
say() { printf 'smallfry: %s\n' "$*"; }
fail() { printf 'smallfry: %s\n' "$*" >&2; exit 1; }

version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
say "versions are $version"
npm=$(node -p 'require("./bindings/node/package.json").version')
maven=$(sed -n '0,/<version>/s/.*<version>\(.*\)<\/version>.*/\1/p' bindings/jvm/pom.xml)
[ "$npm" = "$version" ] || fail "bindings/node/package.json has $npm, Cargo.toml $version"
[ "$maven" = "$version" ] || fail "bindings/jvm/pom.xml has $maven, Cargo.toml $version"
for file in docs/guide/jvm.md examples/duplicates/pom.xml examples/duplicates/build.gradle examples/key-value/pom.xml \
  crates/cli/peers/jvm/driver/pom.xml; do
  named=$(grep -ohE '<version>[0-9.]+</version>|dev\.smallfry:smallfry:[0-9.]+' "$file" | grep -c -F "$version" || true)
  [ "$named" -gt 0 ] || fail "$file does not name version $version"
done
others=$(sed -n 's/^\(smallfry[a-z-]*\) = { path = "crates[^}]*version = "\(.*\)" }$/\1 \2/p' Cargo.toml | grep -v " $version\$" || true)
[ -z "$others" ] || fail "Cargo.toml asks for other versions of its own crates: $others"

say 'crates: packed, and built from the packages'
cargo publish --workspace --dry-run
for crate in "$target"/package/*-"$version".crate; do
  [ "$(tar -tf "$crate" | grep -c '/LICENSE-')" = 2 ] || fail "$crate has no licences"
done
export RUSTDOCFLAGS='-D warnings'
cargo doc -q --no-deps --workspace --exclude smallfry-node --exclude smallfry-jvm
cargo doc -q --no-deps -p smallfry --all-features

say 'the oldest Rust: no dependency asks for a newer one'
oldest=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
newer=$(cargo metadata --format-version 1 --locked | node -e '
  const order = (version) => version.split(".").reduce((sum, part, at) => sum + Number(part) * [1e6, 1e3, 1][at], 0);
  const { packages } = JSON.parse(require("fs").readFileSync(0));
  const newer = packages.filter(({ rust_version: asked }) => asked && order(asked) > order(process.argv[1]));
  console.log(newer.map(({ name, version, rust_version: asked }) => `${name} ${version} (${asked})`).join(", "));' "$oldest")
[ -z "$newer" ] || fail "these ask for more than Rust $oldest: $newer"

say 'the public interface of the core is the one in docs/api'
if [ ! -x "$target/tools/bin/cargo-public-api" ]; then
  cargo install -q cargo-public-api --locked --version '^0.52' --root "$target/tools"
fi
scripts/release/public-api.sh | diff docs/api/smallfry.txt - || fail 'it has changed: scripts/release/public-api.sh >docs/api/smallfry.txt, and see what the change breaks'

say 'licences and sources of dependencies'
if [ ! -x "$target/tools/bin/cargo-deny" ]; then
  cargo install -q cargo-deny --locked --version '^0.18' --root "$target/tools"
fi
"$target/tools/bin/cargo-deny" --all-features check bans licenses sources

say 'the site'
make --no-print-directory docs

if command -v go >/dev/null; then
  say 'workflows'
  go run github.com/rhysd/actionlint/cmd/actionlint@latest
fi

say 'npm: packed, installed and run'
make --no-print-directory package-tests
for command in "$target"/npm/systems/*/smallfry; do
  size=$(stat -c %s "$command")
  say "$command has $size bytes"
done

if [ -d "$target/cross" ]; then
  say 'the archives of the command'
  scripts/release/archives.sh
fi

say 'Maven: the artifacts, and programs that are built from them'
make --no-print-directory artifact-tests

say 'Maven: the bundle for Maven Central, signed with a key that is made for this'
GNUPGHOME=$(mktemp -d)
export GNUPGHOME MAVEN_GPG_PASSPHRASE=throwaway
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --passphrase "$MAVEN_GPG_PASSPHRASE" --quick-gen-key throwaway ed25519 sign 1d
# The plugin wants a name and a password even where it publishes nothing.
echo '<settings><servers><server><id>central</id><username>x</username><password>x</password></server></servers></settings>' \
  >"$GNUPGHOME/settings.xml"
rm -rf bindings/jvm/target/central-*
mvn -q -B -f bindings/jvm -gs "$GNUPGHOME/settings.xml" -P release -Dmaven.test.skip -Dmaven.install.skip -DskipPublishing deploy
bundle=$GNUPGHOME/bundle
unzip -q bindings/jvm/target/central-publishing/central-bundle.zip -d "$bundle"
for file in "$bundle/dev/smallfry/smallfry/$maven"/*.{jar,pom}; do
  gpg --verify "$file.asc" "$file" 2>/dev/null || fail "the signature of $(basename "$file") is wrong"
  say "$(basename "$file") has $(stat -c %s "$file") bytes"
done
