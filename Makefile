# zerocap: `make run` and `make test` do all the set-up on a fresh Debian 12 or 13, after apt-get install make.
#
# This file names no registry and no path of a machine: apt, cargo and the rig use what the machine has.

SHELL   := /bin/bash
PREFIX  ?= /usr
DESTDIR ?=
BINDIR   = $(PREFIX)/bin
UDEVDIR  = $(PREFIX)/lib/udev
UNITDIR  = $(PREFIX)/lib/systemd/system
MANDIR   = $(PREFIX)/share/man
DOCDIR   = $(PREFIX)/share/doc/zerocap
# Where systemd reads which units a new system begins with, and where completions of a package belong: distributions differ.
PRESETDIR = $(UNITDIR)-preset
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/vendor-completions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
VERSION := $(shell sed -n '/^\[package\]/,/^version/s/^version = "\(.*\)"/\1/p' Cargo.toml)
T       ?= smoke
TARGET   = $(abspath $(or $(CARGO_TARGET_DIR),target))
BUILT    = $(TARGET)/release/zerocap
# What is installed; another build by BIN=target/sim/zerocap. EVENT is the program of udev's rule, which lies beside it.
BIN     ?= $(BUILT)
EVENT   ?= $(dir $(BIN))zerocap-event
# It starts at every event, so it is static, which saves the loading of libraries. Where the C library cannot be linked in
# (of Fedora's that is glibc-static) EVENT_FLAGS= makes it like others.
EVENT_FLAGS ?= -C target-feature=+crt-static
HOST     = $(shell rustc -vV | sed -n 's/^host: //p')
# A check that cannot be made leaves a file here (tests/common/not_run.rs); with CI=true it fails instead.
NOT_RUN  = $(TARGET)/tmp/not-run

# No path of the machine that built it stands in the program, so that two builds of one source are the same byte for byte.
# Of the environment's own flags nothing is lost; more for cargo, --offline say, by CARGO_ARGS=.
REMAP    = --remap-path-prefix=$(CURDIR)=/usr/src/zerocap-$(VERSION) \
	--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/usr/src/cargo
RELEASE  = RUSTFLAGS="$$RUSTFLAGS $(REMAP)" cargo $(1) --release --locked $(CARGO_ARGS)
# With a target that is named, so that the flags are not those of what runs while it is built.
BUILD_EVENT = RUSTFLAGS="$$RUSTFLAGS $(REMAP) $(EVENT_FLAGS)" cargo build --profile event --bin zerocap-event \
	--no-default-features --target $(HOST) --locked $(CARGO_ARGS)

.PHONY: all run setup setup-test build program check test test-vm test-long mutants bench bindings dist sbom install uninstall clean

all: build

# Installs missing Debian packages; on another system it says what seems to be missing.
setup:
	@tests/debian/packages build

setup-test:
	@tests/debian/packages test

build: setup
	$(MAKE) --no-print-directory program

# The same without a look at packages: distributions build with this, and CARGO_ARGS=--offline.
program:
	$(call RELEASE,build --bin zerocap)
	$(BUILD_EVENT)
	install -m 0755 $(TARGET)/$(HOST)/event/zerocap-event $(dir $(BUILT))

# With this `make install` builds first in a fresh clone, and needs no toolchain after a build (sudo).
$(BUILT): Cargo.toml Cargo.lock $(shell find src bindings/src -name '*.rs')
	$(MAKE) build

# The self-test on a temporary device, then the verdicts of this machine's own devices.
run: build
	$(BUILT) selftest
	$(BUILT) show

# Debian 12 has no package of clippy. There the lints are not run, and make says so; in CI that is a failure.
LINT = if cargo clippy --version >/dev/null 2>&1; then cargo clippy --workspace --all-targets $(1) --quiet -- -D warnings; \
	else echo "not run: this toolchain has no clippy"; [ "$$CI" != true ]; fi

# Under a minute warm: format, lints, pure, recorded and simulated tests with reduced counts.
check: setup-test
	cargo fmt --all --check
	$(call LINT)
	cargo test --workspace --quiet

