#!/usr/bin/env bash
# Adds to the site, which `make docs` has built, the references of the front ends: api/rust, api/node and
# api/jvm; and the files that pages link to. A part whose tools are missing is named and left out; with
# CI=true it is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
site=docs/.vitepress/dist/api
without() {
  printf 'smallfry: %s is missing: the reference for %s is left out\n' "$1" "$2" >&2
  [ "${CI:-}" != true ]
}

rm -rf "$site"
mkdir -p "$site"
cp docs/api/smallfry.txt "$site/"
cp docs/result.schema.json docs/.vitepress/dist/
RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps -p smallfry -p smallfry-workers -p smallfry-package-json -p smallfry-transcode \
  -p smallfry-slowfs --features smallfry/archive,smallfry/hash,smallfry/tree --target-dir "$target/references"
cp -r "$target/references/doc" "$site/rust"

# Types of node:fs that ours name are not in it.
(cd docs && npx --no-install typedoc --logLevel Error --name smallfry --readme none --tsconfig ../bindings/node/tsconfig.json \
  --entryPoints ../bindings/node/lib/api.ts --entryPoints ../bindings/node/lib/package-json/index.ts --out .vitepress/dist/api/node)

if command -v mvn >/dev/null && command -v java >/dev/null; then
  mvn -q -B -f bindings/jvm -P release dokka:javadoc@javadoc
  cp -r bindings/jvm/target/javadoc "$site/jvm"
else
  without 'java or mvn' 'the JVM'
fi
