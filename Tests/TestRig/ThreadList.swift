import Foundation

/// The threads of this process that have a given name.
public struct ThreadList: Sendable {
    private let folders: [String]

    public init(named name: String) {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        folders = tasks.map { "/proc/self/task/\($0)" }.filter { folder in
            (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    /// The threads of another process; of a name, where one is given.
    public init(process: Int32, named name: String? = nil) {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        folders = tasks.map { "/proc/\(process)/task/\($0)" }.filter { folder in
            guard let name else { return true }
            return (try? String(contentsOfFile: "\(folder)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    /// The name of the calling thread.
    public static var ownName: String {
        let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return text.map { String($0.dropLast()) } ?? ""
    }

    public var count: Int { folders.count }

    /// How often these threads have gone to sleep since they started.
    public var voluntarySwitches: Int {
        folders.reduce(0) { sum, folder in
            let status = (try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }

    /// How often these threads have gone to sleep or were interrupted since they started.
    public var switches: Int {
        folders.reduce(0) { sum, folder in
            let status = (try? String(contentsOfFile: "\(folder)/status", encoding: .utf8)) ?? ""
            let lines = status.split(separator: "\n").filter { $0.contains("ctxt_switches") }
            return sum + lines.compactMap { Int($0.split(separator: "\t").last ?? "") }.reduce(0, +)
        }
    }

    /// The processor time that these threads have used, in seconds.
    public var processorTime: Double {
        folders.reduce(0) { sum, folder in
            // Fields 14 and 15, in hundredths of a second; the name before them ends with a parenthesis.
            let stat = (try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8)) ?? ""
            let fields = stat.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
            guard fields.count > 12 else { return sum }
            return sum + ((Double(fields[11]) ?? 0) + (Double(fields[12]) ?? 0)) / 100
        }
    }
}

/// The open files of this process whose paths begin with a prefix.
public func openFiles(under prefix: String) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
        .filter { $0.hasPrefix(prefix) }
}
