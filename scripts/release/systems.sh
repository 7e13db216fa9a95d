# Sourced by other scripts: the systems for which a release has native parts.

SYSTEMS='linux-x64-gnu linux-x64-musl linux-arm64-gnu linux-arm64-musl win32-x64-msvc darwin-x64 darwin-arm64'

# Prints the name of this system.
here() {
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
  esac
  case $(uname -s) in
    Linux) if ldd --version 2>&1 | grep -q musl; then echo "linux-$arch-musl"; else echo "linux-$arch-gnu"; fi ;;
    Darwin) echo "darwin-$arch" ;;
    MINGW* | MSYS* | CYGWIN*) echo "win32-$arch-msvc" ;;
    *) echo "smallfry: there is no system $(uname -s)" >&2; return 1 ;;
  esac
}

# Prints the target of rustc for the name of a system in npm's packages.
triple() {
  case $1 in
    linux-x64-gnu) echo x86_64-unknown-linux-gnu ;;
    linux-x64-musl) echo x86_64-unknown-linux-musl ;;
    linux-arm64-gnu) echo aarch64-unknown-linux-gnu ;;
    linux-arm64-musl) echo aarch64-unknown-linux-musl ;;
    win32-x64-msvc) echo x86_64-pc-windows-msvc ;;
    darwin-x64) echo x86_64-apple-darwin ;;
    darwin-arm64) echo aarch64-apple-darwin ;;
    *) echo "smallfry: there is no system $1" >&2; return 1 ;;
  esac
}
