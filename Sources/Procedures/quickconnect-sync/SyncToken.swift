import Glibc
import Linux

/// The token for the server. It is not in the settings file: systemd passes it to the service as a credential
/// (systemd.exec(5)); a program run by hand reads the file itself, if it may.
enum SyncToken {
    /// - Parameter file: the path of the owner's file.
    /// - Returns: the first line, without spaces; nil if there is none.
    static func read(
        _ environment: [String: String],
        file: String
    ) throws(PlainError) -> String? {
        let path = environment["CREDENTIALS_DIRECTORY"].map { "\($0)/token" } ?? file
        guard access(path, R_OK) == 0 else { return nil }
        let read = FileText.read(path, maximumBytes: 8192)
        let text = try read.mapError { PlainError("\(path) \($0.message)") }.get()
        let token = text.prefix { $0 != "\n" }.filter { !$0.isWhitespace }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw PlainError("\(path): a token has only letters, digits and signs of ASCII")
        }
        return token.isEmpty ? nil : token
    }
}
