# make demo    installs what is needed, builds, and shows a tour of the commands with sound
# make test    the gate: installs what is needed, lints, builds, and runs the tests; the same verdict on a busy machine
# make check    everything slower, and what measures: SUITES="pages kiosk" some of it, CHANGED=COMMIT what changes since then can touch
# make test-measured    tests that measure time, memory, wake-ups and shares of the processor
# make test-release    repeats the conversations with the release build
# make test-neighbours    what peers that do the dearest legal thing all at once cost a neighbour
# make test-readme    the blocks of README.md, docs/recipes.md and docs/first-*.md, and the picture of the terminal
# make test-first-day    a door bell, a sign and a robot, built and used as on a person's first day
# make test-docs    each code block of docs/, run or compiled, and those of test-readme
# make test-pages    the pages in real browsers
# make test-kiosk    the kiosk's window
# make test-actions    actions in real browsers and in the kiosk's window
# make test-fleet    a fleet over a real broker
# make test-foreign    suites of others: Autobahn's for WebSockets, llhttp's requests, axe-core on the pages, licenses
# make test-sanitized    the tests under the thread and the address sanitizer
# make model    a million random histories of the core, compared with a small model
# make soak TIME=30m SEED=7    chaos on one device for a time, and a table of what happened to each call
# make year SCALE=0.01    a year of use by count, or a part of it, and the size of each program after each tenth
# make fuzz TIME=10m    libFuzzer on everything that parses input of others
# make test-trixie    the gate in Debian 13, in a tree of its packages
# make check-arm64    builds for arm64 on an amd64 machine, and tests it under an emulator
# make deb    Debian packages; SUITE=trixie ARCH=arm64 for another release of Debian, or another architecture
# make repository KEY=FINGERPRINT    a signed apt repository of the packages that are built
# make test-installed    the packages in a minimal Debian: upgrades, piuparts, adequate, autopkgtest
# make doctor-build    what this machine lacks to build for itself and for others
# make test-power-cut    cuts the power of a virtual machine while it writes, 30 times
# make figures    how many rooms the house has, and how large they are
# make module NAME=Commands    compiles one module, and what it needs
# make demo-fleet    three simulated devices on a private broker
SHELL := /bin/bash
SWIFT ?= swift
# SwiftPM passes the traits in the order of a set. Without this, the order changes each time, and nearly all is built again.
# The index, which editors make for themselves (SourceKit-LSP), and debugging information (DEBUGINFO=dwarf, for a debugger) would
# take a third of the compiler's time.
# SDK: the Swift SDK of another machine (scripts/platform).
DEBUGINFO ?= none
SWIFT_BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build --disable-index-store -debug-info-format $(DEBUGINFO) $(addprefix --swift-sdk ,$(SDK))
PREFIX ?= /usr/local
DESTDIR ?=
# Where systemd looks for units; it also looks below /usr/local.
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
# Where zsh looks for completions; Debian uses /usr/share/zsh/vendor-completions for packages.
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
BUILD := .build
RELEASE := .build-release
# Relocations packed into bits (RELR, which Debian 12's glibc supports): each start reads, and holds, a megabyte less.
# No Foundation, which would be two thirds of the program that runs scripts, and no names for other programs.
# Swift's runtime is one library for all programs (scripts/swift-runtime), found relative to the program.
# No build ID: it is one of the folder and its debugging information, and the same sources make the same packages.
LINKED := -z pack-relative-relocs --no-export-dynamic --build-id=none
OPTIMIZED := -c release --scratch-path $(RELEASE) --traits Programs,NIO -Xswiftc -use-ld=lld $(addprefix -Xlinker ,$(LINKED)) \
  --disable-local-rpath -Xswiftc -no-toolchain-stdlib-rpath -Xlinker -rpath -Xlinker '$$ORIGIN/../lib/quickconnect'

