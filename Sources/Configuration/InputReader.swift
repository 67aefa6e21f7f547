import Linux
import QuickConnect

/// The keys of an input device's event, as they are read.
struct InputDraft {
    fileprivate var device = ""
    fileprivate var end = InputBinding.End.enter
    fileprivate var names: [UInt16: String] = [:]

    static let readerKeys: [FileKey<InputDraft>] = [
        FileKey("device", \.device) { $0.inputDevice($1, $2) },
        FileKey("ends", \.end) { $0.choice($1, $2) },
    ]
    static let keysKeys: [FileKey<InputDraft>] = [
        FileKey("device", \.device) { $0.inputDevice($1, $2) },
        FileKey("names", \.names) { $0.keyNames($1, $2) },
    ]
}

extension YAMLFile {
    /// `{device: NAME, ends: Enter}`.
    mutating func reader(_ node: YAMLNode, _: String) -> InputBinding? {
        draft(node, "reader", InputDraft.readerKeys).map { InputBinding($0.device, .reader(end: $0.end)) }
    }

    /// `{device: NAME, names: {KEY_PLAYPAUSE: play}}`.
    mutating func keys(_ node: YAMLNode, _: String) -> InputBinding? {
        draft(node, "keys", InputDraft.keysKeys).map { InputBinding($0.device, .keys(names: $0.names)) }
    }

    private mutating func draft(_ node: YAMLNode, _ key: String, _ keys: [FileKey<InputDraft>]) -> InputDraft? {
        var draft = InputDraft()
        guard read(node, of: "'\(key)'", keys, into: &draft, section: key).contains("device") else {
            mistake("'\(key)' needs a 'device', as 'quickconnect hardware' shows it", at: node)
            return nil
        }
        return draft.device.isEmpty ? nil : draft
    }

    /// One exact name of a device: a pattern could fit another one, too.
    fileprivate mutating func inputDevice(_ node: YAMLNode, _ what: String) -> String? {
        guard let name = string(node, what) else { return nil }
        guard InputName.isValid(name) else {
            mistake(
                "\(what) must be one exact name from /dev/input/by-id or by-path, as 'quickconnect hardware' shows it",
                got: node
            )
            return nil
        }
        return name
    }

    /// `{KEY_PLAYPAUSE: play}`.
    fileprivate mutating func keyNames(_ node: YAMLNode, _ what: String) -> [UInt16: String]? {
        var names: [UInt16: String] = [:]
        let members = members(node, of: what)
        if members.isEmpty { mistake("\(what) names no key; without it all are told by the kernel's names", at: node) }
        for (key, kernelName, value) in members {
            guard let code = InputName.code(ofKey: kernelName) else {
                let question = NearestNames.question(kernelName, among: InputName.keys)
                mistake("the kernel knows no key '\(kernelName)'\(question)", at: key)
                continue
            }
            guard let name = string(value, "'\(kernelName)'") else { continue }
            guard !name.isEmpty, name.utf8.count <= 64 else {
                mistake("the name of a key has 1 to 64 bytes", got: value)
                continue
            }
            if names.updateValue(name, forKey: code) != nil { mistake("this key has two names", at: key) }
        }
        return names
    }

    /// Completes an event that comes from an input device, and reports what does not fit to that.
    /// - Parameter names: the keys that it has.
    mutating func complete(_ event: inout EventDeclaration, _ names: Set<String>, _ node: YAMLNode) {
        if names.isSuperset(of: ["reader", "keys"]) { mistake("an event is one of 'reader' and 'keys'", at: node) }
        let isReader = names.contains("reader")
        let maxLength = isReader ? event.parameter.maxLength : nil
        let allowed = ["reader", "keys", "last"] + (isReader ? ["maxLength"] : [])
        for name in names.subtracting(allowed).sorted() {
            mistake("'\(name)' is for events of programs; this one comes from its input device", at: node)
        }
        if let maxLength, !(1...InputBinding.maxLength).contains(maxLength) {
            mistake("'maxLength' of a reader is from 1 to \(InputBinding.maxLength)", at: node)
        }
        guard let binding = event.binding else { return }
        event.parameter = binding.data
        event.parameter.maxLength = maxLength ?? event.parameter.maxLength
    }
}
