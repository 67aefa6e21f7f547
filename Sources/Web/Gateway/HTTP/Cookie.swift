internal import NIOHTTP1

/// The session's cookie.
enum Cookie {
    /// Cookies are shared by all ports of a host, so the port is part of the name: otherwise two gateways of a device
    /// would log each other out.
    static func name(host: String) -> String {
        let port = host.hasSuffix("]") ? nil : host.split(separator: ":").last.flatMap { UInt16($0) }
        return port.map { "qc-\($0)" } ?? "qc"
    }

    /// Its value, among all cookies that a browser sends.
    static func value(_ name: String, in headers: HTTPHeaders) -> String? {
        for line in headers["cookie"] {
            for pair in line.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix("\(name)=") { return String(pair.dropFirst(name.count + 1)) }
            }
        }
        return nil
    }

    static func set(_ name: String, _ value: String, seconds: Int64, isEncrypted: Bool) -> String {
        "\(name)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict\(isEncrypted ? "; Secure" : "")"
    }
}
