import JSON
import QuickConnect
import Testing

@Suite("The doctor's report")
struct DoctorReportTests {
    private let report = DoctorReport([
        Finding("speaker", .well, "it plays"),
        Finding("microphone", .fault, "it is busy", tried: ["opening it"], mend: "fuser -v /dev/snd/*"),
        Finding("mixer", .note, "there is none", tried: ["looking"]),
    ])

    @Test("It survives the way through JSON")
    func json() throws {
        let text = report.json.text
        #expect(DoctorReport(try JSONParser.parse(text)) == report)
        #expect(text.hasPrefix(#"{"well":false,"findings":[{"subject":"speaker","state":"well","says":"it plays""#))
        #expect(DoctorReport(.null) == nil)
    }

    @Test("People get a table, and what was tried only for faults")
    func text() {
        let lines = report.text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "speaker     well   it plays")
        #expect(lines[1] == "microphone  FAULT  it is busy")
        #expect(lines[2].hasSuffix("tried  opening it") && lines[3].hasSuffix("mend   fuser -v /dev/snd/*"))
        #expect(lines[4] == "mixer       note   there is none" && lines.last == "Not all is well.")
    }

    @Test("A fault is what makes it unwell")
    func well() {
        #expect(!report.isWell && DoctorReport([report.findings[0], report.findings[2]]).isWell)
    }

    @Test(
        "A word of a shell command is quoted where it must be",
        arguments: [
            ("/srv/media", "/srv/media"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$(x)", "'$(x)'"),
        ]
    )
    func words(text: String, word: String) { #expect(text.shellWord == word) }
}
