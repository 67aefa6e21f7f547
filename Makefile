# make demo    installs what is needed, builds, and shows a tour of the commands with sound
# make test    installs what is needed, builds, and runs all tests
SHELL := /bin/bash
SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
BUILD := .build
RELEASE := .build-release
STATIC := -c release --static-swift-stdlib --scratch-path $(RELEASE)

.PHONY: all deps demo test lint bench release install uninstall clean

all: deps
	$(SWIFT) build

deps:
	@scripts/install-packages

demo: deps
	$(SWIFT) build --product quickconnectd
	$(SWIFT) build --product quickconnect
	$(SWIFT) build --product quickconnect-scripts
	@scripts/demo $(BUILD)/debug

test: deps lint
	$(SWIFT) build --build-tests
	# One test after the other: several of them measure time on a sound card's clock.
	$(SWIFT) test --skip-build --no-parallel

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks
	sounds/generate --check
	mandoc -T lint -W warning man/*.1 man/*.8

release: deps
	$(SWIFT) build $(STATIC) --product quickconnectd
	$(SWIFT) build $(STATIC) --product quickconnect
	$(SWIFT) build $(STATIC) --product quickconnect-scripts

bench: release
	@scripts/install-packages --bench
	Benchmarks/run $(RELEASE)/release/quickconnectd
	Benchmarks/first-sound $(RELEASE)/release/quickconnectd
	Benchmarks/scripts $(RELEASE)/release
	$(SWIFT) build $(STATIC) --product javascript-calls
	$(RELEASE)/release/javascript-calls

install:
	@test -x $(RELEASE)/release/quickconnectd || { echo "Run 'make release' first."; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/quickconnect/{sounds,mappings,tracks} \
	  $(DESTDIR)$(PREFIX)/share/man/man{1,8} $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -s $(addprefix $(RELEASE)/release/,quickconnectd quickconnect quickconnect-scripts) $(DESTDIR)$(PREFIX)/bin
	ln -sf quickconnect $(DESTDIR)$(PREFIX)/bin/makecall
	install -m 644 sounds/*.wav $(DESTDIR)$(PREFIX)/share/quickconnect/sounds
	install -m 644 tracks/*.json $(DESTDIR)$(PREFIX)/share/quickconnect/tracks
	install -m 644 mappings/*.yaml $(DESTDIR)$(PREFIX)/share/quickconnect/mappings
	install -m 644 config/quickconnectd.yaml $(DESTDIR)$(PREFIX)/share/quickconnect
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	ln -sf quickconnect.1 $(DESTDIR)$(PREFIX)/share/man/man1/makecall.1
	install -m 644 man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8
	$(RELEASE)/release/quickconnect --generate-completion-script bash \
	  > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/quickconnect

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/{quickconnectd,quickconnect,quickconnect-scripts,makecall}
	rm -rf $(DESTDIR)$(PREFIX)/share/quickconnect
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/{quickconnect,makecall}.1 $(DESTDIR)$(PREFIX)/share/man/man8/quickconnect{d,-scripts}.8
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/quickconnect

clean:
	rm -rf $(BUILD) $(RELEASE)
