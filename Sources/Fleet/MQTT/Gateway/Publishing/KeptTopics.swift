import Linux

/// The topics where the broker retains something of this device, stored in a file. From it, topics that the settings no
/// longer list are cleared, and a renamed device leaves nothing behind under its old name.
struct KeptTopics {
    private let path: String?
    private let complain: (String) -> Void
    private(set) var topics: Set<String> = []

    private static let maxBytes = 1 << 20

    /// - Parameter path: the file; nil stores nothing.
    init(_ path: String?, complain: @escaping (String) -> Void) {
        (self.path, self.complain) = (path, complain)
        if let path, case .success(let text) = FileText.exact(path, maximumBytes: Self.maxBytes) {
            topics = Set(text.split(separator: "\n").map(String.init))
        }
    }

    /// Called before something is retained there.
    mutating func add(_ topic: String) {
        if topics.insert(topic).inserted { write() }
    }

    /// Topics that are no longer wanted. They are remembered until the broker has cleared them.
    func others(than wanted: Set<String>) -> [String] { topics.subtracting(wanted).sorted() }

    /// The broker no longer retains anything there.
    mutating func remove(_ topic: String) {
        if topics.remove(topic) != nil { write() }
    }

    private func write() {
        guard let path else { return }
        do throws(SystemCallError) {
            try FileText.replace(path, with: topics.sorted().map { "\($0)\n" }.joined())
        } catch {
            complain("\(path): \(error); the broker may keep what is not to be there any more")
        }
    }
}
