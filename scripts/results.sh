#!/bin/sh
# Writes the measured parts of docs/results anew from the result files in docs/results/data: tables and
# a picture of each. `scripts/results.sh --measure DIR [NAME ...]` measures first, on the disk of DIR, and
# trees in MEMORY_DIR. n20, n22, n24 and n26 on PATH are these versions of Node.
set -eu
cd "$(dirname "$0")/.."
smallfry=${SMALLFRY_COMMAND:-target/release/smallfry}
data=docs/results/data

# Prints the arguments of the bench that makes a file. Trees are measured in memory: where files were
# just removed, an ext4 without a journal makes new ones slowly.
arguments() {
  case $1 in
    build) echo build --seconds 60 --dir "$dir" ;;
    calls) echo calls --cells at,once --dir "$dir" ;;
    one-call) echo calls --cells readFile,one --runs 10 --node n20 --node n22 --node n24 --node n26 --dir "$memory" ;;
    fsync) echo fsync --cells 500,characters --dir "$dir" ;;
    write-string) echo write-string --cells 12288,ascii,null --dir "$dir" ;;
    jvm) echo read-many --cells kept,string,warm --rows Java,JVM --dir "$dir" ;;
    promise-all) echo read-many --cells kept,string,warm --rows Promise.all --node n24 --node n26 --dir "$dir" ;;
    copy-tree | remove-tree | mirror | unpack | pack | hash-tree | scale) echo "$1" --dir "$memory" ;;
    write-many) echo write-many --files 10000 --dir "$dir" ;;
    *) echo "$1" --dir "$dir" ;;
  esac
}

measure() {
  dir=$1
  memory=${MEMORY_DIR:-/dev/shm}
  shift
  mkdir -p "$data"
  all='build read-many write-many write-string close fsync fsync-many start calls package-scope scale jvm promise-all one-call
    copy-tree remove-tree mirror unpack pack hash-tree try'
  for name in ${*:-$all}; do
    if [ "$name" = try ]; then
      pages=$memory/smallfry-pages
      node scripts/pages.mjs make "$pages"
      $smallfry try --outputs "$pages/out" --json "$data/$name.whole" -- node scripts/pages.mjs build "$pages" >/dev/null
      rm -r "$pages"
    else
      # shellcheck disable=SC2046 # several words
      $smallfry bench $(arguments "$name") --json "$data/$name.whole" >/dev/null
    fi
    # What only programs that know the scenario need is as large as the rest.
    $smallfry report "$data/$name.whole" --json "$data/$name.json"
    rm "$data/$name.whole"
  done
}

# Puts tables and picture of a result file between the marks of its page.
write() {
  name=$1
  page=$(grep -l "^<!-- measured: $name -->$" docs/results/*.md || true)
  [ -n "$page" ] || { echo "no page has the mark of $name" >&2; exit 1; }
  part=$(mktemp)
  $smallfry report "$data/$name.json" --svg "docs/results/$name.svg" --markdown "$part"
  awk -v name="$name" -v part="$part" '
    $0 == "<!-- measured: " name " -->" {
      print; print ""; print "![Medians](" name ".svg)"; print ""
      while ((getline line < part) > 0) print line
      print ""; skip = 1; next
    }
    $0 == "<!-- end -->" && skip { skip = 0 }
    !skip
  ' "$page" >"$page.new"
  mv "$page.new" "$page"
  rm "$part"
}

if [ "${1-}" = --measure ]; then
  shift
  measure "$@"
fi
for file in "$data"/*.json; do
  write "$(basename "$file" .json)"
done
