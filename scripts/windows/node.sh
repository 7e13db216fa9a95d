#!/usr/bin/env bash
# Builds the Node addon for Windows and runs its tests in node.exe under Wine.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

NODE_DIR=bindings/node
RUNTIMES=$NODE_DIR/test/runtimes/windows

if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  say 'node or npm is missing: the Node package is not tested for Windows' >&2
  [ "${CI:-}" != true ] || exit 1
  exit 0
fi
install_packages
make_prefix

say 'testing the Node addon under Wine'
target_cargo "$GNU" build -q -p smallfry-node
cp "$CARGO_TARGET_DIR/x86_64-pc-windows-gnu/debug/smallfry_node.dll" $NODE_DIR/smallfry.win32-x64-msvc.node
make --no-print-directory $NODE_DIR/node_modules/.package-lock.json
(cd $NODE_DIR && npm run --silent build)
if [ ! $RUNTIMES/node_modules/.package-lock.json -nt $RUNTIMES/package-lock.json ]; then
  (cd $RUNTIMES && npm ci --os=win32 --cpu=x64 --no-audit --no-fund --loglevel=error)
  touch $RUNTIMES/node_modules/.package-lock.json
fi
node $NODE_DIR/test/under-wine.mjs
scripts/windows/package.sh
