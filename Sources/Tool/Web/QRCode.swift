import CQREncode
import CommandLineText
import Glibc
import Linux

/// A text as a QR code for a terminal: two rows of modules a line, dark on light whatever the terminal's colours are, with
/// the quiet zone of four modules that the standard asks for.
struct QRCode {
    /// In characters.
    let width: Int
    let lines: [String]

    private static let quiet = 4
    /// Black on white, as numbers of the palette that themes leave alone.
    private static let colours = "\u{1b}[38;5;16;48;5;231m"
    private static let reset = "\u{1b}[0m"

    /// Nil for a text that is too long, more than 2,953 bytes.
    init?(_ text: String) {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        let modules = UnsafeBufferPointer(start: code.pointee.data, count: side * side)
        func isDark(_ row: Int, _ column: Int) -> Bool {
            let (row, column) = (row - Self.quiet, column - Self.quiet)
            return (0..<side).contains(row) && (0..<side).contains(column) && modules[row * side + column] & 1 == 1
        }
        let whole = side + 2 * Self.quiet
        width = whole
        lines = stride(from: 0, to: whole, by: 2).map { row in
            let characters = (0..<whole).map { column -> Character in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return Self.colours + String(characters) + Self.reset
        }
    }

    /// Prints it where a camera can see it: on a terminal that is wide enough, and nowhere else.
    func show() {
        guard isatty(STDOUT_FILENO) == 1, Terminal.width >= width else { return }
        say(lines.joined(separator: "\n"))
    }
}
