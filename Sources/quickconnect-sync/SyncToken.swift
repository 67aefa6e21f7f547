import Linux

/// What the server wants to see. It lies in no settings file: systemd passes it to the service as a credential
/// (systemd.exec(5)); whoever runs the program by hand has the file itself, where they may read it.
enum SyncToken {
    /// - Parameter file: the path of the owner's file.
    /// - Returns: nil where there is none.
    static func read(_ environment: [String: String], file: String) -> String? {
        let path = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/token" } ?? file
        guard case .success(let text) = FileText.read(path, maximumBytes: 8192) else { return nil }
        let token = text.filter { !$0.isWhitespace }
        return !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
    }
}
