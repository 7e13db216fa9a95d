#!/bin/sh
# Packs the command of each system in target/cross as cargo-binstall asks for it, into target/archives,
# with the part of the changelog that is about the newest version.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
out=$target/archives
rm -rf "$out"
mkdir -p "$out"
for place in "$target"/cross/*/; do
  system=$(basename "$place")
  case $system in
    linux-x64-gnu) triple=x86_64-unknown-linux-gnu ;;
    linux-x64-musl) triple=x86_64-unknown-linux-musl ;;
    linux-arm64-gnu) triple=aarch64-unknown-linux-gnu ;;
    linux-arm64-musl) triple=aarch64-unknown-linux-musl ;;
    win32-x64-msvc) triple=x86_64-pc-windows-msvc ;;
    darwin-x64) triple=x86_64-apple-darwin ;;
    darwin-arm64) triple=aarch64-apple-darwin ;;
    *) echo "smallfry: there is no name for $system" >&2; exit 1 ;;
  esac
  command=smallfry
  [ ! -f "$place$command.exe" ] || command=smallfry.exe
  chmod 755 "$place$command"
  tar -czf "$out/smallfry-$triple.tgz" --owner=0 --group=0 -C "$place" "$command"
done
awk '/^## / { if (++count > 1) exit } count == 1' CHANGELOG.md >"$out/notes.md"
