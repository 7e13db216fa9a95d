#!/bin/sh
# Runs the tests on the JDK that Maven uses. With SMALLFRY_TEST_ALL it runs them on the newest JDK
# that is installed, too.
set -eu
cd "$(dirname "$0")"
mvn -q -B test
[ -n "${SMALLFRY_TEST_ALL:-}" ] || exit 0
version() { "$1" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.specification\.version = //p'; }
used=$(version java)
newest=$used
for java in /usr/lib/jvm/*/bin/java; do
  [ -x "$java" ] || continue
  found=$(version "$java")
  if [ "$found" -gt "$newest" ]; then
    newest=$found
    binary=$java
  fi
done
if [ "$newest" = "$used" ]; then
  echo "smallfry: no JDK newer than $used is installed: the JVM package is tested on that one alone"
else
  echo "smallfry: the JVM package once more, on JDK $newest"
  mvn -q -B test -Dtest.jvm="$binary"
fi