# Whether the web view's library, which only the kiosk needs, is installed. Evaluated on use: «make deb» installs it first.
KIOSK = $(shell pkg-config --exists webkit2gtk-4.1 2>/dev/null && echo quickconnect-kiosk)
PROGRAMS = quickconnectd quickconnect quickconnect-scripts quickconnect-picker quickconnect-web quickconnect-sync \
  quickconnect-actions quickconnect-mqtt $(KIOSK)
# Makes the library for these programs of the release build; a program built for a test or a benchmark is added to them.
BUILT = $(addprefix $(RELEASE)/release/,$(PROGRAMS))
LIBRARIES = $(RELEASE)/release/../lib/quickconnect
RUNTIME = scripts/swift-runtime $(LIBRARIES) $(BUILT) $(addprefix $(RELEASE)/release/,$(1))

.PHONY: test-neighbours test-measured test-soak test-fuzz check all deps test-deps kiosk-deps demo demo-fleet module build-tests test test-release test-package test-pages test-kiosk \
  test-actions test-first-day test-fleet test-trixie check-arm64 doctor-build deb-here repository test-foreign test-home-assistant test-readme test-docs test-system pictures fuzz lint figures bench fuzz-build \
  test-sanitized model soak year test-power-cut test-installed \
  release install install-browser-actions uninstall uninstall-browser-actions deb clean

all: deps kiosk-deps
	$(SWIFT_BUILD)

# Shows what is missing before installing it. Never removes anything, and starts no service.
deps:
	@scripts/install-packages

# The web view's library, which is large.
kiosk-deps:
	@scripts/install-packages --kiosk

test-deps:
	@scripts/install-packages --test

demo: deps
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-scripts
	$(SWIFT_BUILD) --product quickconnect-picker
	$(SWIFT_BUILD) --product quickconnect-web
	@scripts/demo $(BUILD)/debug

# A private broker, and three devices of simulated hardware that connect to it.
demo-fleet: deps
	@scripts/install-packages --fleet
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-mqtt
	@scripts/demo-fleet $(BUILD)/debug

module:
	@[ -n "$(NAME)" ] || { echo "which module? Such as: make module NAME=Commands"; false; }
	$(SWIFT_BUILD) --target $(NAME)

build-tests: test-deps
	$(SWIFT_BUILD) --build-tests

test: test-deps lint build-tests
	BUILD="$(BUILD)" scripts/check-fuzzers
	BUILD="$(BUILD)" scripts/test

# What is not in the gate, since it takes long, needs browsers, or judges time.
SUITES ?=
CHANGED ?=
check:
	scripts/check $(addprefix --changed ,$(CHANGED)) $(SUITES)

test-measured: build-tests
	BUILD="$(BUILD)" scripts/test --measured --skip 'Neighbour.*Tests'

# Repeats the conversations with the release build: an optimizer reveals mistakes that a debug build hides.
test-release: test-deps release
	$(SWIFT_BUILD) $(OPTIMIZED) --product device-example
	$(call RUNTIME,device-example)
	$(SWIFT_BUILD) --build-tests
	BUILD="$(BUILD)" scripts/test --programs $(RELEASE)/release --filter '^ConversationTests'
	Tests/Package/prefix

# A neighbour's waits while 1, 2, 5 and 50 peers do the dearest legal thing at once: at the daemon, the gateways, the hosts of
# scripts and of procedures, with the release build. Nothing else should run meanwhile. PEERS="5 50" measures fewer.
PEERS ?= 1 2 5 50
test-neighbours: test-deps release
	@scripts/install-packages --fleet
	$(SWIFT_BUILD) --build-tests
	Tests/Neighbours/run $(RELEASE)/release --peers "$(PEERS)"
	BUILD="$(BUILD)" scripts/test --measured --programs $(RELEASE)/release --filter 'Neighbour.*Tests'

