// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

/// A fuzzer, and the modules of the project that it feeds.
func fuzzer(_ name: String, of modules: [String], _ others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["Fuzzer"] + modules.map { .product(name: $0, package: "quickconnect") } + others,
        swiftSettings: swiftSettings
    )
}

// A package of its own, for it must be built with flags that nothing else is built with: see `make fuzz`.
let package = Package(
    name: "fuzz",
    dependencies: [
        .package(name: "quickconnect", path: ".."),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "Fuzzer", swiftSettings: swiftSettings),
        fuzzer("FuzzLines", of: ["QuickConnect", "JSON"]),
        fuzzer("FuzzTexts", of: ["QuickConnect", "JSON"]),
        fuzzer("FuzzSession", of: ["QuickConnect", "Commands", "Concurrency", "JSON"]),
        fuzzer("FuzzConversation", of: ["QuickConnectClient", "JSON"]),
        fuzzer("FuzzFrames", of: ["WebGateway"]),
        fuzzer("FuzzForms", of: ["WebGateway"]),
        fuzzer("FuzzSettings", of: ["Configuration", "QuickConnect", "Layout", "JSON"]),
        fuzzer(
            "FuzzDevices",
            of: ["ALSAAudio", "GPSDLocation", "MediaFolder", "QuickConnect", "JSON"],
            [.product(name: "Logging", package: "swift-log")]
        ),
        fuzzer("FuzzManifests", of: ["ProcedureSets", "Configuration", "Actions", "JSON"]),
        fuzzer("FuzzActions", of: ["Actions", "NativeMessaging"]),
        fuzzer("FuzzFleet", of: ["MQTTGateway", "FleetClient", "Fleet", "MQTT", "JSON"]),
    ]
)
