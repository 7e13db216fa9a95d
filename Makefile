# Each target does its own set-up. What is missing on this machine is named and left out; with CI=true
# it is an error.

TARGET_DIR := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
SMALLFRY := $(TARGET_DIR)/release/smallfry
NODE_DIR := bindings/node
JVM_DIR := bindings/jvm
JVM_DRIVER := crates/cli/peers/jvm
NORAD := crates/cli/peers/norad/Cargo.toml
PEERS_DIR := crates/cli/peers/npm
SCOPE_DIR := crates/cli/peers/package-scope
TRIALS_DIR := crates/cli/tests/trials
REPORT_DIR := crates/cli/tests/report
PACKAGES_DIR := $(NODE_DIR)/test/packages
DOCS_DIR := docs
NODE := $(shell command -v node 2>/dev/null)
NPM := $(shell command -v npm 2>/dev/null)
JAVA := $(shell command -v java 2>/dev/null)
MVN := $(shell command -v mvn 2>/dev/null)
MAVEN := mvn -q -B -f
BACKENDS := backend-async-std backend-blocking backend-rayon backend-smol backend-tokio
# Optimizing across crates takes longer than it saves.
LOOM = env CARGO_TARGET_DIR=$(TARGET_DIR)/loom RUSTFLAGS='--cfg loom -C debug-assertions' \
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=false \
	cargo test -q --release -p smallfry -p smallfry-workers --lib
CORE_FEATURES := $(addprefix smallfry/,archive hash tree $(BACKENDS))
NPM_CI := npm ci --no-audit --no-fund --loglevel=error
SAY := @printf 'smallfry: %s\n'

# What to do where Node and npm are missing: a line and a skip, or with CI=true an error.
ifeq ($(and $(NODE),$(NPM)),)
  ifeq ($(CI),true)
    NEED_NODE = @printf 'smallfry: node and npm are needed: the Node package cannot be %s\n' "$(1)" >&2; exit 1
  else
    NEED_NODE = @printf 'smallfry: node or npm is missing: the Node package is not %s\n' "$(1)"
  endif
endif

# The same where a JDK and Maven are missing.
ifeq ($(and $(JAVA),$(MVN)),)
  ifeq ($(CI),true)
    NEED_JVM = @printf 'smallfry: java and mvn are needed: the JVM package cannot be %s\n' "$(1)" >&2; exit 1
  else
    NEED_JVM = @printf 'smallfry: java or mvn is missing: the JVM package is not %s\n' "$(1)"
  endif
endif

# The versions of Node that tests run, where npm can install them.
RUNTIMES := $(if $(NEED_NODE),,$(NODE_DIR)/test/runtimes/node_modules/.package-lock.json)

# The archives of other projects' tests.
CORPORA := $(TARGET_DIR)/corpora

# The name of this system in packages.
HERE := $(shell . scripts/release/systems.sh && here)

