internal import JSON

/// Which actions may run where, as stored in a file: `{"allowed": [{"action": "page-title", "site":
/// "https://example.org"}]}`.
public struct AllowedActions: Sendable, Equatable {
    public struct Rule: Sendable, Hashable {
        public let action: String
        public let site: Site

        public init(action: String, site: Site) {
            self.action = action
            self.site = site
        }
    }

    /// In the order in which they were allowed.
    public private(set) var rules: [Rule] = []

    public init() {}

    /// Why a text is not such a file, in words.
    public struct Unreadable: Error, CustomStringConvertible {
        public let description: String
    }

    /// Parses such a file. One invalid rule makes the whole file invalid, because an owner wrote it for a reason.
    public init(_ text: String) throws(Unreadable) {
        guard let value = try? JSONParser.parse(text, maximumDepth: 8) else {
            throw Unreadable(description: "is not JSON")
        }
        guard let items = value.objectValue?["allowed"]?.arrayValue else {
            throw Unreadable(description: "has no list 'allowed'")
        }
        for item in items {
            let members = item.objectValue ?? [:]
            guard let action = members["action"]?.stringValue, ActionName.problem(of: action) == nil,
                let site = members["site"]?.stringValue.flatMap(Site.init)
            else { throw Unreadable(description: "has an invalid rule: \(item.text.prefix(200))") }
            add(Rule(action: action, site: site))
        }
    }

    /// - Returns: whether it is new.
    @discardableResult
    public mutating func add(_ rule: Rule) -> Bool {
        guard !rules.contains(rule) else { return false }
        rules.append(rule)
        return true
    }

    /// Removes rules of an action: that of a site, or all.
    /// - Returns: the removed rules.
    public mutating func remove(_ action: String, _ site: Site?) -> [Rule] {
        let gone = rules.filter { $0.action == action && (site == nil || $0.site == site) }
        rules.removeAll(where: gone.contains)
        return gone
    }

    public func sites(of action: String) -> [Site] { rules.filter { $0.action == action }.map(\.site) }

    public func allows(_ action: String, on page: WebOrigin) -> Bool {
        sites(of: action).contains { $0.contains(page) }
    }

    /// The text of the file.
    public var text: String {
        let rules = rules.map {
            JSONValue.object(["action": .string($0.action), "site": .string($0.site.description)])
        }
        return "\(JSONValue.object(["allowed": .array(rules)]).text)\n"
    }
}
