#!/bin/sh
# Makes targets one after another, and says which step runs and how long each took:
# scripts/steps.sh 'WORDS=TARGET' ...
set -eu
step=0
for it; do
  step=$((step + 1))
  began=$(date +%s)
  printf 'smallfry: step %d of %d, %s ...' "$step" $# "${it%=*}"
  said=$(mktemp)
  if ! ${MAKE:-make} -s --no-print-directory "${it##*=}" >"$said" 2>&1; then
    printf ' failed\n' && cat "$said" && rm "$said" && exit 1
  fi
  printf ' %d s\n' $(($(date +%s) - began))
  # A runtime that is missing, a warning.
  grep '^smallfry: ' "$said" || true
  rm "$said"
done
