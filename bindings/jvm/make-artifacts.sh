#!/bin/sh
# Builds the artifacts of a release with the libraries in target/native, and puts them, not signed, into
# the directory $1 as into a Maven repository.
set -eu
here=$(dirname "$0")
repository=$(realpath -m "$1")
# In so short a run, optimizing Maven's own code takes longer than it saves.
export MAVEN_OPTS="-XX:TieredStopAtLevel=1 ${MAVEN_OPTS:-}"
rm -rf "$repository" "$here/target/classes" "$here/target/javadoc"
mvn -q -B -f "$here" -P release -Dmaven.test.skip -Dgpg.skip \
  verify org.apache.maven.plugins:maven-deploy-plugin:3.1.4:deploy "-DaltDeploymentRepository=built::file:$repository"
