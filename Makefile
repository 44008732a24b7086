# zerocap: two commands do all the set-up on a fresh Debian 12 or 13: `make run` and `make test`.
#
# Nothing here names a registry or a path of a machine: apt, cargo and the rig use what the machine has.

SHELL   := /bin/bash
PREFIX  ?= /usr
DESTDIR ?=
BINDIR   = $(PREFIX)/bin
UDEVDIR  = $(PREFIX)/lib/udev
UNITDIR  = $(PREFIX)/lib/systemd/system
MANDIR   = $(PREFIX)/share/man
T       ?= smoke
# What is installed; another build by BIN=target/sim/zerocap.
BIN     ?= target/release/zerocap
BUILD_PACKAGES = gcc libc6-dev pkg-config libudev-dev make util-linux
TEST_PACKAGES  = libsystemd-dev sg3-utils man-db strace python3 python3-jsonschema python3-prometheus-client zsh fish
# A check that cannot be made leaves a file here (tests/common/not_run.rs); with CI=true it fails instead.
NOT_RUN        = $(or $(CARGO_TARGET_DIR),target)/tmp/not-run

.PHONY: all run setup setup-test build check test test-vm test-long mutants bench bindings install clean

all: build

setup:
	@need=; for p in $(BUILD_PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || need="$$need $$p"; done; \
	if [ -n "$$need" ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$need >/dev/null; fi
	@command -v cargo >/dev/null || { echo "cargo is missing: install a Rust toolchain of 1.85 or newer (rustup, or Debian's newer suites)"; exit 1; }

setup-test: setup
	@need=; for p in $(TEST_PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || need="$$need $$p"; done; \
	if [ -n "$$need" ]; then apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$need >/dev/null; fi

build: setup
	cargo build --release

# The whole main job on a throw-away device, then what is known of this machine's own devices.
run: build
	target/release/zerocap selftest
	target/release/zerocap show

# Under a minute warm: format, lints, pure, recorded and simulated tests with reduced counts.
check: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo test --workspace --quiet

# What CI runs, in less than 15 minutes on two idle cores. One profile (optimised, without LTO) for everything, so that
# nothing is built twice. The guests' root is fetched while the code is built; run-all sees to it that it is whole.
test: setup-test
	cargo fmt --all --check
	rm -rf $(NOT_RUN)
	tests/vm/setup & guests=$$!; \
	cargo build --profile sim && \
	cargo clippy --workspace --all-targets --profile sim --quiet -- -D warnings && \
	ZEROCAP_ACCURACY_RUNS=2000 ZEROCAP_POWER_CUTS=200 cargo test --workspace --profile sim; \
	code=$$?; wait $$guests; cat $(NOT_RUN)/* 2>/dev/null; \
	echo "not run on the host: $$(ls $(NOT_RUN) 2>/dev/null | wc -l) checks"; exit $$code
	ZEROCAP_BIN=$(CURDIR)/target/sim/zerocap tests/vm/run-all

test-vm: setup
	cargo build --profile sim
	ZEROCAP_BIN=$(CURDIR)/target/sim/zerocap tests/vm/run $(T)

# The rest: long guests, full simulated counts, fuzzing. Its result is kept in tests/long.md.
test-long: setup-test
	tests/long

# Changes the program in one place at a time and asks whether a host test notices. Takes hours; stop it at any time and call
# it again. The result is kept in tests/long.md.
mutants: setup-test
	tests/long mutants

# Ratios in one run; nothing here can fail a build.
bench: setup-test
	cargo build --release
	ZEROCAP_SCALE=10000 cargo test --release --test scale --test event_cost -- --nocapture

bindings:
	bindings/generate

install:
	install -D -m 0755 $(BIN) $(DESTDIR)$(BINDIR)/zerocap
	install -d $(DESTDIR)$(UDEVDIR)/rules.d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(PREFIX)/lib/zerocap/policy.d
	set -o pipefail; sed 's,@BINDIR@,$(BINDIR),g' rules/90-zerocap.rules | install -m 0644 /dev/stdin $(DESTDIR)$(UDEVDIR)/rules.d/90-zerocap.rules
	install -d $(DESTDIR)$(UDEVDIR)/hwdb.d $(DESTDIR)/etc/zerocap/policy.d
	install -m 0644 rules/policy.d/*.toml $(DESTDIR)$(PREFIX)/lib/zerocap/policy.d/
	install -m 0644 rules/hwdb/*.hwdb $(DESTDIR)$(UDEVDIR)/hwdb.d/
	set -eo pipefail; for u in rules/units/*.service; do sed 's,@BINDIR@,$(BINDIR),g' $$u | install -m 0644 /dev/stdin $(DESTDIR)$(UNITDIR)/$${u##*/}; done
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	set -o pipefail; $(BIN) completions bash | install -m 0644 /dev/stdin $(DESTDIR)$(PREFIX)/share/bash-completion/completions/zerocap
	set -o pipefail; $(BIN) completions zsh | install -m 0644 /dev/stdin $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_zerocap
	set -o pipefail; $(BIN) completions fish | install -m 0644 /dev/stdin $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/zerocap.fish
	set -e; for m in man/*.8; do install -D -m 0644 $$m $(DESTDIR)$(MANDIR)/man8/$${m##*/}; done
	set -e; for m in man/*.5; do install -D -m 0644 $$m $(DESTDIR)$(MANDIR)/man5/$${m##*/}; done

clean:
	cargo clean
