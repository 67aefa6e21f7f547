import Foundation
import Fuzzer

@testable import JSON
@testable import QuickConnect

@main enum FuzzTexts {
    static func main() { fuzz(read) }
}

/// What libFuzzer calls with each input: a text, which is read as JSON, as percent-encoding and as Base64, here and by
/// others, who must agree.
private func read(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
    compareJSON(bytes)
    comparePercent(bytes)
    compareBase64(bytes)
    return 0
}

// MARK: JSON

private func compareJSON(_ bytes: [UInt8]) {
    // Foundation takes more than JSON, such as a comma behind the last item.
    guard let ours = try? JSONParser.parse(bytes.span, maximumDepth: 100) else { return }
    let text = ours.text
    guard let again = try? JSONParser.parse(text, maximumDepth: 100) else {
        return check(false, "what is written can be read")
    }
    check(again == ours && again.text == text, "what is written is read as the same")
    guard isPlain(bytes) else { return }
    guard let value = theirs(bytes) else { return check(isHuge(ours), "what is JSON here is JSON to others") }
    check(agree(ours, value), "what is JSON means the same to others")
}

/// Foundation refuses numbers that are too large for its decimals, or too small.
private func isHuge(_ value: JSONValue) -> Bool {
    switch value {
    case .number(let number): !(1e-90...1e90).contains(abs(number))
    case .array(let items): items.contains(where: isHuge)
    case .object(let members): members.contains { isHuge($0.value) }
    default: false
    }
}

/// Numbers may differ behind the digits that a double has. Of a name that is there twice, here the last one counts.
private func agree(_ ours: JSONValue, _ theirs: NSObject) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let value): return (theirs as? NSNumber)?.boolValue == value
    case .integer(let value): return (theirs as? NSNumber)?.int64Value == value
    case .number(let value):
        guard let number = (theirs as? NSNumber)?.doubleValue else { return false }
        return abs(number - value) <= 1e-9 * abs(value) + 1e-90
    case .string(let value):
        // Foundation takes byte order marks out of strings.
        if value.unicodeScalars.contains("\u{FEFF}") { return true }
        return (theirs as? NSString).map { value.utf8.elementsEqual(($0 as String).utf8) } ?? false
    case .array(let items):
        guard let others = theirs as? NSArray, others.count == items.count else { return false }
        return zip(items, others).allSatisfy { item, other in (other as? NSObject).map { agree(item, $0) } ?? false }
    case .object(let members):
        guard let others = theirs as? NSDictionary, others.count <= members.count else { return false }
        return true
    }
}

private func theirs(_ bytes: [UInt8]) -> NSObject? {
    (try? JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed])) as? NSObject
}

/// What Foundation reads as UTF-8.
private func isPlain(_ bytes: [UInt8]) -> Bool {
    !bytes.contains(0) && !bytes.starts(with: [0xEF, 0xBB, 0xBF]) && !bytes.starts(with: [0xFE, 0xFF])
        && !bytes.starts(with: [0xFF, 0xFE])
}

// MARK: Percent-encoding

private func comparePercent(_ bytes: [UInt8]) {
    let decoded = bytes.withUnsafeBufferPointer { PercentEncoding.decode($0) }
    check(decoded.map { Array($0.utf8) } == plainlyDecoded(bytes), "what is decoded is what each byte says")
    if let text = String(validating: bytes, as: UTF8.self) {
        check(PercentEncoding.encode(text) == text.addingPercentEncoding(withAllowedCharacters: unreserved), "encoded")
    }
    guard let decoded else { return }
    let encoded = Array(PercentEncoding.encode(decoded).utf8)
    let again = encoded.withUnsafeBufferPointer { PercentEncoding.decode($0) }
    check(again?.utf8.elementsEqual(decoded.utf8) == true, "what is encoded is decoded as the same")
}

/// The same, byte by byte. Foundation mends what is no UTF-8, and takes a byte order mark off.
private func plainlyDecoded(_ bytes: [UInt8]) -> [UInt8]? {
    var decoded: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            decoded.append(byte)
            continue
        }
        guard let high = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }),
            let low = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue })
        else { return nil }
        decoded.append(UInt8(high * 16 + low))
    }
    let isText = !bytes.contains(UInt8(ascii: "&")) && !decoded.contains(0)
    return isText && String(validating: decoded, as: UTF8.self) != nil ? decoded : nil
}

/// ECMA-262, 19.2.6: what `encodeURIComponent` leaves as it is.
private let unreserved = CharacterSet(
    charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"
)

// MARK: Base64

private func compareBase64(_ bytes: [UInt8]) {
    let encoded = Base64.encode(bytes)
    check(encoded == Data(bytes).base64EncodedString(), "bytes have one text")
    check(Base64.decode(encoded) == bytes, "it is read as it is written")
    guard let text = String(validating: bytes, as: UTF8.self), let decoded = Base64.decode(text) else { return }
    check(Base64.encode(decoded) == text, "a text has one meaning")
    check(Data(base64Encoded: text).map(Array.init) == decoded, "it means the same there")
}
