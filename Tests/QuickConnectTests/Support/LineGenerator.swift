import TestRig

/// Makes lines that are nearly right: valid ones of both forms, mutated.
struct LineGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let seeds: [[UInt8]] = [
        "call?cmd=ping&id=7", "call?cmd=echo&msg=0&id=a", "call?cmd=echo&msg=%5B%22take.caf%22%2C%22start%22%5D&id=7",
        "call?id=7&msg={\"a\":[1,2.5e3,true,null]}&cmd=echo", "call?cmd=fail&msg=hello", "call?cmd=loud&id=%C3%A9%20x",
        "call?cmd=echo&msg=\"\\u00e9\\ud834\\udd1e\"&id=", "handleJSONRequest?cmd=error&msg=null&id=7",
        "call?cmd=nothing&id=1",
        #"{"handlerName":"ping","callbackId":"cb_1"}"#,
        #"{"handlerName":"echo","data":{"x":[1,{"y":null}]},"callbackId":"2"}"#,
        #"[{"handlerName":"echo","data":-0.5e-7,"callbackId":"1"},{"handlerName":"fail"}]"#,
        #"{"responseId":"q1","responseData":[1,2,3]}"#, #"{"responseId":"q2","error":{"code":"busy","message":"m"}}"#,
        #"{"callbackId":"é\n\u0041\ud834\udd1e","data":"text","handlerName":"echo","more":[[],{}]}"#,
        #"{"handlerName":"nothing","callbackId":"9","data":9223372036854775807}"#,
    ].map { Array($0.utf8) }

    private static let pieces: [[UInt8]] =
        [
            "%", "%0", "%00", "%zz", "%FF", "%C3%A9", "&", "&&", "=", "+", "&id=5", "&cmd=ping", "&msg=[1]", "?",
            "call?", "\"", "\\", "\\u",
            "\\ud800", "\\udc00", "\\u0000", "{", "}", "[", "]", "[]", "{}", ",", ":", "null", "true", "1e999", "-",
            "0", "1.5", "e5",
            "\u{0}", "\u{1F}", " ", "\t", "\r", "é", "𝄞", "\u{FEFF}", #""callbackId":"8","#, #""responseId":"q3","#,
            #""handlerName":"ping","#,
            #"{"handlerName":"ping","callbackId":"3"}"#,
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x80]]

    private static let arrays = Array(String(repeating: "[", count: 530).utf8)
    private static let objects = Array(String(repeating: #"{"a":"#, count: 530).utf8)

    /// The next line, without line break and not empty.
    mutating func next() -> [UInt8] {
        var line = random.below(50) == 0 ? noise() : random.pick(Self.seeds)
        for _ in 0..<random.below(5) { mutate(&line) }
        while let index = line.firstIndex(of: 0x0A) { line[index] = 0x20 }
        return line.isEmpty ? [0x20] : line
    }

    private mutating func noise() -> [UInt8] {
        (0..<1 + random.below(40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    private mutating func mutate(_ line: inout [UInt8]) {
        guard !line.isEmpty else { return }
        let place = random.below(line.count)
        let end = min(line.count, place + 1 + random.below(12))
        switch random.below(10) {
        case 0: line[place] ^= 1 << UInt8(random.below(8))
        case 1: line[place] = UInt8(truncatingIfNeeded: random.next())
        case 2: line.removeSubrange(place...)
        case 3: line.removeSubrange(place..<end)
        case 4: line.insert(contentsOf: line[place..<end], at: random.below(line.count))
        case 5, 6, 7: line.insert(contentsOf: random.pick(Self.pieces), at: place)
        case 8:
            let other = random.pick(Self.seeds)
            line.replaceSubrange(place..., with: other[random.below(other.count)...])
        default: nest(&line, at: place)
        }
    }

    /// Brackets inside each other, now and then deeper than the limit, closed or not.
    private mutating func nest(_ line: inout [UInt8], at place: Int) {
        let depth = random.below(20) == 0 ? 500 + random.below(30) : random.below(8)
        let isArray = random.below(2) == 0
        var text = Array((isArray ? Self.arrays : Self.objects).prefix(depth * (isArray ? 1 : 5)))
        text.append(UInt8(ascii: "1"))
        if random.below(3) > 0 { text += Array(repeating: UInt8(ascii: isArray ? "]" : "}"), count: depth) }
        line.insert(contentsOf: text, at: place)
    }
}
