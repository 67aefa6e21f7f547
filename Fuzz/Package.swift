// swift-tools-version: 6.2
import PackageDescription

// A package of its own, for it must be built with flags that nothing else is built with: see `make fuzz`.
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
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]
        )
    ]
)
