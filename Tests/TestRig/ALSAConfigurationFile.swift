import Foundation
import Synchronization

/// A configuration file for libasound, and nothing else: no system-wide file and none of the user is read.
///
/// libasound keeps one configuration for each process, and reads it again when the file was replaced. So the tests in
/// one process share ``shared``, and each adds PCMs of names of its own.
public final class ALSAConfigurationFile: Sendable {
    public let folder: TestFolder
    public var path: String { folder("asound.conf") }
    private let entries = Mutex<[String]>([])

    /// Names in it are numbered, so that tests that run at the same time do not meet.
    private let names = Mutex(0)

    public init() throws {
        folder = try TestFolder()
        try add("pcm.null { type null }")
    }

    /// The one that libasound reads in this process, from when this was asked for first.
    public static let shared: Result<ALSAConfigurationFile, any Error> = Result {
        let file = try ALSAConfigurationFile()
        setenv("ALSA_CONFIG_PATH", file.path, 1)
        // Else libpulse writes to the home folder, or starts a server.
        setenv("PULSE_COOKIE", file.folder("cookie"), 1)
        setenv("PULSE_RUNTIME_PATH", file.folder("run"), 1)
        setenv("PULSE_SERVER", "unix:\(file.folder("no-server"))", 1)
        atexit {
            if case .success(let file) = ALSAConfigurationFile.shared { file.folder.delete() }
        }
        return file
    }

    /// Adds definitions in the language of ALSA's configuration files.
    public func add(_ text: String) throws {
        try entries.withLock { entries in
            entries.append(text)
            try Data((entries.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: folder("next")))
            // libasound notices a new file by its inode or the second of its date, so each gets a second of its own.
            let date = Date(timeIntervalSince1970: 1_000_000_000 + Double(entries.count))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder("next"))
            guard rename(folder("next"), path) == 0 else { throw CocoaError(.fileWriteUnknown) }
        }
    }

    /// Defines a PCM under a new name.
    /// - Parameters:
    ///   - body: what stands between its braces.
    ///   - control: the same for a control device of that name, if it shall have one.
    /// - Returns: the name.
    public func addPCM(_ body: String, control: String? = nil) throws -> String {
        let number = names.withLock { names in
            names += 1
            return names
        }
        let name = "test\(number)"
        try add("pcm.\(name) { \(body) }")
        if let control { try add("ctl.\(name) { \(control) }") }
        return name
    }
}
