public import Foundation

/// A temporary folder of one test, deleted with this object.
public final class TestFolder: Sendable {
    public let path: String

    public init() throws {
        let name = "qc-\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: 0 ... .max))"
        // Sockets lie in it, whose paths may have no more than 107 bytes.
        path = "/tmp/\(name)"
        // libpulse sets the process's umask to 077 while it makes a folder. If two of its threads do so at the same
        // time, it stays; then a stranger cannot enter the folders of tests.
        _ = umask(0o022)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { delete() }

    func delete() { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file in it.
    public func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

    public func write(_ data: Data, to name: String) throws {
        try data.write(to: URL(fileURLWithPath: self(name)))
    }

    public func write(_ text: String, to name: String) throws {
        try write(Data(text.utf8), to: name)
    }

    public func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: self(name)))
    }

    /// The size of a file in bytes.
    public func size(_ name: String) -> Int { (try? data(name).count) ?? 0 }

    public func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: self(name)) }

    public func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self(name)) }

    /// The names of its files, sorted.
    public func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}
