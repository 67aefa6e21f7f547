internal import JSON

/// What of the hardware an event is: what somebody types on an input device, or its keys. The device is the daemon's alone then.
public struct InputBinding: Sendable, Hashable {
    /// What is told.
    public enum Kind: Sendable, Hashable {
        /// A reader of cards or codes: it types a text, and a key that ends it. The text is the event.
        case reader(end: End)
        /// The keys themselves: each is told when it is pressed and when it is released, by its name here or, without names, by
        /// the kernel's.
        case keys(names: [UInt16: String])
    }

    /// The key that ends a text.
    public enum End: String, Sendable, CaseIterable {
        case enter = "Enter"
        case tab = "Tab"
    }

    /// Its name in `/dev/input/by-id`, or in `by-path`.
    public var device: String
    /// What is told.
    public var kind: Kind

    /// What is told of a device.
    public init(_ device: String, _ kind: Kind) { (self.device, self.kind) = (device, kind) }

    /// The key that declares it.
    public var key: String {
        switch kind {
        case .reader: "reader"
        case .keys: "keys"
        }
    }

    /// The most bytes of a text. A longer one is none that a reader reads.
    public static let maxLength = 4096

    /// The data of its event.
    public var data: Parameter {
        switch kind {
        case .reader:
            var text = Parameter("data", .string)
            text.maxLength = Self.maxLength
            return text
        case .keys(let names):
            var (object, key) = (Parameter("data", .object), Parameter("key", .string))
            if !names.isEmpty { key.oneOf = Set(names.values).sorted().map { .string($0) } }
            object.members = [Parameter.Member(key), Parameter.Member(Parameter("pressed", .boolean))]
            return object
        }
    }
}
