import QuickConnect

/// What is meant by a word that a file does not have there.
enum KeyPlaces {
    /// The sections of an entry, and in which each stands; the entry itself has the name "".
    private static let sections: [(name: String, parent: String?, keys: Set<String>)] = [
        ("", nil, names(MappingReader.keys)), ("value", "", names(ValueDeclaration.keys)),
        ("event", "", names(EventDeclaration.keys)), ("schedule", "", names(ScheduleDraft.keys)),
        ("gpio", "value", names(GPIODraft.keys)), ("pwm", "value", names(PWMBinding.keys)),
        ("sensor", "value", names(SensorBinding.keys)), ("reader", "event", names(InputDraft.readerKeys)),
        ("keys", "event", names(InputDraft.keysKeys)),
    ]

    /// What other programs and languages call it.
    private static let others = [
        "min": "minimum", "max": "maximum", "bool": "boolean", "int": "integer", "float": "number", "double": "number",
        "str": "string", "text": "string", "list": "array", "dict": "object", "map": "object", "host": "broker",
        "port": "broker", "server": "broker", "username": "user", "password": "passwordFile",
    ]

    private static func names<Section>(_ keys: [FileKey<Section>]) -> Set<String> { Set(keys.map(\.name)) }

    /// `, did you mean 'minimum'?`, or an empty text.
    static func question(_ word: String, among known: [String]) -> String {
        if let other = others[word], known.contains(other) { return NearestNames.question(other, among: [other]) }
        return NearestNames.question(word, among: known)
    }

    /// Where a key belongs that stands one level too high or too low: `: it belongs in 'value'`; nil if that is not it.
    /// - Parameters:
    ///   - section: where it stands; "": in the entry itself.
    ///   - siblings: the keys beside it.
    static func advice(_ key: String, in section: String, _ siblings: Set<String>) -> String? {
        let inner = sections.filter { $0.parent == section && $0.keys.contains(key) }.map(\.name)
        if let name = inner.first(where: siblings.contains) ?? inner.first {
            return siblings.contains(name)
                ? ": it belongs in '\(name)'" : ": it belongs in '\(name)', which is not here"
        }
        guard let parent = sections.first(where: { $0.name == section })?.parent,
            sections.contains(where: { $0.name == parent && $0.keys.contains(key) })
        else { return nil }
        return ": it belongs beside '\(section)', not in it"
    }
}
