import TestRig
import Testing

/// An authority of one's own, whose certificates a program believes that sees its certificate in the place of the device's.
struct PrivateAuthority {
    private let folder: TestFolder

    /// Where libcurl looks, as it is configured in Debian.
    private static let known = "/etc/ssl/certs/ca-certificates.crt"

    static let isPossible =
        ChildProcess.isInstalled("openssl") && MountNamespace.isPossible(prefix(believing: known) + ["true"])

    init() async throws {
        folder = try TestFolder()
        try await run(
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=An authority of one's own",
            "-keyout",
            folder("ca.key"),
            "-out",
            folder("ca.pem")
        )
    }

    /// The path of a certificate with its key.
    /// - Parameter name: such as `IP:127.0.0.1`.
    func certificate(for name: String) async throws -> String {
        try folder.write("subjectAltName=\(name)\n", to: "extensions")
        try await run(
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=server",
            "-keyout",
            folder("key.pem"),
            "-out",
            folder("request.pem")
        )
        try await run(
            "x509",
            "-req",
            "-days",
            "2",
            "-in",
            folder("request.pem"),
            "-CA",
            folder("ca.pem"),
            "-CAkey",
            folder("ca.key"),
            "-CAcreateserial",
            "-extfile",
            folder("extensions"),
            "-out",
            folder("certificate.pem")
        )
        try folder.write(try folder.data("key.pem") + folder.data("certificate.pem"), to: "both.pem")
        return folder("both.pem")
    }

    /// What starts a program that believes this authority alone, as `update-ca-certificates` would have it believe it.
    var prefix: [String] { Self.prefix(believing: folder("ca.pem")) }

    private static func prefix(believing file: String) -> [String] {
        MountNamespace.words + ["/bin/sh", "-c", "mount --bind \"$0\" \(known) && exec \"$@\"", file]
    }

    private func run(_ words: String...) async throws {
        let made = try await ChildProcess.run("openssl", words)
        #expect(made.exit == .status(0), "openssl \(words[0])")
    }
}
