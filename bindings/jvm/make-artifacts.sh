#!/bin/sh
# Builds the artifacts of a release, and puts them into the directory $1 as into a Maven repository. The
# libraries come from target/native, and more arguments go to Maven.
set -eu
here=$(dirname "$0")
repository=$(realpath -m "$1")
shift
# In so short a run, optimizing Maven's own code takes longer than it saves.
export MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}"
rm -rf "$repository" "$here/target/classes" "$here/target/javadoc"
mvn -q -B -f "$here" -P release -Dmaven.test.skip "$@" \
  verify org.apache.maven.plugins:maven-deploy-plugin:3.1.4:deploy "-DaltDeploymentRepository=built::file:$repository"
