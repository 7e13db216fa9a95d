#!/usr/bin/env bash
# Puts the archives of other projects' tests into a directory: those of Go and Python, which Debian
# has as packages. Nothing is installed. Where they cannot be had, it says so and exits: with 0, or
# with 1 if CI=true.
#
#   scripts/corpora.sh DIRECTORY
set -euo pipefail
to=$1
[ ! -e "$to/ready" ] || exit 0

# The packages that have the files. Their own names have a version.
packages() {
  apt-cache depends --important golang-src | sed -n 's/.*Depends: \(golang-[0-9.]*-src\)$/\1/p'
  apt-cache search --names-only '^libpython3[.0-9]*-testsuite$' | sed 's/ .*//'
}

download() {
  apt-get update -qq && packages >"$to/packages" && [ -s "$to/packages" ] &&
    (cd "$to" && xargs apt-get download -qq -o APT::Sandbox::User=root <packages >/dev/null)
}

rm -rf "$to"
mkdir -p "$to"
if ! command -v apt-get >/dev/null || ! download; then
  printf 'smallfry: the archives of other projects cannot be had: they are packages of Debian\n' >&2
  [ "${CI:-}" != true ]
  exit
fi
for package in "$to"/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -xC "$to" --wildcards './usr/share/go-*/src/archive/*/testdata/*' \
    './usr/lib/python3*/test/*.tar*' './usr/lib/python3*/test/*.zip' 2>/dev/null || true
  rm "$package"
done
touch "$to/ready"
