import Glibc
import JSON
import Linux
import QuickConnect
import QuickConnectClient

/// The ways to the screen of the session that answers for it.
struct ScreenCheck {
    let connection: ConnectionOptions

    /// - Parameter flash: whether it is turned off and on.
    func finding(flash: Bool) throws -> Finding {
        let answer: JSONValue
        switch try connection.result(of: "screen", [["ways": true]]) {
        case .success(let value): answer = value
        case .failure(let error):
            let fix = error.members["fix"]?.stringValue
            guard fix != nil, let ofKiosk = Self.fixOfKiosk else {
                return Finding("screen", .error, error.message, fix: fix)
            }
            return Finding("screen", .error, "nothing in the kiosk's session answers for the screen", fix: ofKiosk)
        }
        if flash {
            // An end in between would leave it dark.
            for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
            _ = try connection.call("screen", [["on": false]])
            sleep(2)
            _ = try connection.call("screen", [["on": true]])
        }
        return Self.finding(answer.objectValue?["ways"]?.arrayValue?.compactMap(\.objectValue) ?? [])
    }

    /// What brings an answer where the session is a kiosk's, whose unit starts quickconnect-picker if that is there; nil elsewhere.
    private static var fixOfKiosk: String? {
        let (unit, program) = ("quickconnect-kiosk", "quickconnect-picker")
        guard SystemdUnits(user: false)?.isActive("\(unit).service") == true else { return nil }
        let packages = Program.isInstalled(program) ? "" : "sudo apt install \(program) x11-xserver-utils && "
        return "\(packages)sudo systemctl restart \(unit)"
    }

    private static func finding(_ ways: [JSONObject]) -> Finding {
        func text(_ way: JSONObject, _ name: String) -> String { way[name]?.stringValue ?? "" }
        var (known, missing): ([String], [String]) = ([], [])
        for part in ["on", "brightness", "rotation"] {
            let own = ways.filter { text($0, "part") == part }
            if let way = own.first(where: { $0["problem"] == nil }) {
                known.append("\(part) by the \(text(way, "way"))")
            } else {
                let reasons = own.map { "\(text($0, "way")): \(text($0, "problem"))" }
                missing.append("no way to \(part) (\(reasons.joined(separator: "; ")))")
            }
        }
        let tried = ways.map { "\(text($0, "part")), \(text($0, "way")): \($0["problem"]?.stringValue ?? "ok")" }
        let says = (known + missing).joined(separator: "; ")
        return Finding("screen", missing.isEmpty ? .ok : .warning, says, tried: tried)
    }
}