# Pastes the blocks of README.md, docs/recipes.md and docs/first-*.md into a shell, in a clean copy with the programs of the debug build, and compares
# docs/terminal.svg with what they print.
test-readme:
	@scripts/install-packages --test
	@scripts/install-packages --fleet
	$(SWIFT_BUILD)
	Tests/Readme/run $(BUILD)/debug

# The first bell and the projects of docs/projects.md, built in an empty folder and used in Chromium and in the kiosk's window.
test-first-day: kiosk-deps
	@scripts/install-packages --pages
	@scripts/install-packages --kiosk
	for program in quickconnectd quickconnect quickconnect-scripts quickconnect-web quickconnect-kiosk; do \
	  $(SWIFT_BUILD) --product $$program || exit; done
	Tests/FirstDay/run $(BUILD)/debug

# Runs, compiles or checks each code block of docs/, in its language, with the debug build of the suite.
test-docs: build-tests
	@scripts/install-packages --fleet
	Tests/Readme/run $(BUILD)/debug
	Tests/Docs/prove $(BUILD)/debug
	Tests/Docs/run $(BUILD)/debug
	Tests/Docs/demo $(BUILD)/debug

# docs/terminal.svg and docs/page.svg, from the output of the programs.
pictures:
	@scripts/install-packages --pages poppler-utils
	$(SWIFT_BUILD)
	scripts/pictures $(BUILD)/debug

# A foreign package depends on the libraries of this one, by version.
test-package: deps
	@scripts/install-packages --repository
	Tests/Package/repository
	Tests/Package/release
	Tests/Package/run

# The pages in Chromium and Firefox, against a daemon with simulated devices. Pictures of them are in .build-pages.
test-pages:
	@scripts/install-packages --pages
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-scripts
	$(SWIFT_BUILD) --product quickconnect-web
	Tests/Pages/run $(BUILD)/debug

# The kiosk's window under Xvfb, driven by WebKitGTK's driver. Pictures of it are in .build-pages/kiosk.
test-kiosk: kiosk-deps
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-kiosk
	Tests/Kiosk/run $(BUILD)/debug

# The extension in Chromium and Firefox with its native host, and the editor in the kiosk's window. Pictures are in .build-pages.
test-actions: kiosk-deps
	@scripts/install-packages --pages
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-scripts
	$(SWIFT_BUILD) --product quickconnect-actions
	$(SWIFT_BUILD) --product quickconnect-kiosk
	Tests/Actions/run $(BUILD)/debug
	Tests/Kiosk/run-actions $(BUILD)/debug

# For arm64, on an amd64 machine. FILTERS="WebGatewayTests …" selects modules of tests.
check-arm64:
	Tests/Platform/run $(FILTERS)

# The gate in Debian 13 for amd64, in a tree of its packages, with this machine's Swift. Needs root.
test-trixie:
	scripts/platform/inside-trixie make --no-print-directory test

doctor-build:
	scripts/platform/doctor

# A fleet over a real broker, which is restarted, killed and stopped in the middle of calls.
test-fleet:
	@scripts/install-packages --fleet
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-scripts
	$(SWIFT_BUILD) --product quickconnect-mqtt
	Tests/Fleet/run $(BUILD)/debug

# Suites of others against the doors of this project, each fetched once into .build-foreign from PyPI, GitHub and Debian, and
# skipped, with the reason, where it cannot be had. LLHTTP=FOLDER is a checkout of nodejs/llhttp, PYTHON2=FILE a CPython 2.7.
test-foreign:
	@scripts/install-packages --pages git python3-pip
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-scripts
	$(SWIFT_BUILD) --product quickconnect-web
	$(SWIFT_BUILD) --product quickconnect-actions
	$(SWIFT_BUILD) --product frame-echo
	Tests/Foreign/run $(BUILD)/debug

