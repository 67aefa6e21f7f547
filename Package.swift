// swift-tools-version: 6.2
import PackageDescription

// The plan of the house: which module lies where, and what it knows. docs/architecture.md explains the floors.

/// The one set of flags that every target is built with. Warnings are errors, in debug and in release.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let packages = [
    "ArgumentParser": "swift-argument-parser",
    "DequeModule": "swift-collections", "HeapModule": "swift-collections", "OrderedCollections": "swift-collections",
    "Logging": "swift-log",
    "NIOCore": "swift-nio", "NIOPosix": "swift-nio", "NIOHTTP1": "swift-nio", "NIOWebSocket": "swift-nio",
    "NIOEmbedded": "swift-nio",
]

/// The modules of this package and the products of others that a text names.
/// - Parameter trait: with which trait the other packages are needed. One that depends on a library of this one with
///   `traits: []` does not get to see them.
func dependencies(_ names: String, trait: String = "Programs") -> [Target.Dependency] {
    names.split(whereSeparator: \.isWhitespace).map(String.init).map { name in
        guard let package = packages[name] else { return .byName(name: name) }
        let isForAll = package == "swift-collections"
        return .product(name: name, package: package, condition: isForAll ? nil : .when(traits: [trait]))
    }
}

/// A folder that ends in a slash has one of the target's name.
func path(_ folder: String, _ name: String) -> String { folder.hasSuffix("/") ? folder + name : folder }

func embedded(_ names: String) -> [Resource] { names.split(separator: " ").map { .embedInCode("Runtime/\($0).js") } }

/// A module of `Sources`.
/// - Parameter scripts: the JavaScript of its folder `Runtime`, which it has embedded.
func module(
    _ name: String,
    _ folder: String,
    _ names: String,
    scripts: String = "",
    trait: String = "Programs"
) -> Target {
    .target(
        name: name,
        dependencies: dependencies(names, trait: trait),
        path: path("Sources/\(folder)", name),
        resources: embedded(scripts),
        swiftSettings: swiftSettings
    )
}

/// A program, which nothing but tests can import.
func program(
    _ name: String,
    _ folder: String,
    _ names: String,
    scripts: String = "",
    settings: [SwiftSetting] = []
) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies(names),
        path: path(folder, name),
        resources: embedded(scripts),
        swiftSettings: swiftSettings + settings
    )
}

func support(_ name: String, _ names: String, exclude: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies(names),
        path: "Tests/\(name)",
        exclude: exclude,
        swiftSettings: swiftSettings
    )
}

func tests(_ name: String, _ names: String) -> Target {
    .testTarget(name: name, dependencies: dependencies(names), swiftSettings: swiftSettings)
}

/// The module map of a library of Debian.
func library(_ name: String, _ package: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(
        name: name,
        path: "Sources/SystemLibraries/\(name)",
        pkgConfig: pkgConfig,
        providers: [.apt([package])]
    )
}

/// The few lines that must be C.
func shims(_ name: String, of library: String = "") -> Target {
    .target(name: name, dependencies: dependencies(library), path: "Sources/SystemLibraries/\(name)")
}

// What many know.
let client = "QuickConnect QuickConnectClient JSON Linux"
let device = "QuickConnect JSON Concurrency Linux Logging"
let flags = "CommandLineText ArgumentParser"
let nio = "NIOCore NIOPosix NIOHTTP1 NIOWebSocket"

let programs = [
    "quickconnectd", "quickconnect", "quickconnect-scripts", "quickconnect-picker", "quickconnect-sync",
    "quickconnect-web", "quickconnect-actions", "quickconnect-kiosk", "quickconnect-mqtt",
]
/// For other packages.
let libraries = [
    "QuickConnect", "JSON", "QuickConnectClient", "QuickConnectClientNIO", "JavaScriptCore", "MacroEngine",
]

/// A fuzzer, and the modules that it feeds.
func fuzzer(_ name: String, _ names: String) -> Target { program(name, "Fuzz/Sources/", "Fuzzer \(names)") }

