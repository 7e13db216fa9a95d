#!/bin/sh
# Places the native libraries that go into the jar: `place-libraries.sh SYSTEM=DIRECTORY...`, with the
# directories where cargo has built them. NativeLibrary.kt has the same names of systems.
set -eu
here=$(dirname "$0")
# Maven removes nothing from its copy in target/classes.
rm -rf "$here/target/native" "$here/target/classes/dev/smallfry/native"
for pair in "$@"; do
  system=${pair%%=*} built=${pair#*=}
  case $system in
    linux-*) file=libsmallfry_jvm.so ;;
    darwin-*) file=libsmallfry_jvm.dylib ;;
    win32-*) file=smallfry_jvm.dll ;;
    *) echo "smallfry: the JVM package knows no system $system" >&2; exit 1 ;;
  esac
  mkdir -p "$here/target/native/$system"
  cp "$built/$file" "$here/target/native/$system/"
done