# All programs of a device with a private sound server, gpsd and broker, while programs are killed and frozen, files are saved,
# and disk, descriptors and memory run out. Filling a disk needs root.
SEED ?=
SCALE ?= 1
PROGRAMS_OF_SOAK = quickconnectd quickconnect quickconnect-scripts quickconnect-web quickconnect-mqtt
soak:
	@scripts/install-packages --test
	@scripts/install-packages --fleet
	for program in $(PROGRAMS_OF_SOAK); do $(SWIFT_BUILD) --product $$program || exit; done
	Tests/Soak/soak $(BUILD)/debug --time $(or $(TIME),2m) --seed "$(SEED)"

test-soak: soak
test-fuzz: TIME ?= 2m
test-fuzz: fuzz

# 10,000,000 calls, 100,000 sounds, 10,000 recordings, 1,000,000 events, 1,000 saved scripts, 1,000 loaded pages.
year:
	@scripts/install-packages --fleet
	for program in $(PROGRAMS_OF_SOAK); do $(SWIFT_BUILD) --product $$program || exit; done
	Tests/Soak/year $(BUILD)/debug --scale $(SCALE)

# A device in a real Home Assistant. Needs CPython 3.13, and downloads Home Assistant from PyPI: 490 MB.
test-home-assistant: deps
	@scripts/install-packages --fleet
	$(SWIFT_BUILD) --product quickconnectd
	$(SWIFT_BUILD) --product quickconnect
	$(SWIFT_BUILD) --product quickconnect-mqtt
	Tests/HomeAssistant/run $(BUILD)/debug

# Makes the packages, and tries them in a virtual machine with systemd and an emulated sound card. Needs root, qemu and a
# Debian mirror. SUITE=trixie ARCH=arm64 for another one than this machine; PAGES=16k, MEMORY=512, ONLY=board: see Tests/System/run.
test-system:
	@[ "$$(id -u)" != 0 ] || scripts/install-packages --system $(if $(filter arm64,$(ARCH)),qemu-system-arm qemu-user-static arch-test)
	SUITE=$(SUITE) ARCH=$(ARCH) Tests/System/run

# Cuts the power of that machine CUTS times while it writes. Each cut takes a minute and a half if the machine is emulated.
CUTS ?= 30
test-power-cut:
	@[ "$$(id -u)" != 0 ] || scripts/install-packages --system
	Tests/System/power-cut $(CUTS)

# The tests under the thread sanitizer, then under the address sanitizer, which also finds leaks. Each builds everything
# again, in its own folder. SANITIZERS=address runs only that one; FILTER=Suite runs some of the tests.
SANITIZERS ?= thread address
FILTER ?=
test-sanitized: test-deps
	for sanitizer in $(SANITIZERS); do SWIFT=$(SWIFT) scripts/test-sanitized $$sanitizer $(FILTER) || exit; done

# Random histories of the core, in which it must do the same as a small model: Tests/CoreModel. Ends with the seed and
# the shortest history that shows an error; ONE=yes SEED=n repeats the history of a reported seed.
HISTORIES ?= 1000000
SEED ?=
model: deps
	$(SWIFT_BUILD) -c release --scratch-path .build-model --product core-model
	.build-model/release/core-model $(if $(ONE),one,$(HISTORIES)) $(SEED)

# Runs libFuzzer from a corpus on everything that parses input of others, and on whole sessions, for TIME in all (90s, 10m, 1h).
# AddressSanitizer is there for the parsers that work on pointers; testing is enabled so that the fuzzers can reach the modules'
# internal parsers.
FUZZERS ?=
fuzz-build: export FUZZ = yes
fuzz-build: DEBUGINFO = dwarf
fuzz-build: deps
	for fuzzer in $(notdir $(wildcard Fuzz/Sources/Fuzz*[!r])); do \
	  $(SWIFT_BUILD) --scratch-path .build-fuzz -c release --product $$fuzzer -Xswiftc -sanitize=fuzzer,address \
	    -Xswiftc -enable-testing -Xswiftc -use-ld=lld || exit; done
