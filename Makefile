# make demo    installs what is needed, builds, and shows a tour of the commands with sound
# make test    installs what is needed, builds, and runs all tests
# make test-release    holds the conversations with the release build
# make test-pages    the pages in real browsers
SHELL := /bin/bash
SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
# Where systemd looks for units; it knows /usr/local too.
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
BUILD := .build
RELEASE := .build-release
# Relocations packed into bits (RELR, which Debian 12's glibc knows): a megabyte less to read at each start, and to hold.
STATIC := -c release --static-swift-stdlib --scratch-path $(RELEASE) \
  -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs

.PHONY: all deps test-deps demo test test-release test-package test-pages test-system fuzz lint bench release install uninstall deb clean

all: deps
	$(SWIFT) build

# What is missing is shown before it is installed. Nothing is ever removed, and no service is started.
deps:
	@scripts/install-packages

test-deps:
	@scripts/install-packages --test

demo: deps
	$(SWIFT) build --product quickconnectd
	$(SWIFT) build --product quickconnect
	$(SWIFT) build --product quickconnect-scripts
	$(SWIFT) build --product quickconnect-picker
	$(SWIFT) build --product quickconnect-web
	@scripts/demo $(BUILD)/debug

test: test-deps lint
	$(SWIFT) build --build-tests
	# One test after the other: several of them measure time on a sound card's clock.
	$(SWIFT) test --skip-build --no-parallel

# Holds the conversations with the release build, too: an optimizer shows mistakes that a debug build hides.
test-release: release test-deps
	$(SWIFT) build $(STATIC) --product device-example
	$(SWIFT) build --build-tests
	QUICKCONNECT_PROGRAMS=$(CURDIR)/$(RELEASE)/release $(SWIFT) test --skip-build --no-parallel --filter ConversationTests

# A package of somebody else's depends on the libraries of this one, by a version.
test-package: deps
	Tests/Package/run

# The pages in Chromium and Firefox, against a daemon with simulated devices. Pictures of them are in .build-pages.
test-pages:
	@scripts/install-packages --pages
	$(SWIFT) build --product quickconnectd
	$(SWIFT) build --product quickconnect
	$(SWIFT) build --product quickconnect-scripts
	$(SWIFT) build --product quickconnect-web
	Tests/Pages/run $(BUILD)/debug

# Makes the package, and tries it in a virtual machine with systemd and an emulated sound card. Needs root, qemu and a
# Debian mirror.
test-system:
	@[ "$$(id -u)" != 0 ] || scripts/install-packages --system
	Tests/System/run

# Feeds the readers of lines, the daemon's and the client's, and that of frames, with what libFuzzer makes of a corpus.
FUZZ_SECONDS ?= 60
FUZZER = .build-fuzz/release/$(1) -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=.build-fuzz/found/$(1)/ \
  .build-fuzz/found/$(1) Fuzz/$(2)
