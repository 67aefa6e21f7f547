internal import JSON
package import Linux

/// Which actions may run where, as stored in a file: `{"allowed": [{"action": "page-title", "site":
/// "https://example.org"}]}`.
package struct AllowedActions: Sendable, Equatable {
    package struct Rule: Sendable, Hashable {
        package let action: String
        package let site: Site

        package init(action: String, site: Site) {
            self.action = action
            self.site = site
        }
    }

    /// In the order in which they were allowed.
    package private(set) var rules: [Rule] = []

    package init() {}

    /// Parses such a file. One invalid rule makes the whole file invalid, because an owner wrote it for a reason.
    package init(_ text: String) throws(FileText.Problem) {
        guard let value = try? JSONParser.parse(text, maximumDepth: 8) else {
            throw FileText.Problem(message: "is not JSON")
        }
        guard let items = value.objectValue?["allowed"]?.arrayValue else {
            throw FileText.Problem(message: "has no list 'allowed'")
        }
        for item in items {
            let members = item.objectValue ?? [:]
            guard let action = members["action"]?.stringValue, ActionName.problem(of: action) == nil,
                let site = members["site"]?.stringValue.flatMap(Site.init)
            else { throw FileText.Problem(message: "has an invalid rule: \(item.text.prefix(200))") }
            add(Rule(action: action, site: site))
        }
    }

    /// - Returns: whether it is new.
    @discardableResult
    package mutating func add(_ rule: Rule) -> Bool {
        guard !rules.contains(rule) else { return false }
        rules.append(rule)
        return true
    }

    /// Removes rules of an action: that of a site, or all.
    /// - Returns: the removed rules.
    package mutating func remove(_ action: String, _ site: Site?) -> [Rule] {
        let gone = rules.filter { $0.action == action && (site == nil || $0.site == site) }
        rules.removeAll(where: gone.contains)
        return gone
    }

    package func sites(of action: String) -> [Site] { rules.filter { $0.action == action }.map(\.site) }

    package func allows(_ action: String, on page: WebOrigin) -> Bool {
        sites(of: action).contains { $0.contains(page) }
    }

    /// The text of the file.
    package var text: String {
        let rules = rules.map {
            JSONValue.object(["action": .string($0.action), "site": .string($0.site.description)])
        }
        return "\(JSONValue.object(["allowed": .array(rules)]).text)\n"
    }
}