# What CI runs, in less than 15 minutes on two idle cores. One profile (optimised, without LTO) for everything, so that
# nothing is built twice. The guests' root is fetched while the code is built; run-all sees to it that it is whole. The oldest
# toolchain's turn is in the background, with what the rest leaves over of the processors.
test: setup-test
	cargo fmt --all --check
	rm -rf $(NOT_RUN)
	mkdir -p $(TARGET)
	(tests/vm/setup; exec nice -n 19 tests/debian/minimum) >$(TARGET)/minimum.log 2>&1 & minimum=$$!; \
	cargo build --profile sim && \
	$(call LINT,--profile sim) && \
	ZEROCAP_ACCURACY_RUNS=2000 ZEROCAP_POWER_CUTS=2000 cargo test --workspace --profile sim && \
	tests/debian/install $(TARGET)/sim/zerocap && \
	ZEROCAP_BIN=$(TARGET)/sim/zerocap tests/vm/run-all; \
	code=$$?; cat $(NOT_RUN)/* 2>/dev/null; echo "not run on the host: $$(ls $(NOT_RUN) 2>/dev/null | wc -l) checks"; \
	wait $$minimum || code=1; echo "=== the oldest toolchain"; cat $(TARGET)/minimum.log; exit $$code

test-vm: setup
	cargo build --profile sim
	ZEROCAP_BIN=$(TARGET)/sim/zerocap tests/vm/run $(T)

# The rest: long guests, full simulated counts, fuzzing. Its result is kept in tests/long.md.
test-long: setup-test
	tests/long

# Changes the program in one place at a time and asks whether a host test notices. Takes hours; stop it at any time and call
# it again. The result is kept in tests/long.md.
mutants: setup-test
	tests/long mutants

# Ratios in one run; nothing here can fail a build.
bench: setup-test program
	ZEROCAP_SCALE=10000 $(call RELEASE,test) --test scale --test event_cost --test read_cost --test fleet_cost -- --nocapture

bindings:
	bindings/generate

# The source with all crates in it, from which everything builds without a network: target/dist/zerocap-VERSION.tar.xz.
dist:
	packaging/dist $(TARGET)/dist

# Which crates, versions and licences are in the program: target/dist/zerocap-VERSION.cdx.json (CycloneDX).
sbom:
	packaging/sbom $(TARGET)/dist

install: $(BIN)
	install -D -m 0755 $(BIN) $(DESTDIR)$(BINDIR)/zerocap
	install -D -m 0755 $(EVENT) $(DESTDIR)$(UDEVDIR)/zerocap
	install -d $(DESTDIR)$(UDEVDIR)/rules.d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(PREFIX)/lib/zerocap/policy.d
	set -o pipefail; sed 's,@BINDIR@,$(BINDIR),g; s,@UDEVDIR@,$(UDEVDIR),g' rules/90-zerocap.rules | install -m 0644 /dev/stdin $(DESTDIR)$(UDEVDIR)/rules.d/90-zerocap.rules
	install -d $(DESTDIR)$(UDEVDIR)/hwdb.d $(DESTDIR)/etc/zerocap/policy.d
	install -m 0644 rules/policy.d/*.toml $(DESTDIR)$(PREFIX)/lib/zerocap/policy.d/
	install -m 0644 rules/hwdb/*.hwdb $(DESTDIR)$(UDEVDIR)/hwdb.d/
	set -eo pipefail; for u in rules/units/*; do sed 's,@BINDIR@,$(BINDIR),g' $$u | install -m 0644 /dev/stdin $(DESTDIR)$(UNITDIR)/$${u##*/}; done
	install -D -m 0644 rules/zerocap.preset $(DESTDIR)$(PRESETDIR)/90-zerocap.preset
	install -d $(DESTDIR)$(BASHDIR) $(DESTDIR)$(ZSHDIR) $(DESTDIR)$(FISHDIR) $(DESTDIR)$(DOCDIR)/examples/policy.d
	set -o pipefail; $(BIN) completions bash | install -m 0644 /dev/stdin $(DESTDIR)$(BASHDIR)/zerocap
	set -o pipefail; $(BIN) completions zsh | install -m 0644 /dev/stdin $(DESTDIR)$(ZSHDIR)/_zerocap
	set -o pipefail; $(BIN) completions fish | install -m 0644 /dev/stdin $(DESTDIR)$(FISHDIR)/zerocap.fish
	install -m 0644 rules/examples/*.toml $(DESTDIR)$(DOCDIR)/examples/policy.d/
	install -d $(DESTDIR)$(DOCDIR)/examples/prometheus $(DESTDIR)$(DOCDIR)/examples/hooks
	install -m 0644 rules/hooks/* $(DESTDIR)$(DOCDIR)/examples/hooks/
	install -m 0644 rules/prometheus/*.yml rules/prometheus/*.json $(DESTDIR)$(DOCDIR)/examples/prometheus/
	set -e; for m in man/*.[578]; do install -D -m 0644 $$m $(DESTDIR)$(MANDIR)/man$${m##*.}/$${m##*/}; done
	@# Of a package the package manager does this.
	@[ -n "$(DESTDIR)" ] || printf '%s\n' 'Installed. Run these commands to start using it now; `zerocap selftest` says what is missing:' \
	    '    systemctl daemon-reload && systemctl preset zerocap-recover.service' \
	    '    systemd-hwdb update && udevadm control --reload' \
	    '    udevadm trigger --subsystem-match=block --action=change'

# What `install` puts there, no more, no less: its names are taken from an install beside it, whose program does nothing.
# /etc/zerocap is the administrator's, and stays.
uninstall:
	set -e; stage=$$(mktemp -d); trap 'rm -rf "$$stage"' EXIT; \
	$(MAKE) --silent install DESTDIR="$$stage" BIN=/bin/true EVENT=/bin/true; cd "$$stage"; \
	find . ! -type d -printf '%P\0' | while IFS= read -r -d '' file; do rm -f "$(abspath $(DESTDIR))/$$file"; done; \
	find .$(PREFIX)/lib/zerocap .$(DOCDIR) -depth -type d -printf '%p\0' | while IFS= read -r -d '' own; do \
	    [ ! -d "$(abspath $(DESTDIR))/$$own" ] || rmdir --ignore-fail-on-non-empty "$(abspath $(DESTDIR))/$$own"; done

clean:
	cargo clean
