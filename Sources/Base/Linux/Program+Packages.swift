extension Program {
    /// What is said of one of this project's programs that is not on this device: which package has it, and what
    /// installs that.
    package static func missing(_ name: String) -> String {
        let package = package(of: name)
        return "\(name) is not installed. Install the package \(package): sudo apt install \(package)"
    }

    /// The package of a program: one of the parts, or that of the daemon.
    private static func package(of name: String) -> String {
        switch name {
        case "quickconnect-actions": "quickconnect-browser-actions"
        case "quickconnect-sync": "quickconnect-scripts"
        case "quickconnect-kiosk", "quickconnect-mqtt", "quickconnect-picker", "quickconnect-scripts",
            "quickconnect-web":
            name
        default: "quickconnect"
        }
    }
}
