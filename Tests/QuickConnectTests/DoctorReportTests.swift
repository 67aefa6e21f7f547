import CommandLineText
import JSON
import Linux
import QuickConnect
import Testing

@Test func `of sensors, a line declares the first of each kind`() {
    let found: JSONObject = [
        "sensors": [
            ["chip": "bme280", "input": "temp", "label": .null, "value": 25.73, "unit": "°C"],
            ["chip": "bme280", "input": "pressure", "label": .null, "value": .null, "unit": "kPa"],
            ["chip": "lis3dh", "input": "accel_x", "label": .null, "value": 7, "unit": ""],
            ["chip": "cpu", "input": "temp1", "label": "core", "value": 41.5, "unit": "°C"],
        ]
    ]
    let lines = HardwareListing.text(found).split(separator: "\n").dropFirst(5)
    #expect(
        lines == [
            "  warmth: {value: {type: number, unit: \"°C\", sensor: {chip: \"bme280\", input: temp}, every: 10s, step: 0.5}}",
            "  pressure: {value: {type: number, unit: \"kPa\", sensor: {chip: \"bme280\", input: pressure}, every: 10s}}",
        ]
    )
}

@Suite("The doctor's report")
struct DoctorReportTests {
    private let report = DoctorReport([
        Finding("speaker", .ok, "it plays"),
        Finding("microphone", .error, "it is muted", tried: ["opening it"], fix: "quickconnect call volume unmute"),
        Finding("speaker", .error, "it is busy", inspect: "fuser -v /dev/snd/*"),
        Finding("mixer", .warning, "there is none", tried: ["looking"]),
    ])

    @Test("It survives the way through JSON")
    func json() throws {
        let text = report.json.text
        #expect(DoctorReport(try JSONParser.parse(text)) == report)
        #expect(text.hasPrefix(#"{"ok":false,"findings":[{"subject":"speaker","state":"ok","says":"it plays""#))
        #expect(DoctorReport(.null) == nil)
    }

    @Test("People get a table, and what was tried only for errors")
    func text() {
        let lines = report.text(width: 200).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines[0] == "speaker     ok       it plays")
        #expect(lines[1] == "microphone  error    it is muted")
        #expect(lines[2].hasSuffix("tried  opening it") && lines[3].hasSuffix("fix    quickconnect call volume unmute"))
        #expect(lines[4] == "speaker     error    it is busy" && lines[5].hasSuffix("see    fuser -v /dev/snd/*"))
        #expect(lines[6] == "mixer       warning  there is none" && lines.last == "Problems found.")
    }

    @Test("In a narrow terminal words go to the next line, and a command stays whole")
    func narrow() {
        let says = "the kernel has no sound card; a sound server may still offer one"
        let command = "sudo install -d -o quickconnect -m 770 /srv/media"
        let text = DoctorReport([Finding("cards", .error, says, tried: [says], fix: command)]).text(width: 44)
        let lines = text.split(separator: "\n").map(String.init)
        #expect(
            lines[0] == "cards  error    the kernel has no sound"
                && lines[1] == "                card; a sound server may"
        )
        #expect(lines.filter { !$0.hasSuffix(command) }.allSatisfy { $0.count <= 44 }, "\(text)")
        #expect(lines.contains { $0.hasSuffix("fix    \(command)") })
    }

    @Test("An error makes it a report of problems, a warning does not")
    func verdict() {
        #expect(!report.isOK && DoctorReport([report.findings[0], report.findings[3]]).isOK)
    }

    @Test("The commands of an error come before those of whoever looked, both or none")
    func commands() {
        let error = CommandError(.busy, "it is busy", details: ["inspect": "fuser -v /dev/snd/*"])
        let finding = Finding("speaker", error, fix: "pulseaudio --start")
        #expect(finding.fix == nil && finding.inspect == "fuser -v /dev/snd/*")
        let silent = Finding("speaker", CommandError(.busy, "it is busy"), fix: "pulseaudio --start")
        #expect(silent.fix == "pulseaudio --start" && silent.inspect == nil)
    }

    @Test(
        "A word of a shell command is quoted where it must be",
        arguments: [
            ("/srv/media", "/srv/media"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("", "''"), ("$(x)", "'$(x)'"),
        ]
    )
    func words(text: String, word: String) { #expect(text.shellWord == word) }
}
