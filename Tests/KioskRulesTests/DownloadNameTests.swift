import KioskRules
import Testing

@Suite("Names of downloads")
struct DownloadNameTests {
    @Test(arguments: [
        ("a.pdf", "a.pdf"), ("/x/y/a.pdf", "a.pdf"), ("a", "a.bin"), ("", "download.bin"), ("..", "download.bin"),
        (".hidden", "hidden.bin"), ("a\u{0}\n.txt", "a.txt"), ("a.b.tar.gz", "a.b.tar.gz"), ("a.", "a."),
        ("photo.\(String(repeating: "x", count: 30))", "photo.\(String(repeating: "x", count: 30)).bin"),
    ])
    func `are names of files in the media folder`(suggestion: String, name: String) {
        #expect(DownloadName.of(suggestion) == name)
    }

    @Test(arguments: ["漢", "é", "🏔", "a"])
    func `are as short as a disk wants them, and keep their ending`(letter: String) {
        let name = DownloadName.of(String(repeating: letter, count: 300) + ".mp3")
        #expect(
            name.hasPrefix(letter) && name.hasSuffix("\(letter).mp3") && (197...200).contains(name.utf8.count),
            "\(name)"
        )
        #expect(DownloadName.of(String(repeating: letter, count: 300)).hasSuffix("\(letter).bin"))
    }
}