fuzz: deps
	$(SWIFT) build --package-path Fuzz --scratch-path .build-fuzz -c release \
	  -Xswiftc -sanitize=fuzzer -Xswiftc -parse-as-library -Xswiftc -use-ld=lld
	mkdir -p .build-fuzz/found/FuzzLines .build-fuzz/found/FuzzConversation .build-fuzz/found/FuzzFrames
	$(call FUZZER,FuzzLines,corpus)
	$(call FUZZER,FuzzConversation,conversation-corpus)
	Fuzz/make-frames-corpus .build-fuzz/frames
	$(call FUZZER,FuzzFrames,../.build-fuzz/frames)

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples Fuzz/Package.swift Fuzz/Sources
	sounds/generate --check
	tracks/generate-motion --check
	mandoc -T lint -W warning man/*.1 man/*.8

release: deps
	$(SWIFT) build $(STATIC) --product quickconnectd
	$(SWIFT) build $(STATIC) --product quickconnect
	$(SWIFT) build $(STATIC) --product quickconnect-scripts
	$(SWIFT) build $(STATIC) --product quickconnect-picker
	$(SWIFT) build $(STATIC) --product quickconnect-web
	$(SWIFT) build $(STATIC) --product quickconnect-sync

bench: release
	@scripts/install-packages --bench
	Benchmarks/run $(RELEASE)/release/quickconnectd
	Benchmarks/first-sound $(RELEASE)/release/quickconnectd
	$(SWIFT) build $(STATIC) --product websocket-echo
	Benchmarks/web $(RELEASE)/release
	$(SWIFT) build $(STATIC) --product javascript-calls
	$(RELEASE)/release/javascript-calls

install:
	@test -x $(RELEASE)/release/quickconnectd || { echo "Run 'make release' first."; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/quickconnect/{sounds,mappings,macros,procedures/lib,tracks,clients,pages} \
	  $(DESTDIR)$(PREFIX)/share/doc/quickconnect/notices \
	  $(DESTDIR)$(PREFIX)/share/man/man{1,8} $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	  $(DESTDIR)$(PREFIX)/lib/{sysusers.d,tmpfiles.d,udev/rules.d} $(DESTDIR)$(UNITDIR) $(DESTDIR)$(USERUNITDIR) \
	  $(DESTDIR)/etc/quickconnect/{mappings,scripts,macros,procedures,pages}
	install -s $(addprefix $(RELEASE)/release/,quickconnectd quickconnect quickconnect-scripts quickconnect-picker \
	  quickconnect-web quickconnect-sync) \
	  $(DESTDIR)$(PREFIX)/bin
	ln -sf quickconnect $(DESTDIR)$(PREFIX)/bin/makecall
	install -m 644 sounds/*.wav $(DESTDIR)$(PREFIX)/share/quickconnect/sounds
	install -m 644 tracks/*.json $(DESTDIR)$(PREFIX)/share/quickconnect/tracks
	install -m 644 mappings/*.yaml $(DESTDIR)$(PREFIX)/share/quickconnect/mappings
	install -m 644 macros/*.js $(DESTDIR)$(PREFIX)/share/quickconnect/macros
	[ ! -d pages ] || cp -rT --no-preserve=mode,ownership pages $(DESTDIR)$(PREFIX)/share/quickconnect/pages
	install -m 644 procedures/*.js* $(DESTDIR)$(PREFIX)/share/quickconnect/procedures
	install -m 644 procedures/lib/*.js $(DESTDIR)$(PREFIX)/share/quickconnect/procedures/lib
	install -m 644 config/quickconnectd.yaml $(DESTDIR)$(PREFIX)/share/quickconnect
	install -m 644 NOTICE $(DESTDIR)$(PREFIX)/share/doc/quickconnect/notices
	for notice in $(RELEASE)/checkouts/*/NOTICE.txt; do name=$${notice%/*}; \
	  install -m 644 $$notice $(DESTDIR)$(PREFIX)/share/doc/quickconnect/notices/$${name##*/}; done
	install -m 644 clients/*/quickconnect.* clients/procedures/procedure.js $(DESTDIR)$(PREFIX)/share/quickconnect/clients
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	ln -sf quickconnect.1 $(DESTDIR)$(PREFIX)/share/man/man1/makecall.1
	install -m 644 man/*.8 $(DESTDIR)$(PREFIX)/share/man/man8
	$(RELEASE)/release/quickconnect --generate-completion-script bash \
	  > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/quickconnect
	for unit in systemd/quickconnect*.{service,socket,path,timer}; do \
	  sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' $$unit > $(DESTDIR)$(UNITDIR)/$${unit##*/}; done
	for unit in systemd/user/*; do \
	  sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' $$unit > $(DESTDIR)$(USERUNITDIR)/$${unit##*/}; done
	install -m 644 systemd/quickconnect.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/quickconnect.conf
	install -m 644 systemd/quickconnect.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/quickconnect.conf
	install -m 644 systemd/quickconnect.rules $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-quickconnect.rules
	# The owner's settings stay as they are.
	test -e $(DESTDIR)/etc/quickconnect/quickconnectd.yaml || \
	  install -m 644 config/quickconnectd.yaml $(DESTDIR)/etc/quickconnect
	@test -n "$(DESTDIR)" || printf '%s\n' "To run it as a service:" \
	  "  systemd-sysusers && systemd-tmpfiles --create quickconnect.conf && systemctl daemon-reload" \
	  "  udevadm control --reload && udevadm trigger --subsystem-match=iio" \
	  "  systemctl enable --now quickconnectd.socket quickconnect-scripts.path quickconnect-scripts.service quickconnect-data.service"

# Leaves what is the owner's: /etc/quickconnect, and the recordings in /var/lib/quickconnect.
uninstall:
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
	  systemctl disable --now quickconnectd.socket quickconnectd.service quickconnect-scripts.path \
	    quickconnect-scripts.service quickconnect-web.socket quickconnect-web.service \
	    quickconnect-web-bridge.socket quickconnect-data.service \
	    quickconnect-sync.timer quickconnect-sync.service || true; fi
	rm -f $(DESTDIR)$(PREFIX)/bin/{quickconnectd,quickconnect,quickconnect-scripts,quickconnect-picker,quickconnect-web,quickconnect-sync,makecall}
	rm -rf $(DESTDIR)$(PREFIX)/share/quickconnect $(DESTDIR)$(PREFIX)/share/doc/quickconnect
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/{quickconnect,quickconnect-picker,makecall}.1 $(DESTDIR)$(PREFIX)/share/man/man8/quickconnect{d,-scripts,-sync,-web}.8
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/quickconnect
	rm -f $(DESTDIR)$(UNITDIR)/quickconnectd.{service,socket} $(DESTDIR)$(UNITDIR)/quickconnect-scripts.{service,path} \
	  $(DESTDIR)$(UNITDIR)/quickconnect-web.{service,socket} $(DESTDIR)$(UNITDIR)/quickconnect-web-bridge.socket \
	  $(DESTDIR)$(UNITDIR)/quickconnect-data.service $(DESTDIR)$(UNITDIR)/quickconnect-sync.{service,timer}
	rm -f $(DESTDIR)$(USERUNITDIR)/quickconnectd.{service,socket} $(DESTDIR)$(USERUNITDIR)/quickconnect-{scripts,data,picker,sync}.service $(DESTDIR)$(USERUNITDIR)/quickconnect-sync.timer
	rm -f $(DESTDIR)$(PREFIX)/lib/{sysusers.d,tmpfiles.d}/quickconnect.conf $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-quickconnect.rules

# Debian packages in .build-deb: the programs, for this machine's architecture, and the Python client.
deb: release
	@scripts/install-packages --deb
	rm -rf .build-deb/package && mkdir -p .build-deb/package
	cp -r debian .build-deb/package
	cd .build-deb/package && fakeroot debian/rules binary SOURCE=$(CURDIR) OUTPUT=$(CURDIR)/.build-deb
	@ls .build-deb/*.deb

clean:
	rm -rf $(BUILD) $(RELEASE) .build-deb .build-fuzz .build-rig .build-pages
