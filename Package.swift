// swift-tools-version: 6.1
import PackageDescription

/// The one set of flags that every target is built with. Warnings are errors, in debug and in release.
let swiftSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .unsafeFlags(["-warnings-as-errors"]),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "quickconnect",
    products: [
        .executable(name: "quickconnectd", targets: ["quickconnectd"]),
        .executable(name: "quickconnect", targets: ["quickconnect"]),
        .executable(name: "quickconnect-scripts", targets: ["quickconnect-scripts"]),
        .library(name: "QuickConnect", targets: ["QuickConnect"]),
        .library(name: "QuickConnectClient", targets: ["QuickConnectClient"]),
        .library(name: "JavaScriptCore", targets: ["JavaScriptCore"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The architecture: no C, no NIO, no input or output.
        .target(
            name: "QuickConnect",
            dependencies: [
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "OrderedCollections", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),

        // The command objects, one file each.
        .target(
            name: "Commands",
            dependencies: ["QuickConnect", .product(name: "Logging", package: "swift-log")],
            swiftSettings: swiftSettings
        ),

        // Threads for calls that block, and what they share.
        .target(
            name: "Threads",
            dependencies: [
                "QuickConnect", "CLinux",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: swiftSettings
        ),

        // Text files, standard output, and what a process was started as: the POSIX that programs share.
        .target(name: "Files", swiftSettings: swiftSettings),

        // What a service and systemd tell each other.
        .target(name: "ServiceManager", swiftSettings: swiftSettings),

        // The files that callers name, kept to one folder.
        .target(name: "MediaFolder", dependencies: ["QuickConnect", "CLinux"], swiftSettings: swiftSettings),

        // A device each; the only importers of their C modules.
        .target(
            name: "ALSAAudio",
            dependencies: [
                "QuickConnect", "Threads", "MediaFolder", "CALSA", "CALSAShims", "CSndFile", "CSampleRate",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),

        .target(
            name: "GPSDLocation",
            dependencies: ["QuickConnect", "Threads", "CGPS", .product(name: "Logging", package: "swift-log")],
            swiftSettings: swiftSettings
        ),

        // Bytes on a Unix socket to and from sessions.
        .target(
            name: "UnixSocketListener",
            dependencies: [
                "QuickConnect",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),

        // YAML files with their positions: settings and mappings.
        .target(
            name: "Configuration",
            dependencies: ["QuickConnect", "Files", "CYAML"],
            swiftSettings: swiftSettings
        ),

        // The other end of the socket, for programs that are clients.
        .target(name: "QuickConnectClient", dependencies: ["QuickConnect"], swiftSettings: swiftSettings),

        // JavaScript, with the names of Apple's framework. Knows nothing of the rest.
        .target(
            name: "JavaScriptCore",
            dependencies: ["CJavaScriptCore", "CJavaScriptCoreShims"],
            swiftSettings: swiftSettings
        ),

        // The script host: JavaScript that talks to the daemon.
        .target(
            name: "ScriptHost",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "JavaScriptCore", "Threads", "Files", "ServiceManager", "CLinux",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            resources: [
                "errors", "console", "timers", "frontController", "calls", "bridge", "page", "start",
            ].map { .embedInCode("Runtime/\($0).js") },
            swiftSettings: swiftSettings
        ),

        .executableTarget(
            name: "quickconnect-scripts",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "ScriptHost", "Configuration", "Files",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnectd",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "Commands", "ALSAAudio", "GPSDLocation", "MediaFolder",
                "UnixSocketListener", "Configuration", "Files", "Threads", "ServiceManager", "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "quickconnect",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "Files",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings
        ),

        // What the JavaScriptCore module costs beside the C API.
        .executableTarget(
            name: "javascript-calls",
            dependencies: ["JavaScriptCore", "CJavaScriptCore"],
            path: "Benchmarks/JavaScriptCalls",
            swiftSettings: swiftSettings
        ),

        // C: system libraries, and the few lines that must be C.
        .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
        .systemLibrary(name: "CGPS", pkgConfig: "libgps", providers: [.apt(["libgps-dev"])]),
        .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),
        .systemLibrary(name: "CSampleRate", pkgConfig: "samplerate", providers: [.apt(["libsamplerate0-dev"])]),
        .systemLibrary(
            name: "CJavaScriptCore",
            pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]
        ),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "CALSAShims", dependencies: ["CALSA"]),
        .target(name: "CJavaScriptCoreShims", dependencies: ["CJavaScriptCore"]),
        .target(name: "CLinux"),

        // Private sound servers, a virtual sound card and processes for the tests.
        .target(
            name: "TestRig",
            dependencies: ["QuickConnect"],
            path: "Tests/TestRig",
            exclude: ["RigPlugin"],
            swiftSettings: swiftSettings
        ),

        // What clients and the daemon say to each other, to be held in-process and over the socket.
        .target(
            name: "Conversations",
            dependencies: ["QuickConnect"],
            path: "Tests/Conversations",
            swiftSettings: swiftSettings
        ),

        .testTarget(
            name: "QuickConnectTests",
            dependencies: [
                "QuickConnect", "Commands", "Conversations", "Threads",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: ["Configuration", "QuickConnect", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ThreadsTests",
            dependencies: ["Threads", "QuickConnect", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ALSAAudioTests",
            dependencies: [
                "ALSAAudio", "QuickConnect", "TestRig", "Threads", "CLinux",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "GPSDLocationTests",
            dependencies: [
                "GPSDLocation", "QuickConnect", "TestRig", "Threads", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ScriptHostTests",
            dependencies: ["ScriptHost", "QuickConnect", "QuickConnectClient", "TestRig"],
            swiftSettings: swiftSettings
        ),
        .testTarget(name: "JavaScriptCoreTests", dependencies: ["JavaScriptCore"], swiftSettings: swiftSettings),
        .testTarget(
            name: "QuickConnectClientTests",
            dependencies: ["QuickConnectClient"],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "ConversationTests",
            dependencies: [
                "QuickConnect", "QuickConnectClient", "Conversations", "TestRig", "quickconnectd", "quickconnect",
            ],
            swiftSettings: swiftSettings
        ),
    ]
)