fuzz: fuzz-build
	Fuzz/run $(or $(TIME),10m) $(FUZZERS)

lint:
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples Fuzz/Sources templates
	scripts/figures --check
	Tests/Docs/links
	@for page in pages/*.js; do grep -qE "share/quickconnect/pages/($${page##*/}|$$(basename $$page .js)\.\*)$$" debian/*.install || { echo "no package has $$page"; exit 1; }; done
	sounds/generate --check
	tracks/generate-motion --check
	mandoc -T lint -W warning man/*.[1578]

# How many rooms the house has, and how large they are.
figures:
	scripts/figures

release: deps
	for program in $(PROGRAMS); do $(SWIFT_BUILD) $(OPTIMIZED) --product $$program || exit; done
	$(call RUNTIME)
	$(if $(KIOSK),,@echo "Without the kiosk: 'make kiosk-deps' installs its library.")

bench: release
	@scripts/install-packages --bench
	Benchmarks/run $(RELEASE)/release/quickconnectd
	Benchmarks/first-sound $(RELEASE)/release/quickconnectd
	$(SWIFT_BUILD) $(OPTIMIZED) --product websocket-echo
	$(SWIFT_BUILD) $(OPTIMIZED) --product javascript-calls
	$(call RUNTIME,websocket-echo javascript-calls)
	Benchmarks/web $(RELEASE)/release
	$(if $(KIOSK),Benchmarks/kiosk $(RELEASE)/release)
	$(RELEASE)/release/javascript-calls
	@scripts/install-packages --fleet
	Benchmarks/fleet

# Without the hashes of the compiler's arguments (.swift_modhash), which differ from folder to folder.
install:
	@test -x $(RELEASE)/release/quickconnectd || { echo "Run 'make release' first."; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/quickconnect/{sounds,mappings,macros,actions,action-view,procedures/lib,tracks,clients,pages,templates} \
	  $(DESTDIR)$(PREFIX)/share/doc/quickconnect/{docs,examples,notices} $(DESTDIR)$(PREFIX)/lib/quickconnect \
	  $(DESTDIR)$(PREFIX)/share/man/man{1,5,7,8} \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d \
	  $(DESTDIR)$(ZSHDIR) \
	  $(DESTDIR)$(PREFIX)/lib/{sysusers.d,tmpfiles.d,udev/rules.d} $(DESTDIR)$(UNITDIR) $(DESTDIR)$(USERUNITDIR) \
	  $(DESTDIR)/etc/quickconnect/{mappings,scripts,macros,actions,procedures,pages,settings.d}
	install -s $(filter-out %/quickconnect-kiosk,$(BUILT)) $(DESTDIR)$(PREFIX)/bin
	rm -f $(DESTDIR)$(PREFIX)/lib/quickconnect/*.so
	cp -P --no-preserve=ownership,timestamps $(LIBRARIES)/*.so $(DESTDIR)$(PREFIX)/lib/quickconnect
	ln -sf quickconnect $(DESTDIR)$(PREFIX)/bin/makecall
	[ ! -x $(RELEASE)/release/quickconnect-kiosk ] || { install -s $(RELEASE)/release/quickconnect-kiosk $(DESTDIR)$(PREFIX)/bin && \
	  install -d $(DESTDIR)$(PREFIX)/share/applications && \
	  sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' systemd/quickconnect-kiosk.desktop > $(DESTDIR)$(PREFIX)/share/applications/quickconnect-kiosk.desktop; }
	for program in $(PROGRAMS) quickconnect-kiosk; do program=$(DESTDIR)$(PREFIX)/bin/$$program; \
	  [ ! -x $$program ] || scripts/clear-section .swift_modhash $$program || exit; done
	install -m 644 sounds/*.wav $(DESTDIR)$(PREFIX)/share/quickconnect/sounds
	install -m 644 tracks/*.json $(DESTDIR)$(PREFIX)/share/quickconnect/tracks
	install -m 644 mappings/*.yaml $(DESTDIR)$(PREFIX)/share/quickconnect/mappings
	install -m 644 macros/*.js $(DESTDIR)$(PREFIX)/share/quickconnect/macros
	[ ! -d pages ] || cp -rT --no-preserve=mode,ownership pages $(DESTDIR)$(PREFIX)/share/quickconnect/pages
	cp -rT --no-preserve=mode,ownership templates $(DESTDIR)$(PREFIX)/share/quickconnect/templates
	cp -rT --no-preserve=mode,ownership actions $(DESTDIR)$(PREFIX)/share/quickconnect/actions
	install -m 644 action-view/* $(DESTDIR)$(PREFIX)/share/quickconnect/action-view
	install -m 644 procedures/*.js* $(DESTDIR)$(PREFIX)/share/quickconnect/procedures
	install -m 644 procedures/lib/*.js $(DESTDIR)$(PREFIX)/share/quickconnect/procedures/lib
	install -m 644 config/quickconnectd.yaml $(DESTDIR)$(PREFIX)/share/quickconnect
	install -m 644 README.md CHANGELOG.md SECURITY.md $(DESTDIR)$(PREFIX)/share/doc/quickconnect
	install -m 644 docs/* $(DESTDIR)$(PREFIX)/share/doc/quickconnect/docs
	cp -rT --no-preserve=mode,ownership,timestamps Examples $(DESTDIR)$(PREFIX)/share/doc/quickconnect/examples
	install -m 644 NOTICE $(DESTDIR)$(PREFIX)/share/doc/quickconnect/notices
	for notice in $(RELEASE)/checkouts/*/NOTICE.txt; do name=$${notice%/*}; \
	  install -m 644 $$notice $(DESTDIR)$(PREFIX)/share/doc/quickconnect/notices/$${name##*/}; done
	install -m 644 clients/*/quickconnect.* $(DESTDIR)$(PREFIX)/share/quickconnect/clients
	install clients/procedures/procedure.js $(DESTDIR)$(PREFIX)/share/quickconnect/clients
	install -m 644 man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	ln -sf quickconnect.1 $(DESTDIR)$(PREFIX)/share/man/man1/makecall.1
	for section in 5 7 8; do \
	  install -m 644 man/*.$$section $(DESTDIR)$(PREFIX)/share/man/man$$section; done
	set -o pipefail; $(RELEASE)/release/quickconnect --generate-completion-script bash | sed '1{/^#!/d}' \
	  > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/quickconnect
	$(RELEASE)/release/quickconnect --generate-completion-script zsh > $(DESTDIR)$(ZSHDIR)/_quickconnect
	$(RELEASE)/release/quickconnect --generate-completion-script fish \
	  > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/quickconnect.fish
	install -m 644 completion/makecall.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/makecall
	install -m 644 completion/makecall.zsh $(DESTDIR)$(ZSHDIR)/_makecall
	install -m 644 completion/makecall.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/makecall.fish
	for unit in systemd/quickconnect*.{service,socket,path,timer}; do \
	  sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|; s|/usr/lib/quickconnect|$(PREFIX)/lib/quickconnect|' $$unit \
	    > $(DESTDIR)$(UNITDIR)/$${unit##*/}; done
	install systemd/kiosk-session $(DESTDIR)$(PREFIX)/lib/quickconnect
	for unit in systemd/user/*; do \
	  sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' $$unit > $(DESTDIR)$(USERUNITDIR)/$${unit##*/}; done
	install -m 644 systemd/quickconnect.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/quickconnect.conf
	for part in kiosk mqtt scripts web; do \
	  install -m 644 systemd/quickconnect-$$part.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/quickconnect-$$part.conf; done
	install -m 644 systemd/quickconnect.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/quickconnect.conf
	install -m 644 systemd/quickconnect.rules $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-quickconnect.rules
	# Keeps existing settings of the owner.
	test -e $(DESTDIR)/etc/quickconnect/quickconnectd.yaml || \
	  install -m 644 config/quickconnectd.yaml $(DESTDIR)/etc/quickconnect
	@test -n "$(DESTDIR)" || printf '%s\n' "To run it as a service:" \
	  "  systemd-sysusers && systemd-tmpfiles --create quickconnect.conf && systemctl daemon-reload" \
	  "  udevadm control --reload && udevadm trigger --subsystem-match=iio" \
	  "  systemctl enable --now quickconnectd.socket quickconnect-scripts.path quickconnect-scripts.service quickconnect-data.service"

