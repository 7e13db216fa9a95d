#!/bin/sh
# Writes the measured parts of docs/results anew from the result files in docs/results/data: tables and
# a picture of each. `scripts/results.sh --measure DIR [NAME ...]` measures first, on the disk of DIR.
set -eu
cd "$(dirname "$0")/.."
smallfry=${SMALLFRY_COMMAND:-target/release/smallfry}
data=docs/results/data

# Prints the arguments of the bench that makes a file.
arguments() {
  case $1 in
    build) echo build --seconds 60 ;;
    calls) echo calls --cells at,once --seconds 60 ;;
    fsync) echo fsync --cells 500,characters ;;
    *) echo "$1" --seconds 60 ;;
  esac
}

measure() {
  dir=$1
  shift
  mkdir -p "$data"
  for name in ${*:-build read-many write-many close fsync fsync-many start calls package-scope}; do
    # shellcheck disable=SC2046 # several words
    $smallfry bench $(arguments "$name") --dir "$dir" --json "$data/$name.whole" >/dev/null
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
