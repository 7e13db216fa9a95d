#!/bin/sh
# Copies the native library that cargo has built in the directory $1 to where Maven takes it from, under the name that
# NativeLibrary.kt has for the platform.
set -eu
built=$1
case $(uname -s) in
  Linux) os=linux file=libsmallfry_jvm.so ;;
  Darwin) os=macos file=libsmallfry_jvm.dylib ;;
  MINGW* | MSYS* | CYGWIN*) os=windows file=smallfry_jvm.dll ;;
  *) echo "smallfry: the JVM package knows no system $(uname -s)" >&2; exit 1 ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=x86_64 ;;
  aarch64 | arm64) arch=aarch64 ;;
  *) arch=$(uname -m) ;;
esac
directory=$(dirname "$0")/target/native/$os-$arch
mkdir -p "$directory"
cp "$built/$file" "$directory/"