# The native parts of packages, as SYSTEM=DIRECTORY: of the systems in target/cross, which scripts/release/cross.sh
# fills; else of this one.
CROSS = $(wildcard $(TARGET_DIR)/cross/*)
PARTS = $(or $(foreach place,$(CROSS),$(notdir $(place))=$(place)),$(HERE)=$(BUILT))

# The cargo profile of what is built, and its directory.
PROFILE ?= release
BUILT = $(TARGET_DIR)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))

.PHONY: build programs bench bench-all bench-peers test test-all test-all-programs test-all-here soak rust-tests slow-s3 test-programs fuzz test-backends test-crash test-model test-sanitized test-windows trials report-tests lint node-package npm-packages package-tests example-tests docs cross-tests install-tests release-check node-addon node-tests node-lint node-peers jvm-package jvm-library jvm-tests jvm-driver jvm-artifacts artifact-tests jvm-release clean

build: programs node-package

# All that is Rust in one command: each crate is built once, and processors are busy to the end. For
# tests, test-programs does it.
programs:
	$(if $(filter dev,$(PROFILE)),,cargo build -q --profile $(PROFILE) -p smallfry-cli $(if $(NEED_NODE),,-p smallfry-node) $(if $(NEED_JVM),,-p smallfry-jvm))

bench:
	$(SAY) 'building for a few minutes the first time, then measuring for about a minute'
	@scripts/steps.sh 'the command and the libraries=programs' 'the Node package=node-package' 'the JVM package=jvm-driver'
	@$(SMALLFRY) bench $(BENCH_FLAGS)

bench-all:
	$(SAY) 'building, then measuring every scenario and case; the bench says how long that takes'
	@$(MAKE) --no-print-directory build bench-peers
	@$(SMALLFRY) bench --all $(BENCH_FLAGS)

# The command with all peers, the npm packages of peers, and the programs that use the library norad.
bench-peers: node-peers jvm-driver
	cargo build --release -q -p smallfry-cli --features peers
	cargo build --release -q --manifest-path $(NORAD) --target-dir $(TARGET_DIR) --bin smallfry-bench-norad
	cargo build --release -q --manifest-path $(NORAD) --target-dir $(TARGET_DIR) --features rayon --bin smallfry-bench-norad-rayon

# Every claim once, in a few minutes: on the newest Node and the default JDK, with programs that are
# built without optimizing for long. The three suites run beside each other, since each waits a lot.
test: export SMALLFRY_COMMAND := $(TARGET_DIR)/debug/smallfry
test:
	@$(MAKE) --no-print-directory PROFILE=dev test-programs node-package
	@$(MAKE) --no-print-directory PROFILE=dev -j3 --output-sync=target rust-tests node-tests jvm-tests
	@$(MAKE) --no-print-directory PROFILE=dev report-tests

# The same claims with all that is slow by nature: the programs as they are shipped, each Node, each
# JDK, the interleavings of threads, and Windows.
test-all: export SMALLFRY_TEST_ALL := 1
test-all: export SMALLFRY_TEST_CORPORA := $(CORPORA)
test-all:
	@scripts/corpora.sh $(CORPORA)
	@$(MAKE) --no-print-directory build
	@SMALLFRY_TEST_CLOSES=5000 SMALLFRY_TEST_FILES=20000 $(MAKE) --no-print-directory -j2 node-tests test-all-programs
	@SMALLFRY_TEST_CLOSES=5000 SMALLFRY_TEST_FILES=20000 $(MAKE) --no-print-directory -j2 test-all-here test-windows

# Wine leaves a processor free.
test-all-here:
	@$(MAKE) --no-print-directory -j1 jvm-tests jvm-driver rust-tests report-tests package-tests artifact-tests example-tests test-model

# What the suites after Node's run. Node's tests leave a processor free, which compiles meanwhile.
test-all-programs: $(RUNTIMES) $(if $(NEED_NODE),,$(PACKAGES_DIR)/node_modules/.package-lock.json)
	MAKEFLAGS= nice cargo test -q --no-run $(WORKSPACE)
	MAKEFLAGS= nice $(LOOM) --no-run
	MAKEFLAGS= nice scripts/windows/build.sh

# Hours of generated cases, crashes and files, and programs that people use.
soak: export SMALLFRY_TEST_ALL := 1
soak: export SMALLFRY_SOAK := 1
soak: export SMALLFRY_TEST_CORPORA := $(CORPORA)
soak:
	@scripts/corpora.sh $(CORPORA)
	PROPTEST_CASES=20000 SMALLFRY_TEST_CASES=50000 SMALLFRY_TEST_FILES=1000000 SMALLFRY_TEST_CLOSES=100000 \
		SMALLFRY_TEST_PACKAGES=1000000 SMALLFRY_TEST_WALKS=1000 SMALLFRY_TEST_URLS=400000 SMALLFRY_TEST_CALLS=1000000 SMALLFRY_TEST_SECONDS=600 \
		$(MAKE) --no-print-directory node-tests jvm-tests jvm-driver rust-tests test-model
	$(MAKE) --no-print-directory test-backends test-crash test-sanitized fuzz trials test-windows

WORKSPACE := --workspace --exclude smallfry-node --exclude smallfry-jvm --features '$(CORE_FEATURES)'

# Without make's own flags, which would name a job server that cargo cannot reach. The second command
# tests the conversions for processors without AVX-512, the last two test object stores.
rust-tests: $(RUNTIMES) slow-s3
	MAKEFLAGS= cargo test -q $(WORKSPACE)
	MAKEFLAGS= SIMDUTF_FORCE_IMPLEMENTATION=haswell cargo test -q -p smallfry-transcode
	MAKEFLAGS= SLOW_S3=$(SLOW_S3) cargo test -q -p smallfry --features store --lib --test store
	MAKEFLAGS= cargo test -q -p smallfry --features store --doc store

# A real S3 server that is slow and faulty as tests ask. Its crate needs a newer Rust than the others.
SLOW_S3 := $(TARGET_DIR)/slow-s3/debug/slow-s3
slow-s3:
	MAKEFLAGS= cargo build -q --locked --manifest-path crates/slow-s3/Cargo.toml --target-dir $(TARGET_DIR)/slow-s3

# All programs and tests of a profile in two commands, so that each crate is built once.
test-programs: $(RUNTIMES)
	cargo build -q --profile $(PROFILE) --workspace --features '$(CORE_FEATURES)'
	cargo test -q --no-run $(WORKSPACE)

# The interleavings of threads, explored by loom.
test-model:
	$(LOOM) model::

# Crashes: 10,000 for each model of a disk, 200 of each real file system (as root), and 2,000 programs
# killed.
test-crash:
	SMALLFRY_TEST_CRASHES=10000 SMALLFRY_TEST_CUTS=200 SMALLFRY_TEST_KILLS=2000 \
		cargo test -q --release -p smallfry --test crash --test crash_real --test kill -- --nocapture

# Lint and tests of closing with every set of backends that a build can have.
HACK := $(TARGET_DIR)/tools/bin/cargo-hack
test-backends: $(HACK)
	$(HACK) hack clippy -q -p smallfry --feature-powerset --include-features '$(BACKENDS)' --all-targets -- -D warnings
	$(HACK) hack test -q -p smallfry --feature-powerset --include-features '$(BACKENDS)' --test close --test close_already --test close_async

$(HACK):
	cargo install -q cargo-hack --locked --version '^0.6' --root $(TARGET_DIR)/tools

# Inputs of libFuzzer, for FUZZ_SECONDS each, found from those in fuzz/seeds on. Its sanitizers need a
# nightly compiler, or one that takes itself for one.
FUZZED := file_url package_json results transcode unpack_tar unpack_tar_gz unpack_tar_zst unpack_zip within
FUZZ_SECONDS ?= 60
FUZZ := $(TARGET_DIR)/tools/bin/cargo-fuzz
fuzz: $(FUZZED:%=fuzz-%)
fuzz-%: $(FUZZ)
	@mkdir -p fuzz/corpus/$*
	RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=$(TARGET_DIR)/fuzz $(FUZZ) run $* fuzz/corpus/$* fuzz/seeds/$* -- -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -verbosity=0 -print_final_stats=1

$(FUZZ):
	cargo install -q cargo-fuzz --locked --version '^0.13' --root $(TARGET_DIR)/tools

# The core and the addon, under the sanitizers of addresses, leaks and threads.
test-sanitized: node-package $(RUNTIMES)
	@MAKEFLAGS= scripts/sanitize.sh

# The tests in programs for Windows, under Wine. On Debian, as root, it installs 310 MB for that.
test-windows:
	@MAKEFLAGS= scripts/windows/test.sh

lint: node-lint
	cargo fmt --all --check
	cargo fmt --all --check --manifest-path $(NORAD)
	cargo fmt --all --check --manifest-path fuzz/Cargo.toml
	cargo fmt --all --check --manifest-path crates/slow-s3/Cargo.toml
	cargo fmt --all --check --manifest-path examples/font/Cargo.toml
	cargo clippy -q --workspace --all-targets -- -D warnings
	cargo clippy -q -p smallfry --all-features --all-targets -- -D warnings
	cargo clippy -q -p smallfry-cli --features peers --all-targets -- -D warnings
	cargo clippy -q -p smallfry-package-json --features peers --all-targets -- -D warnings
	cargo clippy -q --manifest-path $(NORAD) --target-dir $(TARGET_DIR) --workspace --all-features --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps --workspace --features '$(CORE_FEATURES)'

ifdef NEED_NODE
node-package:
	$(call NEED_NODE,built)
node-tests:
	$(call NEED_NODE,tested)
node-lint:
	$(call NEED_NODE,checked)
npm-packages package-tests:
	$(call NEED_NODE,packed)
example-tests docs cross-tests install-tests:
	$(call NEED_NODE,used)
trials:
	$(call NEED_NODE,tried)
report-tests:
	$(call NEED_NODE,tested)
node-peers:
	$(call NEED_NODE,compared with others)
else
node-package: programs $(NODE_DIR)/node_modules/.package-lock.json
	cd $(NODE_DIR) && npm run --silent build
	node $(NODE_DIR)/scripts/place-addon.mjs $(BUILT)

node-peers: $(PEERS_DIR)/node_modules/.package-lock.json $(SCOPE_DIR)/node_modules/.package-lock.json

node-tests: $(if $(filter dev,$(PROFILE)),,build) $(RUNTIMES)
	node $(NODE_DIR)/test/all-versions.mjs

# The report of `--html` in Chromium.
report-tests: programs $(REPORT_DIR)/node_modules/.package-lock.json
	SMALLFRY_COMMAND=$(BUILT)/smallfry node --test $(REPORT_DIR)/report.test.mjs

npm-packages: node-package $(PACKAGES_DIR)/node_modules/.package-lock.json
	node $(PACKAGES_DIR)/pack.mjs $(TARGET_DIR)/npm $(PARTS)

# What is in them, installed as by a stranger, in each runtime.
package-tests: npm-packages $(RUNTIMES)
	SMALLFRY_PACKAGES=$(TARGET_DIR)/npm node --test $(PACKAGES_DIR)/packages.test.mjs

example-tests: node-package $(if $(NEED_JVM),,jvm-library)
	node --test examples/examples.test.mjs
	MAKEFLAGS= cargo test -q --manifest-path examples/font/Cargo.toml --target-dir $(TARGET_DIR)/examples
	$(if $(NEED_JVM),,$(MAVEN) examples/pom.xml -pl key-value -am -Dtest=StoreTest -Dsurefire.failIfNoSpecifiedTests=false test)

# The site, in docs/.vitepress/dist. A link that leads nowhere within it is an error, and so is a page
# that a browser complains about.
docs: $(DOCS_DIR)/node_modules/.package-lock.json $(NODE_DIR)/node_modules/.package-lock.json
	cd $(DOCS_DIR) && npx --no-install vitepress build
	scripts/references.sh
	node --test $(DOCS_DIR)/site.test.mjs

# What scripts/release/cross.sh has built, run on musl and by qemu-user on arm64.
cross-tests: npm-packages
	@scripts/release/cross-tests.sh

# The first commands of the README in systems that have only Node, only cargo or only a JDK.
install-tests: npm-packages jvm-package $(RUNTIMES)
	@scripts/release/installs.sh

# What a release publishes, packed and built from what was packed.
release-check:
	@scripts/release/check.sh

# Small projects and one pair of runs show that it works. To measure: TRIALS_FLAGS='--size 1'
trials: TRIALS_FLAGS ?= --size 0.05 --runs 1
trials: build $(NODE_DIR)/test/runtimes/node_modules/.package-lock.json $(TRIALS_DIR)/node_modules/.package-lock.json
	node $(TRIALS_DIR)/run.mjs --smallfry $(SMALLFRY) $(TRIALS_FLAGS)

node-lint: $(NODE_DIR)/node_modules/.package-lock.json
	cd $(NODE_DIR) && npx --no-install tsc --project . --noEmit && npx --no-install eslint .
endif

ifdef NEED_JVM
jvm-package:
	$(call NEED_JVM,built)
jvm-tests:
	$(call NEED_JVM,tested)
jvm-driver:
	$(call NEED_JVM,compared with others)
jvm-artifacts artifact-tests jvm-release:
	$(call NEED_JVM,published)
else
jvm-package: jvm-library
	$(MAVEN) $(JVM_DIR) -DskipTests package

# What a release publishes, but not signed, into target/maven.
jvm-artifacts: $(if $(CROSS),,programs)
	sh $(JVM_DIR)/place-libraries.sh $(PARTS)
	sh $(JVM_DIR)/make-artifacts.sh $(TARGET_DIR)/maven

# What is in it, and programs in Java that are built from it.
artifact-tests: jvm-artifacts
	$(if $(NEED_NODE),$(call NEED_NODE,used),SMALLFRY_ARTIFACTS=$(TARGET_DIR)/maven node --test $(JVM_DIR)/artifacts.test.mjs)

# To Maven Central, signed, with the libraries of all systems: docs/releasing.md.
jvm-release:
	sh $(JVM_DIR)/place-libraries.sh $(PARTS)
	@. scripts/release/systems.sh; for system in $$SYSTEMS; do ls $(JVM_DIR)/target/native/$$system >/dev/null || exit 1; done
	$(MAVEN) $(JVM_DIR) -P release -Dmaven.test.skip deploy

jvm-library: programs
	sh $(JVM_DIR)/place-libraries.sh $(HERE)=$(BUILT)

# The library, and the process of the bench's rows in the JVM.
jvm-driver: jvm-package
	$(MAVEN) $(JVM_DRIVER) -DskipTests package

# With the default JDK; with SMALLFRY_TEST_ALL also with the newest that is installed beside it.
jvm-tests: jvm-library
	sh $(JVM_DIR)/test-all-jdks.sh
endif

%/node_modules/.package-lock.json: %/package-lock.json
	cd $* && $(NPM_CI)
	@touch $@

clean:
	cargo clean
	rm -rf $(JVM_DIR)/target $(JVM_DRIVER)/driver/target $(NODE_DIR)/dist $(NODE_DIR)/node_modules $(NODE_DIR)/test/runtimes/node_modules $(TRIALS_DIR)/node_modules $(REPORT_DIR)/node_modules $(PEERS_DIR)/node_modules $(SCOPE_DIR)/node_modules $(NODE_DIR)/*.node $(PACKAGES_DIR)/node_modules $(DOCS_DIR)/node_modules $(DOCS_DIR)/.vitepress/dist
