// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

// A package of its own, for it must be built with flags that nothing else is built with: see `make fuzz`.
let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "quickconnect", path: "..")],
    targets: [
        .target(name: "Fuzzer", swiftSettings: swiftSettings),
        .executableTarget(
            name: "FuzzLines",
            dependencies: [
                "Fuzzer",
                .product(name: "QuickConnect", package: "quickconnect"),
                .product(name: "JSON", package: "quickconnect"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "FuzzConversation",
            dependencies: [
                "Fuzzer",
                .product(name: "QuickConnectClient", package: "quickconnect"),
                .product(name: "JSON", package: "quickconnect"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "FuzzFrames",
            dependencies: ["Fuzzer", .product(name: "WebGateway", package: "quickconnect")],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "FuzzActions",
            dependencies: [
                "Fuzzer",
                .product(name: "Actions", package: "quickconnect"),
                .product(name: "NativeMessaging", package: "quickconnect"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "FuzzFleet",
            dependencies: [
                "Fuzzer",
                .product(name: "MQTTGateway", package: "quickconnect"),
                .product(name: "FleetClient", package: "quickconnect"),
                .product(name: "Fleet", package: "quickconnect"),
                .product(name: "MQTT", package: "quickconnect"),
                .product(name: "JSON", package: "quickconnect"),
            ],
            swiftSettings: swiftSettings
        ),
    ]
)
