import Linux

/// Where the broker keeps something of this device, in a file: what the settings list no more is taken back from there, and a device
/// that has another name leaves nothing of the old one behind.
struct KeptTopics {
    private let path: String?
    private let complain: (String) -> Void
    private(set) var topics: Set<String> = []

    private static let mostBytes = 1 << 20

    /// - Parameter path: nil keeps nothing.
    init(_ path: String?, complain: @escaping (String) -> Void) {
        (self.path, self.complain) = (path, complain)
        if let path, case .success(let text) = FileText.read(path, maximumBytes: Self.mostBytes) {
            topics = Set(text.split(separator: "\n").map(String.init))
        }
    }

    /// Before something is kept there.
    mutating func add(_ topic: String) {
        if topics.insert(topic).inserted { write() }
    }

    /// Those that are not to be any more. They are remembered until the broker has taken them back.
    func others(than wanted: Set<String>) -> [String] { topics.subtracting(wanted).sorted() }

    /// The broker keeps nothing there any more.
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