# The browsers' extension, for all users of this machine. Browsers do not look for it below PREFIX.
CHROMIUM = $(DESTDIR)/usr/share/chromium/extensions/quickconnect-actions $(DESTDIR)/etc/chromium/native-messaging-hosts
FIREFOX = "$(DESTDIR)/usr/share/mozilla/extensions/{ec8030f7-c20a-464f-9b0e-13a3a9e97384}/actions@quickconnect" \
  $(DESTDIR)/usr/lib/mozilla/native-messaging-hosts
HOSTS := browser-extension/native-messaging-hosts
install-browser-actions:
	browser-extension/assemble $(firstword $(CHROMIUM))
	browser-extension/assemble $(firstword $(FIREFOX))
	install -d $(lastword $(CHROMIUM)) $(lastword $(FIREFOX))
	sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' $(HOSTS)/chromium/quickconnect_actions.json \
	  > $(lastword $(CHROMIUM))/quickconnect_actions.json
	sed 's|/usr/bin/quickconnect|$(PREFIX)/bin/quickconnect|' $(HOSTS)/mozilla/quickconnect_actions.json \
	  > $(lastword $(FIREFOX))/quickconnect_actions.json

uninstall-browser-actions:
	rm -rf $(firstword $(CHROMIUM)) $(firstword $(FIREFOX))
	rm -f $(lastword $(CHROMIUM))/quickconnect_actions.json $(lastword $(FIREFOX))/quickconnect_actions.json

