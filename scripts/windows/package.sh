#!/usr/bin/env bash
# Packs the npm package for Windows with the programs that test.sh and node.sh have built by MinGW, and
# runs its addon in node.exe and its command under Wine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

NODE_DIR=bindings/node
node=$(find "$PWD/$NODE_DIR/test/runtimes/windows/node_modules" -name node.exe | sort -V | tail -1)
npm=$SMALLFRY_WINE_DIR/npm
project=$SMALLFRY_WINE_DIR/project
make_prefix

say 'running the npm package under Wine'
make --no-print-directory $NODE_DIR/test/packages/node_modules/.package-lock.json
built=$CARGO_TARGET_DIR/$GNU/debug
[ -e "$built/smallfry.exe" ] || target_cargo "$GNU" build -q -p smallfry-cli
node $NODE_DIR/test/packages/pack.mjs "$npm" "win32-x64-msvc=$built" >/dev/null 2>&1
rm -rf "$project"
for package in smallfry smallfry-win32-x64-msvc; do
  mkdir -p "$project/node_modules/$package"
  tar -xzf "$npm/$package"-[0-9]*.tgz -C "$project/node_modules/$package" --strip-components 1
done
cp $NODE_DIR/test/packages/smoke.cjs "$project/"
# Pipes may lose the end of what programs print under Wine.
run() { (cd "$project" && "$WINE" "$@" </dev/null >output 2>&1) || { cat "$project/output"; exit 1; }; }
run "$node" smoke.cjs
grep -q good "$project/output"
command=node_modules/smallfry-win32-x64-msvc/smallfry.exe
run $command cp smoke.cjs copy
run $command pack copies.zip copy
run $command unpack -C unpacked copies.zip
run $command rm copy
cmp "$project/smoke.cjs" "$project/unpacked/copy"
rm -rf "$project"
