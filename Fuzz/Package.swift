// swift-tools-version: 6.2
import PackageDescription

// A package of its own: libFuzzer needs flags that would keep others from depending on the main one.
let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "quickconnect", path: "..")],
    targets: [
        .executableTarget(
            name: "FuzzLines",
            dependencies: [
                .product(name: "QuickConnect", package: "quickconnect"),
                .product(name: "JSON", package: "quickconnect"),
            ],
            swiftSettings: [
                .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
                .unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"]),
            ],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
        )
    ]
)
