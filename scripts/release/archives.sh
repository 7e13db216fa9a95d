#!/bin/sh
# Packs the command of each system in target/cross as cargo-binstall asks for it, into target/archives,
# with the part of the changelog that is about the newest version.
set -eu
cd "$(dirname "$0")/../.."
. scripts/release/systems.sh
target=${CARGO_TARGET_DIR:-target}
out=$target/archives
rm -rf "$out"
mkdir -p "$out"
for place in "$target"/cross/*/; do
  system=$(basename "$place")
  triple=$(triple "$system")
  command=smallfry
  [ ! -f "$place$command.exe" ] || command=smallfry.exe
  chmod 755 "$place$command"
  size=$(wc -c <"$place$command")
  [ "$size" -le 6000000 ] || { echo "smallfry: the command for $system has $size bytes, more than 6 MB" >&2; exit 1; }
  tar -czf "$out/smallfry-$triple.tgz" --owner=0 --group=0 -C "$place" "$command" -C "$PWD" LICENSE-APACHE LICENSE-MIT
done
awk '/^## / { if (++count > 1) exit } count == 1' CHANGELOG.md >"$out/notes.md"
