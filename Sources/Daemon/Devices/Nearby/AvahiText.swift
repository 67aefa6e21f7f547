internal import CAvahi
internal import Glibc
internal import JSON

/// Avahi's values as text.
enum AvahiText {
    /// In a form that getaddrinfo(3) accepts.
    static func address(_ address: UnsafePointer<AvahiAddress>, on interface: Int32) -> String {
        let text = String(cString: Int(AVAHI_ADDRESS_STR_MAX)) { avahi_address_snprint($0, $1, address) }
        return text.hasPrefix("fe80:") ? text + zone(interface) : text
    }

    /// `%eth0`: a link-local address is meaningless without its interface.
    private static func zone(_ interface: Int32) -> String {
        let name = String(cString: Int(IF_NAMESIZE)) { name, _ in if_indextoname(UInt32(interface), name) }
        return name.isEmpty ? "" : "%\(name)"
    }

    /// A TXT record (RFC 6763, 6.3): `key=value`, or a key alone. If a key comes twice, the first one counts.
    static func record(_ list: UnsafeMutablePointer<AvahiStringList>?) -> JSONObject {
        var record: JSONObject = [:]
        var next = list
        while let entry = next {
            let (text, size) = (avahi_string_list_get_text(entry), avahi_string_list_get_size(entry))
            add(Array(UnsafeBufferPointer(start: text, count: size)), to: &record)
            next = avahi_string_list_get_next(entry)
        }
        return record
    }

    static func add(_ entry: [UInt8], to record: inout JSONObject) {
        let parts = entry.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let key = String(decoding: parts[0], as: UTF8.self)
        guard !key.isEmpty, record[key] == nil else { return }
        record[key] = parts.count == 1 ? .bool(true) : .string(String(decoding: parts[1], as: UTF8.self))
    }
}

extension String {
    /// What a C function writes into a buffer of that many bytes; empty if it returns NULL.
    fileprivate init(cString size: Int, _ write: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?) {
        self = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
            buffer.baseAddress.flatMap { write($0, size) }.map { String(cString: $0) } ?? ""
        }
    }
}
