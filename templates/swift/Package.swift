// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "NAME",
    products: [.executable(name: "NAME", targets: ["Program"])],
    // The sources of QuickConnect on this machine.
    dependencies: [.package(path: SOURCES, traits: [])],
    targets: [
        .executableTarget(
            name: "Program",
            dependencies: [
                .product(name: "QuickConnectClient", package: PACKAGE), .product(name: "JSON", package: PACKAGE),
            ],
            path: "Sources"
        )
    ]
)
