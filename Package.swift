// swift-tools-version: 6.2
import PackageDescription

/// The one set of flags that every target is built with. Warnings are errors, in debug and in release.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// What a target has only for the programs. A package that depends on a library of this one with `traits: []` does not get
/// to see these packages.
let programs = TargetDependencyCondition.when(traits: ["Programs"])

/// What the client for programs that run on NIO needs.
let nio = TargetDependencyCondition.when(traits: ["NIO"])

let package = Package(
    name: "quickconnect",
    products: [
        .executable(name: "quickconnectd", targets: ["quickconnectd"]),
        .executable(name: "quickconnect", targets: ["quickconnect"]),
        .executable(name: "quickconnect-scripts", targets: ["quickconnect-scripts"]),
        .executable(name: "quickconnect-picker", targets: ["quickconnect-picker"]),
        .executable(name: "quickconnect-sync", targets: ["quickconnect-sync"]),
        .executable(name: "quickconnect-web", targets: ["quickconnect-web"]),
        .executable(name: "quickconnect-actions", targets: ["quickconnect-actions"]),
        .executable(name: "quickconnect-kiosk", targets: ["quickconnect-kiosk"]),
        .executable(name: "quickconnect-mqtt", targets: ["quickconnect-mqtt"]),
        .library(name: "QuickConnect", targets: ["QuickConnect"]),
        .library(name: "JSON", targets: ["JSON"]),
        .library(name: "QuickConnectClient", targets: ["QuickConnectClient"]),
        .library(name: "QuickConnectClientNIO", targets: ["QuickConnectClientNIO"]),
        .library(name: "JavaScriptCore", targets: ["JavaScriptCore"]),
        .library(name: "MacroEngine", targets: ["MacroEngine"]),
        // For the fuzzers alone: what else reads what others write.
        .library(name: "Commands", targets: ["Commands"]),
        .library(name: "Concurrency", targets: ["Concurrency"]),
        .library(name: "Configuration", targets: ["Configuration"]),
        .library(name: "Layout", targets: ["Layout"]),
        .library(name: "ALSAAudio", targets: ["ALSAAudio"]),
        .library(name: "GPSDLocation", targets: ["GPSDLocation"]),
        .library(name: "MediaFolder", targets: ["MediaFolder"]),
        .library(name: "ProcedureSets", targets: ["ProcedureSets"]),
        .library(name: "WebGateway", targets: ["WebGateway"]),
        .library(name: "NativeMessaging", targets: ["NativeMessaging"]),
        .library(name: "Actions", targets: ["Actions"]),
        .library(name: "MQTTGateway", targets: ["MQTTGateway"]),
        .library(name: "MQTT", targets: ["MQTT"]),
        .library(name: "Fleet", targets: ["Fleet"]),
        .library(name: "FleetClient", targets: ["FleetClient"]),
    ],
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
        // Values, and texts that stay bytes until a value is asked for. Knows nothing of the rest.
        .target(
            name: "JSON",
            dependencies: [.product(name: "OrderedCollections", package: "swift-collections")],
            swiftSettings: swiftSettings
        ),

        // Threads, alarms and promises.
        .target(
            name: "Concurrency",
            dependencies: [
                "CLinux", "Fairness",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),

        // Turns and shares of peers, as values.
        .target(
            name: "Fairness",
            dependencies: [.product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: swiftSettings
        ),

        // Has another process, with an engine, check the syntax of scripts.
        .target(
            name: "SyntaxChecking",
            dependencies: ["Fairness", "JSON", "Linux", "CLinux"],
            swiftSettings: swiftSettings
        ),

        // POSIX and systemd, each thing once.
        .target(name: "Linux", dependencies: ["CLinux", "JSON"], swiftSettings: swiftSettings),

        // How a program says what is wrong with its words.
        .target(
            name: "Usage",
            dependencies: [
                "Linux", .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // Where the project's files lie.
        .target(name: "Layout", dependencies: ["Linux"], swiftSettings: swiftSettings),

        // The architecture: no C, no NIO, no input or output.
        .target(
            name: "QuickConnect",
            dependencies: [
                "JSON", "Concurrency", "Fairness",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),

        // The command objects, one file each.
        .target(
            name: "Commands",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // The files that callers name, kept to one folder.
        .target(
            name: "MediaFolder",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux", "CLinux", "Fairness",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // A device each; the only importers of their C modules.
        .target(
            name: "ALSAAudio",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux", "MediaFolder", "CALSA", "CALSAShims", "CSndFile",
                "CSampleRate",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "GPSDLocation",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux", "CGPS",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "EvdevHaptics",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux", "CLinux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "IIOMotion",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "AvahiBrowsing",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Linux", "CAvahi",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // What listeners do when a connection cannot be taken.
        .target(
            name: "Accepting",
            dependencies: [.product(name: "NIOCore", package: "swift-nio", condition: programs)],
            swiftSettings: swiftSettings
        ),

        // Bytes on Unix sockets to and from connections.
        .target(
            name: "UnixSocketListener",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Fairness", "Linux", "CLinux", "Accepting",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log", condition: programs),
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // YAML files with their positions: settings and mappings.
        .target(
            name: "Configuration",
            dependencies: ["QuickConnect", "KioskRules", "Fleet", "JSON", "Layout", "Linux", "CYAML"],
            swiftSettings: swiftSettings
        ),

        // The other end of the socket, for programs that are clients.
        .target(
            name: "QuickConnectClient",
            dependencies: [
                "QuickConnect", "JSON", "Concurrency", "Fairness", "Linux",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),

        // The same on an event loop, for gateways.
        .target(
            name: "QuickConnectClientNIO",
            dependencies: [
                "QuickConnectClient", "JSON",
                .product(name: "NIOCore", package: "swift-nio", condition: nio),
                .product(name: "NIOPosix", package: "swift-nio", condition: nio),
            ],
            swiftSettings: swiftSettings
        ),

        // SHA-256 and Ed25519; the only importer of libsodium.
        .target(name: "Digests", dependencies: ["JSON", "CSodium"], swiftSettings: swiftSettings),

        // The data of the device: entries in a file of SQLite.
        .target(name: "DataStore", dependencies: ["JSON", "CSQLite"], swiftSettings: swiftSettings),

        // JavaScript, with the names of Apple's framework. Knows nothing of the rest.
        .target(
            name: "JavaScriptCore",
            dependencies: ["CJavaScriptCore", "CJavaScriptCoreShims"],
            swiftSettings: swiftSettings
        ),

        // JavaScript functions that are edited while the program runs.
        .target(
            name: "MacroEngine",
            dependencies: ["JavaScriptCore", "Concurrency", "Linux"],
            swiftSettings: swiftSettings
        ),

        // The script host: JavaScript that talks to the daemon.
        .target(
            name: "ScriptHost",
            dependencies: [
                "Fairness", "SyntaxChecking",
                "QuickConnect", "QuickConnectClient", "Configuration", "JSON", "JavaScriptCore", "MacroEngine",
                "Concurrency", "Layout", "Linux", "CLinux",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            resources: [
                "errors", "console", "timers", "frontController", "calls", "bridge", "words", "page", "start", "macros",
                "intrinsics",
            ].map { .embedInCode("Runtime/\($0).js") },
            swiftSettings: swiftSettings
        ),

        // Sets of fetched procedures, as the one who fetches hands them to the one who runs them.
        .target(
            name: "ProcedureSets",
            dependencies: ["Configuration", "Digests", "JSON", "Linux", "CLinux"],
            swiftSettings: swiftSettings
        ),

        // Fetches such sets; the only importer of libcurl.
        .target(
            name: "ProcedureSync",
            dependencies: ["ProcedureSets", "Configuration", "JSON", "Linux", "CCurl"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect-sync",
            dependencies: [
                "ProcedureSync", "ProcedureSets", "Configuration", "Layout", "Linux", "QuickConnect", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // Stored procedures: the processes that run them, the host of those, and what records the data for them.
        .target(
            name: "Procedures",
            dependencies: [
                "Fairness", "SyntaxChecking",
                "QuickConnect", "QuickConnectClient", "Configuration", "DataStore", "ProcedureSets", "JSON",
                "JavaScriptCore", "Concurrency", "Layout", "Linux", "CLinux",
            ],
            resources: [.embedInCode("Runtime/procedure.js")],
            swiftSettings: swiftSettings
        ),

        .executableTarget(
            name: "quickconnect-scripts",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "ScriptHost", "Procedures", "Configuration", "JSON", "Layout",
                "Linux", "SyntaxChecking", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnectd",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "Commands", "ALSAAudio", "AvahiBrowsing", "EvdevHaptics",
                "GPSDLocation", "IIOMotion", "MediaFolder", "UnixSocketListener", "Configuration", "JSON",
                "Concurrency", "Layout", "Linux", "CLinux", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
                .product(name: "Logging", package: "swift-log", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        // What programs say on a terminal.
        .target(
            name: "CommandLineText",
            dependencies: ["QuickConnect", "QuickConnectClient", "JSON", "Linux"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "Actions", "CommandLineText", "CLinux", "CQREncode", "JSON",
                "Layout", "Linux", "SyntaxChecking", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // Native dialogs in the graphical session of a user.
        .executableTarget(
            name: "quickconnect-picker",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "JSON", "Concurrency", "Linux", "CLinux", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // Action scripts: where they lie, where they may run, and the JavaScript that runs them in a page.
        .target(
            name: "Actions",
            dependencies: ["QuickConnect", "JSON", "Layout", "Linux", "SyntaxChecking"],
            resources: [.embedInCode("Runtime/run.js")],
            swiftSettings: swiftSettings
        ),

        // The native messaging host of the browsers' extension.
        .target(
            name: "NativeMessaging",
            dependencies: ["Actions", "QuickConnect", "QuickConnectClient", "JSON", "Layout", "Linux"],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect-actions",
            dependencies: [
                "NativeMessaging", "Actions", "QuickConnect", "QuickConnectClient", "Configuration", "JSON", "Layout",
                "Linux", "SyntaxChecking",
            ],
            swiftSettings: swiftSettings
        ),

        // Pages in any browser: HTTP and WebSocket.
        .target(
            name: "WebGateway",
            dependencies: [
                "Fairness",
                "QuickConnect", "QuickConnectClient", "QuickConnectClientNIO", "JSON", "Concurrency", "Linux", "CLinux",
                "Digests", "Accepting",
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        // What their command lines have in common.
        .target(
            name: "GatewayFlags",
            dependencies: [
                "Configuration", "Layout", "Linux", "QuickConnectClient",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect-web",
            dependencies: [
                "GatewayFlags", "QuickConnect", "QuickConnectClient", "WebGateway", "Configuration", "Layout", "Linux",
                "CLinux", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // What a kiosk's window lets in and through, without a window.
        .target(name: "KioskRules", dependencies: ["JSON"], swiftSettings: swiftSettings),

        // The web view of the kiosk; the only importer of WebKitGTK. All of it runs on the main thread.
        .target(
            name: "KioskWindow",
            dependencies: [
                "KioskRules", "Configuration", "QuickConnectClient", "QuickConnect", "JSON", "Linux", "CLinux",
                "CWebKit",
            ],
            resources: ["evaluate", "link", "media", "page"].map { .embedInCode("Runtime/\($0).js") },
            swiftSettings: swiftSettings + [.defaultIsolation(MainActor.self)]
        ),
        // Actions in the window.
        .target(
            name: "KioskActions",
            dependencies: [
                "KioskWindow", "KioskRules", "Actions", "SyntaxChecking", "QuickConnect", "QuickConnectClient", "JSON",
                "Linux",
            ],
            swiftSettings: swiftSettings + [.defaultIsolation(MainActor.self)]
        ),
        .executableTarget(
            name: "quickconnect-kiosk",
            dependencies: [
                "KioskActions", "Actions", "KioskWindow", "KioskRules", "QuickConnect", "QuickConnectClient",
                "Configuration", "Layout", "Linux", "CLinux", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // A client of a broker; the only importer of libmosquitto.
        .target(name: "MQTT", dependencies: ["Concurrency", "Linux", "CMosquitto"], swiftSettings: swiftSettings),

        // What devices and callers of a fleet say to each other: topics and payloads.
        .target(name: "Fleet", dependencies: ["JSON"], swiftSettings: swiftSettings),

        // The caller's side of it.
        .target(
            name: "FleetClient",
            dependencies: ["Fleet", "MQTT", "QuickConnect", "JSON"],
            swiftSettings: swiftSettings
        ),

        // The device's side: a gateway of the daemon.
        .target(
            name: "MQTTGateway",
            dependencies: [
                "Fairness",
                "Fleet", "MQTT", "QuickConnect", "QuickConnectClient", "Configuration", "JSON", "Digests", "Linux",
                "CLinux", "Concurrency",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect-mqtt",
            dependencies: [
                "MQTTGateway", "GatewayFlags", "FleetClient", "Fleet", "MQTT", "CommandLineText", "Configuration",
                "Layout",
                "QuickConnect", "QuickConnectClient", "JSON", "Linux", "CLinux", "Usage",
                .product(name: "ArgumentParser", package: "swift-argument-parser", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),

        // What docs/clients.md shows, as a program.
        .executableTarget(
            name: "device-example",
            dependencies: ["QuickConnectClient", "QuickConnect", "JSON"],
            path: "Examples/Swift",
            swiftSettings: swiftSettings
        ),

        // What the JavaScriptCore module costs beside the C API.
        .executableTarget(
            name: "javascript-calls",
            dependencies: ["JavaScriptCore", "CJavaScriptCore"],
            path: "Benchmarks/JavaScriptCalls",
            swiftSettings: swiftSettings
        ),

        // What a round trip to the gateway of pages is compared with.
        .executableTarget(
            name: "websocket-echo",
            dependencies: [
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: programs),
            ],
            path: "Benchmarks/WebSocketEcho",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "frame-echo",
            dependencies: [
                "WebGateway",
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
                .product(name: "NIOWebSocket", package: "swift-nio", condition: programs),
            ],
            path: "Tests/Foreign/Echo",
            swiftSettings: swiftSettings
        ),

        // C: system libraries, and the few lines that must be C.
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        // Without pkg-config, whose flags SwiftPM does not take.
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        // Without pkg-config, whose flag -D_REENTRANT SwiftPM warns of.
        .systemLibrary(name: "CAvahi", providers: [.apt(["libavahi-client-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CGPS", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSampleRate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
        .systemLibrary(
            name: "CJavaScriptCore",
            pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]
        ),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CWebKit", pkgConfig: "webkit2gtk-4.1", providers: [.apt(["libwebkit2gtk-4.1-dev"])]),
        .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CALSAShims", dependencies: ["CALSA"]),
        .target(name: "CJavaScriptCoreShims", dependencies: ["CJavaScriptCore"]),
        .target(name: "CLinux"),

        // Private sound servers, a virtual sound card and processes for the tests.
        .target(name: "CTestRig", path: "Tests/CTestRig"),
        .target(
            name: "TestRig",
            dependencies: ["QuickConnect", "QuickConnectClient", "JSON", "CTestRig"],
            path: "Tests/TestRig",
            exclude: ["RigPlugin"],
            swiftSettings: swiftSettings
        ),

        // What clients and the daemon say to each other, to be held in-process and over the socket.
        .target(
            name: "Conversations",
            dependencies: ["QuickConnect", "JSON"],
            path: "Tests/Conversations",
            swiftSettings: swiftSettings
        ),

        // A small model of the core, and the histories in which both must do the same.
        .target(
            name: "CoreModel",
            dependencies: [
                "QuickConnect", "JSON", "Commands", "Concurrency", "TestRig",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            path: "Tests/CoreModel",
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "core-model",
            dependencies: ["CoreModel"],
            path: "Tests/CoreModelRunner",
            swiftSettings: swiftSettings
        ),

        .testTarget(
            name: "QuickConnectTests",
            dependencies: [
                "QuickConnect", "JSON", "Commands", "Conversations", "CoreModel", "Concurrency", "Linux", "TestRig",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "UnixSocketListenerTests",
            dependencies: [
                "UnixSocketListener", "QuickConnect", "JSON", "Concurrency", "TestRig",
                .product(name: "Logging", package: "swift-log", condition: programs),
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: ["Configuration", "KioskRules", "Layout", "QuickConnect", "JSON", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "KioskRulesTests",
            dependencies: ["KioskRules", "JSON"],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "FairnessTests", dependencies: ["Fairness"], swiftSettings: swiftSettings),
        .testTarget(
            name: "ConcurrencyTests",
            dependencies: ["Concurrency", "QuickConnect", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ALSAAudioTests",
            dependencies: [
                "ALSAAudio", "QuickConnect", "JSON", "TestRig", "Concurrency", "CLinux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "GPSDLocationTests",
            dependencies: [
                "GPSDLocation", "QuickConnect", "JSON", "TestRig", "Concurrency", "Linux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "EvdevHapticsTests",
            dependencies: [
                "EvdevHaptics", "QuickConnect", "JSON", "TestRig", "Concurrency", "Linux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "IIOMotionTests",
            dependencies: [
                "IIOMotion", "QuickConnect", "JSON", "TestRig", "Concurrency", "Linux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AvahiBrowsingTests",
            dependencies: [
                "AvahiBrowsing", "QuickConnect", "JSON", "TestRig", "Concurrency", "Linux",
                .product(name: "Logging", package: "swift-log", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ScriptHostTests",
            dependencies: [
                "ScriptHost", "SyntaxChecking", "QuickConnect", "QuickConnectClient", "Configuration", "JSON",
                "Concurrency", "Linux",
                "TestRig",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "DataStoreTests",
            dependencies: ["DataStore", "JSON", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ProceduresTests",
            dependencies: [
                "Procedures", "ProcedureSync", "DataStore", "JSON", "Layout", "TestRig",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "JavaScriptCoreTests", dependencies: ["JavaScriptCore"], swiftSettings: swiftSettings),
        .testTarget(
            name: "MacroEngineTests",
            dependencies: ["MacroEngine", "JavaScriptCore"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "QuickConnectClientTests",
            dependencies: ["QuickConnectClient", "QuickConnect", "JSON", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ActionsTests",
            dependencies: [
                "Actions", "NativeMessaging", "JavaScriptCore", "MacroEngine", "QuickConnect", "JSON", "Layout",
                "TestRig",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebGatewayTests",
            dependencies: [
                "WebGateway", "JSON", "Digests", "Linux",
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: programs),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "MQTTGatewayTests",
            dependencies: [
                "MQTTGateway", "FleetClient", "Fleet", "MQTT", "Configuration", "QuickConnect", "QuickConnectClient",
                "JSON",
                "TestRig", "Concurrency", "Linux",
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ConversationTests",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "QuickConnectClientNIO", "JSON", "Concurrency", "Conversations",
                "Configuration", "Digests", "Linux", "TestRig", "quickconnectd", "quickconnect", "quickconnect-picker",
                "quickconnect-sync", "quickconnect-web",
                "device-example",
                .product(name: "Logging", package: "swift-log", condition: programs),
                .product(name: "NIOCore", package: "swift-nio", condition: programs),
                .product(name: "NIOPosix", package: "swift-nio", condition: programs),
            ],
            swiftSettings: swiftSettings
        ),
    ]
)