# Keeps what belongs to the owner: /etc/quickconnect, and the recordings in /var/lib/quickconnect.
uninstall:
	@if [ -z "$(DESTDIR)" ] && [ -d /run/systemd/system ]; then \
	  systemctl disable --now quickconnectd.socket quickconnectd.service quickconnect-scripts.path \
	    quickconnect-scripts.service quickconnect-web.socket quickconnect-web.service \
	    quickconnect-web-bridge.socket quickconnect-data.service \
	    quickconnect-sync.timer quickconnect-sync.service quickconnect-kiosk.service \
	    quickconnect-mqtt.service quickconnect-mqtt-bridge.socket || true; fi
	rm -f $(DESTDIR)$(PREFIX)/bin/{quickconnectd,quickconnect,quickconnect-scripts,quickconnect-picker,quickconnect-web,quickconnect-sync,quickconnect-kiosk,quickconnect-actions,quickconnect-mqtt,makecall}
	rm -f $(DESTDIR)$(PREFIX)/share/applications/quickconnect-kiosk.desktop $(DESTDIR)$(UNITDIR)/quickconnect-kiosk.service
	rm -rf $(DESTDIR)$(PREFIX)/{lib,share,share/doc}/quickconnect
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/{quickconnect,quickconnect-picker,quickconnect-kiosk,quickconnect-actions,makecall}.1 $(DESTDIR)$(PREFIX)/share/man/man8/quickconnect{d,-mqtt,-scripts,-sync,-web}.8
	rm -f $(DESTDIR)$(PREFIX)/share/man/man5/quickconnect{d.yaml,-mappings}.5 $(DESTDIR)$(PREFIX)/share/man/man7/quickconnect-scripts.7
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/{quickconnect,makecall} $(DESTDIR)$(ZSHDIR)/_{quickconnect,makecall} \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/{quickconnect,makecall}.fish
	rm -f $(DESTDIR)$(UNITDIR)/quickconnectd.{service,socket} $(DESTDIR)$(UNITDIR)/quickconnect-undo-restore.service $(DESTDIR)$(UNITDIR)/quickconnect-scripts.{service,path} \
	  $(DESTDIR)$(UNITDIR)/quickconnect-web.{service,socket} $(DESTDIR)$(UNITDIR)/quickconnect-web-bridge.socket \
	  $(DESTDIR)$(UNITDIR)/quickconnect-data.service $(DESTDIR)$(UNITDIR)/quickconnect-sync.{service,timer} \
	  $(DESTDIR)$(UNITDIR)/quickconnect-mqtt.service $(DESTDIR)$(UNITDIR)/quickconnect-mqtt-bridge.socket
	rm -f $(DESTDIR)$(USERUNITDIR)/quickconnectd.{service,socket} $(DESTDIR)$(USERUNITDIR)/quickconnect-{scripts,data,picker,sync,kiosk}.service $(DESTDIR)$(USERUNITDIR)/quickconnect-sync.timer
	rm -f $(DESTDIR)$(PREFIX)/lib/{sysusers.d,tmpfiles.d}/quickconnect{,-kiosk,-mqtt,-scripts,-web}.conf $(DESTDIR)$(PREFIX)/lib/udev/rules.d/60-quickconnect.rules

