internal import JSON
internal import Linux

/// The files of users and sessions: private, and intact after a crash at any moment. Its functions block.
struct StateFolder: Sendable {
    private let path: String
    private static let largestFile = 16 << 20

    /// Creates the folder if it is missing.
    init(_ path: String) throws(PlainError) {
        self.path = path
        do throws(SystemCallError) { try Folders.make(path) } catch {
            throw PlainError("the folder \(path) cannot be made: \(error)")
        }
    }

    /// The value in a file; nil if there is no file.
    func read(_ name: String) throws(PlainError) -> JSONValue? {
        let file = "\(path)/\(name)"
        guard FileText.exists(file) else { return nil }
        let read = FileText.exact(file, maximumBytes: Self.largestFile)
        let text = try read.mapError { PlainError("\(file) \($0.message)") }.get()
        guard let value = try? JSONParser.parse(text) else { throw PlainError("\(file) is not JSON") }
        return value
    }

    /// Keeps a file that cannot be read as NAME.damaged.
    /// - Returns: its path now.
    func setAside(_ name: String) throws(SystemCallError) -> String { try FileText.setAside("\(path)/\(name)") }

    func write(_ value: JSONValue, to name: String) throws(SystemCallError) {
        try FileText.replace("\(path)/\(name)", with: value.text + "\n")
    }
}
