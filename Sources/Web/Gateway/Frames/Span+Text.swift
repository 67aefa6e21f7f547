extension Span<UInt8> {
    /// Whether all of it is UTF-8.
    var isText: Bool { (try? UTF8Span(validating: self)) != nil }

    /// How many bytes of a text that goes on are whole characters; nil if no text begins like this.
    var textPrefix: Int? {
        let begun = lengthOfBegunCharacter
        let whole = count - begun
        guard extracting(..<whole).isText else { return nil }
        return begun == 0 || extracting(whole...).canBecomeCharacter ? whole : nil
    }

    /// How many bytes at the end are a character of which more must follow: 0 to 3.
    private var lengthOfBegunCharacter: Int {
        for length in 1...3 where length <= count {
            let byte = self[count - length]
            if byte & 0xC0 == 0x80 { continue }
            let needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return needed > length ? length : 0
        }
        return 0
    }

    /// The second byte of a character is bounded below or above, never both: so the lowest or the highest bytes complete
    /// each beginning that can be completed.
    private var canBecomeCharacter: Bool {
        let needed = self[0] >= 0xF0 ? 4 : self[0] >= 0xE0 ? 3 : 2
        return [0x80, 0xBF].contains { (filler: UInt8) in
            var character = [UInt8](repeating: filler, count: needed)
            for index in indices { character[index] = self[index] }
            return character.span.isText
        }
    }
}
