import Foundation

/// Our virtual sound card for libasound, `RigPlugin/rig.c`, compiled when it is first needed.
///
/// A plugin and not a target of the package, since libasound loads it by its path, in other processes too.
public enum RigPlugin {
    /// A C compiler; `nil` if this machine has none.
    private static let compiler = ["cc", "clang", "gcc"].first(where: ChildProcess.isInstalled)

    public static var canBeBuilt: Bool { compiler != nil }

    /// The path of the compiled plugin.
    private static let library = Task { () async throws -> String in
        let folder = try ALSAConfigurationFile.shared.get().folder
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/RigPlugin/rig.c"
        let library = folder("rig.so")
        let arguments = ["-shared", "-fPIC", "-DPIC", "-O1", "-o", library, source, "-lasound"]
        let compiled = try ChildProcess(compiler ?? "cc", arguments)
        guard try await compiled.wait() == .status(0) else {
            throw NotInTime(description: String(decoding: compiled.standardError, as: UTF8.self))
        }
        return library
    }

    /// Makes a configuration file know the plugin.
    public static func register(in file: ALSAConfigurationFile) async throws {
        try file.add("pcm_type.rig { lib \"\(try await library.value)\" }")
    }

    /// Defines a card for this process under a new name.
    /// - Parameter options: as `RigPlugin/rig.c` explains them, such as `outfile "/tmp/x.raw" fault freeze at 24000`.
    /// - Returns: its name.
    public static func addCard(_ options: String = "") async throws -> String {
        _ = try await isRegistered.value
        return try ALSAConfigurationFile.shared.get().addPCM("type rig \(options)")
    }

    private static let isRegistered = Task { try await register(in: try ALSAConfigurationFile.shared.get()) }
}