/// What `make fuzz` builds, with flags that nothing else is built with. A trait could leave out what they depend on and
/// their code, and they would still be there.
let fuzzers: [Target] =
    Context.environment["FUZZ"] == nil
    ? []
    : [
        .target(name: "Fuzzer", path: "Fuzz/Sources/Fuzzer", swiftSettings: swiftSettings),
        fuzzer("FuzzLines", "QuickConnect JSON"),
        fuzzer("FuzzTexts", "QuickConnect JSON"),
        fuzzer("FuzzSession", "QuickConnect Commands Concurrency JSON"),
        fuzzer("FuzzConversation", "QuickConnectClient JSON"),
        fuzzer("FuzzFrames", "WebGateway"),
        fuzzer("FuzzForms", "WebGateway"),
        fuzzer("FuzzSettings", "Configuration QuickConnect Linux JSON"),
        fuzzer("FuzzDevices", "ALSAAudio GPSDLocation MediaFolder QuickConnect JSON Logging"),
        fuzzer("FuzzManifests", "ProcedureSets Configuration Actions JSON"),
        fuzzer("FuzzActions", "Actions"),
        fuzzer("FuzzFleet", "MQTT Fleet QuickConnectClient JSON"),
    ]

let package = Package(
    name: "quickconnect",
    products: programs.map { .executable(name: $0, targets: [$0]) }
        + libraries.map { .library(name: $0, targets: [$0]) },
    traits: [
        .trait(
            name: "Programs",
            description: "The daemon and the other programs, which need more packages than the libraries."
        ),
        .trait(name: "NIO", description: "QuickConnectClientNIO, the client for programs that run on SwiftNIO."),
        .trait(
            name: "Foundation",
            description: "JavaScriptCore's values of Foundation: NSNumber, NSNull, Date. The programs go without them."
        ),
        .default(enabledTraits: ["Programs", "NIO", "Foundation"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        // Base: knows nothing of the project. Promises and threads, turns and shares of peers; POSIX, systemd, and
        // where files lie; the loop of a process, and the sockets on it; SHA-256 and Ed25519; local time, and when
        // schedules run.
        module("JSON", "Base/", "OrderedCollections"),
        module("Calendar", "Base/", ""),
        module("Concurrency", "Base/", "CLinux DequeModule HeapModule"),
        module("Linux", "Base/", "CLinux JSON"),
        module("Runtime", "Base/", "Concurrency Linux CLinux HeapModule"),
        module("Digests", "Base/", "JSON CSodium"),

        // Core: the architecture. No C, no NIO, no input or output.
        module("QuickConnect", "Core", "Calendar JSON Concurrency DequeModule"),

        // Settings and mappings: YAML files with their positions.
        module("Configuration", "Configuration", "QuickConnect KioskRules Fleet Calendar JSON Linux CYAML"),

        // Client: the other end of the socket, and the same on an event loop; what programs take as words, and print.
        module("QuickConnectClient", "Client/", "QuickConnect JSON Concurrency Linux DequeModule HeapModule"),
        module("QuickConnectClientNIO", "Client/", "QuickConnectClient JSON Linux NIOCore NIOPosix", trait: "NIO"),
        module("CommandLineText", "Client/", "\(client) Calendar Configuration ArgumentParser"),

        // Daemon: the command objects, one file each; the files that callers name; the devices, each the only importer
        // of its C module; bytes on Unix sockets to and from connections; the wiring.
        module("Commands", "Daemon/", "QuickConnect Calendar JSON Concurrency Logging"),
        module("MediaFolder", "Daemon/Media", "\(device) CLinux"),
        module("ALSAAudio", "Daemon/Devices/Sound", "\(device) MediaFolder CALSA CALSAShims CSndFile CSampleRate"),
        module("GPSDLocation", "Daemon/Devices/Location", "\(device) CGPS"),
        module("EvdevHaptics", "Daemon/Devices/Haptics", "\(device) CLinux"),
        module("IIOMotion", "Daemon/Devices/Motion", "\(device)"),
        module("Pins", "Daemon/Devices/Pins", "\(device) CLinux"),
        module("Readers", "Daemon/Devices/Readers", "\(device) CLinux"),
        module("AvahiBrowsing", "Daemon/Devices/Nearby", "\(device) CAvahi"),
        program(
            "quickconnectd",
            "Sources/Daemon/",
            """
            \(device) \(flags) Commands ALSAAudio AvahiBrowsing EvdevHaptics GPSDLocation IIOMotion MediaFolder
            Pins QuickConnectClient Readers Configuration Runtime Calendar CLinux DequeModule
            """
        ),

        // Scripting: JavaScript with the names of Apple's framework; functions that are edited while they run; the
        // check of texts by another process; the host of scripts and macros.
        module("JavaScriptCore", "Scripting/", "CJavaScriptCore CJavaScriptCoreShims"),
        module("MacroEngine", "Scripting/", "JavaScriptCore Concurrency Linux"),
        module("SyntaxChecking", "Scripting/", "Concurrency JSON Linux CLinux"),
        program(
            "quickconnect-scripts",
            "Sources/Scripting/",
            """
            \(client) \(flags) SyntaxChecking Configuration JavaScriptCore MacroEngine Procedures Concurrency CLinux
            DequeModule HeapModule
            """,
            scripts: "bridge calls console errors frontController intrinsics macros page start timers words"
        ),

        // Procedures: sets that are fetched; entries in a file of SQLite, the processes that run procedures, and their
        // host; what fetches the sets, the only importer of libcurl.
        module("ProcedureSets", "Procedures/Sets", "Configuration Digests JSON Linux CLinux"),
        module(
            "Procedures",
            "Procedures/Host",
            "\(client) SyntaxChecking Calendar Configuration ProcedureSets JavaScriptCore Concurrency CLinux CSQLite",
            scripts: "procedure"
        ),
        program(
            "quickconnect-sync",
            "Sources/Procedures/",
            "\(flags) ProcedureSets Configuration JSON Linux QuickConnect CCurl"
        ),

        // Web: pages in any browser, by HTTP and WebSocket.
        module(
            "WebGateway",
            "Web/Gateway",
            "\(client) \(nio) QuickConnectClientNIO Concurrency CLinux Digests"
        ),
        program("quickconnect-web", "Sources/Web/", "\(client) \(flags) WebGateway Configuration CLinux"),

        // Actions: where scripts for pages lie, where they may run, and what runs them; the browsers' native messaging
        // host.
        module("Actions", "Actions/Host", "\(client) SyntaxChecking", scripts: "run"),
        program("quickconnect-actions", "Sources/Actions/", "\(client) Actions Configuration SyntaxChecking"),

        // Kiosk: what it lets in and through, without a window; the window, the only importer of WebKitGTK, and actions
        // in it, all on the main thread.
        module("KioskRules", "Kiosk/Rules", "Calendar JSON"),
        program(
            "quickconnect-kiosk",
            "Sources/Kiosk/",
            "\(client) \(flags) KioskRules Actions SyntaxChecking Calendar Configuration CLinux CWebKit",
            scripts: "evaluate link media page",
            settings: [.defaultIsolation(MainActor.self)]
        ),

        // Fleet: topics and payloads; a client of a broker, the caller's side, and the device's.
        module("Fleet", "Fleet/Topics", "JSON"),
        module(
            "MQTT",
            "Fleet/",
            "\(client) Fleet Configuration Digests CLinux CMosquitto Concurrency DequeModule"
        ),
        program("quickconnect-mqtt", "Sources/Fleet/", "\(client) \(flags) MQTT Fleet Configuration CLinux"),

        // Session: native dialogs.
        program("quickconnect-picker", "Sources/Session/", "\(client) \(flags) Concurrency CLinux"),

        // Tool: the command line.
        program(
            "quickconnect",
            "Sources/Tool",
            "\(client) \(flags) Actions Configuration CLinux CQREncode SyntaxChecking"
        ),

        // C: system libraries, and the few lines that must be C. Without pkg-config where SwiftPM warns of its flags.
        library("CALSA", "libasound2-dev", pkgConfig: "alsa"),
        library("CCurl", "libcurl4-openssl-dev"),
        library("CAvahi", "libavahi-client-dev"),
        library("CMosquitto", "libmosquitto-dev", pkgConfig: "libmosquitto"),
        library("CGPS", "libgps-dev", pkgConfig: "libgps"),
        library("CSndFile", "libsndfile1-dev", pkgConfig: "sndfile"),
        library("CSampleRate", "libsamplerate0-dev", pkgConfig: "samplerate"),
        library("CJavaScriptCore", "libjavascriptcoregtk-4.1-dev", pkgConfig: "javascriptcoregtk-4.1"),
        library("CSQLite", "libsqlite3-dev", pkgConfig: "sqlite3"),
        library("CSodium", "libsodium-dev", pkgConfig: "libsodium"),
        library("CWebKit", "libwebkit2gtk-4.1-dev", pkgConfig: "webkit2gtk-4.1"),
        library("CQREncode", "libqrencode-dev", pkgConfig: "libqrencode"),
        library("CYAML", "libyaml-dev", pkgConfig: "yaml-0.1"),
        shims("CALSAShims", of: "CALSA"),
        shims("CJavaScriptCoreShims", of: "CJavaScriptCore"),
        shims("CLinux"),

        // What docs/clients.md shows, and what figures are compared with.
        program("device-example", "Examples/Swift", "QuickConnectClient QuickConnect JSON"),
        program("javascript-calls", "Benchmarks/JavaScriptCalls", "JavaScriptCore CJavaScriptCore"),
        program("websocket-echo", "Benchmarks/WebSocketEcho", "\(nio)"),
        program("frame-echo", "Tests/Foreign/Echo", "\(nio) WebGateway"),

        // What tests share: private sound servers, a virtual sound card, processes; what clients and the daemon say to
        // each other; a small model of the core, and the histories in which both must do the same.
        .target(name: "CTestRig", path: "Tests/CTestRig"),
        support("TestRig", "QuickConnect QuickConnectClient JSON CTestRig", exclude: ["RigPlugin"]),
        support("Conversations", "QuickConnect JSON"),
        support("CoreModel", "QuickConnect JSON Commands Concurrency TestRig Logging"),
        program("core-model", "Tests/CoreModelRunner", "CoreModel"),

        // Tests/XCTMain.swift starts them.
        tests("QuickConnectTests", "\(device) CommandLineText Commands Conversations CoreModel TestRig"),
        tests("UnixSocketListenerTests", "\(device) quickconnectd Calendar Runtime TestRig"),
        tests("CalendarTests", "Calendar"),
        tests("ConfigurationTests", "Calendar Configuration KioskRules Linux QuickConnect JSON TestRig"),
        tests("KioskRulesTests", "Calendar KioskRules JSON"),
        tests("ConcurrencyTests", "Concurrency QuickConnect TestRig"),
        tests("RuntimeTests", "Runtime Concurrency Linux TestRig"),
        tests("ALSAAudioTests", "\(device) ALSAAudio TestRig CLinux"),
        tests("GPSDLocationTests", "\(device) GPSDLocation TestRig"),
        tests("EvdevHapticsTests", "\(device) EvdevHaptics TestRig"),
        tests("IIOMotionTests", "\(device) IIOMotion TestRig"),
        tests("PinsTests", "\(device) Pins TestRig"),
        tests("ReadersTests", "\(device) Readers TestRig"),
        tests("AvahiBrowsingTests", "\(device) AvahiBrowsing TestRig"),
        tests("ScriptHostTests", "\(client) quickconnect-scripts SyntaxChecking Configuration Concurrency TestRig"),
        tests(
            "ProceduresTests",
            "Procedures ProcedureSets quickconnect-sync Calendar Configuration QuickConnectClient JSON Linux TestRig"
        ),
        tests("JavaScriptCoreTests", "JavaScriptCore TestRig"),
        tests("MacroEngineTests", "MacroEngine JavaScriptCore TestRig"),
        tests("QuickConnectClientTests", "\(client) TestRig"),
        tests("ActionsTests", "Actions JavaScriptCore MacroEngine QuickConnect JSON Linux TestRig"),
        tests("WebGatewayTests", "WebGateway JSON Digests Linux NIOCore NIOEmbedded NIOHTTP1 NIOPosix"),
        tests("MQTTGatewayTests", "\(client) MQTT Fleet Configuration TestRig Concurrency"),
        tests(
            "ConversationTests",
            """
            \(client) QuickConnectClientNIO Concurrency Conversations Configuration Digests TestRig quickconnectd
            quickconnect quickconnect-picker quickconnect-sync quickconnect-web device-example Logging NIOCore
            NIOPosix
            """
        ),
    ] + fuzzers
)
