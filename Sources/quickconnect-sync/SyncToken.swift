import Linux

/// What the server wants to see: a credential of systemd (systemd.exec(5)), which lies in no settings file.
enum SyncToken {
    /// nil where there is none.
    static func read(_ environment: [String: String]) -> String? {
        guard let folder = environment["CREDENTIALS_DIRECTORY"],
            case .success(let text) = FileText.read("\(folder)/token", maximumBytes: 8192)
        else { return nil }
        let token = text.filter { !$0.isWhitespace }
        return !token.isEmpty && token.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? token : nil
    }
}
