import Linux

/// The token for the server. It is not in the settings file: systemd passes it to the service as a credential
/// (systemd.exec(5)); a program run by hand reads the file itself, if it may.
enum SyncToken {
    /// - Parameter file: the path of the owner's file.
    /// - Returns: nil if there is none.
    static func read(_ environment: [String: String], file: String) -> String? {
        let path = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/token" } ?? file
        guard case .success(let text) = FileText.read(path, maximumBytes: 8192) else { return nil }
        let token = text.filter { !$0.isWhitespace }
        return !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
    }
}