# Debian packages: the programs and the Python client; for this machine in .build-deb, for others in .build-deb-SUITE-ARCH.
HERE = $(shell . /etc/os-release && echo $$VERSION_CODENAME)-$(shell dpkg --print-architecture)
SUITE ?= $(word 1,$(subst -, ,$(HERE)))
ARCH ?= $(word 2,$(subst -, ,$(HERE)))
deb:
	@if [ $(SUITE)-$(ARCH) = $(HERE) ]; then $(MAKE) deb-here; else scripts/platform/deb $(SUITE) $(ARCH); fi

# A signed apt repository of all packages that are built, in .build-repository. KEY: the fingerprint of your key; URL: where you serve it.
repository:
	@scripts/install-packages --repository
	scripts/repository "$(KEY)" $(URL)

deb-here: kiosk-deps release
	@scripts/install-packages --deb
	rm -rf .build-deb && mkdir -p .build-deb/package
	cp -r debian .build-deb/package
	cd .build-deb/package && fakeroot debian/rules binary SOURCE=$(CURDIR) OUTPUT=$(CURDIR)/.build-deb
	Tests/Package/packages .build-deb

# The packages in copies of a minimal Debian in .build-installed, which mmdebstrap makes: by apt, dpkg, piuparts, adequate and autopkgtest. Takes
# about fifteen minutes; needs root and a Debian mirror. OLD=FOLDER: packages of 0.1.0, made elsewhere. ALL=yes: also those of windows and browsers.
# SUITE=trixie: those for Debian 13 on amd64, in Debian 13.
OLD ?=
DEBS = $(if $(filter $(HERE),$(SUITE)-$(ARCH)),.build-deb,.build-deb-$(SUITE)-amd64)
test-installed:
	@[ "$$(id -u)" != 0 ] || scripts/install-packages --installed
	[ -d $(DEBS) ] || $(MAKE) deb SUITE=$(SUITE)
	SUITE=$(SUITE) Tests/Package/installed $(DEBS) $(OLD)

# Not .build-platform: its trees take ten minutes, and do not depend on the sources.
clean:
	rm -rf $(BUILD) $(RELEASE) .build-deb* .build-repository .build-release-* .build-installed .build-arm64 .build-fuzz .build-rig .build-pages .build-model .build-tsan .build-asan
