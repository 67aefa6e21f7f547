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
let mainThread: [SwiftSetting] = [.defaultIsolation(MainActor.self)]

let packages = [
    "ArgumentParser": "swift-argument-parser",
    "DequeModule": "swift-collections", "HeapModule": "swift-collections", "OrderedCollections": "swift-collections",
    "Logging": "swift-log", "ServiceLifecycle": "swift-service-lifecycle",
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

/// A folder that ends in a slash has one of the module's name.
func path(_ folder: String, _ name: String) -> String { folder.hasSuffix("/") ? folder + name : folder }

/// A module of `Sources`, with the JavaScript that it has in its folder `Runtime`.
func module(
    _ name: String,
    _ folder: String,
    _ names: String,
    scripts: String = "",
    settings: [SwiftSetting] = [],
    trait: String = "Programs"
) -> Target {
    .target(
        name: name,
        dependencies: dependencies(names, trait: trait),
        path: path("Sources/\(folder)", name),
        resources: scripts.split(separator: " ").map { .embedInCode("Runtime/\($0).js") },
        swiftSettings: swiftSettings + settings
    )
}

func program(_ name: String, _ folder: String, _ names: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies(names),
        path: path(folder, name),
        swiftSettings: swiftSettings
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
let flags = "Usage ArgumentParser"
let nio = "NIOCore NIOPosix NIOHTTP1 NIOWebSocket"

let programs = [
    "quickconnectd", "quickconnect", "quickconnect-scripts", "quickconnect-picker", "quickconnect-sync",
    "quickconnect-web", "quickconnect-actions", "quickconnect-kiosk", "quickconnect-mqtt",
]
/// For other packages.
let libraries = [
    "QuickConnect", "JSON", "QuickConnectClient", "QuickConnectClientNIO", "JavaScriptCore", "MacroEngine",
]
/// For the fuzzers alone: what else reads what others write.
let fuzzed = [
    "Commands", "Concurrency", "Configuration", "Layout", "ALSAAudio", "GPSDLocation", "MediaFolder", "ProcedureSets",
    "WebGateway", "NativeMessaging", "Actions", "MQTTGateway", "MQTT", "Fleet", "FleetClient",
]

let package = Package(
    name: "quickconnect",
    products: programs.map { .executable(name: $0, targets: [$0]) }
        + (libraries + fuzzed).map { .library(name: $0, targets: [$0]) },
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
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // Base: knows nothing of the project. Turns and shares of peers; promises and threads; POSIX and systemd;
        // where files lie; how a program says what is wrong with its words; when a connection cannot be taken; SHA-256
        // and Ed25519.
        module("JSON", "Base/", "OrderedCollections"),
        module("Fairness", "Base/", "DequeModule"),
        module("Concurrency", "Base/", "CLinux Fairness DequeModule HeapModule"),
        module("Linux", "Base/", "CLinux JSON"),
        module("Layout", "Base/", "Linux"),
        module("Usage", "Base/", "Linux ArgumentParser"),
        module("Accepting", "Base/", "NIOCore"),
        module("Digests", "Base/", "JSON CSodium"),

        // Core: the architecture. No C, no NIO, no input or output.
        module("QuickConnect", "Core", "JSON Concurrency Fairness DequeModule"),

        // Settings and mappings: YAML files with their positions.
        module("Configuration", "Configuration", "QuickConnect KioskRules Fleet JSON Layout Linux CYAML"),

        // Client: the other end of the socket, and the same on an event loop; what programs print, and the flags of
        // gateways.
        module("QuickConnectClient", "Client/", "QuickConnect JSON Concurrency Fairness Linux DequeModule HeapModule"),
        module("QuickConnectClientNIO", "Client/", "QuickConnectClient JSON Linux NIOCore NIOPosix", trait: "NIO"),
        module("CommandLineText", "Client/", "\(client)"),
        module("GatewayFlags", "Client/", "Configuration Layout Linux QuickConnectClient ArgumentParser"),

        // Daemon: the command objects, one file each; the files that callers name; the devices, each the only importer
        // of its C module; bytes on Unix sockets to and from connections; the wiring.
        module("Commands", "Daemon/", "QuickConnect JSON Concurrency Logging"),
        module("MediaFolder", "Daemon/Media", "\(device) CLinux Fairness"),
        module("ALSAAudio", "Daemon/Devices/Sound", "\(device) MediaFolder CALSA CALSAShims CSndFile CSampleRate"),
        module("GPSDLocation", "Daemon/Devices/Location", "\(device) CGPS"),
        module("EvdevHaptics", "Daemon/Devices/Haptics", "\(device) CLinux"),
        module("IIOMotion", "Daemon/Devices/Motion", "\(device)"),
        module("AvahiBrowsing", "Daemon/Devices/Nearby", "\(device) CAvahi"),
        module(
            "UnixSocketListener",
            "Daemon/Listener",
            """
            \(device) Fairness CLinux Accepting DequeModule NIOCore NIOPosix ServiceLifecycle
            """
        ),
        program(
            "quickconnectd",
            "Sources/Daemon/",
            """
            \(client) \(flags) Commands ALSAAudio AvahiBrowsing EvdevHaptics GPSDLocation IIOMotion MediaFolder
            UnixSocketListener Configuration Concurrency Layout CLinux Logging NIOPosix ServiceLifecycle
            """
        ),

        // Scripting: JavaScript with the names of Apple's framework; functions that are edited while they run; the
        // check of texts by another process; the host of scripts and macros.
        module("JavaScriptCore", "Scripting/", "CJavaScriptCore CJavaScriptCoreShims"),
        module("MacroEngine", "Scripting/", "JavaScriptCore Concurrency Linux"),
        module("SyntaxChecking", "Scripting/", "Fairness JSON Linux CLinux"),
        module(
            "ScriptHost",
            "Scripting/",
            """
            \(client) Fairness SyntaxChecking Configuration JavaScriptCore MacroEngine Concurrency Layout CLinux
            DequeModule HeapModule
            """,
            scripts: "bridge calls console errors frontController intrinsics macros page start timers words"
        ),
        program(
            "quickconnect-scripts",
            "Sources/Scripting/",
            """
            \(client) \(flags) ScriptHost Procedures Configuration Layout SyntaxChecking
            """
        ),

        // Procedures: entries in a file of SQLite; sets that are fetched, and what fetches them, the only importer of
        // libcurl; the processes that run procedures, and their host.
        module("DataStore", "Procedures/Store", "JSON CSQLite"),
        module("ProcedureSets", "Procedures/Sets", "Configuration Digests JSON Linux CLinux"),
        module("ProcedureSync", "Procedures/Sync", "ProcedureSets Configuration JSON Linux CCurl"),
        module(
            "Procedures",
            "Procedures/Host",
            """
            \(client) Fairness SyntaxChecking Configuration DataStore ProcedureSets JavaScriptCore Concurrency Layout
            CLinux
            """,
            scripts: "procedure"
        ),
        program(
            "quickconnect-sync",
            "Sources/Procedures/",
            """
            \(flags) ProcedureSync ProcedureSets Configuration Layout Linux QuickConnect
            """
        ),

        // Web: pages in any browser, by HTTP and WebSocket.
        module(
            "WebGateway",
            "Web/Gateway",
            """
            \(client) \(nio) Fairness QuickConnectClientNIO Concurrency CLinux Digests Accepting
            """
        ),
        program(
            "quickconnect-web",
            "Sources/Web/",
            """
            \(client) \(flags) GatewayFlags WebGateway Configuration Layout CLinux
            """
        ),

        // Actions: where scripts for pages lie, where they may run, and what runs them; the browsers' native messaging
        // host.
        module("Actions", "Actions/Scripts", "QuickConnect JSON Layout Linux SyntaxChecking", scripts: "run"),
        module("NativeMessaging", "Actions/", "\(client) Actions Layout"),
        program(
            "quickconnect-actions",
            "Sources/Actions/",
            """
            \(client) NativeMessaging Actions Configuration Layout SyntaxChecking
            """
        ),

        // Kiosk: what it lets in and through, without a window; the window, the only importer of WebKitGTK, all of it
        // on the main thread; actions in the window.
        module("KioskRules", "Kiosk/Rules", "JSON"),
        module(
            "KioskWindow",
            "Kiosk/Window",
            """
            \(client) KioskRules Configuration CLinux CWebKit
            """,
            scripts: "evaluate link media page",
            settings: mainThread
        ),
        module(
            "KioskActions",
            "Kiosk/Actions",
            """
            \(client) KioskWindow KioskRules Actions SyntaxChecking
            """,
            settings: mainThread
        ),
        program(
            "quickconnect-kiosk",
            "Sources/Kiosk/",
            """
            \(client) \(flags) KioskActions Actions KioskWindow KioskRules Configuration Layout CLinux
            """
        ),

        // Fleet: topics and payloads; a client of a broker; the caller's side, and the device's.
        module("Fleet", "Fleet/Topics", "JSON"),
        module("MQTT", "Fleet/", "Concurrency Linux CMosquitto"),
        module("FleetClient", "Fleet/Client", "Fleet MQTT QuickConnect JSON"),
        module(
            "MQTTGateway",
            "Fleet/Gateway",
            """
            \(client) Fairness Fleet MQTT Configuration Digests CLinux Concurrency DequeModule
            """
        ),
        program(
            "quickconnect-mqtt",
            "Sources/Fleet/",
            """
            \(client) \(flags) MQTTGateway GatewayFlags FleetClient Fleet MQTT CommandLineText Configuration Layout
            CLinux
            """
        ),

        // Session: native dialogs.
        program("quickconnect-picker", "Sources/Session/", "\(client) \(flags) Concurrency CLinux"),

        // Tool: the command line.
        program(
            "quickconnect",
            "Sources/Tool",
            """
            \(client) \(flags) Actions CommandLineText CLinux CQREncode Layout SyntaxChecking
            """
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

        tests("QuickConnectTests", "\(device) Commands Conversations CoreModel TestRig"),
        tests(
            "UnixSocketListenerTests",
            """
            UnixSocketListener QuickConnect JSON Concurrency TestRig Logging NIOCore NIOEmbedded NIOPosix
            """
        ),
        tests("ConfigurationTests", "Configuration KioskRules Layout QuickConnect JSON TestRig"),
        tests("KioskRulesTests", "KioskRules JSON"),
        tests("FairnessTests", "Fairness"),
        tests("ConcurrencyTests", "Concurrency QuickConnect TestRig"),
        tests("ALSAAudioTests", "\(device) ALSAAudio TestRig CLinux"),
        tests("GPSDLocationTests", "\(device) GPSDLocation TestRig"),
        tests("EvdevHapticsTests", "\(device) EvdevHaptics TestRig"),
        tests("IIOMotionTests", "\(device) IIOMotion TestRig"),
        tests("AvahiBrowsingTests", "\(device) AvahiBrowsing TestRig"),
        tests("ScriptHostTests", "\(client) ScriptHost SyntaxChecking Configuration Concurrency TestRig"),
        tests("DataStoreTests", "DataStore JSON TestRig"),
        tests("ProceduresTests", "Procedures ProcedureSync DataStore JSON Layout TestRig"),
        tests("JavaScriptCoreTests", "JavaScriptCore"),
        tests("MacroEngineTests", "MacroEngine JavaScriptCore"),
        tests("QuickConnectClientTests", "\(client) TestRig"),
        tests("ActionsTests", "Actions NativeMessaging JavaScriptCore MacroEngine QuickConnect JSON Layout TestRig"),
        tests("WebGatewayTests", "WebGateway JSON Digests Linux NIOCore NIOEmbedded NIOHTTP1 NIOPosix"),
        tests("MQTTGatewayTests", "\(client) MQTTGateway FleetClient Fleet MQTT Configuration TestRig Concurrency"),
        tests(
            "ConversationTests",
            """
            \(client) QuickConnectClientNIO Concurrency Conversations Configuration Digests TestRig quickconnectd
            quickconnect quickconnect-picker quickconnect-sync quickconnect-web device-example Logging NIOCore
            NIOPosix
            """
        ),
    ]
)
